"""A cluster of real servers on this machine, which a test may break: by itself three primaries, and
a replica of each."""

import re
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.crc import key_slot
from redis.retry import Retry

from service.store import embedded
from tests.e2e.running import wait_until

PRIMARIES = 3
NODE_TIMEOUT = 1000
SLOTS = 16384
OPEN_SLOT = re.compile(r"\[(\d+)-[<>]-")
"""A slot that comes or goes, as CLUSTER NODES tells it of the node that is asked."""
OPTIONS = {
    "cluster-enabled": "yes",
    "cluster-node-timeout": str(NODE_TIMEOUT),
    # A slot that nobody has is missing alone, not all the cluster with it.
    "cluster-require-full-coverage": "no",
    # A replica may take over whatever it has missed: these are tests of what follows.
    "cluster-replica-validity-factor": "0",
    "cluster-allow-replica-migration": "no",
    "appendonly": "no",
    "repl-diskless-sync-delay": "0",
    "repl-ping-replica-period": "1",
}


class Member:
    """One server: a node of a cluster, or one that sentinels watch, or a sentinel."""

    def __init__(
        self, directory: Path, options: dict[str, str], arguments: list[str], conf: str = ""
    ) -> None:
        directory.mkdir(parents=True)
        if conf:
            (directory / arguments[0]).write_text(conf)
        self.directory = directory
        self.port = free_port()
        self.announced = self.port
        """Where a cluster's clients are told that it is."""
        own = {"port": str(self.port), "bind": "127.0.0.1"}
        if "cluster-enabled" in options:
            own["cluster-port"] = str(free_port())
        self._command = [str(embedded.find_binary()), *arguments]
        for name, value in (options | own).items():
            self._command += [f"--{name}", value]
        self.bus = int(own.get("cluster-port", 0))
        once = Retry(NoBackoff(), 1)  # sentinels cut the connections of what they change
        self.client = redis.Redis(port=self.port, protocol=3, socket_timeout=10, retry=once)
        self.start()

    def start(self) -> None:
        """Starts it, anew where it has ended."""
        self.process = subprocess.Popen(
            self._command,
            cwd=self.directory,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        wait_until(self.answers, pause=0.01)

    def answers(self) -> bool:
        with suppress(redis.RedisError):
            return bool(self.client.ping())
        return False

    def ask(self, command: str, *arguments: Any) -> Any:
        """The answer as it comes: in words of its own the driver knows no command to read."""
        return self.client.execute_command(*command.split(), *arguments)

    @property
    def id(self) -> str:
        return str(self.ask("CLUSTER MYID").decode())

    @property
    def is_primary(self) -> bool:
        return bool(self.client.info("replication")["role"] == "master")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    @contextmanager
    def frozen(self) -> Iterator[None]:
        self.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)

    def clean_up(self) -> None:
        self.client.close()
        self.kill()


class ClusterServers:
    """Nodes 0 to 2 begin as primaries of a third of the slots each, 3 to 5 as their replicas: that
    is with three `primaries`, each with one of `replicas`. `own_options` are those of the servers,
    `more` are beside them. `prepare` is called with each node before they know each other."""

    def __init__(
        self,
        directory: Path,
        *,
        primaries: int = PRIMARIES,
        replicas: int = 1,
        own_options: Mapping[str, str] = OPTIONS,
        more: Mapping[str, str] | None = None,
        prepare: Callable[[Member], None] = lambda _: None,
    ) -> None:
        self.nodes: list[Member] = []
        self._primaries, self._replicas = primaries, replicas
        of_all = {k: v for k, v in embedded.OPTIONS if not k.startswith("unixsocket")}
        options = of_all | dict(own_options) | dict(more or {})
        try:
            for number in range(primaries * (1 + replicas)):
                self.nodes.append(Member(directory / str(number), options, []))
                prepare(self.nodes[-1])
            self._join()
        except BaseException:
            self.clean_up()
            raise

    @property
    def url(self) -> str:
        seeds = ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)
        return f"redis+cluster://{seeds}"

    def client(self) -> redis.RedisCluster:
        """A client of all of it."""
        return redis.RedisCluster("127.0.0.1", self.nodes[0].port, protocol=3)

    @property
    def primaries(self) -> list[Member]:
        return [node for node in self.nodes if node.answers() and node.is_primary]

    def primary_of(self, key: str) -> Member:
        """Whoever has a key now."""
        slot = key_slot(key.encode())
        for start, end, (_, port, *_), *_ in self._slots():
            if start <= slot <= end:
                return self._at(port)
        raise AssertionError(f"no node has slot {slot}")

    def replica_of(self, primary: Member) -> Member:
        for _, _, (_, port, *_), *replicas in self._slots():
            if port == primary.announced:
                return self._at(replicas[0][1])
        raise AssertionError("it has no replica")

    def empty(self) -> None:
        """As it began: all nodes there, each primary with its replicas, no keys, and no slot on its
        way: a test that fails leaves it there, and so does a primary that dies meanwhile."""
        for node in self.nodes:
            if node.process.poll() is not None:
                node.start()
        wait_until(self.is_whole)
        for node in self.primaries:
            for slot in OPEN_SLOT.findall(node.ask("CLUSTER NODES").decode()):
                node.ask("CLUSTER SETSLOT", slot, "STABLE")
            node.client.flushall()
            node.ask("SCRIPT", "FLUSH")

    def is_whole(self) -> bool:
        """Whether all nodes agree on all slots, and each primary has its replicas with its data."""
        try:
            views = {node.port: node.ask("CLUSTER SLOTS") for node in self.nodes}
        except redis.RedisError:
            return False
        shapes = [sorted((s, e, w[1], len(r)) for s, e, w, *r in view) for view in views.values()]
        has_all = sum(end - start + 1 for start, end, _, _ in shapes[0]) == SLOTS
        agree = all(shape == shapes[0] for shape in shapes)
        whole = has_all and agree and all(replicas == self._replicas for *_, replicas in shapes[0])
        return bool(whole and all(self._is_well(node) for node in self.nodes))

    @contextmanager
    def moving(self, key: str) -> Iterator[tuple[Member, Member]]:
        """The slot of a key is on its way to another primary while the block runs, keys and all
        else still where they were; then it has moved."""
        slot, source = key_slot(key.encode()), self.primary_of(key)
        target = next(node for node in self.primaries if node is not source)
        target.ask("CLUSTER SETSLOT", slot, "IMPORTING", source.id)
        source.ask("CLUSTER SETSLOT", slot, "MIGRATING", target.id)
        yield source, target
        self.move_keys(source, target, self.keys_in_slot(source, key))
        for node in (target, source, *self.primaries):
            node.ask("CLUSTER SETSLOT", slot, "NODE", target.id)

    @property
    def can_move_whole(self) -> bool:
        """Whether the servers know the command for it, as Valkey does from version 9 on."""
        version = self.nodes[0].client.info("server").get("valkey_version", "0")
        return int(version.partition(".")[0]) >= 9

    def move_whole(self, key: str) -> Member:
        """Moves the slot of a key in one piece, as Valkey 9 can; where to."""
        slot, source = key_slot(key.encode()), self.primary_of(key)
        target = next(node for node in self.primaries if node is not source)
        source.ask("CLUSTER MIGRATESLOTS SLOTSRANGE", slot, slot, "NODE", target.id)
        wait_until(lambda: all(self._has(node, slot) == target.announced for node in self.nodes))
        return target

    def keys_in_slot(self, node: Member, key: str) -> list[bytes]:
        slot = key_slot(key.encode())
        return list(node.ask("CLUSTER GETKEYSINSLOT", slot, 100_000))

    def move_keys(self, source: Member, target: Member, keys: list[bytes]) -> None:
        for key in keys:
            source.ask("MIGRATE", "127.0.0.1", target.port, key, 0, 5000)

    def clean_up(self) -> None:
        for node in self.nodes:
            node.clean_up()

    def _join(self) -> None:
        first, count = self.nodes[0], self._primaries
        for number, node in enumerate(self.nodes):
            node.ask("CLUSTER SET-CONFIG-EPOCH", number + 1)
            if number < count:
                begin, end = (SLOTS * part // count for part in (number, number + 1))
                node.ask("CLUSTER ADDSLOTSRANGE", begin, end - 1)
            if node is not first:
                node.ask("CLUSTER MEET", "127.0.0.1", first.port, first.bus)
        wait_until(self._all_have_met)
        for number, node in enumerate(self.nodes[count:]):
            node.ask("CLUSTER REPLICATE", self.nodes[number % count].id)
        wait_until(self.is_whole)

    def _all_have_met(self) -> bool:
        told = [node.ask("CLUSTER INFO") for node in self.nodes]
        return all(
            f"cluster_known_nodes:{len(self.nodes)}" in str(one) and "cluster_state:ok" in str(one)
            for one in told
        )

    def _is_well(self, node: Member) -> bool:
        told = node.client.info("replication")
        if "cluster_state:ok" not in str(node.ask("CLUSTER INFO")):
            return False
        if told["role"] == "master":
            states = [told[f"slave{n}"]["state"] for n in range(told["connected_slaves"])]
            return states == ["online"] * self._replicas
        return str(told["master_link_status"]) == "up"

    def _slots(self) -> list[Any]:
        """The slots as a node that runs tells them."""
        for node in self.nodes:
            with suppress(redis.RedisError):
                return list(node.ask("CLUSTER SLOTS"))
        raise AssertionError("no node answers")

    def _has(self, node: Member, slot: int) -> int:
        """The port of whoever has a slot, as a node tells it."""
        ranges = node.ask("CLUSTER SLOTS")
        return next(int(who[1]) for start, end, who, *_ in ranges if start <= slot <= end)

    def _at(self, port: int) -> Member:
        return next(node for node in self.nodes if node.announced == port)


@contextmanager
def cluster_servers(directory: Path, **shape: Any) -> Iterator[ClusterServers]:
    """A cluster in a new directory, stopped at the end; `shape` is for ClusterServers."""
    cluster = ClusterServers(directory, **shape)
    try:
        yield cluster
    finally:
        cluster.clean_up()


def free_port() -> int:
    """A port below those that the system gives away by itself."""
    while True:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            return int(listener.getsockname()[1])
