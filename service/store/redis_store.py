"""The index on one Redis or Valkey server: the verbs of `base.Store` as scripts and commands."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from service.dedup.minhash import band_tags
from service.dedup.stored import (
    CollectionInfo,
    DocumentFilter,
    Page,
    Statistics,
    StoredDocument,
    Twin,
)
from service.dedup.verdict import Metadata, State
from service.errors import StoreFull
from service.settings import Settings
from service.store.base import (
    Candidate,
    Collection,
    CollectionChanged,
    Probe,
    Registration,
    Replay,
    Seen,
    StoredText,
)
from service.store.connection import Connection
from service.store.growth import Growth
from service.store.keys import PartitionKeys, partition
from service.store.listing import Listing
from service.store.records import STATE_LETTERS, TextCodec, pack, unpack
from service.store.registry import Registry
from service.store.statistics import StatisticsReader

TEXTS_WITH_A_LOOK = 8
MOST_CANDIDATES = 64
HASH_BYTES = 16


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
        self._growth: dict[str, Growth] = {}

    def collection(self, name: str) -> Collection:
        """The collection as last read; raises UnknownCollection."""
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
        keys = partition(collection.uid)
        while True:
            growth = self._growth_of(collection)
            reply = self._connection.run(
                "look",
                [
                    keys.settings,
                    keys.ids,
                    keys.hashes,
                    keys.documents,
                    keys.texts,
                    keys.metadata,
                    keys.wide,
                    *_shard_keys(keys, growth, probe.tags),
                ],
                [
                    collection.revision,
                    growth.level,
                    growth.split,
                    probe.id,
                    probe.bytes_hash,
                    probe.normalized_hash[:HASH_BYTES],
                    b"".join(probe.tags),
                    probe.shingles,
                    collection.settings.threshold,
                    TEXTS_WITH_A_LOOK,
                    MOST_CANDIDATES,
                    collection.expires_before(probe.now),
                ],
            )
            if not self._is_stale(collection, reply):
                break
        if reply[0] == b"known":
            return _read_replay(reply)
        return self._read_seen(collection, reply)

    def texts(self, collection: Collection, numbers: Sequence[int]) -> list[str | None]:
        """Kept texts by number; None for one that has left."""
        if not numbers:
            return []
        fields = [number.to_bytes(4, "big") for number in numbers]
        client = self._connection.client
        kept = self._connection.call(client.hmget, partition(collection.uid).texts, fields)
        return [None if text is None else self._codec.decompress(text) for text in kept]

    def commit(self, collection: Collection, seen: Seen, entry: Registration) -> int | None:
        """Registers a text in one step (`commit.lua`); None where the look is out of date."""
        keys = partition(collection.uid)
        bands = collection.scheme.banding.bands
        indexed = entry.stored.state is not State.DROPPED
        watched = entry.probe.tags if indexed else []
        text = self._codec.compress(entry.text)
        while True:
            growth = self._growth_of(collection)
            shards = _shard_keys(keys, growth, watched)
            leaving: list[Any] = [len(entry.leaving) + len(seen.expired)]
            for old in (*entry.leaving, *seen.expired):
                tags = _tags_of(collection, old)
                shards += _shard_keys(keys, growth, tags)
                leaving += (
                    old.number.to_bytes(4, "big"),
                    old.hashes.normalized[:HASH_BYTES],
                    b"".join(tags),
                    old.id if old in seen.expired else "",
                )
            grows = indexed and growth.is_due(bands)
            if grows:
                band, source, target = growth.next_split(bands)
                shards += (keys.shard(band, source), keys.shard(band, target))
            reply = self._connection.run(
                "commit",
                [
                    keys.settings,
                    keys.counters,
                    keys.ids,
                    keys.hashes,
                    keys.documents,
                    keys.texts,
                    keys.twins,
                    keys.metadata,
                    keys.wide,
                    *shards,
                ],
                [
                    collection.revision,
                    growth.level,
                    growth.split,
                    seen.next,
                    entry.probe.id,
                    seen.old.number.to_bytes(4, "big") if seen.old else b"",
                    entry.probe.normalized_hash[:HASH_BYTES],
                    entry.match.number.to_bytes(4, "big") if entry.match else b"",
                    STATE_LETTERS[entry.match.state] if entry.match else b"",
                    pack(entry.stored),
                    text,
                    _metadata_bytes(entry.metadata),
                    b"".join(watched),
                    entry.probe.now,
                    collection.expires_before(entry.probe.now),
                    seen.swept,
                    *leaving,
                    int(grows),
                    *(part for pair in entry.counters.items() for part in pair),
                ],
            )
            if not self._is_stale(collection, reply):
                break
        if reply[0] == b"changed":
            return None
        return int(reply[1])

    def rewrite(self, collection: Collection, old: StoredText, entry: Registration) -> bool:
        """Replaces the bytes of a document whose normalised text stays (`rewrite.lua`)."""
        keys = partition(collection.uid)
        reply = self._connection.run(
            "rewrite",
            [keys.counters, keys.ids, keys.documents, keys.texts, keys.metadata],
            [
                old.id,
                old.number.to_bytes(4, "big"),
                pack(old),
                pack(entry.stored),
                self._codec.compress(entry.text),
                _metadata_bytes(entry.metadata),
                entry.probe.now,
                entry.match.number.to_bytes(4, "big") if entry.match else b"",
                *(part for pair in entry.counters.items() for part in pair),
            ],
        )
        return bool(reply)

    def metadata(self, collection: Collection, number: int) -> Metadata:
        """The metadata of a text; empty where it has left."""
        client = self._connection.client
        field = number.to_bytes(4, "big")
        kept = self._connection.call(client.hget, partition(collection.uid).metadata, field)
        return dict(orjson.loads(kept)) if kept else {}

    def touch(self, collection: Collection, replay: Replay, metadata: Metadata, at: int) -> bool:
        """Counts a replay and keeps its metadata (`touch.lua`); False where the text has left."""
        keys = partition(collection.uid)
        stored = replay.stored
        try:
            reply = self._connection.run(
                "touch",
                [keys.counters, keys.ids, keys.documents, keys.metadata],
                [
                    stored.id,
                    stored.number.to_bytes(4, "big"),
                    at.to_bytes(8, "big"),
                    _metadata_bytes(metadata),
                    at // 1000,
                    replay.anchor.number.to_bytes(4, "big") if replay.anchor else b"",
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
            growth = self._growth_of(collection)
            tags = _tags_of(collection, stored)
            reply = self._connection.run(
                "remove",
                [
                    keys.settings,
                    keys.counters,
                    keys.ids,
                    keys.hashes,
                    keys.documents,
                    keys.texts,
                    keys.twins,
                    keys.metadata,
                    keys.wide,
                    *_shard_keys(keys, growth, tags),
                ],
                [
                    collection.revision,
                    growth.level,
                    growth.split,
                    id,
                    stored.number.to_bytes(4, "big"),
                    stored.hashes.normalized[:HASH_BYTES],
                    b"".join(tags),
                ],
            )
            if not self._is_stale(collection, reply) and reply[0] == b"done":
                return twins

    def statistics(self, names: Sequence[str] | None) -> Statistics:
        """Counters of the named collections (None: all)."""
        return self._statistics.read(names)

    def readiness(self) -> str:
        """`ready` or `full`; raises StoreUnavailable."""
        return self._statistics.readiness()

    def _growth_of(self, collection: Collection) -> Growth:
        return self._growth.get(collection.uid) or Growth()

    def _is_stale(self, collection: Collection, reply: Sequence[Any]) -> bool:
        """Whether the script refused for what this process remembered; remembers better then."""
        if reply[0] == b"revision":
            self._registry.forget(collection.name)
            raise CollectionChanged
        if reply[0] != b"shards":
            return False
        indexed = self._growth_of(collection).indexed
        self._growth[collection.uid] = Growth(int(reply[1]), int(reply[2]), indexed)
        return True

    def _read_seen(self, collection: Collection, reply: Sequence[Any]) -> Seen:
        _, following, level, split, indexed, old, exact, flat, cut, swept, expired = reply
        self._growth[collection.uid] = Growth(int(level), int(split), int(indexed))
        candidates = [
            Candidate(
                _unpack(flat[at], flat[at + 2]),
                flat[at + 1],
                None if flat[at + 3] is None else self._codec.decompress(flat[at + 3]),
            )
            for at in range(0, len(flat), 4)
        ]
        return Seen(
            next=int(following),
            old=_unpack(old[0], old[1]) if old else None,
            old_text=self._codec.decompress(old[2]) if old else None,
            old_anchor=_unpack(old[3], old[4]) if old and old[3] else None,
            exact=_unpack(exact[0], exact[1]) if exact else None,
            candidates=candidates,
            cut=bool(cut),
            swept=swept,
            expired=[_unpack(*expired[at : at + 2]) for at in range(0, len(expired), 2)],
        )


def _unpack(packed_number: bytes, record: bytes) -> StoredText:
    return unpack(int.from_bytes(packed_number, "big"), record)


def _read_replay(reply: Sequence[Any]) -> Replay:
    _, number, record, metadata, anchor_number, anchor = reply
    return Replay(
        stored=_unpack(number, record),
        metadata=orjson.loads(metadata) if metadata else {},
        anchor=_unpack(anchor_number, anchor) if anchor else None,
    )


def _shard_keys(keys: PartitionKeys, growth: Growth, tags: Sequence[bytes]) -> list[str]:
    shards = growth.shards_of(tags)
    prefix = f"{keys.prefix}b"
    return [f"{prefix}{band:x}.{shard:x}" for band, shard in enumerate(shards)]


def _tags_of(collection: Collection, stored: StoredText) -> list[bytes]:
    """The tags under which a text is indexed: none where it was dropped."""
    if stored.state is State.DROPPED:
        return []
    return band_tags(stored.signature, collection.scheme.banding)


def _metadata_bytes(metadata: Metadata) -> bytes:
    return orjson.dumps(metadata, option=orjson.OPT_SORT_KEYS) if metadata else b""
