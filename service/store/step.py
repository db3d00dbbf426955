"""A step of the life of documents: what must hold, and what changes then, all of it or nothing.

Log entries and conflicts as the store keeps them are here too. A step may name numbers that only
the store gives: `NEW` is that of the new text, `OPENED` of the conflict it opens, `entry_ref(n)` of
its n-th log entry. Where several texts come in one transaction, `new_ref(n)` is that of the n-th.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from service.dedup.decisions import ConflictStatus, DecisionKind, Keep
from service.dedup.verdict import NO_CHANGES, Metadata
from service.store.base import NO_SNAPSHOT, Snapshot, Standing, StoredText
from service.text.changes import Changes

NEW: Final = 2**32 - 1
OPENED: Final = 2**32 - 2
_FIRST_REF: Final = 2**32 - 64
FIRST_NEW: Final = 2**32 - 128
MOST_NEW: Final = 32


def entry_ref(place: int) -> int:
    """The number that the `place`-th log entry of a step will get (0 is the first)."""
    return _FIRST_REF + place


def new_ref(place: int) -> int:
    """The number that the `place`-th of several new texts will get (0 is the first)."""
    return FIRST_NEW + place


def place_of(ref: int) -> int:
    """The place in a step's log that `entry_ref` stands for."""
    return ref - _FIRST_REF


@dataclass(slots=True)
class LogEntry:
    """One entry of the log. `document` is the incoming or leaving one, `twin` the other; `number`
    and `twin_number` are their texts, `conflict` the conflict it is about (0: none). `kept` are
    texts that only this entry keeps: they go when it goes. `at` is milliseconds since 1970.
    `pair` names both documents with their texts (`dedup/pairs.py`), where a revert is to say that
    they are not asked about again. `number_in_log` is 0 until it is written; `is_reverted`: it was
    taken back."""

    kind: DecisionKind
    document: str
    number: int = 0
    twin: str | None = None
    twin_number: int = 0
    conflict: int = 0
    kept: tuple[int, ...] = ()
    pair: bytes = b""
    score: float | None = None
    rule: str | None = None
    reason: str | None = None
    changes: Changes = NO_CHANGES
    ingest: tuple[str, ...] = ()
    retire: tuple[str, ...] = ()
    by: str | None = None
    note: str | None = None
    at: int = 0
    number_in_log: int = 0
    is_reverted: bool = False


@dataclass(frozen=True, slots=True)
class StoredResolution:
    """How a conflict was ruled on; `at` is milliseconds since 1970. `ingest` and `retire` are what
    the ruling answered."""

    keep: Keep
    by: str
    note: str | None
    at: int
    ingest: tuple[str, ...] = ()
    retire: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredConflict:
    """A conflict by the numbers of its texts; `decision` is the entry that closed it (0: none)."""

    number: int
    status: ConflictStatus
    existing: int
    incoming: int
    existing_id: str
    incoming_id: str
    score: float
    changes: Changes
    opened_at: int
    decision: int = 0
    resolution: StoredResolution | None = None


@dataclass(frozen=True, slots=True)
class StoredNearMiss:
    """A pair that fell just below the threshold; `at` is milliseconds since 1970."""

    existing: int
    incoming: int
    score: float
    at: int


@dataclass(slots=True)
class NewText:
    """A text that gets the next number."""

    stored: StoredText
    text: str
    metadata: Metadata


@dataclass(slots=True)
class Newcomers:
    """That no text came since a look that would be matched with `stored`; `only_equal`: that
    would be equal to it."""

    next_at_look: int
    reindexed: int
    stored: StoredText
    tags: Sequence[bytes]
    only_equal: bool
    snapshot: Snapshot = NO_SNAPSHOT


@dataclass(slots=True)
class Move:
    """A text as it was read and as it is to be; None takes it out whole. `forget` takes out its
    kept text and metadata; `updated`: its times are as they are to be."""

    was: StoredText
    now: StoredText | None
    forget: bool = False
    updated: bool = False


@dataclass(slots=True)
class Closing:
    """A conflict that gets another status; `conflict` is None where only its status changes."""

    number: int
    status: ConflictStatus
    conflict: StoredConflict | None = None


@dataclass(slots=True)
class Step:
    """See the module; `now` is milliseconds since 1970.

    What must hold: `is_standing` (the numbers under each id), `is_text` (state, decision, conflict
    and bytes of each text, and where `expired_before` names it, that it was last seen before),
    `is_ruled`, `is_conflict`, `is_entry` (entries not yet reverted), `is_unsettled`, `newcomers`.
    The rest are changes."""

    now: int
    is_standing: list[Standing] = field(default_factory=list)
    is_text: dict[int, StoredText] = field(default_factory=dict)
    expired_before: dict[int, int] = field(default_factory=dict)
    is_ruled: dict[bytes, bytes] = field(default_factory=dict)
    is_conflict: dict[int, ConflictStatus] = field(default_factory=dict)
    is_entry: list[int] = field(default_factory=list)
    is_unsettled: list[tuple[int, int]] = field(default_factory=list)
    newcomers: Newcomers | None = None
    new: NewText | None = None
    closed: list[Closing] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)
    standing: list[Standing] = field(default_factory=list)
    rewritten: list[tuple[int, str, Metadata]] = field(default_factory=list)
    opened: StoredConflict | None = None
    entries: list[LogEntry] = field(default_factory=list)
    reverted: list[int] = field(default_factory=list)
    rulings: dict[bytes, bytes] = field(default_factory=dict)
    settled: list[int] = field(default_factory=list)
    near_miss: tuple[int, float] | None = None
    seen: list[int] = field(default_factory=list)
    forgotten: list[int] = field(default_factory=list)
    counters: dict[str, int] = field(default_factory=dict)
