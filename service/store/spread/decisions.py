"""Conflicts and the log of a collection with several partitions: read, erased and trimmed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from service.dedup.verdict import State
from service.store.base import Collection, StoredText
from service.store.connection import Connection
from service.store.decision_reader import ENTRIES_A_CALL, OF_CONFLICTS, DecisionReader
from service.store.log import CONFLICT, ENTRY, read_entry
from service.store.spread import items
from service.store.spread.fields import Ask, Fields, numbers_in, stored
from service.store.spread.placement import HOME
from service.store.spread.planning import Transaction
from service.store.spread.reading import Question, Reader, places_of
from service.store.spread.sequencing import Sequencer
from service.store.step import LogEntry
from service.store.steps import packed

ERASED_AT_ONCE = 50
TRIMMED_AT_ONCE = 32
MOST_CONFLICTS = 200
QUOTING = ("changes", "cut", "reason", "note")
NOTE = 2  # of a resolution


class SpreadDecisions(DecisionReader):
    """The same as `DecisionReader`, where they are spread."""

    def __init__(
        self, connection: Connection, reader: Reader, fields: Fields, sequencer: Sequencer
    ) -> None:
        super().__init__(connection)
        self._reader = reader
        self._by_number = fields
        self._sequencer = sequencer

    def _kept(self, collection: Collection, name: str, numbers: list[int]) -> list[Any]:
        return list(self._by_number.of(collection, name, numbers))

    def _naming(self, collection: Collection, id: str, low: bytes, high: bytes) -> list[bytes]:
        where = places_of(collection)
        place = where.of_name(id.encode())
        asked = Question(place, where.keys[place].log_index, "l", (low, high, ENTRIES_A_CALL))
        (members,) = self._by_number.ask(collection, [asked]).answers
        return list(members)

    def _ends(self, collection: Collection) -> tuple[int, int]:
        """The last entry and the last that has left, all between them being there."""
        settings = places_of(collection).home.settings
        asked = Question(HOME, settings, "f", ("logged", "trimmed"))
        told = self._reader.ask(collection, [asked], home=True)
        unfinished = self._reader.home_of(told).snapshot.unfinished
        self._sequencer.finish(collection, unfinished)
        logged, trimmed = told.answers[0]
        return int(logged or 0), int(trimmed or 0)

    def erase(self, collection: Collection, id: str, until: int | None) -> int:
        """Erases every word of a document's texts; how many entries named it."""
        named = entry = conflict = 0
        while True:
            named_in = self._numbers_naming(collection, id, entry)[:ERASED_AT_ONCE]
            entries = [number for number in named_in if until is None or number <= until]
            conflicts = self._numbers_naming(collection, id, conflict, OF_CONFLICTS)
            conflicts = conflicts[:ERASED_AT_ONCE]
            if not entries and not conflicts:
                return named
            counted = None
            while counted is None:
                counted = self._erase_some(collection, id, entries, conflicts)
            named += counted
            entry, conflict = entries[-1] if entries else entry, (conflicts or [conflict])[-1]

    def _erase_some(
        self, collection: Collection, id: str, entries: list[int], conflicts: list[int]
    ) -> int | None:
        """Erases a few; how many entries named the id. None where they changed meanwhile."""
        plan = Transaction(at=self._sequencer.snapshot(collection), reads={items.id_item(id)})
        standing = self._by_number.entry(collection, id)
        counted, kept = 0, set[int]()
        for number, written in zip(entries, self._kept(collection, "log", entries), strict=True):
            entry = None if written is None else read_entry(number, written)
            if written is None or entry is None or id not in (entry.document, entry.twin):
                continue
            counted += 1
            kept |= {entry.number, entry.twin_number, *entry.kept} - {0, *standing}
            plan.changes(items.entry_item(number))
            plan.writes.append((b"B", packed(number), _without_words(written, ENTRY.size)))
        found = self._kept(collection, "conflicts", conflicts)
        for number, written in zip(conflicts, found, strict=True):
            body = {} if written is None else orjson.loads(written[CONFLICT.size :])
            if id in (body.get("existing"), body.get("incoming")):
                plan.changes(items.conflict_item(number))
                bare = _without_words(written, CONFLICT.size)
                plan.writes.append((b"C", packed(number), bare))
        for text in self._by_number.records(collection, sorted(kept)):
            # One of this id that stands nowhere: others may rest on what was dropped.
            if text is None or text.state.is_indexed or text.id != id:
                continue
            plan.changes(items.text_item(text.number))
            if text.state is State.GONE:
                plan.writes.append((b"G", packed(text.number)))
            plan.writes.append((b"F", packed(text.number)))
        if plan.writes and self._sequencer.run(collection, plan, at_limit=True) is None:
            return None
        return counted

    def trim(self, collection: Collection, before: int) -> None:
        """Takes a few of the oldest entries out, if from before then (seconds), and with each what
        only it kept. Where something came in between, the next one does it."""
        at = self._sequencer.snapshot(collection)
        logged, trimmed = self._ends(collection)
        numbers = list(range(trimmed + 1, min(logged, trimmed + TRIMMED_AT_ONCE + 1) + 1))
        written = self._kept(collection, "log", numbers)
        read = [read_entry(n, w) for n, w in zip(numbers, written, strict=True) if w is not None]
        old = [entry for entry in read if entry.at // 1000 < before][:TRIMMED_AT_ONCE]
        if len(read) < len(numbers) or not old:
            return
        last = old[-1].number_in_log
        stays = next((entry.at // 1000 for entry in read if entry.number_in_log > last), None)
        plan = Transaction(at=at, trimmed=last, oldest=stays)
        plan.changes(items.END_OF_LOG)
        plan.counters["log_trimmed"] = len(old)
        for entry in old:
            number = packed(entry.number_in_log)
            plan.changes(items.entry_item(entry.number_in_log))
            plan.writes.append((b"l", number))
            for id in {entry.document, entry.twin or entry.document}:
                plan.writes.append((b"q", id.encode(), b"", number))
        self._forget_kept(collection, plan, old)
        self._forget_conflicts(collection, plan, last)
        self._sequencer.run(collection, plan, at_limit=True)

    def _forget_kept(
        self, collection: Collection, plan: Transaction, old: Sequence[LogEntry]
    ) -> None:
        """A text that an entry kept goes, unless it stands again or another entry keeps it."""
        ask = Ask(places_of(collection))
        wanted = [(entry, number) for entry in old for number in entry.kept]
        if not wanted:
            return
        questions = [ask.field("documents", number) for _, number in wanted]
        told = self._by_number.ask(collection, questions)
        for (entry, number), (record,) in zip(wanted, told.answers, strict=True):
            text = stored(number, record)
            if text is None or text.state.is_indexed or text.decision != entry.number_in_log:
                continue
            plan.changes(items.text_item(number))
            if text.state is State.DROPPED:
                plan.writes.append((b"t", packed(text.survivor), packed(number)))
                self._forget_id(collection, plan, text)
            plan.writes += [(b"G", packed(number)), (b"F", packed(number))]

    def _forget_id(self, collection: Collection, plan: Transaction, text: StoredText) -> None:
        (answer,) = self._by_number.ask(
            collection, [Ask(places_of(collection)).id(text.id)]
        ).answers
        plan.reads.add(items.id_item(text.id))
        if numbers_in(answer[0] or b"") == [text.number]:
            plan.touches.add(items.id_item(text.id))
            plan.writes.append((b"I", text.id.encode(), b""))
            plan.counters["dropped"] = plan.counters.get("dropped", 0) - 1

    def _forget_conflicts(self, collection: Collection, plan: Transaction, last: int) -> None:
        """Conflicts that were closed by an entry that leaves go with it."""
        key = places_of(collection).home.conflicts_by_age
        asked = Question(HOME, key, "r", (-1, -last, MOST_CONFLICTS))
        (over,) = self._by_number.ask(collection, [asked]).answers
        numbers = [int.from_bytes(number, "big") for number in over]
        for conflict in self._conflicts(collection, numbers):
            number = packed(conflict.number)
            plan.changes(items.conflict_item(conflict.number))
            for id in (conflict.existing_id, conflict.incoming_id):
                plan.writes.append((b"q", id.encode(), OF_CONFLICTS, number))
            plan.writes += [(b"c", number), (b"a", number)]


def _without_words(written: bytes, head: int) -> bytes:
    """An entry or a conflict without what quotes a text."""
    body = orjson.loads(written[head:])
    bare = {name: value for name, value in body.items() if name not in QUOTING}
    if isinstance(bare.get("resolution"), list):
        bare["resolution"][NOTE] = None
    return written[:head] + orjson.dumps(bare)
