"""What all tests share: one real server for the session, emptied for each test that asks."""

import os
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import redis
from hypothesis import settings as hypothesis_settings

from service.store import embedded
from service.store.connection import Connection
from service.store.embedded import EmbeddedServer
from service.store.spread.applying import Applier
from service.store.spread.reading import Reader
from tests.clusters import ClusterServers, cluster_servers

# They have an environment of their own: `make test-browser`.
collect_ignore = [] if find_spec("playwright") else ["browser"]

# Another server for what tests start themselves: `VALKEY_SERVER=/usr/bin/redis-server make test`.
if "VALKEY_SERVER" in os.environ:
    embedded.find_binary = lambda: Path(os.environ["VALKEY_SERVER"])
    collect_ignore.append("store/test_embedded.py")  # of the server that the package brings

# Where Python is told to keep no bytecode, as in many containers, each of the many processes that
# tests start would compile the whole service anew, in half a second of work.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# The same examples on every run, and no clock: a test that fails, fails again.
hypothesis_settings.register_profile("twinsift", derandomize=True, deadline=None)
hypothesis_settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "twinsift"))


@pytest.fixture(scope="session")
def server_url() -> Iterator[str]:
    """The address of a real server, started once and stopped at the session's end."""
    with tempfile.TemporaryDirectory(prefix="twinsift-") as directory:
        server = EmbeddedServer(Path(directory))
        yield server.start()
        server.release()


@pytest.fixture(scope="session")
def redis_url(server_url: str) -> str:
    """The address of the store that a test uses."""
    return server_url


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClusterServers]:
    """A real cluster, started once for each process that runs tests; it is to be left whole."""
    with cluster_servers(tmp_path_factory.mktemp("cluster") / "nodes") as started:
        yield started


@pytest.fixture(autouse=True)
def stores_are_closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Closes what a test has connected when it ends, and not whenever it is collected. What it left
    to be applied is not: the next test begins with an empty store, and may have a collection of the
    same uid."""
    connections: list[Connection] = []
    appliers: list[Applier] = []
    connect, make = Connection.__init__, Applier.__init__

    def connected(self: Connection, url: str, **options: Any) -> None:
        connect(self, url, **options)
        connections.append(self)

    def made(self: Applier, reader: Reader) -> None:
        make(self, reader)
        appliers.append(self)

    monkeypatch.setattr(Connection, "__init__", connected)
    monkeypatch.setattr(Applier, "__init__", made)
    yield
    for applier in appliers:
        with applier._going_on:
            applier._left.clear()
    for connection in connections:
        connection.close()


@pytest.fixture
def server_client(server_url: str) -> Iterator["redis.Redis"]:
    """A client of that server, which is empty when the test begins."""
    client = redis.Redis.from_url(server_url, protocol=3, decode_responses=False)
    client.flushall()
    client.script_flush()
    yield client
    client.close()


@pytest.fixture
def redis_client(server_client: "redis.Redis") -> "redis.Redis":
    """A client of the store that a test uses, which is empty when the test begins."""
    return server_client
