"""How far the shards of each partition have grown, each by itself."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from service.errors import StoreError
from service.store.base import Collection
from service.store.connection import Connection
from service.store.growth import SPLITS_AT_ONCE, Growth, tags_of_a_text
from service.store.spread.placement import HOME, PART_REVISION, Places, places


class GrowthOfParts:
    """What this process last heard of each partition's growth; only ever a guess."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._known: dict[tuple[str, int], Growth] = {}
        self._growing = threading.Lock()

    def of(self, collection: Collection, place: int) -> Growth:
        """What was last heard of a partition."""
        return self._known.get((collection.uid, place)) or Growth()

    def heard(self, collection: Collection, place: int, told: Sequence[Any]) -> None:
        """Remembers level, split and count, unless more was told before."""
        level, split, indexed = told
        known = self._known.get((collection.uid, place))
        if known is None or (level, split) >= (known.level, known.split):
            self._known[collection.uid, place] = Growth(int(level), int(split), int(indexed))

    def corrected(self, collection: Collection, place: int, level: int, split: int) -> None:
        """Remembers what a script refused a call for."""
        known = self.of(collection, place)
        self._known[collection.uid, place] = replace(known, level=level, split=split)

    def grow_if_due(self, collection: Collection) -> None:
        """Splits a few shards of each partition where as many are due."""
        where = places(collection.uid, collection.settings.partitions)
        tags = range(tags_of_a_text(collection))
        bands = {at: len(tags[where.bands_at(at, len(tags))]) for at in range(len(where.keys))}
        due = {
            place: own
            for place, own in bands.items()
            if own and self.of(collection, place).splits_due(own) >= SPLITS_AT_ONCE
        }
        if not due or not self._growing.acquire(blocking=False):
            return
        try:
            self._grow(collection, where, due)
        finally:
            self._growing.release()

    def _grow(self, collection: Collection, where: Places, due: dict[int, int]) -> None:
        calls: list[tuple[str, Sequence[str], Sequence[Any]]] = []
        for place, bands in due.items():
            growth = after = self.of(collection, place)
            keys = where.keys[place]
            names = [keys.settings]
            for _ in range(SPLITS_AT_ONCE):
                band, source, target = after.next_split(bands)
                names += (keys.shard(band, source), keys.shard(band, target))
                after = after.after_split(bands)
            revision = collection.revision if place == HOME else PART_REVISION
            calls.append(("grow", names, [revision, growth.level, growth.split, bands]))
        try:
            replies = self._connection.run_all(calls)
        except StoreError:  # a growth that did not happen is no error of who asked for it
            return
        for place, reply in zip(due, replies, strict=True):
            if not isinstance(reply, StoreError) and reply[0] != b"revision":
                self.corrected(collection, place, int(reply[1]), int(reply[2]))
