"""Repairs a store: its names, then one collection after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from service.errors import UnknownCollection
from service.store.base import Collection, CollectionChanged
from service.store.connection import Connection
from service.store.registry import Registry
from service.store.repair.collection_repair import CollectionRepair
from service.store.repair.damage import Damage, Found
from service.store.repair.names import MayNotScan, Names
from service.store.spread.decisions import SpreadDecisions
from service.store.spread.placement import places
from service.store.spread.spread_store import SpreadStore

TRIES = 5


class Repairer:
    """Finds what lost writes left torn, and mends it unless it is a `dry_run`. `settle` checks held
    texts anew that wait for it."""

    def __init__(
        self,
        connection: Connection,
        registry: Registry,
        store: SpreadStore,
        decisions: SpreadDecisions,
    ) -> None:
        self._connection = connection
        self._registry = registry
        self._store = store
        self._decisions = decisions

    def names(self, *, dry_run: bool) -> tuple[Found, bool]:
        """What was found among names and keys; whether all could be looked at."""
        told, all_seen = Found(), True
        try:
            for damage, count, mended in Names(self._connection, self._registry).set_right(
                mends=not dry_run
            ):
                told.add(damage, count, mended=mended)
        except MayNotScan:
            all_seen = False
        return told, all_seen

    def collections(self, name: str | None) -> Iterator[str]:
        """The names of those to repair; raises UnknownCollection."""
        if name is not None:
            self._registry.forget(name)
            yield self._registry.collection(name).name
            return
        yield from self._registry.listed()

    def repair(
        self, name: str, *, dry_run: bool, settle: Callable[[Collection], None]
    ) -> Found | None:
        """What was found in one collection; None where it is gone by now. One with one partition
        lies in one slot, and is never torn."""
        told = Found()
        for _ in range(TRIES):
            try:
                self._registry.forget(name)
                collection = self._registry.collection(name)
                if collection.settings.partitions == 1:
                    return told
                if not self._parts_are_there(collection, told, dry_run=dry_run):
                    return told
                found = CollectionRepair(
                    self._connection, self._store, self._decisions, collection, dry_run=dry_run
                ).run(settle)
            except CollectionChanged:
                continue
            except UnknownCollection:
                return None
            told.found += found.found
            told.left += found.left
            return told
        raise CollectionChanged

    def _parts_are_there(self, collection: Collection, told: Found, *, dry_run: bool) -> bool:
        """Makes partitions that have lost all; whether all are there."""
        where = places(collection.uid, collection.settings.partitions)
        client = self._connection.client
        for place, keys in enumerate(where.keys):
            if self._connection.call(client.hexists, keys.settings, "revision"):
                continue
            told.add(Damage.PARTITION, mended=not dry_run)
            if not dry_run:
                self._registry.make_part(collection, place)
        return not told.left
