"""Sentinels name the primary: writes go on after a failover, and what was confirmed is kept."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from service.checker import Checker
from service.dedup.verdict import Document, Posted
from service.errors import StoreError
from service.store.any_store import AnyStore
from service.store.capabilities import look_at_store
from service.store.connection import Connection
from tests.e2e.running import wait_until
from tests.sentinels import SentinelServers, sentinel_servers

RESUMES = 10
CLIENTS = 4


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SentinelServers]:
    with sentinel_servers(tmp_path_factory.mktemp("sentinels") / "servers") as servers:
        yield servers


@pytest.fixture
def servers(started: SentinelServers) -> SentinelServers:
    started.empty()
    return started


class Writers:
    """Threads that check texts of their own; `told` has the ids that were answered."""

    def __init__(self, url: str, *, replicated: bool) -> None:
        self.connection = Connection(url, deadline=2.0, replicated=replicated)
        self.store = AnyStore(self.connection)
        self._checker = Checker(self.store)
        self._over = threading.Event()
        self.told: list[str] = []
        self.last = 0.0

    def work(self, name: str) -> None:
        number = 0
        while not self._over.is_set():
            number += 1
            id = f"{name}{number}"
            with suppress(StoreError):
                self.connection.begin_call()
                text = f"{id} of {name} is number {number} and by itself"
                self._checker.check(Document(id, Posted(text, None)))
                self.told.append(id)
                self.last = time.monotonic()
            time.sleep(0.005)

    def end(self) -> None:
        self._over.set()

    def lost(self) -> list[str]:
        """What was answered and is not there."""
        self.connection.begin_call()
        collection = self.store.collection("default", anew=True)
        return [id for id in self.told if self.store.standing(collection, id).main is None]


@pytest.mark.parametrize("replicated", [False, True], ids=["local", "replicated"])
def test_writes_go_on_after_a_failover(servers: SentinelServers, replicated: bool) -> None:
    writers = Writers(servers.url, replicated=replicated)
    with ThreadPoolExecutor(CLIENTS) as pool:
        working = [pool.submit(writers.work, name) for name in ("ada", "bea", "cleo", "dora")]
        try:
            wait_until(lambda: len(writers.told) > 50)
            old = servers.primary
            old.kill()
            killed = time.monotonic()
            servers.promoted_beside(old)
            if replicated:  # whoever waits for a replica needs one
                old.start()
                servers.follow(old)
            wait_until(lambda: writers.last > killed + 0.5)
            resumed = time.monotonic() - killed
        finally:
            writers.end()
    for each in working:
        each.result()
    lost = writers.lost()
    if replicated:
        assert lost == []
        wait_until(servers.has_replica)
    else:
        assert resumed < RESUMES
        assert len(lost) < len(writers.told)  # what was not on the replica yet; see docs/cluster.md


def test_sentinels_are_asked_by_a_user_of_their_own_with_the_least_rights(
    servers: SentinelServers,
) -> None:
    for sentinel in servers.sentinels:
        rights = ("on", ">secret", "-@all", "+sentinel|masters", "+info")
        sentinel.ask("ACL SETUSER", "watcher", "reset", *rights)
        sentinel.client.acl_log_reset()
    url = f"{servers.url}?sentinel_username=watcher&sentinel_password=secret"
    assert look_at_store(url).kind == "sentinel"
    assert [each.client.acl_log() for each in servers.sentinels] == [[]] * 3


def test_a_primary_that_was_told_to_follow_another_is_left(servers: SentinelServers) -> None:
    """READONLY is certain: nothing was written, so the new primary is asked at once."""
    connection = Connection(servers.url, deadline=4.0)
    connection.run("release", ["ts1:collections"], ["nobody", "0"])
    old = servers.primary
    servers.sentinels[0].ask("SENTINEL FAILOVER", "main")
    servers.follow(old)
    connection.begin_call()
    assert connection.run("release", ["ts1:collections"], ["nobody", "0"]) == 0
