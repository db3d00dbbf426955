"""Walks conflicts and the log of a collection: what is suspicious, each to be examined anew."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from service.store.repair.conflicts import conflict_mend
from service.store.repair.damage import Mend
from service.store.repair.facts import FactReader
from service.store.repair.lists import (
    age_mend,
    edge_mend,
    entry_mend,
    lost_entry_mend,
    named_mend,
    past_entry_mend,
    waiting_mend,
)
from service.store.repair.sweeps import Sweeps
from service.store.repair.text_walk import Suspect
from service.store.spread import items
from service.store.spread.redo import OF_CONFLICTS, index_name


class DecisionWalk:
    """What goes by decisions, in one collection."""

    def __init__(self, facts: FactReader, sweeps: Sweeps) -> None:
        self._facts = facts
        self._sweeps = sweeps

    def suspects(self) -> Iterator[Suspect]:
        """All that may be torn."""
        yield from self._conflicts()
        yield from self._edges()
        yield from self._ages()
        yield from self._entries()
        yield from self._past_entries()
        yield from self._named()
        for number, waits_for in self._facts.waiting().items():
            yield partial(self._waiting_mend, number, waits_for)

    def _conflicts(self) -> Iterator[Suspect]:
        facts, ends = self._facts, self._facts.ends()
        for numbers in self._sweeps.kept("conflicts"):
            for one in facts.of_conflicts(facts.conflicts(numbers).values()):
                if conflict_mend(one, ends) is not None:
                    yield partial(self._conflict_mend, one.conflict.number)

    def _conflict_mend(self, number: int) -> Mend | None:
        facts, ends = self._facts, self._facts.ends()
        for one in facts.of_conflicts(facts.conflicts([number]).values()):
            return conflict_mend(one, ends)
        return None

    def _edges(self) -> Iterator[Suspect]:
        for _, page in self._sweeps.members("conflicts_by_existing"):
            edges = [(int.from_bytes(m[:4], "big"), int.from_bytes(m[4:], "big")) for m in page]
            there = self._facts.conflicts([number for _, number in edges])
            for existing, number in edges:
                if edge_mend(existing, number, there.get(number)) is not None:
                    yield partial(self._edge_mend, existing, number)

    def _edge_mend(self, existing: int, number: int) -> Mend | None:
        if not self._facts.has_edge("conflicts_by_existing", existing, number):
            return None
        return edge_mend(existing, number, self._facts.conflicts([number]).get(number))

    def _ages(self) -> Iterator[Suspect]:
        for numbers in self._sweeps.conflicts_by_age():
            there = self._facts.conflicts(numbers)
            for number in numbers:
                if number not in there:
                    yield partial(self._age_mend, number)

    def _age_mend(self, number: int) -> Mend | None:
        is_wrong = self._facts.age(number) is not None and not self._facts.conflicts([number])
        return age_mend(number) if is_wrong else None

    def _entries(self) -> Iterator[Suspect]:
        ends, last_at = self._facts.ends(), 0
        for numbers in self._sweeps.numbers(ends.trimmed + 1, ends.logged):
            there = self._facts.entries(numbers)
            last_at = last_at or min((entry.at for entry in there.values()), default=0)
            for number in numbers:
                if number in there:
                    last_at = there[number].at
                else:
                    yield partial(self._lost_entry_mend, number, last_at)
            for facts in self._facts.of_entries(there.values()):
                if entry_mend(facts) is not None:
                    yield partial(self._entry_mend, facts.entry.number_in_log)

    def _lost_entry_mend(self, number: int, at: int) -> Mend | None:
        is_lost = self._facts.ends().has(number) and not self._facts.entries([number])
        return lost_entry_mend(number, at) if is_lost else None

    def _entry_mend(self, number: int) -> Mend | None:
        for facts in self._facts.of_entries(self._facts.entries([number]).values()):
            return entry_mend(facts)
        return None

    def _past_entries(self) -> Iterator[Suspect]:
        trimmed = self._facts.ends().trimmed
        for numbers in self._sweeps.kept("log"):
            for number in numbers:
                if number <= trimmed:
                    yield partial(self._past_entry_mend, number)

    def _past_entry_mend(self, number: int) -> Mend | None:
        for entry in self._facts.entries([number]).values():
            return past_entry_mend(number, entry)
        return None

    def _named(self) -> Iterator[Suspect]:
        for place, page in self._sweeps.members("log_index"):
            for member in self._wrongly_named(page):
                yield partial(self._named_mend, place, member)

    def _named_mend(self, place: int, member: bytes) -> Mend | None:
        if not self._facts.has_member("log_index", place, member):
            return None
        if not list(self._wrongly_named([member])):
            return None
        number = int.from_bytes(member[-4:], "big")
        is_of_conflict = member.startswith(OF_CONFLICTS)
        item = items.conflict_item(number) if is_of_conflict else items.entry_item(number)
        return named_mend(place, member, item)

    def _wrongly_named(self, members: list[bytes]) -> Iterator[bytes]:
        """Places in the index of the log whose entry or conflict does not name the id."""
        self._facts.ends()  # whatever was published until they were read is whole then
        number_of = {member: int.from_bytes(member[-4:], "big") for member in members}
        of_conflicts = {m: n for m, n in number_of.items() if m.startswith(OF_CONFLICTS)}
        of_entries = {m: n for m, n in number_of.items() if m not in of_conflicts}
        conflicts = self._facts.conflicts(sorted(set(of_conflicts.values())))
        entries = self._facts.entries(sorted(set(of_entries.values())))
        for member, number in number_of.items():
            ids: set[str | None] = set()
            if member in of_conflicts and number in conflicts:
                ids = {conflicts[number].existing_id, conflicts[number].incoming_id}
            elif member in of_entries and number in entries:
                ids = {entries[number].document, entries[number].twin}
            name = member[:-4].removeprefix(OF_CONFLICTS)
            if name not in {index_name(id.encode()) for id in ids if id is not None}:
                yield member

    def _waiting_mend(self, number: int, waits_for: int) -> Mend | None:
        if self._facts.waiting().get(number) != waits_for:
            return None
        text = self._facts.texts([number]).get(number)
        conflict = self._facts.conflicts([waits_for]).get(waits_for)
        return waiting_mend(number, waits_for, text, conflict)
