"""What can be torn, and what was found of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum

from service.store.spread.planning import Transaction


class Damage(StrEnum):
    """Kinds of damage, in the words in which they are told."""

    PARTITION = "partitions that had lost all"
    NUMBERS = "numbers that would have been given again"
    STALE = "texts that had left, and stood again"
    WORDS = "texts without their words"
    UNKEPT = "texts that no log entry keeps"
    UNBOUND = "texts without their id"
    UNINDEXED = "texts missing in buckets"
    GHOST = "places in buckets without their text"
    REST = "words and metadata without a text"
    ID = "ids that name a text that is gone"
    LINK = "links to copies that are wrong"
    HELD = "held texts that waited for nothing"
    CONFLICT = "conflicts about what is gone"
    LISTED = "conflicts that lists have wrong"
    REFERENCE = "texts that name a log entry of others"
    ENTRY = "log entries that were lost"
    PAST = "log entries that had left"
    KEPT = "log entries that keep a text that is gone"
    NAMED = "places in the index of the log"
    COUNT = "counts"
    NAME = "names of collections"
    STRAY = "keys of no collection"


@dataclass(slots=True)
class Mend:
    """One small step that mends something; its snapshot is put in when it is run.
    `count`: how much it mends."""

    damage: Damage
    plan: Transaction
    count: int = 1


@dataclass(slots=True)
class Found:
    """What was found in one collection, and what of it is not mended."""

    found: Counter[Damage] = field(default_factory=Counter)
    left: Counter[Damage] = field(default_factory=Counter)

    def add(self, damage: Damage, count: int = 1, *, mended: bool = True) -> None:
        """Counts damage."""
        self.found[damage] += count
        if not mended:
            self.left[damage] += count
