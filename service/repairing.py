"""Repairs the store, collection by collection, and has what waits then checked anew."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from service.errors import StoreError, UnknownCollection
from service.settings import Settings
from service.settling import Settler
from service.store.any_store import AnyStore, connect
from service.store.base import Collection, CollectionChanged
from service.store.repair.damage import Damage

CANNOT = (StoreError, UnknownCollection, CollectionChanged)
"""What a repair may raise: it can be asked again, and does what is left."""
SETTLING = 10.0
"""Seconds: half of them bound how long held texts are checked anew after each walk."""


@dataclass(frozen=True, slots=True)
class Told:
    """One kind of damage: in which collection (None: among names and keys), what, how often, and
    how much of it is left."""

    collection: str | None
    damage: str
    found: int
    left: int


class Repair:
    """One repair of a store. `is_whole`: nothing is left. `all_seen`: keys that no name leads to
    could be looked for."""

    def __init__(self, store: AnyStore, *, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._repairer = store.repairer()
        self._settler = Settler(store, deadline=SETTLING)
        self._clock = clock
        self.is_whole = True
        self.all_seen = True

    def run(self, collection: str | None, *, dry_run: bool) -> Iterator[Told]:
        """Repairs one collection, or all there are and what leads to them; tells what was found.
        Raises UnknownCollection, StoreUnavailable."""
        if collection is None:
            found, self.all_seen = self._repairer.names(dry_run=dry_run)
            yield from self._told(None, found.found, found.left)
        for name in self._repairer.collections(collection):
            of_one = self._repairer.repair(name, dry_run=dry_run, settle=self._settle)
            if of_one is not None:
                yield from self._told(name, of_one.found, of_one.left)

    def _told(
        self, name: str | None, found: Counter[Damage], left: Counter[Damage]
    ) -> Iterator[Told]:
        for damage, count in found.items():
            self.is_whole = self.is_whole and not left[damage]
            yield Told(name, damage.value, count, left[damage])

    def _settle(self, collection: Collection) -> None:
        self._settler.settle(collection, int(self._clock() * 1000))


def repair_of(settings: Settings) -> Repair:
    """A repair of the store of these settings."""
    return Repair(connect(settings))
