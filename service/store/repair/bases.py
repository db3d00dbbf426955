"""What everything else rests on: that home gives no number that is in use."""

from __future__ import annotations

from collections.abc import Iterator

from service.store.connection import Connection
from service.store.repair.damage import Damage
from service.store.repair.facts import FactReader
from service.store.repair.sweeps import Sweeps
from service.store.spread.reading import Question
from service.store.spread.spread_store import SpreadStore


class Bases:
    """Sets the numbers of one collection right."""

    def __init__(
        self, connection: Connection, store: SpreadStore, facts: FactReader, sweeps: Sweeps
    ) -> None:
        self._connection = connection
        self._sequencer = store.sequencer
        self._facts = facts
        self._sweeps = sweeps

    def set_right(self, *, mends: bool) -> Iterator[tuple[Damage, int]]:
        """Tells damage, and how often it was found."""
        if mends:  # where home is at another process by now, its numbers leap first
            self._leap()
        highest = {
            "next": self._highest("documents") + 1,
            "conflicts": self._highest("conflicts"),
            "logged": self._highest("log"),
        }
        ends = self._facts.ends()  # what came meanwhile is no damage
        given = {"next": ends.next, "conflicts": ends.conflicts, "logged": ends.logged}
        raised = {name: most for name, most in highest.items() if most > given[name]}
        ahead = self._partitions_ahead()
        if not raised and not ahead:
            return
        if mends:
            home, revision = self._facts.where.home, self._facts.collection.revision
            arguments = [part for name, least in raised.items() for part in ("<", name, least)]
            names = [home.settings, home.counters, home.unfinished]
            self._connection.run("mend", names, [revision, "1", "", *arguments])
            self._leap()
        yield Damage.NUMBERS, len(raised) + ahead

    def _highest(self, name: str) -> int:
        return max((max(page, default=0) for page in self._sweeps.kept(name)), default=0)

    def _leap(self) -> None:
        """Has home look whether its numbers are to leap (`lua/publishing.lua`)."""
        at = self._sequencer.home(self._facts.collection).snapshot
        self._sequencer.validate(self._facts.collection, at, set())

    def _partitions_ahead(self) -> int:
        """How many partitions know of later transactions than home."""
        asked = []
        for place, keys in enumerate(self._facts.where.keys):
            asked += [
                Question(place, keys.settings, "f", ("done",)),
                Question(place, keys.applied, "r", ("+inf", "-inf", 1)),
            ]
        answers = self._facts.ask(asked)
        known = [
            max([int(done[0] or 0) - 1, *map(int, applied)])
            for done, applied in zip(answers[::2], answers[1::2], strict=True)
        ]
        (last,) = self._facts.settings("transactions")
        return sum(number > last for number in known)
