"""The words in which the service answers. Field names and meanings are those of openapi.yaml."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from service.text.changes import Changes
from service.text.cleaning import Cleaned

NO_CHANGES = Changes((), cut=False, facts_differ=False)

MetadataValue = str | int | float | bool
Metadata = Mapping[str, MetadataValue]


class Verdict(StrEnum):
    """What the text is, given everything stored."""

    NEW = "new"
    EXACT_DUPLICATE = "exact_duplicate"
    NEAR_DUPLICATE = "near_duplicate"


class Action(StrEnum):
    """What the worker does with the text."""

    INGEST = "ingest"
    SKIP = "skip"
    REVIEW = "review"


class State(StrEnum):
    """Where a text stands: downstream has it, it waits for a ruling, it was dropped, or it is gone
    and only its log entry keeps it: then no document shows it."""

    ACTIVE = "active"
    HELD = "held"
    DROPPED = "dropped"
    GONE = "gone"

    @property
    def is_indexed(self) -> bool:
        """Whether other texts are matched with it."""
        return self in (State.ACTIVE, State.HELD)


class MatchKind(StrEnum):
    """How two texts are alike: as posted, after normalisation, or by their shingles."""

    BYTES = "bytes"
    NORMALIZED = "normalized"
    NEAR = "near"


@dataclass(frozen=True, slots=True)
class Match:
    """The stored document that a text was matched with; `score` is the exact Jaccard."""

    id: str
    kind: MatchKind
    score: float
    state: State
    score_kind: str = "jaccard"


@dataclass(frozen=True, slots=True)
class Hashes:
    """SHA-256 digests (32 bytes each): of the text as posted, and of the normalised text."""

    bytes: builtins.bytes
    normalized: builtins.bytes


@dataclass(frozen=True, slots=True)
class Supersedes:
    """The text that stood under the same id before; `score` is its similarity to the new one.

    `changes` are told while the log has them: the old text is not kept."""

    normalized: bytes
    score: float
    changes: Changes = NO_CHANGES


@dataclass(frozen=True, slots=True)
class Candidates:
    """How many stored texts were compared, and whether there were more than that."""

    looked_at: int = 0
    cut: bool = False


@dataclass(slots=True)
class Posted:
    """A text as a caller posted it: `text` is None where pages were posted, `pages` where a text
    without form feeds was. A text with form feeds has both: they are its page ends."""

    text: str | None
    pages: tuple[str, ...] | None


@dataclass(slots=True)
class Document:
    """What a worker asks about: one text under one id of one collection."""

    id: str
    posted: Posted
    collection: str = "default"
    metadata: Metadata = field(default_factory=dict)
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class ConflictRef:
    """A conflict as an answer names it; `status` is `open`, `resolved` or `void`."""

    id: str
    status: str


@dataclass(slots=True)
class Answer:
    """The answer to one check."""

    id: str
    collection: str
    verdict: Verdict
    action: Action
    match: Match | None
    family: str
    leak: tuple[str, str] | None
    candidates: Candidates
    cleaned: Cleaned
    paged: bool
    hashes: Hashes
    changes: Changes = NO_CHANGES
    survivor: str | None = None
    reason: str | None = None
    retire: tuple[str, ...] = ()
    replayed: bool = False
    supersedes: Supersedes | None = None
    conflict: ConflictRef | None = None
    decision: str | None = None
