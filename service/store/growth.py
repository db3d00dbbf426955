"""How the shards of the bands grow with the index: linear hashing (Litwin 1980).

Each band has 2^level shards; those before the split point, counted shard by shard and band by band,
have been split in two. So a shard stays small enough for the server's compact encoding, and nothing
ever waits for a rehash. `lua/records.lua` has the same rule.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from service.errors import StoreError
from service.store.base import Collection
from service.store.connection import Connection
from service.store.keys import PartitionKeys, partition

FIRST_LEVEL = 5
ENTRIES_A_SHARD = 64
SPLITS_AT_ONCE = 8


def tags_of_a_text(collection: Collection) -> int:
    """How many tags a text is indexed under: one a band, and one of its normalised hash."""
    return collection.scheme.banding.bands + 1


@dataclass(frozen=True, slots=True)
class Growth:
    """How far the index has grown: `indexed` texts, at this level and split point."""

    level: int = FIRST_LEVEL
    split: int = 0
    indexed: int = 0

    def shards_of(self, tags: Sequence[bytes]) -> list[int]:
        """The shard of each band's tag."""
        if not tags:
            return []
        bands = len(tags)
        hashed = struct.unpack(f">{bands}I", b"".join(tags))
        low = (1 << self.level) - 1
        if not self.split:
            return [value & low for value in hashed]
        # Where a shard was split, one bit more tells which half.
        whole, rest = divmod(self.split, bands)
        high = low * 2 + 1
        return [
            value & high if (value & low) < whole + (band < rest) else value & low
            for band, value in enumerate(hashed)
        ]

    def shard_keys(self, keys: PartitionKeys, tags: Sequence[bytes]) -> list[str]:
        """The key of the shard of each band's tag."""
        return [
            f"{band}{shard}" for band, shard in zip(keys.bands, self.shards_of(tags), strict=False)
        ]

    def splits_due(self, bands: int) -> int:
        """How many shards should be split for no shard to hold more than it should."""
        shards = (bands << self.level) + self.split
        return max(0, self.indexed * bands // ENTRIES_A_SHARD - shards)

    def next_split(self, bands: int) -> tuple[int, int, int]:
        """The band whose shard is split next, that shard, and the one that takes half of it."""
        shard, band = divmod(self.split, bands)
        return band, shard, shard + (1 << self.level)

    def after_split(self, bands: int) -> Growth:
        """The growth once the next shard has been split."""
        # More where the collection had more bands before it was emptied and set anew.
        if self.split + 1 >= bands << self.level:
            return replace(self, level=self.level + 1, split=0)
        return replace(self, split=self.split + 1)


class GrowthMemory:
    """How far each collection had grown when this process last heard of it.

    Only ever a guess: scripts refuse a call that chose other shards than are right by now."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._known: dict[str, Growth] = {}
        self._growing = threading.Lock()

    def of(self, collection: Collection) -> Growth:
        """What was last heard of a collection."""
        return self._known.get(collection.uid) or Growth()

    def heard(self, collection: Collection, growth: Growth) -> None:
        """Remembers what a script told, unless more was told before: threads hear out of turn."""
        known = self._known.get(collection.uid)
        if known is None or (growth.level, growth.split) >= (known.level, known.split):
            self._known[collection.uid] = growth

    def corrected(self, collection: Collection, growth: Growth) -> None:
        """Remembers what a script refused a call for: an emptied index may begin anew."""
        self._known[collection.uid] = growth

    def grow_if_due(self, collection: Collection) -> None:
        """Splits a few shards where as many are due; of several callers one does it.

        Of the threads of this process only one asks: the others would be refused."""
        bands = tags_of_a_text(collection)
        if self.of(collection).splits_due(bands) < SPLITS_AT_ONCE:
            return
        if not self._growing.acquire(blocking=False):
            return
        try:
            self._grow(collection, bands)
        finally:
            self._growing.release()

    def _grow(self, collection: Collection, bands: int) -> None:
        growth = self.of(collection)
        if growth.splits_due(bands) < SPLITS_AT_ONCE:
            return
        keys = partition(collection.uid)
        split_keys, after = [keys.settings], growth
        for _ in range(SPLITS_AT_ONCE):
            band, source, target = after.next_split(bands)
            split_keys += (keys.shard(band, source), keys.shard(band, target))
            after = after.after_split(bands)
        arguments = [collection.revision, growth.level, growth.split, bands]
        try:
            reply: Sequence[Any] = self._connection.run("grow", split_keys, arguments)
        except StoreError:  # a growth that did not happen is no error of who asked for it
            return
        if reply[0] != b"revision":
            self.corrected(collection, Growth(int(reply[1]), int(reply[2]), growth.indexed))
