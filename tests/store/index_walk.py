"""A walk over all that the store holds of a collection: what contradicts what, in words."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha1
from struct import pack
from typing import Any

import redis
from redis.cluster import ClusterNode

from service.dedup.decisions import ConflictStatus, DecisionKind
from service.dedup.minhash import band_tags
from service.dedup.verdict import State
from service.store.any_store import AnyStore
from service.store.base import Collection, StoredText
from service.store.connection import Connection
from service.store.growth import Growth, tags_of_a_text
from service.store.log import STATUS_LETTERS, read_conflict, read_entry, read_near_miss
from service.store.records import unpack
from service.store.spread.placement import Places, places
from service.store.step import LogEntry, StoredConflict
from service.store_address import Kind, read_address
from service.text.changes import ChangeKind

MOST_NEAR_MISSES = 256
OPEN = ConflictStatus.OPEN


def faults_at(url: str, name: str = "default") -> list[str]:
    """The walk over a store that is known by its address."""
    connection = Connection(url, deadline=60.0)
    address = read_address(url)
    seeds = [ClusterNode(*node) for node in address.nodes]
    client: Any = connection.client
    if address.kind is Kind.CLUSTER:  # what scans asks all nodes
        client = redis.RedisCluster(startup_nodes=seeds, protocol=3)
    try:
        return walk(client, AnyStore(connection), name)
    finally:
        client.close()
        connection.close()


def walk(client: Any, store: AnyStore, name: str) -> list[str]:
    store._registry.forget(name)
    collection = store.collection(name)
    if collection.settings.partitions > 1:
        # Whoever comes next finishes what a writer left that was lost.
        store._spread.sequencer.catch_up(collection)
    kept = read(client, collection)
    return [
        fault
        for part in (
            of_keys(client, kept),
            of_transactions(client, kept),
            of_places(client, kept),
            of_standing(kept),
            of_texts(kept),
            of_buckets(client, kept),
            of_twins(kept),
            of_conflicts(kept),
            of_waiting(kept),
            of_log(kept),
            of_what_the_log_keeps(kept),
            of_counters(kept),
        )
        for fault in part
    ]


@dataclass
class Kept:
    """All that a collection holds, read from its keys. `ids` has the numbers under each id, the
    main one first; edges are of numbers, scores of sorted sets by their members."""

    collection: Collection
    where: Places
    settings: dict[str, int]
    counters: dict[str, int]
    ids: dict[str, list[int]]
    documents: dict[int, StoredText]
    texts: set[int]
    metadata: set[int]
    twins: set[tuple[int, int]]
    log: dict[int, LogEntry]
    log_index: set[bytes]
    conflicts: dict[int, StoredConflict]
    by_existing: dict[tuple[int, int], float]
    by_age: dict[int, float]
    rulings: dict[bytes, bytes]
    unsettled: dict[int, int]
    near_misses: dict[int, bytes]
    conflict_lists: dict[bytes, float]

    @property
    def standing(self) -> dict[int, str]:
        """The id that each text stands under, as its main or its pending one."""
        return {number: id for id, numbers in self.ids.items() for number in numbers}

    @property
    def mains(self) -> Iterator[StoredText]:
        return (self.documents[n[0]] for n in self.ids.values() if n[0] in self.documents)

    def setting(self, name: str) -> int:
        return self.settings.get(name, 0)


def u32(packed: bytes) -> int:
    return int.from_bytes(packed, "big")


def numbers_in(packed: bytes) -> list[int]:
    return [u32(packed[at : at + 4]) for at in range(0, len(packed), 4)]


def read(client: Any, collection: Collection) -> Kept:
    where = places(collection.uid, collection.settings.partitions)
    home = where.home

    def every(name: str) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        for keys in where.keys:
            found |= client.hgetall(getattr(keys, name))
        return found

    def hash_of(name: str) -> dict[int, bytes]:
        return {u32(number): value for number, value in every(name).items()}

    def scores(name: str) -> list[tuple[bytes, float]]:
        return [
            (member, score)
            for keys in where.keys
            for member, score in client.zrange(getattr(keys, name), 0, -1, withscores=True)
        ]

    def edges(name: str) -> list[tuple[tuple[int, int], float]]:
        return [((u32(edge[:4]), u32(edge[4:])), score) for edge, score in scores(name)]

    def whole_numbers(key: str) -> dict[str, int]:
        found = client.hgetall(key).items()
        return {name.decode(): int(value) for name, value in found if value.lstrip(b"-").isdigit()}

    return Kept(
        collection=collection,
        where=where,
        settings=whole_numbers(home.settings),
        counters=whole_numbers(home.counters),
        ids={id.decode(): numbers_in(entry) for id, entry in every("ids").items()},
        documents={n: unpack(n, record) for n, record in hash_of("documents").items()},
        texts=set(hash_of("texts")),
        metadata=set(hash_of("metadata")),
        twins={edge for edge, _ in edges("twins")},
        log={n: read_entry(n, entry) for n, entry in hash_of("log").items()},
        log_index={member for member, _ in scores("log_index")},
        conflicts={n: read_conflict(n, written) for n, written in hash_of("conflicts").items()},
        by_existing=dict(edges("conflicts_by_existing")),
        by_age={u32(number): score for number, score in scores("conflicts_by_age")},
        rulings=every("rulings"),
        unsettled={n: u32(conflict) for n, conflict in hash_of("unsettled").items()},
        conflict_lists=dict(scores("conflict_lists")),
        near_misses={int(n): miss for n, miss in every("near_misses").items()},
    )


def of_keys(client: Any, kept: Kept) -> Iterator[str]:
    parts = kept.where.keys
    shards = tuple(f"{keys.prefix}b".encode() for keys in parts)
    known = {key.encode() for keys in parts for key in keys.whole()}
    if len(parts) > 1:
        known |= {key.encode() for keys in parts for key in keys.of_transactions()}
    for key in client.scan_iter(f"ts1:{{{kept.collection.uid}.*", count=1000):
        if key not in known and not key.startswith(shards):
            yield f"a key that nothing is known of: {key!r}"


def of_transactions(client: Any, kept: Kept) -> Iterator[str]:
    """All are done."""
    unfinished = client.zrange(kept.where.home.unfinished, 0, -1)
    if unfinished or client.hkeys(kept.where.home.redo):
        yield f"transactions that nobody finishes: {unfinished}"


def of_places(client: Any, kept: Kept) -> Iterator[str]:
    """What goes by its number, or by an id, lies where it is looked for."""
    where = kept.where
    for place, keys in enumerate(where.keys):
        for name in ("documents", "texts", "metadata", "log", "conflicts"):
            for number in client.hkeys(getattr(keys, name)):
                if where.of_number(u32(number)) != place:
                    yield f"{u32(number)} of {name} lies in partition {place}"
        for name in ("twins", "conflicts_by_existing"):
            for edge in client.zrange(getattr(keys, name), 0, -1):
                if where.of_number(u32(edge[:4])) != place:
                    yield f"an edge of {name} lies in partition {place}: {edge!r}"
        for name in ("ids", "rulings"):
            for field in client.hkeys(getattr(keys, name)):
                if where.of_name(field) != place:
                    yield f"{field!r} of {name} lies in partition {place}"


def of_standing(kept: Kept) -> Iterator[str]:
    """Each id has a text that may stand there, each text that stands an id."""
    for id, numbers in kept.ids.items():
        if len(numbers) not in (1, 2):
            yield f"{id} has {len(numbers)} texts"
            continue
        texts = [kept.documents.get(number) for number in numbers]
        if any(text is None or text.id != id for text in texts):
            yield f"{id} has texts that are not there or of another id: {numbers}"
            continue
        states = [text.state for text in texts if text is not None]
        if states[0] is State.GONE:
            yield f"{id} stands with a text that is gone"
        if len(states) == 2 and states != [State.ACTIVE, State.HELD]:
            yield f"{id} is {states[0]} beside a pending text that is {states[1]}"
    standing = kept.standing
    if len(standing) != sum(len(numbers) for numbers in kept.ids.values()):
        yield "a text stands under two ids"
    for number, text in kept.documents.items():
        if text.state.is_indexed and number not in standing:
            yield f"text {number} of {text.id} is {text.state} and stands nowhere"


def of_texts(kept: Kept) -> Iterator[str]:
    """Each record has its words, and all that it names was once given. A dropped text that stands
    nowhere may have lost its words to an erasure, where others rest on it."""
    if not kept.texts <= set(kept.documents):
        yield f"words without a record: {kept.texts - set(kept.documents)}"
    if not kept.metadata <= set(kept.documents):
        yield f"metadata without a record: {kept.metadata - set(kept.documents)}"
    last = {name: kept.setting(name) for name in ("logged", "conflicts")}
    following = kept.setting("next")
    standing = kept.standing
    for number, text in kept.documents.items():
        erased = text.state is State.DROPPED and number not in standing
        if number not in kept.texts and not erased:
            yield f"text {number} of {text.id} is {text.state} and has no words"
        if not 0 < number < following or max(text.family, text.survivor) >= following:
            yield f"text {number} names a number that was never given"
        if text.decision > last["logged"] or text.conflict > last["conflicts"]:
            yield f"text {number} names an entry or a conflict that was never written"
        if text.superseded is not None and text.superseded[2] > last["logged"]:
            yield f"text {number} names an update that was never written"
        if bool(text.signature) != text.state.is_indexed:
            yield f"text {number} is {text.state} with {len(text.signature)} bytes of signature"


def of_buckets(client: Any, kept: Kept) -> Iterator[str]:
    bands = tags_of_a_text(kept.collection)
    faults: list[str] = []
    indexed = {n: text for n, text in kept.documents.items() if text.state.is_indexed}
    buckets: dict[tuple[int, bytes], list[int]] = {}
    unlisted: dict[tuple[int, bytes], int] = {}
    for place, keys in enumerate(kept.where.keys):
        here = range(bands)[kept.where.bands_at(place, bands)]
        own = len(here)
        level, split, counted = map(int, client.hmget(keys.settings, "level", "split", "indexed"))
        listed_here, counted_here = read_buckets(client, keys, own, Growth(level, split), faults)
        for (band, tag), members in listed_here.items():
            buckets[here[band], tag] = members
        for (band, tag), more in counted_here.items():
            unlisted[here[band], tag] = more
        if own and counted != len(indexed):
            yield f"the count of indexed texts is wrong in partition {place}"
    yield from faults
    expected = set()
    for number, text in indexed.items():
        tags = band_tags(text.signature, kept.collection.scheme.banding)
        for band, tag in enumerate([*tags, text.hashes.normalized[:4]]):
            expected.add((band, tag, number))
    listed = {(band, tag, n) for (band, tag), members in buckets.items() for n in members}
    yield from (f"ghost in a bucket: {entry}" for entry in listed - expected)
    for band, tag, _ in expected - listed:
        unlisted[band, tag] = unlisted.get((band, tag), 0) - 1
    yield from (f"a bucket counts wrongly: {b} {c}" for b, c in unlisted.items() if c)


def of_twins(kept: Kept) -> Iterator[str]:
    """Dropped texts have their edges, those too that stand under no id any more."""
    dropped = {(t.survivor, n) for n, t in kept.documents.items() if t.state is State.DROPPED}
    for survivor, number in kept.twins - dropped:
        yield f"an edge from {survivor} to {number}, which was not dropped for it"
    for survivor, number in dropped - kept.twins:
        yield f"text {number} was dropped for {survivor}, and no edge says so"


def of_conflicts(kept: Kept) -> Iterator[str]:
    """Open ones are between texts that stand, and the sorted sets list them as they are."""
    open_ones = {n: c for n, c in kept.conflicts.items() if c.status is OPEN}
    if kept.by_existing != {(c.existing, n): 0.0 for n, c in open_ones.items()}:
        yield "conflicts by existing text are not the open ones"
    if set(kept.by_age) != set(kept.conflicts):
        yield f"conflicts by age are not all: {set(kept.by_age) ^ set(kept.conflicts)}"
    if set(kept.conflict_lists.values()) - {0.0}:
        yield "a place in the lists of conflicts has a score"
    listed = set(kept.conflict_lists)
    expected = {place for c in kept.conflicts.values() for place in listed_at(c)}
    # What was erased of a closed conflict leaves it in the lists of its kinds.
    erased = {
        place[2:] for c in kept.conflicts.values() if not c.changes.items for place in listed_at(c)
    }
    more = {place for place in listed - expected if place[2:] not in erased}
    if more or expected - listed:
        yield f"the lists of conflicts have other places: {more}, not {expected - listed}"
    if max(kept.conflicts, default=0) > kept.setting("conflicts"):
        yield "a conflict has a number that was never given"
    for number, conflict in kept.conflicts.items():
        score = kept.by_age.get(number, 0.0)
        if number not in open_ones:
            yield from of_a_closed_conflict(kept, conflict, score)
            continue
        yield from of_an_open_conflict(kept, conflict)
        if score != number:
            yield f"conflict {number} is open and of age {score}"


def listed_at(conflict: StoredConflict) -> list[bytes]:
    """Where the lists of conflicts are to have one, written down once more."""
    age = conflict.opened_at.to_bytes(6, "big") + conflict.number.to_bytes(4, "big")
    kinds = [None, *{change.kind for change in conflict.changes.items}]
    lists = [bytes([0 if kind is None else list(ChangeKind).index(kind) + 1]) for kind in kinds]
    if conflict.status is not OPEN:
        return [STATUS_LETTERS[conflict.status] + one + inverted(age) for one in lists]
    score = inverted(pack(">d", conflict.score))
    return [place for one in lists for place in (b"a" + one + age, b"s" + one + score + age)]


def inverted(value: bytes) -> bytes:
    return bytes(255 - byte for byte in value)


def of_an_open_conflict(kept: Kept, conflict: StoredConflict) -> Iterator[str]:
    number = conflict.number
    existing, incoming = (kept.documents.get(n) for n in (conflict.existing, conflict.incoming))
    if existing is None or incoming is None:
        yield f"conflict {number} is open, and a text of it is not there"
        return
    if not (existing.state.is_indexed and incoming.state.is_indexed):
        yield f"conflict {number} is open, and a text of it has left"
    if (existing.id, incoming.id) != (conflict.existing_id, conflict.incoming_id):
        yield f"conflict {number} names other ids than its texts have"
    if existing.id == incoming.id:
        yield f"conflict {number} is of {existing.id} with itself"
    if incoming.conflict != number:
        yield f"conflict {number} is not the one that its incoming text names"
    if conflict.decision or conflict.resolution is not None:
        yield f"conflict {number} is open, and something closed it"


def of_a_closed_conflict(kept: Kept, conflict: StoredConflict, score: float) -> Iterator[str]:
    number = conflict.number
    if not 1 <= -score <= kept.setting("logged"):
        yield f"conflict {number} was closed by entry {-score}, which was never written"
    ruled = conflict.status is ConflictStatus.RESOLVED
    if ruled != (conflict.resolution is not None):
        yield f"conflict {number} is {conflict.status}, with the ruling {conflict.resolution}"
    if ruled and conflict.decision != -score:
        yield f"conflict {number} was closed by entry {conflict.decision}, and of age {score}"


def of_waiting(kept: Kept) -> Iterator[str]:
    """A held text waits for a ruling that can be given, or to be checked anew."""
    open_ones = {c.incoming: c for c in kept.conflicts.values() if c.status is OPEN}
    for number, text in kept.documents.items():
        if text.state is not State.HELD:
            continue
        if (number in open_ones) == (number in kept.unsettled):
            told = "both" if number in open_ones else "neither"
            yield f"held text {number} is in an open conflict, or waits to be checked anew: {told}"
        behind, at = set(), number
        while at in open_ones and at not in behind:
            behind.add(at)
            at = open_ones[at].existing
        last = kept.documents.get(at)
        if at in behind or (last and last.state is State.HELD and at not in kept.unsettled):
            yield f"held text {number} waits for what no ruling can decide"
    for number, conflict_number in kept.unsettled.items():
        waiting, conflict = kept.documents.get(number), kept.conflicts.get(conflict_number)
        if waiting is None or waiting.state is not State.HELD:
            yield f"text {number} waits to be checked anew, and is not held"
        if conflict is None or (conflict.status, conflict.incoming) != (
            ConflictStatus.VOID,
            number,
        ):
            yield f"text {number} waits, and its conflict is not void"
    if kept.setting("unsettled") != len(kept.unsettled):
        yield f"{kept.setting('unsettled')} unsettled counted, {len(kept.unsettled)} there"


def of_log(kept: Kept) -> Iterator[str]:
    """Entries are all there, at their numbers, and found by the ids that they name."""
    first, last = kept.setting("trimmed") + 1, kept.setting("logged")
    if set(kept.log) != set(range(first, last + 1)):
        yield f"the log is to be {first} to {last}, and is {sorted(kept.log)}"
    oldest = kept.log[min(kept.log)].at // 1000 if kept.log else None
    if kept.settings.get("oldest") != oldest:
        yield f"the oldest entry is of {oldest}, not of {kept.settings.get('oldest')}"
    members = {
        mark + index_name(id) + n.to_bytes(4, "big")
        for mark, named in ((b"", named_by_entries(kept)), (b"x", named_by_conflicts(kept)))
        for id, n in named
    }
    if kept.log_index != members:
        yield f"the log's index is not what entries and conflicts name: {kept.log_index ^ members}"
    for number, entry in kept.log.items():
        if max(entry.number, entry.twin_number) >= kept.setting("next"):
            yield f"entry {number} names a text that never was"
        if entry.conflict > kept.setting("conflicts"):
            yield f"entry {number} names a conflict that never was"
    if kept.rulings and not kept.setting("rulings"):
        yield "there are rulings, and no look would ask for them"
    if any(place >= MOST_NEAR_MISSES for place in kept.near_misses):
        yield "there are more near misses than fit the ring"
    for place, written in kept.near_misses.items():
        miss = read_near_miss(written)
        if not 0 < miss.existing < miss.incoming < kept.setting("next"):
            yield f"near miss {place} is of texts {miss.existing} and {miss.incoming}"


def named_by_entries(kept: Kept) -> Iterator[tuple[str, int]]:
    for number, entry in kept.log.items():
        yield entry.document, number
        if entry.twin is not None:
            yield entry.twin, number


def named_by_conflicts(kept: Kept) -> Iterator[tuple[str, int]]:
    for number, conflict in kept.conflicts.items():
        yield conflict.existing_id, number
        yield conflict.incoming_id, number


def index_name(id: str) -> bytes:
    return sha1(id.encode(), usedforsecurity=False).hexdigest()[:12].encode()


def of_what_the_log_keeps(kept: Kept) -> Iterator[str]:
    """What left stays by the entry of its last decision, and goes with that."""
    for number, entry in kept.log.items():
        for one in entry.kept:
            if one not in kept.documents and not decided_since(kept, entry):
                yield f"entry {number} is to keep text {one}, which is not there"
    for number, text in kept.documents.items():
        keeper = kept.log.get(text.decision)
        if not text.state.is_indexed and (keeper is None or number not in keeper.kept):
            yield f"text {number} of {text.id} is {text.state}, and no entry keeps it"


def decided_since(kept: Kept, keeper: LogEntry) -> bool:
    """Whether what the entry keeps may have come back and left again, or been erased, since."""
    return any(
        entry.kind in (DecisionKind.DELETED, DecisionKind.REVERTED)
        and entry.number_in_log >= keeper.number_in_log
        and entry.document in (keeper.document, keeper.twin)
        for entry in kept.log.values()
    )


def of_counters(kept: Kept) -> Iterator[str]:
    states = Counter(text.state for text in kept.mains)
    for state in (State.ACTIVE, State.HELD, State.DROPPED):
        counted = kept.counters.get(state.value, 0)
        if counted != states[state]:
            yield f"{counted} {state} counted, {states[state]} there"
    statuses = Counter(conflict.status for conflict in kept.conflicts.values())
    for status, letter in STATUS_LETTERS.items():
        counted = kept.counters.get(f"conflicts:{letter.decode()}", 0)
        # Those that left with the log stay counted.
        left = status is not OPEN and kept.setting("trimmed") and counted > statuses[status]
        if counted != statuses[status] and not left:
            yield f"{counted} conflicts counted as {status}, {statuses[status]} there"
    if kept.counters.get("log_trimmed", 0) != kept.setting("trimmed"):
        yield f"{kept.counters.get('log_trimmed', 0)} entries are said to have left the log"


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
            buckets[band, tag] = numbers_in(members)
    if set(client.hkeys(keys.wide)) != wide_seen:
        faults.append("a wide bucket without its entry in a shard")
    return buckets, unlisted
