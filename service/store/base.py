"""The Store protocol: what each verb promises, whatever keeps the index.

A check is *look*, verify, *apply*: the look sees everything at one instant, the step is refused if
what it rests on has changed since. No verb relies on what a process remembers: they refuse
settings or growth that have changed since.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import add
from typing import TYPE_CHECKING, Any, Protocol

from service.dedup.decisions import ConflictFilter, ConflictStatus, DecisionFilter
from service.dedup.queue import QueueFilter
from service.dedup.scheme import CollectionSettings, Scheme
from service.dedup.stored import (
    CollectionInfo,
    DocumentFilter,
    Gauges,
    Page,
    Readiness,
    Statistics,
    StoredDocument,
)
from service.dedup.verdict import Candidates, Hashes, MatchKind, Metadata, State, Verdict

if TYPE_CHECKING:
    from service.store.step import LogEntry, Step, StoredConflict, StoredNearMiss

SECONDS_A_DAY = 86_400
_BANDS = [bytes([band]) for band in range(256)]

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

    def conflict_name(self, number: int) -> str:
        """The id that a conflict goes by on the wire."""
        return f"c-{self.uid}-{number:x}"

    def decision_name(self, number: int) -> str:
        """The id that a log entry goes by on the wire."""
        return f"d-{self.uid}-{number:x}"


@dataclass(slots=True)
class StoredText:
    """One registered text and the answer it was given.

    `number` is its place in the order of registration (0: not yet given), `family` the number of
    the first text of its family (0: itself), `survivor` the number of the text it was dropped for
    (0: none), `drop_score` how alike the two are where its own score is another one. `retires`: the
    id was active with another text until this one came; `wins`: its match was dropped for it.
    `kind`, `score` and `match_id` are those of the first answer, None for `new`. `decision` is the
    log entry that put it where it is, `conflict` the last one that it came into (0: none).
    `superseded` is the normalised hash of the text before it, how alike they are, and the entry.
    Times are milliseconds since 1970, `seen_at` (last posted, or named as a match) seconds.
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
    superseded: tuple[bytes, float, int] | None = None
    wins: bool = False
    decision: int = 0
    conflict: int = 0
    drop_score: float | None = None

    @property
    def verdict(self) -> Verdict:
        """The verdict that this text was given."""
        if self.kind is None:
            return Verdict.NEW
        return Verdict.NEAR_DUPLICATE if self.kind is MatchKind.NEAR else Verdict.EXACT_DUPLICATE


@dataclass(slots=True)
class Probe:
    """What a look needs to know of a text. `tags` are all it is indexed under (`text_tags`);
    `now` is in seconds."""

    id: str
    bytes_hash: bytes
    normalized_hash: bytes
    tags: Sequence[bytes]
    shingles: int
    now: int

    @property
    def claims(self) -> list[str | bytes]:
        """What two texts share that may have to do with each other: an id, or a tag of one band."""
        return [self.id, *map(add, self.tags, _BANDS)]


@dataclass(slots=True)
class Candidate:
    """A stored text that shares a bucket; `text` is None where it was not fetched yet."""

    stored: StoredText
    text: str | None
    metadata: Metadata


@dataclass(frozen=True, slots=True)
class Standing:
    """The texts under an id: the main one, and a held update beside an active one."""

    id: str
    main: StoredText | None = None
    pending: StoredText | None = None

    @property
    def texts(self) -> tuple[StoredText, ...]:
        """Those that are there."""
        return tuple(text for text in (self.main, self.pending) if text is not None)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was published when something was read, of a collection that has several partitions: the
    last transaction, and those of which not all might be there."""

    last: int = 0
    unfinished: frozenset[int] = frozenset()


NO_SNAPSHOT = Snapshot()


@dataclass(slots=True)
class Replay:
    """The same id and bytes were checked before, and what that answer rests on is there.

    `anchor` is the text that a dropped one rests on, None where it is not dropped."""

    stored: StoredText
    metadata: Metadata
    anchor: StoredText | None
    standing: Standing
    snapshot: Snapshot = NO_SNAPSHOT


@dataclass(slots=True)
class CollectionState:
    """What a step must find unchanged, and what is due: held texts that wait to be checked anew,
    how often texts came back into the index, the time of the oldest log entry (seconds, None: the
    log is empty), whether anything was ever ruled, and where there are several partitions the
    snapshot under which this was read."""

    unsettled: int = 0
    reindexed: int = 0
    oldest: int | None = None
    ruled: bool = False
    snapshot: Snapshot = NO_SNAPSHOT


@dataclass(slots=True)
class Seen:
    """What stands beside a text that was not checked before. `next` is the number that the next
    registration gets; `old` the main text of the same id unless it has expired, with `old_anchor`
    as the text that it rests on where it was dropped; `expired` a few that may be taken out."""

    next: int
    state: CollectionState
    standing: Standing
    old: StoredText | None
    old_text: str | None
    old_anchor: StoredText | None
    exact: StoredText | None
    candidates: Sequence[Candidate]
    cut: bool
    expired: Sequence[StoredText] = ()


@dataclass(slots=True)
class Recalled:
    """What a replayed answer needs of the present: the entry of its decision and of its update,
    its conflict, and the state and metadata of the document it was matched with."""

    decision: LogEntry | None = None
    updated: LogEntry | None = None
    conflict: StoredConflict | None = None
    match_state: State | None = None
    match_metadata: Metadata = field(default_factory=dict)


@dataclass(slots=True)
class Registration:
    """A checked text to be registered where it is like nothing: `text` is the cleaned one;
    `counters` are raised by so much."""

    probe: Probe
    stored: StoredText
    text: str
    metadata: Metadata
    counters: Mapping[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Registered:
    """That a text was registered as it was looked up: its number, and the time of the oldest log
    entry (seconds, None: the log is empty)."""

    number: int
    oldest: int | None


@dataclass(frozen=True, slots=True)
class Applied:
    """What a step became: the number of its new text (0: it had none), of the conflict that it
    opened, of its first log entry, and how many held texts now wait to be checked anew."""

    number: int
    conflict: int
    first_entry: int
    unsettled: int


@dataclass(frozen=True, slots=True)
class QueuePart:
    """Conflicts in the order of a queue, each with its collection. `end` is the collection and the
    number of the conflict behind which (or before which) it goes on; None where it ends."""

    items: Sequence[tuple[Collection, StoredConflict]]
    end: tuple[Collection, int] | None


Look = Registered | Replay | Seen | None
"""What comes of a check that goes with others; None where it is to go by itself."""


class Store(Protocol):
    """The index. Every verb may raise StoreUnavailable; those that add, StoreFull."""

    def begin_call(self) -> None:
        """A call begins in this thread: from here on it waits for the store no longer than a call
        may, all verbs together; StoreUnavailable is raised then."""

    def go_on(self) -> None:
        """The call of this thread may take as long again: it makes progress."""

    def confirm(self) -> None:
        """Returns once a replica has all that the call of this thread has read and written, where
        the settings ask for it; raises Unconfirmed. It asks nothing where they do not."""

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

    def check(self, collection: Collection, entry: Registration) -> Registered | Replay | Seen:
        """A look, and where nothing stored is like the text its registration in the same step.
        `entry` is what is registered of a new text. A full store only looks."""

    def begin_checks(
        self, entries: Sequence[tuple[Collection, Registration]]
    ) -> Callable[[], list[Look]]:
        """Begins several checks at once, of texts that have nothing to do with one another: no id
        and no tag is that of two. What it gives waits for what came of each, None where it must be
        asked by itself. They are waited for in the order in which they were begun."""

    def apply(
        self, collection: Collection, step: Step, *, at_limit: bool = False
    ) -> Applied | None:
        """Applies a step whole; None, with nothing written, where what it rests on has changed:
        look again. `at_limit`: in a full store too. Raises CollectionChanged."""

    def texts(self, collection: Collection, numbers: Sequence[int]) -> list[str | None]:
        """Kept texts by number; None for one that has left."""

    def records(self, collection: Collection, numbers: Sequence[int]) -> list[StoredText | None]:
        """Registered texts by number; None for one that has left."""

    def metadata(self, collection: Collection, numbers: Sequence[int]) -> list[Metadata]:
        """The metadata of texts by number; empty for one that has left."""

    def standing(self, collection: Collection, id: str) -> Standing:
        """The texts under an id, as they are."""

    def rulings(self, collection: Collection, pairs: Sequence[bytes]) -> list[bytes]:
        """What is ruled about pairs (`dedup/pairs.py`); b"" where nothing is."""

    def touch(
        self, collection: Collection, replay: Replay, metadata: Metadata, at: int
    ) -> Recalled | None:
        """Counts a replay and keeps metadata that came with it, changed at `at` (milliseconds).

        None where the text has left: look again. A full store neither counts nor keeps, and that
        is no error."""

    def recall(self, collection: Collection, stored: StoredText) -> Recalled | None:
        """What `touch` tells, without counting; None where the text has left."""

    def unsettled(self, collection: Collection) -> list[tuple[int, int]]:
        """Held texts that wait to be checked anew, the oldest first, with their void conflicts."""

    def trim(self, collection: Collection, before: int) -> None:
        """Takes a few of the oldest log entries out, if from before `before` (seconds)."""

    def by_uid(self, uid: str) -> Collection | None:
        """The collection that ids of conflicts and decisions name; None where it is gone."""

    def conflict(self, collection: Collection, number: int) -> StoredConflict | None:
        """A conflict by its number, or None."""

    def conflicts(
        self, collection: Collection, wanted: ConflictFilter, most: int, below: int | None
    ) -> tuple[list[StoredConflict], int | None]:
        """Conflicts from number `below` (left out; None: the newest) downwards, and where to go on:
        None at the end. Fewer than `most` where it takes long to find them."""

    def queue(
        self,
        collections: Sequence[Collection],
        wanted: QueueFilter,
        most: int,
        start: tuple[Collection, StoredConflict] | None,
        *,
        back: bool = False,
    ) -> QueuePart:
        """A part of the queue that the collections make together, from behind `start` (a conflict
        of any status; None: the beginning) on, or `back` from before it. What it costs grows with
        `most` and the number of collections only."""

    def open_with(self, collection: Collection, texts: Sequence[int], most: int) -> list[list[int]]:
        """For each text the open conflicts, `most` at most, whose existing text it is."""

    def conflict_counts(self, collections: Sequence[Collection]) -> dict[ConflictStatus, int]:
        """How many conflicts the collections have, by status."""

    def entry(self, collection: Collection, number: int) -> LogEntry | None:
        """A log entry by its number, or None."""

    def entries(
        self, collection: Collection, wanted: DecisionFilter, most: int, after: int
    ) -> tuple[list[LogEntry], int, bool]:
        """Log entries above `after`, the last number that was looked at, and whether there are
        more. Fewer than `most` where it takes long to find them."""

    def entries_below(
        self, collection: Collection, wanted: DecisionFilter, most: int, below: int | None
    ) -> tuple[list[LogEntry], int | None]:
        """Log entries below `below` (None: all), the newest first, and where to go on: None at the
        end of the log. Fewer than `most` where it takes long to find them."""

    def near_misses(self, collection: Collection) -> list[StoredNearMiss]:
        """The pairs that are kept, the newest first."""

    def erase(self, collection: Collection, id: str, until: int | None = None) -> int:
        """Takes texts, metadata and every change that quotes them out of log and conflicts, for a
        document that was deleted; how many entries named it. `until`: its last entry that counts
        (None: all)."""

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

    def admit(self, token: str, rate: int) -> float:
        """Counts a call of a token that may make `rate` a second; seconds to wait, 0 where it may
        go on now. In a full store too."""

    def keep_session(self, digest: str, session: bytes, seconds: int) -> None:
        """Keeps a session until it was not used for so long."""

    def session(self, digest: str, seconds: int) -> bytes | None:
        """A session, which is used now, so that it is kept for `seconds` from here; None where
        there is none."""

    def end_session(self, digest: str) -> None:
        """Forgets a session, if there is one."""

    def statistics(self, names: Sequence[str] | None) -> Statistics:
        """Counters of the named collections (None: all), at constant cost."""

    def gauges(self) -> Gauges:
        """What changes from one moment to the next, of all collections together."""

    def readiness(self) -> Readiness:
        """Whether checks can be answered; raises StoreUnavailable where none can."""
