"""What contradicts a conflict, and the step that mends it. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from service.dedup.decisions import ConflictStatus, DecisionKind
from service.dedup.verdict import State
from service.store.base import StoredText
from service.store.log import STATUS_LETTERS, conflict_rest
from service.store.repair.damage import Damage, Mend
from service.store.repair.texts import REASON, Ends, write_entry
from service.store.spread import items
from service.store.spread.planning import Transaction
from service.store.spread.redo import OF_CONFLICTS
from service.store.step import LogEntry, StoredConflict
from service.store.steps import packed


@dataclass(slots=True)
class ConflictFacts:
    """A conflict with all that it is to agree with. `age` is its place in the list by age, None
    where it has none; `unnamed` its ids under which the index of the log lacks it."""

    conflict: StoredConflict
    existing: StoredText | None
    incoming: StoredText | None
    has_edge: bool
    age: int | None
    unnamed: list[str]
    has_entry: bool


def conflict_mend(facts: ConflictFacts, ends: Ends) -> Mend | None:
    """The first thing that is wrong with a conflict, mended; None where nothing is."""
    conflict = facts.conflict
    if conflict.status is ConflictStatus.OPEN:
        if not _can_be_ruled_on(facts):
            return _void(facts, ends)
        return _listed(facts, conflict.number)
    if conflict.status is ConflictStatus.RESOLVED:
        if conflict.decision <= ends.trimmed:
            return _removal(conflict)
        if conflict.decision > ends.logged or conflict.resolution is None:
            return _void(facts, ends)
        if not facts.has_entry:
            return _entry_anew(facts)
        return _listed(facts, -conflict.decision)
    if conflict.resolution is not None:
        return _ruled(facts)
    fits = facts.age is not None and 1 <= -facts.age <= ends.logged
    if not fits and not ends.logged:
        return _removal(conflict)
    return _listed(facts, facts.age if fits and facts.age is not None else -ends.logged)


def _can_be_ruled_on(facts: ConflictFacts) -> bool:
    conflict, existing, incoming = facts.conflict, facts.existing, facts.incoming
    return (
        existing is not None
        and incoming is not None
        and existing.state.is_indexed
        and incoming.state.is_indexed
        and (existing.id, incoming.id) == (conflict.existing_id, conflict.incoming_id)
        and existing.id != incoming.id
        and incoming.conflict == conflict.number
        and not conflict.decision
        and conflict.resolution is None
    )


def _plan(conflict: StoredConflict) -> Transaction:
    plan = Transaction()
    plan.changes(items.conflict_item(conflict.number))
    for number in (conflict.existing, conflict.incoming):
        plan.reads.add(items.text_item(number))
    return plan


def _edge(conflict: StoredConflict) -> tuple[bytes, bytes]:
    return packed(conflict.existing), packed(conflict.number)


def _void(facts: ConflictFacts, ends: Ends) -> Mend:
    """The conflict is over; who was held by it is checked anew."""
    conflict, incoming = facts.conflict, facts.incoming
    if not ends.logged:
        return _removal(conflict)
    plan, number = _plan(conflict), packed(conflict.number)
    bare = replace(conflict, status=ConflictStatus.VOID, decision=0, resolution=None)
    head = STATUS_LETTERS[bare.status] + packed(bare.existing) + packed(bare.incoming)
    plan.writes += [
        (b"C", number, head + conflict_rest(bare)),
        (b"e", *_edge(conflict)),
        (b"O", number, b"%d" % -ends.logged),
    ]
    plan.touches.add(items.edges_item(conflict.existing))
    is_held = incoming is not None and incoming.state is State.HELD
    if is_held and incoming is not None and incoming.conflict == conflict.number:
        plan.touches.add(items.waiting_item(incoming.number))
        plan.writes.append((b"U", packed(incoming.number), number))
    return Mend(Damage.CONFLICT, plan)


def _ruled(facts: ConflictFacts) -> Mend:
    """One that was ruled on is void: a text of it left while a list still had it as an open one."""
    conflict, plan = facts.conflict, _plan(facts.conflict)
    ruled = replace(conflict, status=ConflictStatus.RESOLVED)
    head = STATUS_LETTERS[ruled.status] + packed(ruled.existing) + packed(ruled.incoming)
    plan.writes.append((b"C", packed(conflict.number), head + conflict_rest(ruled)))
    return Mend(Damage.CONFLICT, plan)


def _removal(conflict: StoredConflict) -> Mend:
    """A conflict goes, as it does with the entry that closed it."""
    plan, number = _plan(conflict), packed(conflict.number)
    plan.writes += [(b"c", number), (b"a", number), (b"e", *_edge(conflict))]
    for id in {conflict.existing_id, conflict.incoming_id}:
        plan.writes.append((b"q", id.encode(), OF_CONFLICTS, number))
    return Mend(Damage.CONFLICT, plan)


def _entry_anew(facts: ConflictFacts) -> Mend:
    """The lost entry of a ruling, as the conflict tells it."""
    conflict, ruled = facts.conflict, facts.conflict.resolution
    if ruled is None:
        raise ValueError("it has no ruling")
    left = [
        text.number
        for text in (facts.incoming, facts.existing)
        if text is not None and not text.state.is_indexed and text.decision == conflict.decision
    ]
    entry = LogEntry(
        DecisionKind.RESOLVED,
        document=conflict.incoming_id,
        number=conflict.incoming,
        twin=conflict.existing_id,
        twin_number=conflict.existing,
        conflict=conflict.number,
        kept=tuple(left),
        score=conflict.score,
        rule=ruled.keep.value,
        reason=REASON,
        ingest=ruled.ingest,
        retire=ruled.retire,
        by=ruled.by,
        note=ruled.note,
        at=ruled.at,
    )
    plan = _plan(conflict)
    write_entry(plan, conflict.decision, entry)
    return Mend(Damage.ENTRY, plan)


def _listed(facts: ConflictFacts, age: int) -> Mend | None:
    """The lists have it where it belongs."""
    conflict = facts.conflict
    plan, is_open = _plan(conflict), conflict.status is ConflictStatus.OPEN
    if facts.has_edge != is_open:
        plan.touches.add(items.edges_item(conflict.existing))
        plan.writes.append((b"E" if is_open else b"e", *_edge(conflict)))
    if facts.age != age:
        plan.writes.append((b"O", packed(conflict.number), b"%d" % age))
    for id in facts.unnamed:
        plan.writes.append((b"Q", id.encode(), OF_CONFLICTS, packed(conflict.number)))
    return Mend(Damage.LISTED, plan) if plan.writes else None
