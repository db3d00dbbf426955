"""The index on one Redis or Valkey server: the verbs of `base.Store` as scripts and commands."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from service.dedup.minhash import TAG_BYTES, band_tags
from service.dedup.stored import (
    CollectionInfo,
    DocumentFilter,
    Page,
    Statistics,
    StoredDocument,
    Twin,
)
from service.dedup.verdict import Metadata, State
from service.errors import StoreFull, StoreUnavailable
from service.settings import Settings
from service.store import replies
from service.store.base import (
    Collection,
    CollectionChanged,
    Probe,
    Registration,
    Replay,
    Seen,
    StoredText,
)
from service.store.connection import Connection
from service.store.growth import Growth, GrowthMemory
from service.store.keys import PartitionKeys, partition
from service.store.listing import Listing
from service.store.records import STATE_LETTERS, TextCodec, pack
from service.store.registry import Registry
from service.store.statistics import StatisticsReader

TEXTS_WITH_A_LOOK = 8
MOST_CANDIDATES = 64


def connect(settings: Settings) -> RedisStore:
    """The store at `settings.redis_url`. Connects at the first call, not here."""
    if settings.redis_url is None:
        raise ValueError("the address of the store is not known")
    connection = Connection(
        settings.redis_url, threads=settings.threads, deadline=settings.deadline
    )
    return RedisStore(connection)


class RedisStore:
    """Implements `base.Store`; what each verb promises is written there.

    `clock` gives the time in seconds since 1970."""

    def __init__(self, connection: Connection, *, clock: Callable[[], float] = time.time) -> None:
        self._connection = connection
        self._registry = Registry(connection)
        self._codec = TextCodec()
        self._listing = Listing(connection, self._codec, clock)
        self._statistics = StatisticsReader(connection, self._registry)
        self._growth = GrowthMemory(connection)

    def collection(self, name: str, *, anew: bool = False) -> Collection:
        """The collection as last read, or read anew; raises UnknownCollection."""
        if anew:
            self._registry.forget(name)
        return self._registry.collection(name)

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
        reply, shards = self._look("look", collection, probe, ())
        return self._told(collection, reply, shards)

    def check(self, collection: Collection, entry: Registration) -> int | Replay | Seen:
        """A look, and the registration of a text that is like nothing (`check.lua`)."""
        new = (
            pack(entry.stored),
            self._codec.compress(entry.text),
            _metadata_bytes(entry.metadata),
            *_flat(entry.counters),
        )
        try:
            reply, shards = self._look("check", collection, entry.probe, new)
        except StoreFull:
            return self.look(collection, entry.probe)
        if reply[0] == b"done":
            return self._registered(collection, reply)
        return self._told(collection, reply, shards)

    def _look(
        self, verb: str, collection: Collection, probe: Probe, more: Sequence[Any]
    ) -> tuple[Sequence[Any], list[str]]:
        """The reply to a look, and the shards that it asked."""
        if not collection.is_current:
            raise StoreUnavailable(f"{collection.name!r} was made under another scheme")
        keys, tags = partition(collection.uid), _probed_tags(probe)
        while True:
            growth = self._growth.of(collection)
            shards = growth.shard_keys(keys, tags)
            reply = self._connection.run(
                verb,
                [*_main_keys(keys), *shards],
                [
                    collection.revision,
                    growth.level,
                    growth.split,
                    probe.id,
                    probe.bytes_hash + probe.normalized_hash,
                    b"".join(tags),
                    probe.shingles,
                    collection.settings.threshold,
                    TEXTS_WITH_A_LOOK,
                    MOST_CANDIDATES,
                    collection.expires_before(probe.now),
                    *more,
                ],
            )
            if not self._is_refused(collection, reply):
                return reply, shards

    def _told(
        self, collection: Collection, reply: Sequence[Any], shards: list[str]
    ) -> Replay | Seen:
        if reply[0] == b"known":
            return replies.replay(reply)
        seen = replies.seen(reply, shards, self._codec)
        self._growth.heard(collection, seen.trail.growth)
        return seen

    def _registered(self, collection: Collection, reply: Sequence[Any]) -> int:
        """The number that a text was registered under; lets the index grow where that is due."""
        _, number, level, split, indexed = (int(value) for value in (0, *reply[1:]))
        self._growth.heard(collection, Growth(level, split, indexed))
        self._growth.grow_if_due(collection)
        return number

    def texts(self, collection: Collection, numbers: Sequence[int]) -> list[str | None]:
        """Kept texts by number; None for one that has left."""
        if not numbers:
            return []
        fields = [_packed(number) for number in numbers]
        client = self._connection.client
        kept = self._connection.call(client.hmget, partition(collection.uid).texts, fields)
        return [None if text is None else self._codec.decompress(text) for text in kept]

    def commit(self, collection: Collection, seen: Seen, entry: Registration) -> int | None:
        """Registers a text in one step (`commit.lua`); None where the look is out of date."""
        trail: replies.Trail = seen.trail
        if trail.expired:
            self._expire(collection, trail.expired, entry.probe.now)
        keys, own_tags = partition(collection.uid), _probed_tags(entry.probe)
        text = self._codec.compress(entry.text)
        while True:
            growth = self._growth.of(collection)
            shards = trail.shards_at(growth, keys, own_tags)
            leaving: list[Any] = [len(entry.leaving)]
            for old in entry.leaving:
                tags = _tags_of(collection, old)
                shards += growth.shard_keys(keys, tags)
                leaving += _place_of(old, tags)
            reply = self._connection.run(
                "commit",
                [*_main_keys(keys), *shards],
                [
                    collection.revision,
                    growth.level,
                    growth.split,
                    seen.next,
                    entry.probe.id,
                    _packed(seen.old.number) if seen.old else b"",
                    _packed(entry.match.number) if entry.match else b"",
                    STATE_LETTERS[entry.match.state] if entry.match else b"",
                    pack(entry.stored),
                    text,
                    _metadata_bytes(entry.metadata),
                    b"".join(own_tags),
                    entry.probe.now,
                    *leaving,
                    *_flat(entry.counters),
                ],
            )
            if not self._is_refused(collection, reply):
                break
        if reply[0] == b"changed":
            return None
        if reply[0] == b"exhausted":
            raise StoreFull("the collection has used up its numbers: make another one")
        return self._registered(collection, reply)

    def rewrite(self, collection: Collection, old: StoredText, entry: Registration) -> bool:
        """Replaces the bytes of a document whose normalised text stays (`rewrite.lua`)."""
        keys = partition(collection.uid)
        reply = self._connection.run(
            "rewrite",
            [keys.counters, keys.ids, keys.documents, keys.texts, keys.metadata],
            [
                old.id,
                _packed(old.number),
                pack(old),
                pack(entry.stored),
                self._codec.compress(entry.text),
                _metadata_bytes(entry.metadata),
                entry.probe.now,
                _packed(entry.match.number) if entry.match else b"",
                *_flat(entry.counters),
            ],
        )
        return bool(reply)

    def metadata(self, collection: Collection, number: int) -> Metadata:
        """The metadata of a text; empty where it has left."""
        client = self._connection.client
        kept = self._connection.call(
            client.hget, partition(collection.uid).metadata, _packed(number)
        )
        return dict(orjson.loads(kept)) if kept else {}

    def touch(self, collection: Collection, replay: Replay, metadata: Metadata, at: int) -> bool:
        """Counts a replay and keeps its metadata (`touch.lua`); False where the text has left."""
        keys = partition(collection.uid)
        try:
            reply = self._connection.run(
                "touch",
                [keys.counters, keys.ids, keys.documents, keys.metadata],
                [
                    replay.stored.id,
                    _packed(replay.stored.number),
                    at.to_bytes(6, "big"),
                    _metadata_bytes(metadata),
                    at // 1000,
                    _packed(replay.anchor.number) if replay.anchor else b"",
                    replay.stored.hashes.bytes + replay.stored.hashes.normalized,
                ],
            )
        except StoreFull:
            return True
        return bool(reply)

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

    def remove(self, collection: Collection, id: str) -> tuple[Twin, ...] | None:
        """Takes a document out whole (`remove.lua`); the copies once dropped for it, or None."""
        keys = partition(collection.uid)
        while True:
            found = self._listing.record(collection, id)
            if found is None:
                return None
            stored, twins = found
            growth, tags = self._growth.of(collection), _tags_of(collection, stored)
            reply = self._connection.run(
                "remove",
                [*_main_keys(keys), *growth.shard_keys(keys, tags)],
                [
                    collection.revision,
                    growth.level,
                    growth.split,
                    id,
                    *_place_of(stored, tags),
                ],
            )
            if not self._is_refused(collection, reply) and reply[0] == b"done":
                return twins

    def statistics(self, names: Sequence[str] | None) -> Statistics:
        """Counters of the named collections (None: all)."""
        return self._statistics.read(names)

    def readiness(self) -> str:
        """`ready` or `full`; raises StoreUnavailable."""
        return self._statistics.readiness()

    def _expire(self, collection: Collection, texts: Sequence[StoredText], now: int) -> None:
        """Takes out what has expired (`expire.lua`), in a full store too."""
        keys = partition(collection.uid)
        while True:
            growth = self._growth.of(collection)
            shards: list[str] = []
            places: list[Any] = []
            for text in texts:
                tags = _tags_of(collection, text)
                shards += growth.shard_keys(keys, tags)
                places += (*_place_of(text, tags), text.id)
            reply = self._connection.run(
                "expire",
                [*_main_keys(keys), *shards],
                [
                    collection.revision,
                    growth.level,
                    growth.split,
                    collection.expires_before(now),
                    *places,
                ],
            )
            if not self._is_refused(collection, reply):
                return

    def _is_refused(self, collection: Collection, reply: Sequence[Any]) -> bool:
        """Whether the script refused for what this process remembered; remembers better then."""
        if reply[0] == b"revision":
            self._registry.forget(collection.name)
            raise CollectionChanged
        if reply[0] != b"shards":
            return False
        indexed = self._growth.of(collection).indexed
        self._growth.heard(collection, Growth(int(reply[1]), int(reply[2]), indexed))
        return True


def _main_keys(keys: PartitionKeys) -> list[str]:
    """The keys of a partition in the order of the scripts that change documents."""
    return [
        keys.settings,
        keys.counters,
        keys.ids,
        keys.documents,
        keys.texts,
        keys.twins,
        keys.metadata,
        keys.wide,
    ]


def _packed(number: int) -> bytes:
    return number.to_bytes(4, "big")


def _place_of(stored: StoredText, tags: Sequence[bytes]) -> tuple[bytes, bytes]:
    """Where the index has a text: its number and its tags."""
    return _packed(stored.number), b"".join(tags)


def _probed_tags(probe: Probe) -> list[bytes]:
    """One tag a band, and the one of the normalised hash."""
    return [*probe.tags, probe.normalized_hash[:TAG_BYTES]]


def _tags_of(collection: Collection, stored: StoredText) -> list[bytes]:
    """The tags under which a text is indexed: none where it was dropped."""
    if stored.state is State.DROPPED:
        return []
    tags = band_tags(stored.signature, collection.scheme.banding)
    return [*tags, stored.hashes.normalized[:TAG_BYTES]]


def _metadata_bytes(metadata: Metadata) -> bytes:
    return orjson.dumps(metadata, option=orjson.OPT_SORT_KEYS) if metadata else b""


def _flat(counters: Mapping[str, int]) -> list[str | int]:
    return [part for pair in counters.items() for part in pair]
