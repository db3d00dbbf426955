"""What checks, cleaning and comparing answer. Each field means what `openapi.yaml` says."""

from __future__ import annotations

from dataclasses import dataclass

from service.client.errors import Fault
from service.client.told import Told


@dataclass(frozen=True, kw_only=True)
class Match(Told):
    """The stored document that a text was matched with."""

    id: str
    kind: str
    score: float
    score_kind: str
    state: str


@dataclass(frozen=True, kw_only=True)
class Change(Told):
    """One difference: `before` in the stored text, `after` in the posted one."""

    kind: str
    before: str | None
    after: str | None
    fact: bool


@dataclass(frozen=True, kw_only=True)
class ConflictRef(Told):
    """A conflict, by its id."""

    id: str
    status: str


@dataclass(frozen=True, kw_only=True)
class Leak(Told):
    """A near copy that stands in another split than its match."""

    split: str
    match_split: str


@dataclass(frozen=True, kw_only=True)
class Candidates(Told):
    """How many stored texts were compared, and whether there were more."""

    looked_at: int
    cut: bool


@dataclass(frozen=True, kw_only=True)
class Example(Told):
    """A line that cleaning removed, or kept, and on how many pages of how many it stood."""

    text: str
    pages: int
    of: int
    kept: bool = False


@dataclass(frozen=True, kw_only=True)
class Removal(Told):
    """What one rule of cleaning removed."""

    rule: str
    count: int
    chars: int
    examples: tuple[Example, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Cleaning(Told):
    """What cleaning removed, rule by rule."""

    chars_before: int
    chars_after: int
    removed: tuple[Removal, ...]
    kept: tuple[Example, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Hashes(Told):
    """SHA-256 of the text as posted, and of the text normalised."""

    bytes: str
    normalized: str


@dataclass(frozen=True, kw_only=True)
class Supersedes(Told):
    """The text that an id had before, compared with the one it has now."""

    normalized: str
    score: float
    changes: tuple[Change, ...]
    changes_cut: bool = False


@dataclass(frozen=True, kw_only=True)
class Answer(Told):
    """The answer to a check. `action` is what the caller does: `ingest`, `skip` or `review`;
    whatever `retire` names it deletes downstream."""

    id: str
    collection: str
    verdict: str
    action: str
    match: Match | None
    facts_differ: bool
    changes: tuple[Change, ...]
    changes_cut: bool = False
    conflict: ConflictRef | None
    survivor: str | None
    reason: str | None
    retire: tuple[str, ...]
    family: str | None
    leak: Leak | None
    candidates: Candidates
    text: str
    pages: tuple[str, ...] | None
    cleaning: Cleaning
    hashes: Hashes
    decision: str | None
    replayed: bool
    supersedes: Supersedes | None


@dataclass(frozen=True, kw_only=True)
class Problem(Told):
    """One item of many that was not checked, and why; `index` counts from 0."""

    index: int
    id: str | None
    code: str
    status: int
    detail: str
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Cleaned(Told):
    """A text that was cleaned and not stored."""

    text: str
    pages: tuple[str, ...] | None
    cleaning: Cleaning


@dataclass(frozen=True, kw_only=True)
class Similarity(Told):
    """How alike two texts are by shingles of so many words or characters."""

    unit: str
    size: int
    score: float


@dataclass(frozen=True, kw_only=True)
class Comparison(Told):
    """Two texts side by side; `verdict` is what the second would get if the first were stored."""

    bytes_equal: bool
    normalized_equal: bool
    similarity: tuple[Similarity, ...]
    score: float
    verdict: str
    facts_differ: bool
    changes: tuple[Change, ...]
    changes_cut: bool = False
