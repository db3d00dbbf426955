"""What a failover leaves of a collection with several partitions, and how it is mended."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress

import pytest
import redis

from service.catalogue import Catalogue
from service.checker import Checker
from service.dedup.decisions import DecisionFilter
from service.dedup.stored import DocumentFilter
from service.dedup.verdict import Document, Posted, State, Verdict
from service.errors import StoreError, UnknownCollection
from service.repairing import Repair
from service.reviewing import Reviewer
from service.store.any_store import AnyStore
from service.store.connection import Connection
from service.store.keys import REGISTRY
from service.store.spread.placement import Places, places
from tests.clusters import ClusterServers
from tests.e2e.running import wait_until
from tests.store.conftest import Clock, Post, Scan
from tests.store.histories import TOPICS, History, text_of
from tests.store.index_walk import faults_at
from tests.store.tearing import keys_of, lost

Losing = Callable[[int], AbstractContextManager[None]]

PARTITIONS = 3
SEEDS = 200 if os.environ.get("SOAK") == "1" else 9
DAY = 86_400


@pytest.fixture(params=["server"], scope="session")
def redis_url(server_url: str) -> str:
    """One server: a partition is torn there by hand."""
    return server_url


@pytest.fixture
def partitions() -> int:
    return PARTITIONS


@pytest.fixture
def where(store: AnyStore) -> Places:
    return places_of(store)


@pytest.fixture
def losing(redis_client: redis.Redis, where: Places, store: AnyStore) -> Losing:
    """A partition loses what is written to it in a block."""
    return lambda place: lost(redis_client, where.keys[place], store)


@pytest.fixture
def history(checker: Checker, catalogue: Catalogue, reviewer: Reviewer) -> Callable[[int], History]:
    return lambda seed: History(checker, catalogue, reviewer, seed)


@pytest.fixture
def repaired(store: AnyStore, clock: Clock, index_faults: Scan) -> Callable[[], list[str]]:
    """Repairs; what contradicts another behind that, and what a second repair finds."""

    def repair() -> list[str]:
        once = Repair(store, clock=clock)
        told = list(once.run(None, dry_run=False))
        left = [] if once.is_whole else [str(told)]
        again = Repair(store, clock=clock).run(None, dry_run=True)
        return [*left, *index_faults("default"), *map(str, again)]

    return repair


def places_of(store: AnyStore) -> Places:
    collection = store.collection("default")
    return places(collection.uid, collection.settings.partitions)


def test_a_home_that_lost_transactions_gives_none_of_their_numbers_again(
    losing: Losing, post: Post, words: Callable[[int], str]
) -> None:
    post("a", words(60))
    texts = [words(60) for _ in range(12)]
    with losing(0):
        for at, text in enumerate(texts[:6]):
            assert post(f"lost-{at}", text).verdict is Verdict.NEW
    for at, text in enumerate(texts[6:]):
        assert post(f"kept-{at}", text).verdict is Verdict.NEW
    for at, text in enumerate(texts[6:]):
        assert post(f"kept-{at}", text).replayed
        match = post(f"copy-{at}", text).match
        assert match is not None
        assert match.id == f"kept-{at}"


@pytest.mark.parametrize("seed", range(SEEDS))
def test_whatever_a_partition_lost_is_mended(
    losing: Losing,
    history: Callable[[int], History],
    repaired: Callable[[], list[str]],
    seed: int,
) -> None:
    going = history(seed)
    going.go_on(40)
    with losing(seed % PARTITIONS):
        going.go_on(25)
    assert repaired() == []


def test_two_partitions_that_lost_writes_of_different_times_are_mended(
    losing: Losing,
    history: Callable[[int], History],
    repaired: Callable[[], list[str]],
) -> None:
    going = history(1)
    going.go_on(40)
    with losing(0):
        going.go_on(15)
        with losing(1):
            going.go_on(15)
    assert repaired() == []


def test_a_partition_that_lost_all_is_mended(
    history: Callable[[int], History],
    redis_client: redis.Redis,
    where: Places,
    repaired: Callable[[], list[str]],
) -> None:
    history(2).go_on(60)
    redis_client.delete(*keys_of(redis_client, where.keys[1]))
    assert repaired() == []


def test_a_log_that_was_trimmed_meanwhile_is_mended(
    losing: Losing,
    history: Callable[[int], History],
    clock: Clock,
    repaired: Callable[[], list[str]],
) -> None:
    going = history(3)
    going.go_on(40)
    clock.move_on(60)
    going.go_on(10)
    with losing(2):
        clock.move_on(60)
        going.go_on(20)
    assert repaired() == []


def test_after_a_repair_nothing_is_found_that_is_not_there(
    losing: Losing,
    history: Callable[[int], History],
    catalogue: Catalogue,
    checker: Checker,
    repaired: Callable[[], list[str]],
) -> None:
    going = history(4)
    going.go_on(30)
    with losing(1):
        going.go_on(30)
    assert repaired() == []
    for topic in range(TOPICS):
        stands = {d.id: d for d in catalogue.documents("default", DocumentFilter(), 99, None).items}
        text = text_of(topic, 9, "answers")
        answer = checker.check(Document(f"fresh-{topic}", Posted(text, None)))
        alike = [d for d in stands.values() if f"number {topic} " in (d.text or "")]
        expected = any(d.state is not State.DROPPED for d in alike)
        assert (answer.verdict is not Verdict.NEW) == expected
        assert answer.match is None or answer.match.id in stands


def test_downstream_is_told_of_documents_that_are_lost(
    losing: Losing,
    post: Post,
    catalogue: Catalogue,
    reviewer: Reviewer,
    repaired: Callable[[], list[str]],
) -> None:
    ids = [f"doc-{number}" for number in range(12)]
    with losing(1):
        for number, id in enumerate(ids):
            post(id, text_of(number, 2, "answers"))
    assert repaired() == []
    there = {one.id for one in catalogue.documents("default", DocumentFilter(), 99, None).items}
    told = reviewer.decisions("default", DecisionFilter(), 99, None).items
    retired = {id for entry in told for id in entry.retire}
    assert retired
    assert retired <= set(ids) - there  # the others have left no trace


def test_checks_go_on_while_it_is_mended(
    losing: Losing,
    history: Callable[[int], History],
    server_url: str,
    repaired: Callable[[], list[str]],
) -> None:
    going = history(5)
    going.go_on(40)
    with losing(2):
        going.go_on(25)
    store = AnyStore(Connection(server_url, deadline=1.0))
    meanwhile = History(Checker(store), Catalogue(store), Reviewer(store), 6)
    is_over = threading.Event()

    def check_on() -> None:
        while not is_over.wait(0.01):
            store.begin_call()
            with suppress(StoreError):  # of what is torn still
                meanwhile.go_on(1)

    thread = threading.Thread(target=check_on)
    thread.start()
    try:
        repaired()
    finally:
        is_over.set()
        thread.join()
    assert repaired() == []


def test_a_dry_run_tells_and_changes_nothing(
    losing: Losing,
    post: Post,
    store: AnyStore,
    words: Callable[[int], str],
    index_faults: Scan,
) -> None:
    post("a", words(60))
    with losing(1):
        post("b", words(60))
    before = index_faults("default")
    dry = Repair(store)
    assert list(dry.run(None, dry_run=True))
    assert not dry.is_whole
    assert index_faults("default") == before


def test_the_command_tells_what_it_mended_and_nothing_that_was_posted(
    losing: Losing,
    post: Post,
    words: Callable[[int], str],
    server_url: str,
) -> None:
    def twinsift(*arguments: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-m", "service.cli", "repair", *arguments],
            env={**os.environ, "TWINSIFT_REDIS_URL": server_url},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    post("a", words(60))
    with losing(1):
        post("posted-id", "posted " + words(60))
    assert twinsift("--dry-run")[0] == 1
    status, told = twinsift()
    assert status == 0
    assert "collection default: texts" in told
    assert "posted" not in told
    assert twinsift("--collection", "default") == (0, "whole\n")


def test_a_collection_whose_name_was_lost_gets_it_back(
    post: Post, store: AnyStore, redis_client: redis.Redis, words: Callable[[int], str]
) -> None:
    text = words(60)
    post("a", text)
    redis_client.delete(REGISTRY)
    store._registry.forget("default")
    assert [told.found for told in Repair(store).run(None, dry_run=False)] == [1]
    assert post("a", text).replayed
    store.configure("another", {})  # it gets a uid of its own
    assert store.collection("another").uid != store.collection("default").uid


def test_a_name_whose_collection_was_lost_goes_with_what_is_left_of_it(
    post: Post, store: AnyStore, redis_client: redis.Redis, words: Callable[[int], str]
) -> None:
    store.configure("docs", {"partitions": PARTITIONS})
    post("a", words(60), collection="docs")
    uid = store.collection("docs").uid
    home = places(uid, PARTITIONS).home
    redis_client.delete(*keys_of(redis_client, home))
    store._registry.forget("docs")
    assert list(Repair(store).run(None, dry_run=False))
    with pytest.raises(UnknownCollection):
        store.collection("docs")
    assert list(redis_client.scan_iter(f"ts1:{{{uid}.*")) == []


def test_a_replica_that_was_behind_and_is_promoted_is_mended(cluster: ClusterServers) -> None:
    cluster.empty()
    store = AnyStore(Connection(cluster.url, deadline=10.0), default_partitions=lambda: PARTITIONS)
    going = History(Checker(store), Catalogue(store), Reviewer(store), 7)
    going.go_on(30)
    primary = cluster.primary_of(places_of(store).keys[1].settings)
    replica = cluster.replica_of(primary)
    with replica.frozen():
        primary.ask("CLIENT KILL", "TYPE", "replica")
        going.go_on(20)
        primary.kill()
    wait_until(lambda: replica.answers() and replica.is_primary)
    wait_until(lambda: cluster.primary_of(places_of(store).keys[1].settings) is replica)
    assert faults_at(cluster.url)
    repair = Repair(store)
    told = list(repair.run(None, dry_run=False))
    assert repair.is_whole, told
    assert faults_at(cluster.url) == []
