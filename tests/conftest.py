"""What all tests share: one real server for the session, emptied for each test that asks."""

import os
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
import redis
from hypothesis import settings as hypothesis_settings

from service.store.connection import Connection
from service.store.embedded import EmbeddedServer

# They have an environment of their own: `make test-browser`.
collect_ignore = [] if find_spec("playwright") else ["browser"]

# The same examples on every run, and no clock: a test that fails, fails again.
hypothesis_settings.register_profile("twinsift", derandomize=True, deadline=None)
hypothesis_settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "twinsift"))


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """The address of a real server, started once and stopped at the session's end."""
    with tempfile.TemporaryDirectory(prefix="twinsift-") as directory:
        server = EmbeddedServer(Path(directory))
        yield server.start()
        server.release()


@pytest.fixture(autouse=True)
def stores_are_closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Closes what a test has connected when it ends, and not whenever it is collected."""
    made: list[Connection] = []
    make = Connection.__init__

    def remembered(self: Connection, url: str, *, deadline: float) -> None:
        make(self, url, deadline=deadline)
        made.append(self)

    monkeypatch.setattr(Connection, "__init__", remembered)
    yield
    for connection in made:
        connection.close()


@pytest.fixture
def redis_client(redis_url: str) -> Iterator["redis.Redis"]:
    """A client of that server, which is empty when the test begins."""
    client = redis.Redis.from_url(redis_url, protocol=3, decode_responses=False)
    client.flushall()
    client.script_flush()
    yield client
    client.close()
