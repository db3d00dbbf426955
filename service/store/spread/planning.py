"""From a step and what was read for it to a transaction: whether what the step rests on still
holds, and what it writes.

Pure; `lua/applying.lua` is the same for a collection with one partition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from service.dedup.verdict import State
from service.store.base import NO_SNAPSHOT, Collection, Snapshot
from service.store.log import (
    CLOSED_BY,
    STATUS_LETTERS,
    conflict_closing,
    conflict_rest,
    entry_body,
    entry_head,
    near_miss_rest,
)
from service.store.records import STATE_LETTERS, STATES, TextCodec, pack, unpack
from service.store.spread import items
from service.store.spread.redo import OF_CONFLICTS, Write
from service.store.step import NEW, OPENED, Move, Step, entry_ref
from service.store.steps import metadata_bytes, numbers_of, packed, tags_of

OPEN, VOID = b"o", b"v"
NOT_REVERTED = 0


@dataclass(slots=True)
class Basis:
    """What was read for a step, as it is kept: None where it is not there. `edges` are the open
    conflicts in which a text is the existing one; `words` whether a text has its words."""

    ids: dict[str, bytes] = field(default_factory=dict)
    records: dict[int, bytes | None] = field(default_factory=dict)
    words: dict[int, bool] = field(default_factory=dict)
    rulings: dict[bytes, bytes] = field(default_factory=dict)
    conflicts: dict[int, bytes | None] = field(default_factory=dict)
    entries: dict[int, bytes | None] = field(default_factory=dict)
    waiting: dict[int, bytes | None] = field(default_factory=dict)
    edges: dict[int, list[int]] = field(default_factory=dict)


@dataclass(slots=True)
class Transaction:
    """What is published: what it read, under the snapshots of two moments (the look: the tags of
    texts, all or only that of the hash, and items; and what was read for the step), the items that
    it writes, the tags of each text that it brings into buckets, and what follows."""

    at_look: Snapshot = NO_SNAPSHOT
    tags_at_look: Sequence[bytes] = ()
    only_equal: bool = False
    reads_at_look: Sequence[bytes] = ()
    at: Snapshot = NO_SNAPSHOT
    reads: set[bytes] = field(default_factory=set)
    touches: set[bytes] = field(default_factory=set)
    brings: list[bytes] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)
    counters: dict[str, int] = field(default_factory=dict)
    seconds: int = 0
    new: int = 0
    opened: int = 0
    entries: int = 0
    rules: bool = False
    only_validates: bool = False
    trimmed: int | None = None
    oldest: int | None = None

    def changes(self, item: bytes) -> None:
        """It reads and writes this."""
        self.reads.add(item)
        self.touches.add(item)


def leaves_index(move: Move) -> bool:
    """Whether a text goes out of all buckets."""
    return move.was.state.is_indexed and (move.now is None or not move.now.state.is_indexed)


def comes_back(move: Move) -> bool:
    """Whether a text comes into its buckets."""
    return not move.was.state.is_indexed and move.now is not None and move.now.state.is_indexed


def holds(step: Step, basis: Basis) -> bool:
    """Whether all that the step rests on is as it was."""
    return (
        all(basis.ids[one.id] == numbers_of(one) for one in step.is_standing)
        and all(_text_holds(step, basis, number) for number in step.is_text)
        and all(basis.words[m.was.number] for m in step.moves if comes_back(m))
        and all(basis.rulings[pair] == ruled for pair, ruled in step.is_ruled.items())
        and all(
            (basis.conflicts[number] or b"")[:1] == STATUS_LETTERS[status]
            for number, status in step.is_conflict.items()
        )
        and all(
            (basis.entries[n] or bytes([0] * 7 + [1]))[7] == NOT_REVERTED for n in step.is_entry
        )
        and all(basis.waiting[n] == packed(conflict) for n, conflict in step.is_unsettled)
    )


def _text_holds(step: Step, basis: Basis, number: int) -> bool:
    record, text = basis.records[number], step.is_text[number]
    if record is None:
        return False
    stands = STATE_LETTERS[text.state] + packed(text.decision) + packed(text.conflict)
    if record[:1] + record[105:113] + record[38:70] != stands + text.hashes.bytes:
        return False
    cutoff = step.expired_before.get(number, 0)
    if not cutoff:
        return True
    may_expire = STATES[record[:1]] in (State.ACTIVE, State.DROPPED)
    return may_expire and int.from_bytes(record[34:38], "big") < cutoff


class Planner:
    """Plans one step."""

    def __init__(self, collection: Collection, step: Step, basis: Basis, codec: TextCodec) -> None:
        self._collection = collection
        self._step = step
        self._basis = basis
        self._codec = codec
        self._records = dict(basis.records)
        self._conflicts = dict(basis.conflicts)
        self._edges = {n: list(edges) for n, edges in basis.edges.items()}
        self._plan = Transaction(
            seconds=step.now // 1000, counters=dict(step.counters), entries=len(step.entries)
        )

    def plan(self, at: Snapshot) -> Transaction:
        """The transaction, if what was read for it was read under this snapshot."""
        self._plan.at = at
        self._rests()
        self._registers()
        for closing in self._step.closed:
            rest = b"" if closing.conflict is None else conflict_closing(closing.conflict)
            self._close(closing.number, STATUS_LETTERS[closing.status], rest)
        for move in self._step.moves:
            self._move(move)
        self._binds()
        self._opens()
        self._logs()
        self._marks()
        return self._plan

    def _write(self, *parts: bytes) -> None:
        self._plan.writes.append(parts)

    def _count(self, name: str, by: int) -> None:
        self._plan.counters[name] = self._plan.counters.get(name, 0) + by

    def _rests(self) -> None:
        step, reads = self._step, self._plan.reads
        reads.update(items.id_item(one.id) for one in step.is_standing)
        reads.update(items.text_item(number) for number in step.is_text)
        reads.update(items.seen_item(number) for number in step.expired_before)
        reads.update(map(items.ruling_item, step.is_ruled))
        reads.update(map(items.conflict_item, step.is_conflict))
        reads.update(map(items.entry_item, step.is_entry))
        reads.update(items.waiting_item(number) for number, _ in step.is_unsettled)
        newcomers = step.newcomers
        if newcomers is not None:
            self._plan.at_look = newcomers.snapshot
            self._plan.tags_at_look = newcomers.tags
            self._plan.only_equal = newcomers.only_equal

    def _registers(self) -> None:
        new, newcomers = self._step.new, self._step.newcomers
        if new is None:
            return
        self._plan.new = 1
        record = pack(new.stored)
        text = self._codec.compress(new.text)
        self._write(b"N", packed(NEW), record, text, metadata_bytes(new.metadata))
        if new.stored.state.is_indexed and newcomers is not None:
            self._brings(new.stored.number, newcomers.tags)
        elif new.stored.state is State.DROPPED:
            self._write(b"T", packed(new.stored.survivor), packed(new.stored.number))

    def _brings(self, number: int, tags: Sequence[bytes]) -> None:
        joined = b"".join(tags)
        self._write(b"+", packed(number), joined)
        self._plan.brings.append(joined)

    def _close(self, number: int, status: bytes, rest: bytes) -> int | None:
        """Gives a conflict another status; its incoming text, None where it was so."""
        written = self._conflicts.get(number)
        self._plan.changes(items.conflict_item(number))
        if written is None or written[:1] == status:
            return None
        was, existing = written[:1], int.from_bytes(written[1:5], "big")
        if rest:
            written = written[:CLOSED_BY] + rest
        self._conflicts[number] = written = status + written[1:]
        self._write(b"C", packed(number), written)
        edges = self._edges.setdefault(existing, [])
        if status == OPEN:
            self._write(b"E", packed(existing), packed(number))
            self._write(b"A", packed(number), b"")
            self._plan.touches.add(items.edges_item(existing))
            edges.append(number)
        else:
            self._write(b"e", packed(existing), packed(number))
            self._write(b"A", packed(number), b"%d" % len(self._step.entries))
            if number in edges:
                edges.remove(number)
        self._count(f"conflicts:{was.decode()}", -1)
        self._count(f"conflicts:{status.decode()}", 1)
        return int.from_bytes(written[5:9], "big")

    def _move(self, move: Move) -> None:
        number, was, now = move.was.number, move.was, move.now
        kept = self._basis.records[number]
        before = was if kept is None else unpack(number, kept)
        self._plan.changes(items.text_item(number))
        if now is None:
            self._write(b"G", packed(number))
            self._records[number] = None
        else:
            record = pack(now)
            self._write(b"R", packed(number), record, b"1" if move.updated else b"")
            self._records[number] = record
        if leaves_index(move):
            self._write(b"-", packed(number), b"".join(tags_of(self._collection, was)))
            self._leave_conflicts(number, before.conflict)
        elif comes_back(move) and now is not None:
            self._brings(number, tags_of(self._collection, now))
        if before.state is State.DROPPED:
            self._write(b"t", packed(before.survivor), packed(number))
        if now is not None and now.state is State.DROPPED:
            self._write(b"T", packed(now.survivor), packed(number))
        if move.forget:
            self._write(b"F", packed(number))

    def _leave_conflicts(self, number: int, own: int) -> None:
        """A text leaves the index: its open conflicts are void, and what was held by it waits to be
        checked anew."""
        self._plan.reads.add(items.edges_item(number))
        for conflict in list(self._edges.get(number, ())):
            incoming = self._close(conflict, VOID, b"")
            held = None if incoming is None else self._records.get(incoming)
            if incoming is None or held is None:
                continue
            self._plan.reads.add(items.text_item(incoming))
            if STATES[held[:1]] is State.HELD:
                self._write(b"U", packed(incoming), packed(conflict))
                self._plan.touches.add(items.waiting_item(incoming))
        if (self._conflicts.get(own) or b"")[:1] == OPEN:
            self._close(own, VOID, b"")
        self._write(b"u", packed(number), b"")
        self._plan.touches.add(items.waiting_item(number))

    def _binds(self) -> None:
        for standing in self._step.standing:
            self._plan.changes(items.id_item(standing.id))
            self._write(b"I", standing.id.encode(), numbers_of(standing))
        for number, text, metadata in self._step.rewritten:
            self._plan.changes(items.text_item(number))
            self._write(b"X", packed(number), self._codec.compress(text), metadata_bytes(metadata))

    def _opens(self) -> None:
        opened = self._step.opened
        if opened is None:
            return
        self._plan.opened = 1
        number = packed(OPENED)
        sides = packed(opened.existing), packed(opened.incoming)
        self._write(b"C", number, b"".join((OPEN, *sides, conflict_rest(opened))))
        self._write(b"E", sides[0], number)
        self._write(b"A", number, b"")
        self._plan.touches.add(items.edges_item(opened.existing))
        for id in (opened.existing_id, opened.incoming_id):
            self._write(b"Q", id.encode(), OF_CONFLICTS, number)
        self._count("conflicts:o", 1)

    def _logs(self) -> None:
        step = self._step
        for at, entry in enumerate(step.entries):
            number = packed(entry_ref(at))
            head = entry_head(replace(entry, at=step.now))
            self._write(b"L", number, head, entry_body(entry))
            for id in {entry.document, entry.twin or entry.document}:
                self._write(b"Q", id.encode(), b"", number)
        for reverted in step.reverted:
            self._plan.changes(items.entry_item(reverted))
            self._write(b"V", packed(reverted))

    def _marks(self) -> None:
        step = self._step
        for pair, ruled in step.rulings.items():
            self._plan.touches.add(items.ruling_item(pair))
            self._plan.reads.add(items.ruling_item(pair))
            self._write(b"P", pair, ruled)
            self._plan.rules = True
        for number in step.settled:
            self._plan.touches.add(items.waiting_item(number))
            self._write(b"u", packed(number), b"")
        if step.near_miss is not None:
            number, score = step.near_miss
            self._write(b"Y", packed(number), near_miss_rest(score, step.now))
        if step.forgotten:
            self._write(b"y", b"".join(map(packed, step.forgotten)))
        for number in step.seen:
            self._write(b"S", packed(number), b"%d" % (step.now // 1000))
            self._plan.touches.add(items.seen_item(number))
