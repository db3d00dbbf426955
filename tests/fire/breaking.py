"""What breaks a cluster while it is used: its slots move around all the time, and now and then a
primary is killed."""

import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from random import Random

import redis
from redis.crc import key_slot

from tests.clusters import PRIMARIES, ClusterServers, Member
from tests.e2e.running import wait_until

OPTIONS = {"min-replicas-to-write": "1", "min-replicas-max-lag": "10"}
"""What docs/cluster.md advises where answers are confirmed by replicas."""
SECONDS = 60
SECONDS_OF_A_MOVE = 5
PAUSE = 0.05
BETWEEN_MOVES = 0.3
KEYS_AT_ONCE = 10
# More than the two sockets between a primary and its replica hold: what is written behind it is
# still in the primary's memory when it dies.
IN_THE_WAY = bytes(24 << 20)
IN_THE_WAY_LIVES = 5000
LOST = 1024
"""So many bytes of writes are lost at least with a primary whose replica is behind."""


class Mover:
    """Moves the slots of some keys from primary to primary, now in one piece (`CLUSTER
    MIGRATESLOTS`), now key by key, as `redis-cli --cluster reshard` does. A node may die meanwhile:
    who was promoted goes on. `moved` counts the ways."""

    def __init__(self, cluster: ClusterServers, keys: Sequence[str], seed: int) -> None:
        self.moved: Counter[str] = Counter()
        self._cluster = cluster
        self._keys = keys
        self._drawn = Random(seed)
        self._moving = threading.Lock()
        self._at_it = threading.Lock()
        half = len(cluster.nodes) // 2
        self._shards = list(zip(cluster.nodes[:half], cluster.nodes[half:], strict=True))

    def move_until(self, over: threading.Event) -> None:
        """Moves one slot after the other."""
        while not over.wait(BETWEEN_MOVES):
            with self._moving:
                self._move()

    @contextmanager
    def resting(self) -> Iterator[None]:
        """No slot is on its way while the block runs."""
        with self._moving:
            yield

    @contextmanager
    def interrupted(self) -> Iterator[None]:
        """A slot that is on its way comes no further while the block runs."""
        with self._at_it:
            yield

    def _move(self) -> None:
        slot = key_slot(self._drawn.choice(self._keys).encode())
        away, way = self._drawn.randrange(1, PRIMARIES), self._drawn.randrange(2)
        source = self._shard_with(slot)
        target = (source + away) % PRIMARIES
        if way == 0:
            with self._at_it:
                moved = self._moves_whole(slot, source, target)
            self.moved["whole" if moved else "given up"] += 1
            return
        give_up = time.monotonic() + SECONDS
        while not self._has_moved_by_keys(slot, source, target):
            assert time.monotonic() < give_up, f"slot {slot} is on its way for too long"
            time.sleep(PAUSE)
        self.moved["key by key"] += 1

    def _moves_whole(self, slot: int, source: int, target: int) -> bool:
        """Whether it has moved in one piece: the servers give it up where one of the two dies."""
        give_up = time.monotonic() + SECONDS_OF_A_MOVE
        with suppress(redis.RedisError, StopIteration):
            begun, to = self._primary(source), self._primary(target)
            begun.ask("CLUSTER MIGRATESLOTS SLOTSRANGE", slot, slot, "NODE", to.id)
            while time.monotonic() < give_up:
                if _has(to, slot):
                    return True
                (job, *_) = begun.ask("CLUSTER GETSLOTMIGRATIONS")
                told = {str(name): value for name, value in _pairs(job)}
                if told["state"] in ("failed", "canceled"):
                    return False
                time.sleep(PAUSE)
            begun.ask("CLUSTER CANCELSLOTMIGRATIONS")
        return False

    def _has_moved_by_keys(self, slot: int, source: int, target: int) -> bool:
        """Goes on with it, as far as it comes before a node is out; whether all of it was done."""
        with self._at_it, suppress(redis.RedisError, StopIteration):
            begun, to = self._primary(source), self._primary(target)
            if not _has(to, slot):
                to.ask("CLUSTER SETSLOT", slot, "IMPORTING", begun.id)
                begun.ask("CLUSTER SETSLOT", slot, "MIGRATING", to.id)
                while keys := begun.ask("CLUSTER GETKEYSINSLOT", slot, KEYS_AT_ONCE):
                    where = ("127.0.0.1", to.port, "", 0, 5000)
                    begun.ask("MIGRATE", *where, "REPLACE", "KEYS", *keys)
                to.ask("CLUSTER SETSLOT", slot, "NODE", to.id)
            for node in (begun, *self._cluster.primaries):
                with suppress(redis.RedisError):  # they hear of it from others too
                    node.ask("CLUSTER SETSLOT", slot, "NODE", to.id)
            return True
        return False

    def _shard_with(self, slot: int) -> int:
        """The number of the pair that has a slot; waits for a node that tells."""
        give_up = time.monotonic() + SECONDS
        while time.monotonic() < give_up:
            for number in range(PRIMARIES):
                with suppress(redis.RedisError, StopIteration):
                    if _has(self._primary(number), slot):
                        return number
            time.sleep(PAUSE)
        raise AssertionError(f"no node has slot {slot}")

    def _primary(self, shard: int) -> Member:
        return next(node for node in self._shards[shard] if node.answers() and node.is_primary)


def kill_primary(cluster: ClusterServers, mover: Mover, key: str, *, behind: bool) -> None:
    """Kills the primary that has a key and starts it again once its replica was promoted; then the
    cluster is whole again. `behind`: the replica has not got what the primary was told last."""
    if behind:
        with mover.resting():  # what moves to a primary is on no replica until that one has it
            killed, promoted = _pair_of(cluster, key)
            _kill_with_a_replica_behind(cluster, killed, promoted)
            wait_until(lambda: promoted.is_primary)
            _start_again(cluster, killed, promoted)
        return
    killed, promoted = _pair_of(cluster, key)
    killed.kill()
    wait_until(lambda: promoted.is_primary)
    with mover.interrupted():  # until it has heard better, it takes itself for a primary
        _start_again(cluster, killed, promoted)


def _start_again(cluster: ClusterServers, killed: Member, promoted: Member) -> None:
    killed.start()
    wait_until(lambda: _follows(killed, promoted))
    wait_until(cluster.is_whole)


def _follows(node: Member, primary: Member) -> bool:
    """Whether it has become a replica of that primary. It does so by itself unless one of its slots
    has moved on meanwhile: then somebody must tell it to, once it has heard that it has none."""
    with suppress(redis.RedisError):
        node.ask("CLUSTER REPLICATE", primary.id)
        return bool(node.client.info("replication").get("master_port") == primary.port)
    return False


def _pair_of(cluster: ClusterServers, key: str) -> tuple[Member, Member]:
    """The primary that has a key and its replica, in a cluster that is whole."""
    wait_until(cluster.is_whole)
    primary = cluster.primary_of(key)
    return primary, cluster.replica_of(primary)


def _kill_with_a_replica_behind(cluster: ClusterServers, killed: Member, replica: Member) -> None:
    names = (f"in-the-way-{number}" for number in count())
    name = next(name for name in names if cluster.primary_of(name) is killed)
    with replica.frozen():
        killed.ask("SET", name, IN_THE_WAY, "PX", IN_THE_WAY_LIVES)
        written = _written(killed)
        wait_until(lambda: _written(killed) > written + LOST, pause=0.01)
        killed.kill()


def _written(node: Member) -> int:
    """How many bytes a primary has written for its replicas so far."""
    return int(node.client.info("replication")["master_repl_offset"])


def _has(node: Member, slot: int) -> bool:
    """Whether a node says that a slot is its own."""
    ranges = node.ask("CLUSTER SLOTS")
    return any(start <= slot <= end and who[1] == node.port for start, end, who, *_ in ranges)


def _pairs(told: object) -> Iterator[tuple[str, str]]:
    """Names and values of one answer, which the protocol gives as a map or a flat list."""
    if isinstance(told, dict):
        pairs = list(told.items())
    else:
        assert isinstance(told, list)
        pairs = list(zip(told[::2], told[1::2], strict=True))
    for name, value in pairs:
        yield _text(name), _text(value)


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
