"""A walk over all that the store holds of a collection: what contradicts what, in words."""

from typing import Any

from service.dedup.minhash import band_tags
from service.dedup.verdict import State
from service.store.connection import Connection
from service.store.growth import Growth, tags_of_a_text
from service.store.keys import partition
from service.store.records import unpack
from service.store.redis_store import RedisStore


def faults_at(url: str, name: str = "default") -> list[str]:
    """The walk over a store that is known by its address."""
    connection = Connection(url, threads=1, deadline=60.0)
    try:
        return walk(connection.client, RedisStore(connection), name)
    finally:
        connection.client.connection_pool.disconnect()


def walk(client: Any, store: RedisStore, name: str) -> list[str]:
    store._registry.forget(name)
    collection = store.collection(name)
    keys, bands = partition(collection.uid), tags_of_a_text(collection)
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
        tags = band_tags(stored.signature, collection.scheme.banding)
        for band, tag in enumerate([*tags, stored.hashes.normalized[:4]]):
            expected.add((band, tag, number))
    listed = {(band, tag, n) for (band, tag), members in buckets.items() for n in members}
    faults += [f"ghost in a bucket: {entry}" for entry in listed - expected]
    missing = expected - listed
    for band, tag, _ in missing:
        unlisted[band, tag] = unlisted.get((band, tag), 0) - 1
    faults += [f"a bucket counts wrongly: {b} {c}" for b, c in unlisted.items() if c]

    edges = {
        (int.from_bytes(edge[:4], "big"), int.from_bytes(edge[4:], "big"))
        for edge in client.zrange(keys.twins, 0, -1)
    }
    dropped = {(s.survivor, n) for n, s in documents.items() if s.state is State.DROPPED}
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


def shard_of(growth: Growth, tag: bytes, band: int, bands: int) -> int:
    """The rule of linear hashing, written down once more."""
    hashed, size = int.from_bytes(tag, "big"), 2**growth.level
    shard = hashed % size
    return int(hashed % (2 * size) if shard * bands + band < growth.split else shard)


def packed(entry: bytes) -> bytes:
    return int(entry).to_bytes(4, "big") if entry.isdigit() else b""


def read_buckets(client, keys, bands, growth, faults):
    buckets: dict[tuple[int, bytes], list[int]] = {}
    unlisted: dict[tuple[int, bytes], int] = {}
    wide_seen: set[bytes] = set()
    for key in client.scan_iter(f"{keys.prefix}b*", count=1000):
        band, shard = (int(part) for part in key.decode().rpartition(":b")[2].split("."))
        for tag, entry in client.hgetall(key).items():
            if shard_of(growth, tag, band, bands) != shard:
                faults.append(f"a bucket in the wrong shard: {key.decode()}")
            members = entry[1:] if entry[:1] == b"p" else packed(entry)
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
