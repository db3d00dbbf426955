"""A primary, its replica and three sentinels on this machine, which a test may break."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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

    @property
    def other(self) -> Member:
        primary = self.primary
        return next(each for each in self.servers if each is not primary)

    def has_replica(self) -> bool:
        told = self.primary.client.info("replication")
        return bool(told["connected_slaves"] == 1 and told["slave0"]["state"] == "online")

    def clean_up(self) -> None:
        for each in (*self.sentinels, *self.servers):
            each.clean_up()

    def _watch(self, sentinel: Member, primary: Member) -> None:
        sentinel.ask("SENTINEL MONITOR", SERVICE, "127.0.0.1", primary.port, 2)
        for name, value in (("down-after-milliseconds", 1000), ("failover-timeout", 3000)):
            sentinel.ask("SENTINEL SET", SERVICE, name, value)

    def _all_see_all(self) -> bool:
        return all(
            len(each.ask("SENTINEL SENTINELS", SERVICE)) == WATCHERS - 1
            and len(each.ask("SENTINEL REPLICAS", SERVICE)) == 1
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
