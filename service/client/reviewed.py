"""Conflicts, decisions and near-misses. Each field means what `openapi.yaml` says."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from service.client.answers import Change
from service.client.stored import Document, Metadata
from service.client.told import Told


@dataclass(frozen=True, kw_only=True)
class Side(Told):
    """One of the two texts of a conflict."""

    id: str
    text: str | None
    metadata: Metadata


@dataclass(frozen=True, kw_only=True)
class Resolution(Told):
    """Who ruled on a conflict, and what stays; `decision` can be taken back."""

    keep: str
    by: str
    note: str | None
    at: datetime
    decision: str


@dataclass(frozen=True, kw_only=True)
class Conflict(Told):
    """A near copy whose facts differ, beside what it was matched with."""

    id: str
    collection: str
    status: str
    score: float
    changes: tuple[Change, ...]
    changes_cut: bool = False
    existing: Side
    incoming: Side
    opened_at: datetime
    resolution: Resolution | None


@dataclass(frozen=True, kw_only=True)
class Ruling(Conflict):
    """A conflict that was ruled on: downstream ingests and deletes what these name."""

    ingest: tuple[str, ...]
    retire: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Decision(Told):
    """An entry of the log: downstream ingests and deletes what it names."""

    id: str
    kind: str
    at: datetime
    collection: str
    document: str
    twin: str | None
    score: float | None
    rule: str | None
    reason: str | None
    changes: tuple[Change, ...]
    changes_cut: bool = False
    text: str | None
    metadata: Metadata | None
    ingest: tuple[str, ...]
    retire: tuple[str, ...]
    by: str | None
    note: str | None


@dataclass(frozen=True, kw_only=True)
class DecisionPage(Told):
    """A part of the log. `after` is to be kept once all of it was acted on: the place where the
    next part begins."""

    items: tuple[Decision, ...]
    next: str | None
    after: str


@dataclass(frozen=True, kw_only=True)
class Reverted(Told):
    """A decision that was taken back: downstream ingests and deletes what these name."""

    decision: Decision
    document: Document | None
    ingest: tuple[str, ...]
    retire: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class NearMissSide(Told):
    """One of two texts that are nearly alike enough."""

    id: str
    text: str | None


@dataclass(frozen=True, kw_only=True)
class NearMiss(Told):
    """A pair that fell just below the threshold."""

    a: NearMissSide
    b: NearMissSide
    score: float
    at: datetime
