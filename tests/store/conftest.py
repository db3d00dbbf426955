"""A checker over a real, empty store, and a walk over all that the store holds."""

import random
from collections.abc import Callable
from typing import Any

import pytest
import redis

from service.catalogue import Catalogue
from service.checker import Checker
from service.dedup.minhash import band_tags
from service.dedup.verdict import Answer, Document, Posted, State
from service.store.connection import Connection
from service.store.growth import Growth
from service.store.keys import partition
from service.store.records import unpack
from service.store.redis_store import RedisStore

Post = Callable[..., Answer]
Scan = Callable[[str], list[str]]


@pytest.fixture
def store(redis_url: str, redis_client: redis.Redis) -> RedisStore:
    return RedisStore(Connection(redis_url, threads=4, deadline=10.0))


@pytest.fixture
def checker(store: RedisStore) -> Checker:
    return Checker(store, deadline=10.0)


@pytest.fixture
def catalogue(store: RedisStore) -> Catalogue:
    return Catalogue(store)


@pytest.fixture
def post(checker: Checker) -> Post:
    """Checks a text under an id: `post("a", "some words")`."""

    def check(id: str, text: str, **more: object) -> Answer:
        return checker.check(Document(id, Posted(text, None), **more))  # type: ignore[arg-type]

    return check


@pytest.fixture
def index_faults(redis_client: redis.Redis, store: RedisStore) -> Scan:
    """Walks every key of a collection and tells, in words, whatever contradicts another."""

    def scan(name: str = "default") -> list[str]:
        store._registry.forget(name)
        return walk(redis_client, store, name)

    return scan


def walk(client: Any, store: RedisStore, name: str) -> list[str]:
    collection = store.collection(name)
    keys, bands = partition(collection.uid), collection.scheme.banding.bands
    level, split = (int(v) for v in client.hmget(keys.settings, "level", "split"))
    growth, faults = Growth(level, split), []
    documents = {
        int.from_bytes(number, "big"): unpack(int.from_bytes(number, "big"), record)
        for number, record in client.hgetall(keys.documents).items()
    }
    by_id = {id.decode(): int.from_bytes(n, "big") for id, n in client.hgetall(keys.ids).items()}
    if by_id != {stored.id: number for number, stored in documents.items()}:
        faults.append("ids and documents disagree")
    numbers = {int.from_bytes(n, "big") for n in client.hkeys(keys.texts)}
    if numbers != set(documents):
        faults.append("texts and documents disagree")
    if not {int.from_bytes(n, "big") for n in client.hkeys(keys.metadata)} <= set(documents):
        faults.append("metadata of a text that has left")

    buckets, unlisted = read_buckets(client, keys, bands, growth, faults)
    expected = set()
    for number, stored in documents.items():
        if stored.state is State.DROPPED:
            continue
        for band, tag in enumerate(band_tags(stored.signature, collection.scheme.banding)):
            expected.add((band, tag, number))
    listed = {(band, tag, n) for (band, tag), members in buckets.items() for n in members}
    faults += [f"ghost in a bucket: {entry}" for entry in listed - expected]
    missing = expected - listed
    for band, tag, _ in missing:
        unlisted[band, tag] = unlisted.get((band, tag), 0) - 1
    faults += [f"a bucket counts wrongly: {b} {c}" for b, c in unlisted.items() if c]

    hashed = {
        (hash_, int.from_bytes(members[at : at + 4], "big"))
        for hash_, members in client.hgetall(keys.hashes).items()
        for at in range(0, len(members), 4)
    }
    if hashed != {
        (stored.hashes.normalized[:16], number)
        for number, stored in documents.items()
        if stored.state is not State.DROPPED
    }:
        faults.append("hashes and documents disagree")
    edges = {
        (int.from_bytes(edge[:4], "big"), int.from_bytes(edge[4:], "big"))
        for edge in client.zrange(keys.twins, 0, -1)
    }
    dropped = {(s.twin, n) for n, s in documents.items() if s.state is State.DROPPED}
    if edges != dropped:
        faults.append("twins and documents disagree")
    for state in State:
        counted = int(client.hget(keys.counters, state) or 0)
        there = sum(stored.state is state for stored in documents.values())
        if counted != there:
            faults.append(f"{counted} {state} counted, {there} there")
    indexed = sum(stored.state is not State.DROPPED for stored in documents.values())
    if int(client.hget(keys.settings, "indexed")) != indexed:
        faults.append("the count of indexed texts is wrong")
    return faults


def read_buckets(client, keys, bands, growth, faults):
    buckets: dict[tuple[int, bytes], list[int]] = {}
    unlisted: dict[tuple[int, bytes], int] = {}
    wide_seen: set[bytes] = set()
    for key in client.scan_iter(f"{keys.prefix}b*", count=1000):
        band, shard = (int(part, 16) for part in key.decode().rpartition(":b")[2].split("."))
        for tag, entry in client.hgetall(key).items():
            if growth.shard_of(tag, band, bands) != shard:
                faults.append(f"a bucket in the wrong shard: {key.decode()}")
            members = entry
            if entry == b"w":
                name = bytes([band + 1]) + tag
                wide_seen.add(name)
                listed = client.hget(keys.wide, name)
                unlisted[band, tag] = int.from_bytes(listed[:4], "big")
                members = listed[4:]
            buckets[band, tag] = [
                int.from_bytes(members[at : at + 4], "big") for at in range(0, len(members), 4)
            ]
    if set(client.hkeys(keys.wide)) != wide_seen:
        faults.append("a wide bucket without its entry in a shard")
    return buckets, unlisted


@pytest.fixture
def words() -> Callable[[int], str]:
    """Texts of random words, the same in every run: `words(100)`."""
    drawn = random.Random(7)

    def some(count: int) -> str:
        return " ".join(f"word{drawn.randrange(50_000)}" for _ in range(count))

    return some
