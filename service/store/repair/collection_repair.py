"""Repairs one collection that has several partitions: walk after walk, until one finds nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from service.store.base import Collection
from service.store.connection import Connection
from service.store.repair.bases import Bases
from service.store.repair.counting import Counting
from service.store.repair.damage import Found
from service.store.repair.decision_walk import DecisionWalk
from service.store.repair.facts import FactReader
from service.store.repair.sweeps import Sweeps
from service.store.repair.text_walk import Suspect, TextWalk
from service.store.spread.decisions import SpreadDecisions
from service.store.spread.spread_store import SpreadStore

WALKS = 8
STEPS = 24
"""So many steps are tried for one thing: some are refused as something came in between, and some
things need several."""


class CollectionRepair:
    """Repairs one. `dry_run`: what is found stays as it is."""

    def __init__(
        self,
        connection: Connection,
        store: SpreadStore,
        decisions: SpreadDecisions,
        collection: Collection,
        *,
        dry_run: bool,
    ) -> None:
        facts = FactReader(connection, store, decisions, collection)
        sweeps = Sweeps(connection, facts)
        self._collection = collection
        self._sequencer = store.sequencer
        self._connection = connection
        self._bases = Bases(connection, store, facts, sweeps)
        self._walks = (TextWalk(facts, sweeps), DecisionWalk(facts, sweeps))
        self._counting = Counting(store, facts, sweeps)
        self._dry_run = dry_run

    def run(self, settle: Callable[[Collection], None]) -> Found:
        """Repairs; what was found, and what of it is left. `settle` checks held texts anew that
        wait for it."""
        if self._dry_run:
            return self._walk()
        told = Found()
        for _ in range(WALKS):
            last = self._walk()
            told.found += last.found
            told.left = last.left
            self._connection.go_on()
            settle(self._collection)
            if not last.found:
                return told
        told.left = last.found  # so it is never done
        return told

    def _walk(self) -> Found:
        told, mends = Found(), not self._dry_run
        for damage, count in self._bases.set_right(mends=mends):
            told.add(damage, count, mended=mends)
        for walk in self._walks:
            for suspect in walk.suspects():
                self._mend(suspect, told)
        for damage, count, mended in self._counting.set_right(mends=mends):
            told.add(damage, count, mended=mended)
        return told

    def _mend(self, examine: Suspect, told: Found) -> None:
        """Mends one thing, a step at a time until nothing is wrong with it. For each it is examined
        anew under a snapshot of its own, and refused where something came in between."""
        for _ in range(STEPS):
            self._connection.go_on()
            at = self._sequencer.home(self._collection).snapshot
            mend = examine()
            if mend is None:
                return
            if self._dry_run:
                told.add(mend.damage, mend.count, mended=False)
                return
            plan = replace(mend.plan, at=at)
            if self._sequencer.run(self._collection, plan, at_limit=True) is not None:
                told.add(mend.damage, mend.count)
