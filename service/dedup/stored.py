"""What the store knows, in the words of the wire contract."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, TypeVar

from service.dedup.scheme import CollectionSettings, Scheme
from service.dedup.verdict import ConflictRef, Hashes, MatchKind, Metadata, State

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Twin:
    """The other side of a drop: the copy that went (`twins`), or the one that stayed
    (`twin_of`)."""

    id: str
    score: float
    kind: MatchKind
    decision: str | None = None


@dataclass(frozen=True, slots=True)
class Pending:
    """A held update: the text that waits for a ruling while the document's own stays active."""

    hashes: Hashes
    metadata: Metadata
    text: str
    posted_at: datetime
    conflict: str | None


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """One document as it stands. `orphaned`: dropped, and what it was dropped for is gone.

    `twins` are the copies dropped for it, `twins_cut` where there are more than are named.
    `conflict` is the conflict in which it is the incoming text, if any."""

    id: str
    collection: str
    state: State
    orphaned: bool
    family: str
    hashes: Hashes
    metadata: Metadata
    text: str
    registered_at: datetime
    updated_at: datetime
    twins: tuple[Twin, ...]
    twins_cut: bool
    twin_of: Twin | None
    pending: Pending | None = None
    conflict: ConflictRef | None = None


@dataclass(frozen=True, slots=True)
class DocumentFilter:
    """Which documents a list shows; None means any."""

    state: State | None = None
    family: str | None = None
    orphaned: bool | None = None


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A part of a list, and where the next part begins; `next` is None at the end."""

    items: tuple[T, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class DocumentCounts:
    """How many documents of each state a collection holds."""

    active: int = 0
    held: int = 0
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class CollectionInfo:
    """A collection with its settings and its scheme."""

    name: str
    settings: CollectionSettings
    scheme: Scheme
    documents: DocumentCounts


@dataclass(frozen=True, slots=True)
class CollectionStatistics:
    """Counters of one collection since it was made. `removed`: characters by cleaning rule;
    `scores`: near matches by twentieths of similarity, the lower bound of each as its key;
    `conflicts` by status; `log_trimmed` counts entries that left the log."""

    documents: DocumentCounts
    replayed: int
    verdicts: Mapping[str, int]
    actions: Mapping[str, int]
    chars_before: int
    chars_after: int
    removed: Mapping[str, int]
    scores: Mapping[float, int]
    leaks: int
    bytes_per_document: int | None
    conflicts: Mapping[str, int] = field(default_factory=dict)
    log_trimmed: int = 0


@dataclass(frozen=True, slots=True)
class StoreFacts:
    """What the server says of itself; memory in bytes, 0 for no limit. `replica_lag_bytes` is that
    of the replica that is furthest behind."""

    memory_bytes: int
    maxmemory_bytes: int
    version: str
    policy: str
    evicted_keys: int = 0
    aof_write_ok: bool = True
    replicas: int = 0
    replica_lag_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Gauges:
    """The store as it is now, all collections together: documents by state, the conflicts that are
    open, when the oldest of them was opened (seconds since 1970)."""

    documents: Mapping[str, int]
    open_conflicts: int
    oldest_conflict: float | None
    store: StoreFacts


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether checks can be answered. `store` is `ready`, `full` at a memory limit, or `partial`
    where some of the `primaries` take no writes; `kind` is single, sentinel or cluster."""

    store: str
    kind: str
    primaries: int
    available: int
    replicas: int


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counters of the collections asked for, and the server's own figures."""

    collections: Mapping[str, CollectionStatistics] = field(default_factory=dict)
    store: StoreFacts | None = None
