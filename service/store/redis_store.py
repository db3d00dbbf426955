"""The index on Redis or Valkey: the verbs of `base.Store` as scripts and commands."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from service.dedup.decisions import ConflictFilter, ConflictStatus, DecisionFilter
from service.dedup.queue import QueueFilter
from service.dedup.stored import (
    CollectionInfo,
    DocumentFilter,
    Gauges,
    Page,
    Readiness,
    Statistics,
    StoredDocument,
)
from service.dedup.verdict import Metadata
from service.errors import StoreFull, StoreUnavailable
from service.store import replies
from service.store.base import (
    Applied,
    Collection,
    CollectionChanged,
    CollectionState,
    Look,
    Probe,
    QueuePart,
    Recalled,
    Registered,
    Registration,
    Replay,
    Seen,
    Standing,
    StoredText,
)
from service.store.conflict_queue import ConflictQueue
from service.store.connection import Connection
from service.store.decision_reader import DecisionReader
from service.store.growth import Growth, GrowthMemory
from service.store.keys import SESSIONS, partition, rate_of
from service.store.listing import Listing
from service.store.records import STATE_LETTERS, TextCodec, pack, unpack
from service.store.registry import Registry
from service.store.statistics import StatisticsReader
from service.store.step import LogEntry, Step, StoredConflict, StoredNearMiss
from service.store.steps import StepEncoder, flat, metadata_bytes, packed

TEXTS_WITH_A_LOOK = 8
MOST_CANDIDATES = 64
TRIMMED_AT_ONCE = 32
MICROSECONDS = 1_000_000


class RedisStore:
    """Implements `base.Store`; what each verb promises is written there.

    `clock` gives the time in seconds since 1970."""

    def __init__(self, connection: Connection, *, clock: Callable[[], float] = time.time) -> None:
        self._connection = connection
        self._registry = Registry(connection)
        self._codec = TextCodec()
        self._listing = Listing(connection, self._codec, clock)
        self._decisions = DecisionReader(connection)
        self._queue = ConflictQueue(connection)
        self._statistics = StatisticsReader(connection, self._registry)
        self._growth = GrowthMemory(connection)

    def begin_call(self) -> None:
        """This thread begins a call."""
        self._connection.begin_call()

    def go_on(self) -> None:
        """The call of this thread gets its time anew."""
        self._connection.go_on()

    def confirm(self) -> None:
        """Waits until a replica has all that the call rests on; raises Unconfirmed."""
        self._connection.confirm()

    def collection(self, name: str, *, anew: bool = False) -> Collection:
        """The collection as last read, or read anew; raises UnknownCollection."""
        if anew:
            self._registry.forget(name)
        return self._registry.collection(name)

    def by_uid(self, uid: str) -> Collection | None:
        """The collection of a uid; None where it is gone."""
        return self._registry.by_uid(uid)

    def configure(self, name: str, partial: Mapping[str, Any]) -> tuple[CollectionInfo, bool]:
        """Merges settings, or makes the collection (True); raises FrozenSetting."""
        return self._registry.configure(name, partial)

    def drop_collection(self, name: str) -> None:
        """Removes a collection and all it holds; raises UnknownCollection."""
        self._registry.drop(name)

    def describe(self, names: Sequence[str] | None) -> list[CollectionInfo]:
        """The named collections (None: all); raises UnknownCollection."""
        if names is not None:
            return [self._registry.describe(name) for name in names]
        return self._registry.describe_all()

    def look(self, collection: Collection, probe: Probe) -> Replay | Seen:
        """What is known of a text, at one instant: one call of `look.lua`."""
        return self._told(collection, probe, self._look("look", collection, probe, ()))

    def check(self, collection: Collection, entry: Registration) -> Registered | Replay | Seen:
        """A look, and the registration of a text that is like nothing (`check.lua`)."""
        try:
            reply = self._look("check", collection, entry.probe, self._new(entry))
        except StoreFull:
            return self.look(collection, entry.probe)
        return self._checked(collection, entry, reply)

    def _new(self, entry: Registration) -> tuple[Any, ...]:
        """What `check.lua` needs to register a text."""
        return (
            pack(entry.stored),
            self._codec.compress(entry.text),
            metadata_bytes(entry.metadata),
            *flat(entry.counters),
        )

    def _checked(
        self, collection: Collection, entry: Registration, reply: Sequence[Any]
    ) -> Registered | Replay | Seen:
        if reply[0] != b"done":
            return self._told(collection, entry.probe, reply)
        state = self._heard(collection, reply[2])
        self._growth.grow_if_due(collection)
        return Registered(int(reply[1]), state.oldest)

    def begin_checks(
        self, entries: Sequence[tuple[Collection, Registration]]
    ) -> Callable[[], list[Look]]:
        """Sends all checks (`check.lua`) in one go; what it gives receives the replies."""
        calls = [
            self._looking(collection, entry.probe, self._growth.of(collection), self._new(entry))
            for collection, entry in entries
        ]
        receive = self._connection.send("check", calls)

        def outcomes() -> list[Look]:
            return [
                None
                if isinstance(reply, Exception) or reply[0] in (b"revision", b"shards")
                else self._checked(collection, entry, reply)
                for (collection, entry), reply in zip(entries, receive(), strict=True)
            ]

        return outcomes

    def _looking(
        self, collection: Collection, probe: Probe, growth: Growth, more: Sequence[Any]
    ) -> tuple[list[str], list[Any]]:
        """The keys and arguments of a look."""
        if not collection.is_current:
            raise StoreUnavailable(f"{collection.name!r} was made under another scheme")
        keys = partition(collection.uid)
        return [*keys.of_texts(), *growth.shard_keys(keys, probe.tags)], [
            collection.revision,
            growth.level,
            growth.split,
            probe.id,
            probe.bytes_hash + probe.normalized_hash,
            b"".join(probe.tags),
            probe.shingles,
            collection.settings.threshold,
            TEXTS_WITH_A_LOOK,
            MOST_CANDIDATES,
            collection.expires_before(probe.now),
            *more,
        ]

    def _look(
        self, verb: str, collection: Collection, probe: Probe, more: Sequence[Any]
    ) -> Sequence[Any]:
        while True:
            growth = self._growth.of(collection)
            keys, arguments = self._looking(collection, probe, growth, more)
            reply: Sequence[Any] = self._connection.run(verb, keys, arguments)
            if not self._is_refused(collection, reply):
                return reply

    def _told(self, collection: Collection, probe: Probe, reply: Sequence[Any]) -> Replay | Seen:
        if reply[0] == b"known":
            return replies.replay(probe.id, reply)
        return replies.seen(probe.id, reply, self._heard(collection, reply[2]), self._codec)

    def _heard(self, collection: Collection, told: Sequence[Any]) -> CollectionState:
        """The state of the collection that a script told; how it has grown is remembered."""
        growth, state = replies.growth_and_state(told)
        self._growth.heard(collection, growth)
        return state

    def apply(
        self, collection: Collection, step: Step, *, at_limit: bool = False
    ) -> Applied | None:
        """Applies a step whole (`commit.lua`, or `leave.lua` at the memory limit)."""
        encoder = StepEncoder(collection, partition(collection.uid), step, self._codec)
        while True:
            keys, arguments = encoder.at(self._growth.of(collection))
            reply = self._connection.run("leave" if at_limit else "commit", keys, arguments)
            if not self._is_refused(collection, reply):
                return self._applied(collection, reply)

    def _applied(self, collection: Collection, reply: Sequence[Any]) -> Applied | None:
        if reply[0] == b"changed":
            return None
        if reply[0] == b"exhausted":
            raise StoreFull("the collection has used up its numbers: make another one")
        _, number, told, conflict, first_entry = reply
        state = self._heard(collection, told)
        self._growth.grow_if_due(collection)
        return Applied(int(number), int(conflict), int(first_entry), state.unsettled)

    def texts(self, collection: Collection, numbers: Sequence[int]) -> list[str | None]:
        """Kept texts by number; None for one that has left."""
        kept = self._fields(partition(collection.uid).texts, [packed(n) for n in numbers])
        return [None if text is None else self._codec.decompress(text) for text in kept]

    def records(self, collection: Collection, numbers: Sequence[int]) -> list[StoredText | None]:
        """Registered texts by number; None for one that has left."""
        kept = self._fields(partition(collection.uid).documents, [packed(n) for n in numbers])
        return [
            None if record is None else unpack(number, record)
            for number, record in zip(numbers, kept, strict=True)
        ]

    def metadata(self, collection: Collection, numbers: Sequence[int]) -> list[Metadata]:
        """The metadata of texts by number; empty for one that has left."""
        kept = self._fields(partition(collection.uid).metadata, [packed(n) for n in numbers])
        return [replies.metadata_of(written) for written in kept]

    def standing(self, collection: Collection, id: str) -> Standing:
        """The texts under an id, as they are."""
        entry = self._fields(partition(collection.uid).ids, [id])[0] or b""
        numbers = [int.from_bytes(entry[at : at + 4], "big") for at in range(0, len(entry), 4)]
        return Standing(id, *self.records(collection, numbers))

    def rulings(self, collection: Collection, pairs: Sequence[bytes]) -> list[bytes]:
        """What is ruled about pairs; b"" where nothing is."""
        kept = self._fields(partition(collection.uid).rulings, pairs)
        return [ruling or b"" for ruling in kept]

    def _fields(self, key: str, fields: Sequence[Any]) -> list[Any]:
        if not fields:
            return []
        return list(self._connection.call(self._connection.client.hmget, key, list(fields)))

    def touch(
        self, collection: Collection, replay: Replay, metadata: Metadata, at: int
    ) -> Recalled | None:
        """Counts a replay and keeps its metadata (`touch.lua`); None where the text has left."""
        keys, stored = partition(collection.uid), replay.stored
        try:
            reply = self._connection.run(
                "touch",
                [
                    keys.ids,
                    keys.documents,
                    keys.log,
                    keys.conflicts,
                    keys.metadata,
                    keys.counters,
                ],
                [
                    packed(stored.number),
                    stored.match_id or b"",
                    stored.id,
                    at.to_bytes(6, "big"),
                    metadata_bytes(metadata),
                    at // 1000,
                    packed(replay.anchor.number) if replay.anchor else b"",
                    stored.hashes.bytes + stored.hashes.normalized,
                    STATE_LETTERS[stored.state] + packed(stored.decision),
                ],
            )
        except StoreFull:
            return self.recall(collection, stored)
        return None if reply is None else replies.recalled(stored, reply)

    def recall(self, collection: Collection, stored: StoredText) -> Recalled | None:
        """What a replayed answer needs (`recall.lua`); None where the text has left."""
        keys = partition(collection.uid)
        reply = self._connection.run(
            "recall",
            [keys.ids, keys.documents, keys.log, keys.conflicts, keys.metadata],
            [packed(stored.number), stored.match_id or b""],
        )
        return None if reply is None else replies.recalled(stored, reply)

    def unsettled(self, collection: Collection) -> list[tuple[int, int]]:
        """Held texts that wait to be checked anew, each with its void conflict."""
        key = partition(collection.uid).unsettled
        waiting = self._connection.call(self._connection.client.hgetall, key)
        return sorted(
            (int.from_bytes(number, "big"), int.from_bytes(conflict, "big"))
            for number, conflict in waiting.items()
        )

    def trim(self, collection: Collection, before: int) -> None:
        """Takes a few of the oldest log entries out (`trim.lua`)."""
        arguments = [collection.revision, before, TRIMMED_AT_ONCE]
        self._connection.run("trim", partition(collection.uid).whole(), arguments)

    def conflict(self, collection: Collection, number: int) -> StoredConflict | None:
        """A conflict by its number, or None."""
        return self._decisions.conflict(collection, number)

    def conflicts(
        self, collection: Collection, wanted: ConflictFilter, most: int, below: int | None
    ) -> tuple[list[StoredConflict], int | None]:
        """Conflicts, the newest first, and where to go on."""
        return self._decisions.conflicts(collection, wanted, most, below)

    def queue(
        self,
        collections: Sequence[Collection],
        wanted: QueueFilter,
        most: int,
        start: tuple[Collection, StoredConflict] | None,
        *,
        back: bool = False,
    ) -> QueuePart:
        """A part of the queue that the collections make together."""
        return self._queue.part(collections, wanted, most, start, back=back)

    def open_with(self, collection: Collection, texts: Sequence[int], most: int) -> list[list[int]]:
        """The open conflicts of existing texts."""
        return self._queue.open_with(collection, texts, most)

    def conflict_counts(self, collections: Sequence[Collection]) -> dict[ConflictStatus, int]:
        """How many conflicts there are, by status."""
        return self._queue.counts(collections)

    def entry(self, collection: Collection, number: int) -> LogEntry | None:
        """A log entry by its number, or None."""
        return self._decisions.entry(collection, number)

    def entries(
        self, collection: Collection, wanted: DecisionFilter, most: int, after: int
    ) -> tuple[list[LogEntry], int, bool]:
        """Log entries, the oldest first, where to go on, and whether there are more."""
        return self._decisions.entries(collection, wanted, most, after)

    def entries_below(
        self, collection: Collection, wanted: DecisionFilter, most: int, below: int | None
    ) -> tuple[list[LogEntry], int | None]:
        """Log entries, the newest first, and where to go on."""
        return self._decisions.entries_below(collection, wanted, most, below)

    def near_misses(self, collection: Collection) -> list[StoredNearMiss]:
        """The pairs that are kept, the newest first."""
        return self._decisions.near_misses(collection)

    def erase(self, collection: Collection, id: str, until: int | None = None) -> int:
        """Takes every word of a deleted document out of the log; how many entries named it."""
        return self._decisions.erase(collection, id, until)

    def document(self, collection: Collection, id: str) -> StoredDocument | None:
        """A document as it stands, or None."""
        return self._listing.document(collection, id)

    def documents(
        self,
        collections: Sequence[Collection],
        wanted: DocumentFilter,
        limit: int,
        cursor: str | None,
    ) -> Page[StoredDocument]:
        """A part of the list of documents."""
        return self._listing.documents(collections, wanted, limit, cursor)

    def admit(self, token: str, rate: int) -> float:
        """Counts a call (`admit.lua`); seconds to wait, 0 where it may go on now."""
        return int(self._connection.run("admit", [rate_of(token)], [rate])) / MICROSECONDS

    def keep_session(self, digest: str, session: bytes, seconds: int) -> None:
        """Keeps a session until it was not used for so long."""
        self._connection.call(
            partial(self._connection.client.set, ex=seconds), SESSIONS + digest, session
        )

    def session(self, digest: str, seconds: int) -> bytes | None:
        """A session, which is used now; None where there is none."""
        ask = partial(self._connection.client.getex, ex=seconds)
        kept: bytes | None = self._connection.call(ask, SESSIONS + digest)
        return kept

    def end_session(self, digest: str) -> None:
        """Forgets a session, if there is one."""
        self._connection.call(self._connection.client.unlink, SESSIONS + digest)

    def statistics(self, names: Sequence[str] | None) -> Statistics:
        """Counters of the named collections (None: all)."""
        return self._statistics.read(names)

    def gauges(self) -> Gauges:
        """What changes from one moment to the next."""
        return self._statistics.gauges()

    def readiness(self) -> Readiness:
        """Whether checks can be answered; raises StoreUnavailable where none can."""
        return self._statistics.readiness()

    def _is_refused(self, collection: Collection, reply: Sequence[Any]) -> bool:
        """Whether the script refused for what this process remembered; remembers better then."""
        if reply[0] == b"revision":
            self._registry.forget(collection.name)
            raise CollectionChanged
        if reply[0] != b"shards":
            return False
        indexed = self._growth.of(collection).indexed
        self._growth.corrected(collection, Growth(int(reply[1]), int(reply[2]), indexed))
        return True
