"""What is decided about documents after their check, in the words of the wire contract."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from service.dedup.stored import StoredDocument
from service.dedup.verdict import NO_CHANGES, Metadata
from service.text.changes import Changes


class ConflictStatus(StrEnum):
    """Whether a conflict waits for a ruling, has one, or lost one of its texts before."""

    OPEN = "open"
    RESOLVED = "resolved"
    VOID = "void"


class Keep(StrEnum):
    """What a ruling keeps."""

    INCOMING = "incoming"
    EXISTING = "existing"
    BOTH = "both"


class DecisionKind(StrEnum):
    """What a log entry tells. `docs/life.md` has what each means."""

    DROPPED = "dropped"
    REPLACED = "replaced"
    HELD = "held"
    UPDATED = "updated"
    RESOLVED = "resolved"
    DELETED = "deleted"
    REVERTED = "reverted"
    VOIDED = "voided"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class Side:
    """One text of a pair; `text` is None where it is no longer kept."""

    id: str
    text: str | None
    metadata: Metadata


@dataclass(frozen=True, slots=True)
class Resolution:
    """How a conflict was ruled on, by whom; `decision` is the id of the log entry, which may be
    taken back."""

    keep: Keep
    by: str
    note: str | None
    at: datetime
    decision: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two near copies whose facts differ."""

    id: str
    collection: str
    status: ConflictStatus
    score: float
    changes: Changes
    existing: Side
    incoming: Side
    opened_at: datetime
    resolution: Resolution | None = None


@dataclass(frozen=True, slots=True)
class ConflictFilter:
    """Which conflicts a list shows; None means any. `kind` is one of its changes' kinds."""

    status: ConflictStatus | None = None
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class Ruling:
    """A conflict that was ruled on, and what downstream does about it."""

    conflict: Conflict
    ingest: tuple[str, ...]
    retire: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Decision:
    """One entry of the log. `document` is the incoming or leaving one, `twin` the other; `text` and
    `metadata` are the document's, None where the text is no longer kept."""

    id: str
    kind: DecisionKind
    at: datetime
    collection: str
    document: str
    twin: str | None = None
    score: float | None = None
    rule: str | None = None
    reason: str | None = None
    changes: Changes = NO_CHANGES
    text: str | None = None
    metadata: Metadata | None = None
    ingest: tuple[str, ...] = ()
    retire: tuple[str, ...] = ()
    by: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class DecisionFilter:
    """Which log entries a list shows; None means any. Scores are bounds that belong to it.
    `or_twin`: those in which the document is the twin, too."""

    document: str | None = None
    kind: DecisionKind | None = None
    min_score: float | None = None
    max_score: float | None = None
    or_twin: bool = False


@dataclass(frozen=True, slots=True)
class DecisionPage:
    """A part of the log; `after` is where the next question begins, at its end too. `next` is the
    same place where more is there already."""

    items: tuple[Decision, ...]
    next: str | None
    after: str


@dataclass(frozen=True, slots=True)
class LatestPage:
    """A part of the log, the newest first; `place` is where it goes on, None at its end."""

    items: tuple[Decision, ...]
    place: str | None


@dataclass(frozen=True, slots=True)
class Shown:
    """A log entry beside its twin (None: it has none) as that is now. `obstacle` says why it cannot
    be taken back, None where it can."""

    decision: Decision
    twin: Side | None
    obstacle: str | None


@dataclass(frozen=True, slots=True)
class Reverted:
    """A decision that was taken back: the new entry, the document as it stands now (None where
    another caller has deleted it since), and what downstream does about it."""

    decision: Decision
    document: StoredDocument | None
    ingest: tuple[str, ...]
    retire: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A pair that fell just below the threshold when the second was checked."""

    a: Side
    b: Side
    score: float
    at: datetime
