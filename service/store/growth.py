"""How the shards of the bands grow with the index: linear hashing (Litwin 1980).

Each band has 2^level shards; those before the split point, counted shard by shard and band by band,
have been split in two. A commit splits at most one, so that no check ever waits for a rehash, and a
shard stays small enough for the server's compact encoding. `lua/records.lua` has the same rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

FIRST_LEVEL = 5
ENTRIES_A_SHARD = 64


@dataclass(frozen=True, slots=True)
class Growth:
    """How far the index has grown: `indexed` texts, at this level and split point."""

    level: int = FIRST_LEVEL
    split: int = 0
    indexed: int = 0

    def shard_of(self, tag: bytes, band: int, bands: int) -> int:
        """The shard of a band's tag."""
        hashed, size = int.from_bytes(tag, "big"), 1 << self.level
        shard = hashed % size
        if shard * bands + band < self.split:
            return hashed % (2 * size)
        return shard

    def shards_of(self, tags: Sequence[bytes]) -> list[int]:
        """The shard of each band's tag."""
        bands, size = len(tags), 1 << self.level
        hashed = [int.from_bytes(tag, "big") for tag in tags]
        if not self.split:
            return [value & (size - 1) for value in hashed]
        return [
            value & (2 * size - 1)
            if (value & (size - 1)) * bands + band < self.split
            else value & (size - 1)
            for band, value in enumerate(hashed)
        ]

    def is_due(self, bands: int) -> bool:
        """Whether the shards hold so much that the next one should be split."""
        return self.indexed * bands > ENTRIES_A_SHARD * ((bands << self.level) + self.split)

    def next_split(self, bands: int) -> tuple[int, int, int]:
        """The band whose shard is split next, that shard, and the one that takes half of it."""
        shard, band = divmod(self.split, bands)
        return band, shard, shard + (1 << self.level)
