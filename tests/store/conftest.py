"""A checker over a real, empty store."""

import random
import time
from collections.abc import Callable

import pytest
import redis

from service.catalogue import Catalogue
from service.checker import Checker
from service.dedup.verdict import Answer, Document, Posted
from service.reviewing import Reviewer
from service.store.any_store import AnyStore
from service.store.connection import Connection
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


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=[1, 3])
def partitions(request: pytest.FixtureRequest) -> int:
    """How many partitions collections get: all that is promised holds for one and for several."""
    return int(request.param)


@pytest.fixture
def store(redis_url: str, redis_client: redis.Redis, clock: Clock, partitions: int) -> AnyStore:
    return AnyStore(
        Connection(redis_url, deadline=10.0), clock=clock, default_partitions=lambda: partitions
    )


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
