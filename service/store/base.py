"""The Store protocol: what each verb promises, whatever keeps the index.

A check is *look*, verify, *commit*: the look sees everything at one instant, the commit is refused
if what the verdict rests on has changed since. No verb relies on what a process
remembers: look, commit and read refuse settings or growth that have changed since.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from service.dedup.scheme import CollectionSettings, Scheme
from service.dedup.stored import (
    CollectionInfo,
    DocumentFilter,
    Page,
    Statistics,
    StoredDocument,
    Twin,
)
from service.dedup.verdict import Candidates, Hashes, MatchKind, Metadata, State, Verdict

SECONDS_A_DAY = 86_400

# The types that each check makes anew are not frozen: a frozen class takes three times as long to
# make. Nothing changes them all the same.


class CollectionChanged(Exception):
    """The settings changed, or the collection was removed, since they were read: read again."""


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection as it was read; `revision` changes with its settings. `is_current`: this code
    makes signatures of its scheme."""

    name: str
    uid: str
    revision: str
    settings: CollectionSettings
    scheme: Scheme
    is_current: bool

    def expires_before(self, now: int) -> int:
        """What was last seen before this has expired (seconds since 1970); 0 where nothing does."""
        days = self.settings.ttl_days
        return 0 if days is None else max(now - days * SECONDS_A_DAY, 1)

    def family_name(self, family: int) -> str:
        """The opaque string that families go by on the wire."""
        return f"f-{self.uid}-{family:x}"


@dataclass(slots=True)
class StoredText:
    """One registered text and the answer it was given.

    `number` is its place in the order of registration (0: not yet given), `family` the number of
    the first text of its family (0: itself), `survivor` the number of the text it was dropped for
    (0: none). `retires`: the id was active with another text until this one came. `kind`, `score`
    and `match_id` are those of the first answer, None for `new`. Times are milliseconds
    since 1970, `seen_at` (last posted, or named as a match) seconds.
    """

    id: str
    state: State
    shingles: int
    hashes: Hashes
    signature: bytes
    registered_at: int
    updated_at: int
    seen_at: int
    number: int = 0
    family: int = 0
    survivor: int = 0
    retires: bool = False
    kind: MatchKind | None = None
    score: float = 0.0
    match_id: str | None = None
    candidates: Candidates = field(default_factory=Candidates)
    superseded: tuple[bytes, float] | None = None

    @property
    def verdict(self) -> Verdict:
        """The verdict that this text was given."""
        if self.kind is None:
            return Verdict.NEW
        return Verdict.NEAR_DUPLICATE if self.kind is MatchKind.NEAR else Verdict.EXACT_DUPLICATE


@dataclass(slots=True)
class Probe:
    """What a look needs to know of a text. `tags` is one a band; `now` is in seconds."""

    id: str
    bytes_hash: bytes
    normalized_hash: bytes
    tags: Sequence[bytes]
    shingles: int
    now: int


@dataclass(slots=True)
class Candidate:
    """A stored text that shares a bucket; `text` is None where it was not fetched yet."""

    stored: StoredText
    text: str | None


@dataclass(slots=True)
class Replay:
    """The same id and bytes were checked before, and what that answer rests on is there.

    `anchor` is the text that a dropped one rests on, None where it is not dropped."""

    stored: StoredText
    metadata: Metadata
    anchor: StoredText | None


@dataclass(slots=True)
class Seen:
    """What stands beside a text that was not checked before. `next` is the number that the next
    registration gets; `old` the text that stands under the same id, with `old_anchor` as the text
    that it rests on where it was dropped. `trail` is the store's own: its commit starts there."""

    next: int
    old: StoredText | None
    old_text: str | None
    old_anchor: StoredText | None
    exact: StoredText | None
    candidates: Sequence[Candidate]
    cut: bool
    trail: Any = None


@dataclass(slots=True)
class Registration:
    """One checked text to be registered: `text` is the cleaned one. `match` is what its verdict
    rests on; `leaving` are texts that leave with it; `counters` are raised by so much."""

    probe: Probe
    stored: StoredText
    text: str
    metadata: Metadata
    match: StoredText | None = None
    leaving: Sequence[StoredText] = ()
    counters: Mapping[str, int] = field(default_factory=dict)


class Store(Protocol):
    """The index. Every verb may raise StoreUnavailable; those that add, StoreFull."""

    def collection(self, name: str, *, anew: bool = False) -> Collection:
        """The collection as last read, which look and commit refuse where it has changed; or read
        anew. Raises UnknownCollection."""

    def configure(self, name: str, partial: Mapping[str, Any]) -> tuple[CollectionInfo, bool]:
        """Merges settings over what is there, or makes the collection (True).

        Raises FrozenSetting where documents are stored that the change would contradict."""

    def drop_collection(self, name: str) -> None:
        """Removes a collection and all it holds; raises UnknownCollection."""

    def describe(self, names: Sequence[str] | None) -> list[CollectionInfo]:
        """The named collections (None: all), by name; raises UnknownCollection."""

    def look(self, collection: Collection, probe: Probe) -> Replay | Seen:
        """What is known of a text, at one instant. Raises CollectionChanged."""

    def check(self, collection: Collection, entry: Registration) -> int | Replay | Seen:
        """A look, and where nothing stored is like the text its registration in the same step: then
        its number. `entry` is what is registered of a new text. A full store only looks."""

    def texts(self, collection: Collection, numbers: Sequence[int]) -> list[str | None]:
        """Kept texts by number; None for one that has left."""

    def commit(self, collection: Collection, seen: Seen, entry: Registration) -> int | None:
        """Registers a text in one step and gives its number; None, with nothing written, where
        what its verdict rests on has changed: look again. Raises CollectionChanged."""

    def rewrite(self, collection: Collection, old: StoredText, entry: Registration) -> bool:
        """Replaces bytes, kept text and metadata of a document whose normalised text stays; its
        number and what rests on it stay. False where it has changed: look again."""

    def metadata(self, collection: Collection, number: int) -> Metadata:
        """The metadata of a text by its number; empty where it has left."""

    def touch(self, collection: Collection, replay: Replay, metadata: Metadata, at: int) -> bool:
        """Counts a replay and keeps metadata that came with it, changed at `at` (milliseconds).

        False where the text has left: look again. A full store neither counts nor keeps, and that
        is no error."""

    def document(self, collection: Collection, id: str) -> StoredDocument | None:
        """A document as it stands, or None."""

    def documents(
        self,
        collections: Sequence[Collection],
        wanted: DocumentFilter,
        limit: int,
        cursor: str | None,
    ) -> Page[StoredDocument]:
        """A part of the list of documents, collection by collection, the oldest first.
        Raises InvalidRequest for a cursor that it never gave."""

    def remove(self, collection: Collection, id: str) -> tuple[Twin, ...] | None:
        """Takes a document out whole; the copies once dropped for it, or None if it is unknown.
        Runs in a full store too."""

    def statistics(self, names: Sequence[str] | None) -> Statistics:
        """Counters of the named collections (None: all), at constant cost."""

    def readiness(self) -> str:
        """`ready`, or `full` at the memory limit; raises StoreUnavailable where no check could be
        answered."""
