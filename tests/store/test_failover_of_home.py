"""The node that has home dies, and the replica that takes its place has not got the last that was
published there: what was taken back is not mistaken for what comes later."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import redis

from service.checker import Checker
from service.dedup.verdict import Answer, Document, Posted
from service.store.any_store import AnyStore
from service.store.connection import Connection
from service.store.spread import items
from service.store.spread.placement import places
from tests.store.conftest import Post

PARTITIONS = 3
BIKES = "Bicycles are stored in the yard behind the office over the winter."
LAMPS = "Every lamp in the north stair is switched off when the last one leaves."
KEYS = "Whoever is the first to come finds the key in the box beside the door."


@pytest.fixture
def partitions() -> int:
    return PARTITIONS


@contextmanager
def taken_back(client: redis.Redis, store: AnyStore) -> Iterator[None]:
    """Home is as it was before the block, at another process; all else is as the block left it."""
    store.settle()
    home = places(store.collection("default").uid, PARTITIONS).home
    pattern = f"{home.prefix}*"
    kept = {key: client.dump(key) or b"" for key in client.scan_iter(pattern)}
    yield
    store.settle()
    for key in list(client.scan_iter(pattern)):
        client.unlink(key)
    for key, value in kept.items():
        client.restore(key, 0, value)
    client.hset(home.settings, "run", "another")


def elsewhere(url: str, id: str, text: str) -> Answer:
    """Checks a text in another process of the service."""
    store = AnyStore(Connection(url, deadline=10.0))
    return Checker(store, deadline=10.0).check(Document(id, Posted(text, None)))


def test_what_comes_later_is_applied_though_its_number_was_given_before(
    post: Post, redis_client: redis.Redis, store: AnyStore
) -> None:
    post("first", BIKES)
    with taken_back(redis_client, store):
        post("lost", LAMPS)
    assert post("later", KEYS).verdict == "new"
    assert post("later", KEYS).replayed
    match = post("copy", KEYS).match
    assert match is not None
    assert match.id == "later"


def test_what_rests_on_what_was_taken_back_is_refused(
    post: Post, redis_client: redis.Redis, redis_url: str, store: AnyStore
) -> None:
    post("first", BIKES)
    with taken_back(redis_client, store):
        post("lost", LAMPS)
    collection, sequencer = store.collection("default"), store._spread.sequencer
    before = sequencer.snapshot(collection)
    elsewhere(redis_url, "later", KEYS)
    read = {items.id_item("later")}
    assert not sequencer.validate(collection, before, read)
    sequencer.catch_up(collection)
    assert sequencer.validate(collection, sequencer.snapshot(collection), read)


def test_what_was_not_done_before_is_done_first(
    post: Post,
    redis_client: redis.Redis,
    redis_url: str,
    store: AnyStore,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(store._spread.sequencer._applier, "add", lambda *_: None)
    post("first", BIKES)
    home = places(store.collection("default").uid, PARTITIONS).home
    with taken_back(redis_client, store):
        pass
    (first,) = redis_client.hkeys(home.redo)
    match = elsewhere(redis_url, "second", BIKES).match
    assert match is not None
    assert match.id == "first"
    assert not redis_client.hexists(home.redo, first)
