"""What is stored, as the service tells it. Each field means what `openapi.yaml` says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from service.client.answers import ConflictRef, Hashes
from service.client.told import Told

Metadata = Mapping[str, str | float | bool]


@dataclass(frozen=True, kw_only=True)
class Twin(Told):
    """The other document of a pair of which one was dropped."""

    id: str
    score: float
    decision: str | None


@dataclass(frozen=True, kw_only=True)
class Pending(Told):
    """An update of an active document that waits for a ruling."""

    text: str
    hashes: Hashes
    metadata: Metadata
    posted_at: datetime
    conflict: str | None


@dataclass(frozen=True, kw_only=True)
class Document(Told):
    """A stored document; `text` is the cleaned one. `twins` were dropped for it, it was dropped for
    `twin_of`."""

    id: str
    collection: str
    state: str
    orphaned: bool
    family: str | None
    hashes: Hashes
    metadata: Metadata
    text: str | None
    pending: Pending | None
    conflict: ConflictRef | None
    registered_at: datetime
    updated_at: datetime
    twins: tuple[Twin, ...]
    twins_cut: bool = False
    twin_of: Twin | None


@dataclass(frozen=True, kw_only=True)
class Deleted(Told):
    """What was deleted, with the copies that were once dropped for it."""

    deleted: str
    twins: tuple[Twin, ...] = ()


@dataclass(frozen=True, kw_only=True)
class DocumentCounts(Told):
    """Documents by their state."""

    active: int
    held: int
    dropped: int


@dataclass(frozen=True, kw_only=True)
class Collection(Told):
    """A collection: its settings, and the scheme by which its signatures are made."""

    name: str
    settings: Mapping[str, Any]
    scheme: Mapping[str, Any]
    documents: DocumentCounts


@dataclass(frozen=True, kw_only=True)
class CollectionStatistics(Told):
    """What was checked in a collection and what is kept of it."""

    documents: DocumentCounts
    checks: Mapping[str, Any]
    conflicts: Mapping[str, int]
    cleaning: Mapping[str, Any]
    scores: tuple[Mapping[str, float], ...]
    leaks: int
    embedding_calls_saved: int
    bytes_per_document: float | None


@dataclass(frozen=True, kw_only=True)
class StoreFigures(Told):
    """The store's own figures, in bytes."""

    memory_bytes: int
    maxmemory_bytes: int
    version: str
    policy: str


@dataclass(frozen=True, kw_only=True)
class Statistics(Told):
    """Counters by collection, and the store."""

    collections: Mapping[str, CollectionStatistics]
    store: StoreFigures | None
