"""A primary, its replica and three sentinels on this machine, which a test may break."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from service.store import embedded
from tests.clusters import Member
from tests.e2e.running import wait_until

SERVICE = "main"
WATCHERS = 3
OPTIONS = {"appendonly": "no", "repl-diskless-sync-delay": "0", "repl-ping-replica-period": "1"}


class SentinelServers:
    """`servers` are the primary and its replica, as they begin."""

    def __init__(self, directory: Path) -> None:
        options = {k: v for k, v in embedded.OPTIONS if not k.startswith("unixsocket")} | OPTIONS
        self.servers: list[Member] = []
        self.sentinels: list[Member] = []
        try:
            for number in range(2):
                self.servers.append(Member(directory / str(number), options, []))
            primary, replica = self.servers
            replica.ask("REPLICAOF", "127.0.0.1", primary.port)
            wait_until(lambda: replica.client.info("replication")["master_link_status"] == "up")
            for number in range(WATCHERS):
                place = directory / f"sentinel{number}"
                self.sentinels.append(Member(place, {}, ["sentinel.conf", "--sentinel"], _CONF))
                self._watch(self.sentinels[-1], primary)
            wait_until(self._all_see_all)
        except BaseException:
            self.clean_up()
            raise

    @property
    def url(self) -> str:
        hosts = ",".join(f"127.0.0.1:{each.port}" for each in self.sentinels)
        return f"redis+sentinel://{hosts}/{SERVICE}"

    @property
    def primary(self) -> Member:
        return next(each for each in self.servers if each.answers() and each.is_primary)

    def has_replica(self) -> bool:
        told = self.primary.client.info("replication")
        return bool(told["connected_slaves"] == 1 and told["slave0"]["state"] == "online")

    def follow(self, server: Member) -> None:
        """Makes a server a replica of the primary, as sentinels do, but at once."""
        server.ask("REPLICAOF", "127.0.0.1", self.promoted_beside(server).port)
        wait_until(self.has_replica)

    def promoted_beside(self, server: Member) -> Member:
        """The primary that there is, or that comes, beside a server that is or was one, once all
        sentinels name it: before that they would make it a replica of the other one, if that came
        back, and so empty it."""
        other = next(each for each in self.servers if each is not server)
        wait_until(lambda: other.answers() and other.is_primary)
        wait_until(lambda: all(self._named_by(each) == other.port for each in self.sentinels))
        return other

    def empty(self) -> None:
        """As it began: both there, and no keys."""
        for each in self.servers:
            if each.process.poll() is not None:
                each.start()
                self.follow(each)
        wait_until(self.has_replica)
        wait_until(self._all_see_all)
        self.primary.client.flushall()

    def clean_up(self) -> None:
        for each in (*self.sentinels, *self.servers):
            each.clean_up()

    def _watch(self, sentinel: Member, primary: Member) -> None:
        sentinel.ask("SENTINEL MONITOR", SERVICE, "127.0.0.1", primary.port, 2)
        # One that a busy machine keeps from answering for a second is not taken for dead.
        for name, value in (("down-after-milliseconds", 2000), ("failover-timeout", 6000)):
            sentinel.ask("SENTINEL SET", SERVICE, name, value)

    def _named_by(self, sentinel: Member) -> int:
        """The port of the primary that a sentinel names."""
        return int(cast(Any, sentinel.client.sentinel_master(SERVICE))["port"])

    def _all_see_all(self) -> bool:
        primary = self.primary.port
        return all(
            len(cast(Any, each.client.sentinel_sentinels(SERVICE))) == WATCHERS - 1
            and self._named_by(each) == primary
            and [one["is_sdown"] for one in cast(Any, each.client.sentinel_slaves(SERVICE))]
            == [False]
            for each in self.sentinels
        )


_CONF = "sentinel resolve-hostnames no\n"


@contextmanager
def sentinel_servers(directory: Path) -> Iterator[SentinelServers]:
    servers = SentinelServers(directory)
    try:
        yield servers
    finally:
        servers.clean_up()
