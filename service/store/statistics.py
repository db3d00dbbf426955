"""Counters and the server's own figures: what /stats and /readyz tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from redis.exceptions import ResponseError

from service.dedup.stored import (
    CollectionStatistics,
    DocumentCounts,
    Statistics,
    StoreFacts,
)
from service.dedup.verdict import Action, Verdict
from service.errors import StoreUnavailable, UnknownCollection
from service.store.base import Collection
from service.store.connection import Connection
from service.store.growth import Growth, tags_of_a_text
from service.store.keys import partition
from service.store.registry import Registry

CONFLICTS = {"open": "conflicts:o", "resolved": "conflicts:r", "void": "conflicts:v"}
REMOVED = "removed:"
SCORE = "score:"
SHARDS_SAMPLED = 8
FIELDS_SAMPLED = 5


class StatisticsReader:
    """Reads counters; what it costs does not grow with what is stored."""

    def __init__(self, connection: Connection, registry: Registry) -> None:
        self._connection = connection
        self._registry = registry

    def read(self, names: Sequence[str] | None) -> Statistics:
        """Counters of the named collections (None: all) and the server's figures."""
        collections = {}
        for name in self._registry.names() if names is None else names:
            self._registry.forget(name)
            try:
                collections[name] = self._collection(self._registry.collection(name))
            except UnknownCollection:  # removed since it was listed
                if names is not None:
                    raise
        return Statistics(collections, self._facts())

    def readiness(self) -> str:
        """`ready` or `full`; raises StoreUnavailable for a store that takes no writes."""
        info = self._connection.call(self._connection.client.info)
        if info.get("role") not in (None, "master"):
            raise StoreUnavailable("the store is a read-only replica", "readonly")
        if info.get("loading"):
            raise StoreUnavailable("the store is still loading", "loading")
        if info.get("aof_last_write_status", "ok") != "ok":
            raise StoreUnavailable("the store cannot write to its disk")
        limit = int(info.get("maxmemory", 0))
        return "full" if limit and int(info["used_memory"]) >= limit else "ready"

    def _facts(self) -> StoreFacts:
        info = self._connection.call(self._connection.client.info)
        version = info.get("valkey_version") or info.get("redis_version", "")
        return StoreFacts(
            memory_bytes=int(info.get("used_memory", 0)),
            maxmemory_bytes=int(info.get("maxmemory", 0)),
            version=f"{info.get('server_name', 'redis')} {version}",
            policy=str(info.get("maxmemory_policy", "")),
        )

    def _collection(self, collection: Collection) -> CollectionStatistics:
        keys = partition(collection.uid)
        raw: Mapping[bytes, bytes] = self._connection.call(
            self._connection.client.hgetall, keys.counters
        )
        counted = {name.decode(): int(value) for name, value in raw.items()}
        documents = DocumentCounts(*(counted.get(s, 0) for s in ("active", "held", "dropped")))
        return CollectionStatistics(
            documents=documents,
            replayed=counted.get("replayed", 0),
            verdicts={verdict: counted.get(verdict, 0) for verdict in Verdict},
            actions={action: counted.get(action, 0) for action in Action},
            chars_before=counted.get("chars_before", 0),
            chars_after=counted.get("chars_after", 0),
            removed=_prefixed(counted, REMOVED),
            scores={float(low): n for low, n in _prefixed(counted, SCORE).items()},
            leaks=counted.get("leaks", 0),
            bytes_per_document=self._bytes_per_document(collection, documents),
            conflicts={status: counted.get(name, 0) for status, name in CONFLICTS.items()},
            log_trimmed=counted.get("log_trimmed", 0),
        )

    def _bytes_per_document(self, collection: Collection, documents: DocumentCounts) -> int | None:
        stored = documents.active + documents.held + documents.dropped
        if not stored:
            return None
        keys, bands = partition(collection.uid), tags_of_a_text(collection)
        client = self._connection.client
        level, split = self._connection.call(client.hmget, keys.settings, "level", "split")
        growth = Growth(int(level), int(split))
        shards = (bands << growth.level) + growth.split
        pipeline = client.pipeline(transaction=False)
        for key in keys.whole():
            pipeline.memory_usage(key, FIELDS_SAMPLED)
        sampled = [keys.shard(n % bands, n) for n in range(SHARDS_SAMPLED)]
        for key in sampled:
            pipeline.memory_usage(key, 0)
        try:
            used: list[Any] = self._connection.call(pipeline.execute)
        except ResponseError:  # a managed store may not have the command
            return None
        except StoreUnavailable as error:  # or not allow it
            if error.kind != "noperm":
                raise
            return None
        of_keys = sum(size or 0 for size in used[: -len(sampled)])
        of_shards = sum(size or 0 for size in used[-len(sampled) :]) * shards // len(sampled)
        return (of_keys + of_shards) // stored


def _prefixed(counted: Mapping[str, int], prefix: str) -> dict[str, int]:
    return {
        name.removeprefix(prefix): value
        for name, value in sorted(counted.items())
        if name.startswith(prefix)
    }
