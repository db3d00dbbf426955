"""What a failover leaves of a collection with several partitions, and how it is mended."""

from collections.abc import Callable

import pytest
import redis

from service.dedup.verdict import Verdict
from service.store.any_store import AnyStore
from service.store.spread.placement import Places, places
from tests.store.conftest import Post
from tests.store.tearing import lost

PARTITIONS = 3


@pytest.fixture(params=["server"], scope="session")
def redis_url(server_url: str) -> str:
    """One server: a partition is torn there by hand."""
    return server_url


@pytest.fixture
def partitions() -> int:
    return PARTITIONS


@pytest.fixture
def where(store: AnyStore) -> Places:
    collection = store.collection("default")
    return places(collection.uid, collection.settings.partitions)


def test_a_home_that_lost_transactions_gives_none_of_their_numbers_again(
    post: Post, redis_client: redis.Redis, where: Places, words: Callable[[int], str]
) -> None:
    post("a", words(60))
    texts = [words(60) for _ in range(12)]
    with lost(redis_client, where.home):
        for at, text in enumerate(texts[:6]):
            assert post(f"lost-{at}", text).verdict is Verdict.NEW
    for at, text in enumerate(texts[6:]):
        assert post(f"kept-{at}", text).verdict is Verdict.NEW
    for at, text in enumerate(texts[6:]):
        assert post(f"kept-{at}", text).replayed
        match = post(f"copy-{at}", text).match
        assert match is not None
        assert match.id == f"kept-{at}"
