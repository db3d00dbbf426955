"""Where what is kept of a collection lies: in which of its partitions, and in which slots those.

Pure: every process finds the same.
"""

from __future__ import annotations

from binascii import crc32, crc_hqx
from dataclasses import dataclass
from functools import lru_cache

from service.store.keys import PartitionKeys, partition

SLOTS = 16_384
# A slot may lie so far behind its place: fewer names are tried then. Where home is as near to the
# end of a node's slots, which few are, two partitions are at one node and none at the next.
LEEWAY = 32
HOME = 0
HOME_OF_TWO, HOME_OF_MORE = 75, 50
"""How much of an even part of the bands home has, in hundredths: with less of them its memory would
be too far below that of the others."""
PART_REVISION = "part"
"""What stands for the revision in a partition that is not home: it says that it is there."""


@dataclass(frozen=True, slots=True)
class Places:
    """The partitions of one collection, home first."""

    keys: tuple[PartitionKeys, ...]

    @property
    def home(self) -> PartitionKeys:
        """The keys of the first one."""
        return self.keys[HOME]

    def of_number(self, number: int) -> int:
        """Where a text, a conflict or a log entry of this number lies."""
        return number % len(self.keys)

    def of_name(self, name: bytes) -> int:
        """Where what is asked by an id or a pair of texts lies."""
        return crc32(name) % len(self.keys)

    def bands_at(self, place: int, bands: int) -> slice:
        """Which of a text's tags, one a band, lie at a partition; it counts its bands for itself.

        Home, which has the order of transactions to keep, has about half of an even part."""
        others = len(self.keys) - 1
        if not others:
            return slice(0, bands)
        own = bands * (HOME_OF_TWO if others == 1 else HOME_OF_MORE) // (100 * len(self.keys))
        if place == HOME:
            return slice(0, own)
        return slice(own + place - 1, bands, others)

    def of_band(self, band: int, bands: int) -> tuple[int, int]:
        """Where a band lies, and the how many-th it is there."""
        for place in range(len(self.keys)):
            own = range(bands)[self.bands_at(place, bands)]
            if band in own:
                return place, own.index(band)
        raise ValueError(f"a text has {bands} bands")


@lru_cache(maxsize=1024)
def places(uid: str, count: int) -> Places:
    """The partitions of a collection: slots evenly spaced, from that of home on, so that each node
    of a cluster with an even share of the slots has an even share of them."""
    home = slot_of(f"{uid}.0")
    parts = ["0"]
    for number in range(1, count):
        wanted = home + number * SLOTS // count
        parts.append(_named(uid, number, wanted))
    return Places(tuple(partition(uid, part) for part in parts))


def slot_of(tag: str) -> int:
    """The cluster slot of a hash tag."""
    return crc_hqx(tag.encode(), 0) % SLOTS


def _named(uid: str, number: int, wanted: int) -> str:
    """The first name of a partition whose slot is the wanted one, or few behind it."""
    trial = 0
    while (slot_of(f"{uid}.{number}.{trial}") - wanted) % SLOTS >= LEEWAY:
        trial += 1
    return f"{number}.{trial}"
