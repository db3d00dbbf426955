"""A checker over a real, empty store."""

import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import cast

import pytest
import redis

from service.catalogue import Catalogue
from service.checker import Checker
from service.dedup.verdict import Answer, Document, Posted
from service.reviewing import Reviewer
from service.store.any_store import AnyStore
from service.store.connection import Connection
from tests.clusters import ClusterServers
from tests.store.index_walk import walk

Post = Callable[..., Answer]
Scan = Callable[[str], list[str]]


class Clock:
    """The time of day in seconds, which a test may move on."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead

    def move_on(self, days: float) -> None:
        self.ahead += days * 86_400


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """All run in every way in the long form. In the short one those that are marked for the cluster
    run on it with collections that are spread over it, and on one server with whole ones; the
    others on one server with both, but for those that take long when spread."""
    if os.environ.get("SOAK") == "1":
        return

    def is_left_out(item: pytest.Item) -> bool:
        ways = getattr(item, "callspec", None)
        told = {} if ways is None else ways.params
        if "redis_url" not in told:
            return False
        for_cluster = item.get_closest_marker("cluster") is not None
        is_long = item.get_closest_marker("long_when_spread") is not None
        is_spread = told.get("partitions", 1) > 1
        if told["redis_url"] == "cluster":
            return not for_cluster or told.get("partitions") == 1
        return is_spread and (for_cluster or is_long)

    left_out = [item for item in items if is_left_out(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not is_left_out(item)]


@pytest.fixture(scope="session", params=["server", "cluster"])
def redis_url(request: pytest.FixtureRequest) -> str:
    """The address of one real server, then that of a cluster: all holds on both."""
    if request.param == "cluster":
        return str(request.getfixturevalue("cluster").url)
    return str(request.getfixturevalue("server_url"))


@pytest.fixture
def redis_client(redis_url: str, request: pytest.FixtureRequest) -> Iterator[redis.Redis]:
    """A client of it; it is empty when the test begins."""
    if not redis_url.startswith("redis+cluster"):
        yield request.getfixturevalue("server_client")
        return
    servers: ClusterServers = request.getfixturevalue("cluster")
    servers.empty()
    with closing(servers.client()) as client:
        yield cast(redis.Redis, client)  # it has the same commands


@pytest.fixture
def limit_memory(redis_client: redis.Redis) -> Iterator[Callable[[int], None]]:
    """Limits the memory of all servers, in bytes; 0: no limit, as it is in the end."""

    def limit(size: int) -> None:
        everywhere = isinstance(redis_client, redis.RedisCluster)
        options = {"target_nodes": redis.RedisCluster.ALL_NODES} if everywhere else {}
        redis_client.config_set("maxmemory", size, **options)

    yield limit
    limit(0)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=[1, 3])
def partitions(request: pytest.FixtureRequest) -> int:
    """How many partitions collections get: all that is promised holds for one and for several."""
    return int(request.param)


@pytest.fixture
def store(
    redis_url: str, redis_client: redis.Redis, clock: Clock, partitions: int
) -> Iterator[AnyStore]:
    store = AnyStore(
        Connection(redis_url, deadline=10.0), clock=clock, default_partitions=lambda: partitions
    )
    yield store
    store.settle()  # or it would go on in the next test


@pytest.fixture
def checker(store: AnyStore, clock: Clock) -> Checker:
    return Checker(store, deadline=10.0, clock=clock)


@pytest.fixture
def catalogue(store: AnyStore, clock: Clock) -> Catalogue:
    return Catalogue(store, deadline=10.0, clock=clock)


@pytest.fixture
def reviewer(store: AnyStore, clock: Clock) -> Reviewer:
    return Reviewer(store, deadline=10.0, clock=clock)


@pytest.fixture
def post(checker: Checker) -> Post:
    """Checks a text under an id: `post("a", "some words")`."""

    def check(id: str, text: str, **more: object) -> Answer:
        return checker.check(Document(id, Posted(text, None), **more))  # type: ignore[arg-type]

    return check


@pytest.fixture
def index_faults(redis_client: redis.Redis, store: AnyStore) -> Scan:
    """Walks every key of a collection and tells, in words, whatever contradicts another."""

    def scan(name: str = "default") -> list[str]:
        return walk(redis_client, store, name)

    return scan


@pytest.fixture
def words() -> Callable[[int], str]:
    """Texts of random words, the same in every run: `words(100)`."""
    drawn = random.Random(7)

    def some(count: int) -> str:
        return " ".join(f"word{drawn.randrange(50_000)}" for _ in range(count))

    return some
