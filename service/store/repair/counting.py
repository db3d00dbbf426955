"""What home and the partitions count, set right: exact where nothing is published meanwhile."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from service.dedup.verdict import State
from service.store.growth import tags_of_a_text
from service.store.log import STATUS_LETTERS
from service.store.repair.damage import Damage
from service.store.repair.facts import FactReader
from service.store.repair.sweeps import Sweeps
from service.store.repair.texts import Ends
from service.store.spread import items
from service.store.spread.placement import HOME
from service.store.spread.planning import Transaction
from service.store.spread.reading import Question
from service.store.spread.spread_store import SpreadStore
from service.store.steps import packed

SECONDS = 10.0
"""So long it is counted again where something was published meanwhile."""
OPEN = "conflicts:o"


@dataclass(slots=True)
class _Counted:
    """By how much counters, and the indexed texts of each partition, are wrong, and settings as
    they are to be."""

    transactions: int
    counters: dict[str, int] = field(default_factory=dict)
    indexed: dict[int, int] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def wrong(self) -> int:
        """How many of them are."""
        return len(self.counters) + len(self.indexed) + len(self.settings)


class Counting:
    """Counts one collection."""

    def __init__(self, store: SpreadStore, facts: FactReader, sweeps: Sweeps) -> None:
        self._sequencer = store.sequencer
        self._facts = facts
        self._sweeps = sweeps

    def set_right(self, *, mends: bool) -> Iterator[tuple[Damage, int, bool]]:
        """Tells damage, how often, and whether it is mended. What is counted while something is
        published may be off by that: it is counted again, for a while, and nothing is told where
        there was no quiet moment."""
        collection = self._facts.collection
        ends_at = time.monotonic() + SECONDS
        quiet = False
        while not quiet:
            self._sequencer.catch_up(collection)
            before = self._sequencer.home(collection).snapshot
            counted = self._counted()
            after = self._sequencer.home(collection).snapshot
            quiet = before == after and not before.unfinished
            if time.monotonic() > ends_at:
                break
        if not quiet or not counted.wrong:
            return
        if mends:
            # A difference that was exact once stays so, whatever is published since, unless that is
            # another repair.
            plan = Transaction(at=before, counters=counted.counters)
            plan.changes(items.COUNTS)
            plan.writes += [(b"D", packed(p), b"%d" % by) for p, by in counted.indexed.items()]
            self._set(counted)
            self._sequencer.run(collection, plan, at_limit=True)
        yield Damage.COUNT, counted.wrong, mends

    def _set(self, counted: _Counted) -> None:
        """Settings are set where nothing was published since: else the next walk does it."""
        parts = [part for name, value in counted.settings.items() for part in ("=", name, value)]
        if parts:
            self._facts.mend_home(counted.transactions, parts)

    def _counted(self) -> _Counted:
        facts, ends = self._facts, self._facts.ends()
        (last,) = facts.settings("transactions")
        found = _Counted(last)
        states, indexed = self._states(), self._indexed()
        statuses = self._statuses()
        names = [state.value for state in (State.ACTIVE, State.HELD, State.DROPPED)]
        statuses_told = [f"conflicts:{letter.decode()}" for letter in STATUS_LETTERS.values()]
        counters = facts.counters(*names, *statuses_told, "log_trimmed")
        there = {**{name: states[name] for name in names}, "log_trimmed": ends.trimmed}
        for name in statuses_told:
            # Those that left with the log stay counted.
            left = name != OPEN and ends.trimmed and counters[name] > statuses[name]
            there[name] = counters[name] if left else statuses[name]
        found.counters = {n: there[n] - counters[n] for n in there if there[n] != counters[n]}
        found.indexed = self._off(indexed)
        found.settings = self._settings(ends)
        return found

    def _states(self) -> Counter[str]:
        """Documents by state."""
        states: Counter[str] = Counter()
        for page in self._sweeps.ids():
            texts = self._facts.texts([numbers[0] for _, numbers in page])
            states.update(text.state.value for text in texts.values())
        return states

    def _indexed(self) -> int:
        """How many texts are in the index."""
        return sum(
            text.state.is_indexed
            for numbers in self._sweeps.kept("documents")
            for text in self._facts.texts(numbers).values()
        )

    def _statuses(self) -> Counter[str]:
        statuses: Counter[str] = Counter()
        for numbers in self._sweeps.kept("conflicts"):
            for conflict in self._facts.conflicts(numbers).values():
                statuses[f"conflicts:{STATUS_LETTERS[conflict.status].decode()}"] += 1
        return statuses

    def _off(self, indexed: int) -> dict[int, int]:
        """By how much each partition counts its texts wrongly."""
        parts = self._facts.where.keys
        asked = [Question(p, keys.settings, "f", ("indexed",)) for p, keys in enumerate(parts)]
        counts = [int(answer[0] or 0) for answer in self._facts.ask(asked)]
        bands = tags_of_a_text(self._facts.collection)
        own = [p for p in range(len(parts)) if range(bands)[self._facts.where.bands_at(p, bands)]]
        return {place: indexed - counts[place] for place in own if counts[place] != indexed}

    def _settings(self, ends: Ends) -> dict[str, str]:
        """The time of the oldest entry, and whether anything was ever ruled."""
        home = self._facts.where.home.settings
        (told,) = self._facts.ask([Question(HOME, home, "f", ("oldest", "rulings"))])
        first = self._facts.entries([ends.trimmed + 1]).get(ends.trimmed + 1)
        oldest = "" if first is None else str(first.at // 1000)
        wrong = {}
        if (told[0] or b"").decode() != oldest:
            wrong["oldest"] = oldest
        if told[1] is None and self._facts.has_rulings():
            wrong["rulings"] = "1"
        return wrong
