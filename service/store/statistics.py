"""Counters and the server's own figures: what /stats and /readyz tell."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from redis.exceptions import ResponseError

from service.dedup.stored import (
    CollectionStatistics,
    DocumentCounts,
    Gauges,
    Readiness,
    Statistics,
    StoreFacts,
)
from service.dedup.verdict import Action, Verdict
from service.errors import StoreError, StoreUnavailable, UnknownCollection
from service.store.base import Collection
from service.store.connection import Connection
from service.store.growth import Growth, tags_of_a_text
from service.store.keys import PartitionKeys, partition
from service.store.log import read_conflict
from service.store.registry import Registry

DOCUMENTS = ("active", "held", "dropped")
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

    def gauges(self) -> Gauges:
        """What changes from one moment to the next, of all collections together."""
        facts, client = self._facts(), self._connection.client
        every = [partition(uid) for uid in self._registry.uids()]
        pipeline = client.pipeline(transaction=False)
        for keys in every:
            pipeline.hmget(keys.counters, *DOCUMENTS, CONFLICTS["open"])
            pipeline.zrangebyscore(keys.conflicts_by_age, 1, "+inf", start=0, num=1)
        replies = _of_those_that_answer(self._connection.call(pipeline.execute, False))
        counted = [[int(count or 0) for count in counts] for counts in replies[::2] if counts]
        *documents, conflicts = map(sum, zip(*counted, strict=True)) if counted else (0, 0, 0, 0)
        return Gauges(
            documents=dict(zip(DOCUMENTS, documents, strict=True)),
            open_conflicts=conflicts,
            oldest_conflict=self._oldest(every, replies[1::2]),
            store=facts,
        )

    def _oldest(
        self, every: Sequence[PartitionKeys], first: Sequence[Sequence[bytes]]
    ) -> float | None:
        """When the oldest open conflict was opened; `first` has the first of each collection."""
        pipeline = self._connection.client.pipeline(transaction=False)
        for keys, numbers in zip(every, first, strict=True):
            if numbers:
                pipeline.hget(keys.conflicts, numbers[0])
        replies = _of_those_that_answer(self._connection.call(pipeline.execute, False))
        kept = [one for one in replies if one is not None]
        return min((read_conflict(0, one).opened_at / 1000 for one in kept), default=None)

    def readiness(self) -> Readiness:
        """Whether checks can be answered; raises StoreUnavailable where no part of the store takes
        writes. A part that takes none leaves the other parts ready."""
        told = self._connection.every(lambda server: server.client.info())
        states, replicas, why = [], 0, StoreUnavailable("no primary is known")
        for one in told:
            if isinstance(one, StoreUnavailable):
                why = one
                continue
            try:
                states.append(_state_of(one))
            except StoreUnavailable as error:
                why = error
            else:
                replicas += int(one.get("connected_slaves", 0))
        if not states:
            raise why
        state = "full" if "full" in states else "ready"
        return Readiness(
            store=state if len(states) == len(told) else "partial",
            kind=self._connection.kind.value,
            primaries=len(told),
            available=len(states),
            replicas=replicas,
        )

    def _facts(self) -> StoreFacts:
        """The figures of all servers together: sums, and the worst where a sum means nothing."""
        infos = self._connection.infos()
        first = infos[0]
        version = first.get("valkey_version") or first.get("redis_version", "")

        def total(name: str) -> int:
            return sum(int(info.get(name, 0)) for info in infos)

        return StoreFacts(
            memory_bytes=total("used_memory"),
            maxmemory_bytes=total("maxmemory"),
            version=f"{first.get('server_name', 'redis')} {version}",
            policy=str(first.get("maxmemory_policy", "")),
            evicted_keys=total("evicted_keys"),
            aof_write_ok=all(info.get("aof_last_write_status", "ok") == "ok" for info in infos),
            replicas=total("connected_slaves"),
            replica_lag_bytes=max(map(_lag, infos)),
        )

    def _collection(self, collection: Collection) -> CollectionStatistics:
        keys = partition(collection.uid)
        raw: Mapping[bytes, bytes] = self._connection.call(
            self._connection.client.hgetall, keys.counters
        )
        counted = {name.decode(): int(value) for name, value in raw.items()}
        documents = DocumentCounts(*(counted.get(s, 0) for s in DOCUMENTS))
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
        used: list[Any] = self._connection.call(pipeline.execute, False)  # errors in their places
        if any(isinstance(size, (ResponseError, StoreError)) for size in used):
            return None  # a managed store, or its rights, may not allow the command
        of_keys = sum(size or 0 for size in used[: -len(sampled)])
        of_shards = sum(size or 0 for size in used[-len(sampled) :]) * shards // len(sampled)
        return (of_keys + of_shards) // stored


def _state_of(told: Mapping[str, Any]) -> str:
    """`ready` or `full`; raises StoreUnavailable for a server that takes no writes."""
    if told.get("role") not in (None, "master"):
        raise StoreUnavailable("the store is a read-only replica", "readonly")
    if told.get("loading"):
        raise StoreUnavailable("the store is still loading", "loading")
    if told.get("aof_last_write_status", "ok") != "ok":
        raise StoreUnavailable("the store cannot write to its disk")
    limit = int(told.get("maxmemory", 0))
    return "full" if limit and int(told["used_memory"]) >= limit else "ready"


def _of_those_that_answer(replies: Sequence[Any]) -> list[Any]:
    """The replies with nothing in the place of one that failed; raises where all did."""
    errors = [reply for reply in replies if isinstance(reply, Exception)]
    if errors and len(errors) == len(replies):
        raise errors[0]
    return [None if isinstance(reply, Exception) else reply for reply in replies]


def _lag(info: Mapping[str, Any]) -> int:
    """How many bytes of the replication stream the replica that is furthest behind lacks."""
    at = int(info.get("master_repl_offset", 0))
    replicas = [one for name, one in info.items() if re.fullmatch(r"slave\d+", name)]
    return max((at - int(one.get("offset", at)) for one in replicas), default=0)


def _prefixed(counted: Mapping[str, int], prefix: str) -> dict[str, int]:
    return {
        name.removeprefix(prefix): value
        for name, value in sorted(counted.items())
        if name.startswith(prefix)
    }
