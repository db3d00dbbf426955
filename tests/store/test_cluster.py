"""A cluster whose slots move and whose nodes die: what stops a check then, and what does not."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress

import pytest
import redis

from service.batching import Batches
from service.catalogue import Catalogue
from service.checker import Checker
from service.dedup.verdict import Answer, Document, Posted
from service.errors import EmptyText, StoreError, StoreUnavailable, Unconfirmed
from service.settings import Settings
from service.store.any_store import AnyStore, connect
from service.store.connection import Connection
from service.store.keys import REGISTRY, partition
from service.store.scripts import Call
from service.store.spread.placement import places
from tests.clusters import ClusterServers, Member
from tests.e2e.running import wait_until
from tests.store.index_walk import faults_at

SECONDS = 20
BIKES = "Bicycles are stored in the yard behind the office over the winter."


class Caller:
    """A process's view of the store, with collections that are at different primaries."""

    def __init__(self, cluster: ClusterServers, *, deadline: float = 5.0, replicated: bool = False):
        self.cluster = cluster
        self.connection = Connection(cluster.url, deadline=deadline, replicated=replicated)
        self.store = AnyStore(self.connection)
        self.checker = Checker(self.store, deadline=deadline)
        self.catalogue = Catalogue(self.store)

    def check(self, id: str, text: str, collection: str = "default") -> Answer:
        self.connection.begin_call()
        return self.checker.check(Document(id, Posted(text, None), collection))

    def key_of(self, collection: str) -> str:
        """A key that is in the collection's slot."""
        return partition(self.store.collection(collection).uid).settings

    def primary_of(self, collection: str) -> Member:
        return self.cluster.primary_of(self.key_of(collection))

    def elsewhere(self, *members: Member) -> str:
        """The name of a collection that is at none of these primaries."""
        for number in range(64):
            self.check("first", BIKES, self.made(f"c{number}"))
            if self.primary_of(f"c{number}") not in members:
                return f"c{number}"
        raise AssertionError("all collections are at one node")

    def made(self, name: str) -> str:
        self.catalogue.configure(name, {})
        return name

    def registry(self) -> Member:
        return self.cluster.primary_of(REGISTRY)


@pytest.fixture
def empty_cluster(cluster: ClusterServers) -> Iterator[ClusterServers]:
    cluster.empty()
    yield cluster
    for node in cluster.nodes:  # whoever comes next finds them all
        if node.process.poll() is not None:
            node.start()


@pytest.fixture
def caller(empty_cluster: ClusterServers) -> Caller:
    return Caller(empty_cluster)


def until_answered(work: Callable[[], Answer]) -> Answer:
    """Asks again, as callers do who are told 503."""
    give_up = time.monotonic() + SECONDS
    while time.monotonic() < give_up:
        with suppress(StoreError):
            return work()
        time.sleep(0.1)
    return work()


class TestASlotThatMoves:
    def test_a_key_that_has_moved_already_is_asked_for_where_it_is(self, caller: Caller) -> None:
        caller.check("a", BIKES)
        key = caller.key_of("default")
        with caller.cluster.moving(key) as (source, target):
            read = caller.connection.client.hget
            assert caller.connection.call(read, key, "next") == b"2"
            caller.cluster.move_keys(source, target, [key.encode()])
            assert caller.connection.call(read, key, "next") == b"2"

    def test_so_is_a_script_which_the_other_node_does_not_know(self, caller: Caller) -> None:
        caller.check("a", BIKES, caller.made("other"))
        key = caller.key_of("other")
        with caller.cluster.moving(key) as (source, target):
            caller.cluster.move_keys(source, target, [key.encode()])
            scheme, *_ = caller.connection.run("drop", [key], [])
        assert scheme is not None

    def test_a_check_waits_while_a_part_of_its_keys_has_moved(self, caller: Caller) -> None:
        caller.check("a", BIKES)
        key = caller.key_of("default")
        with ThreadPoolExecutor(1) as pool:
            with caller.cluster.moving(key) as (source, target):
                caller.cluster.move_keys(source, target, [key.encode()])
                waiting = pool.submit(caller.check, "b", BIKES)
                time.sleep(0.3)
                assert not waiting.done()
            answer = waiting.result()
        assert answer.match is not None
        assert (answer.verdict, answer.match.id) == ("exact_duplicate", "a")
        assert faults_at(caller.cluster.url) == []

    def test_it_waits_no_longer_than_its_deadline(self, empty_cluster: ClusterServers) -> None:
        caller = Caller(empty_cluster, deadline=0.6)
        until_answered(lambda: caller.check("a", BIKES))
        with empty_cluster.moving(caller.key_of("default")) as (source, target):
            key = caller.key_of("default").encode()
            empty_cluster.move_keys(source, target, [key])
            began = time.monotonic()
            with pytest.raises(StoreUnavailable):
                caller.check("b", BIKES)
            assert 0.3 < time.monotonic() - began < 3

    def test_when_it_has_moved_the_calls_go_after_it(self, caller: Caller) -> None:
        caller.check("a", BIKES)
        with caller.cluster.moving(caller.key_of("default")) as (_, target):
            pass
        assert caller.check("a", BIKES).replayed
        assert caller.primary_of("default") is target

    def test_nothing_fails_while_the_servers_move_it_whole(self, caller: Caller) -> None:
        """As Valkey 9 does by itself, in one piece."""
        if not caller.cluster.can_move_whole:
            pytest.skip("only Valkey 9 and newer can")
        caller.check("first", BIKES)
        key, over, told = caller.key_of("default"), threading.Event(), list[Answer]()

        def work(name: str) -> None:
            number = 0
            while not over.is_set():
                number += 1
                text = " ".join(f"{name}{number}word{place}" for place in range(8))
                told.append(caller.check(f"{name}{number}", text))

        with ThreadPoolExecutor(4) as pool:
            working = [pool.submit(work, name) for name in ("ada", "bea", "cleo", "dora")]
            try:
                target = caller.cluster.move_whole(key)
            finally:
                over.set()
        for each in working:
            each.result()
        assert {answer.verdict for answer in told} == {"new"}
        assert caller.primary_of("default") is target
        assert faults_at(caller.cluster.url) == []


class TestNodesThatAnnounceHostNamesAndHaveNone:
    """As with `cluster-preferred-endpoint-type hostname` alone."""

    @pytest.fixture
    def nameless(self, caller: Caller) -> Iterator[Caller]:
        caller.check("a", BIKES)
        _prefer(caller.cluster, "hostname")
        yield caller
        _prefer(caller.cluster, "ip")

    def test_are_told_where_they_are_asked_for_first(self, nameless: Caller) -> None:
        with pytest.raises(StoreUnavailable, match="host names"):
            Caller(nameless.cluster).connection.run("release", [REGISTRY], ["nobody", "0"])

    def test_are_told_where_they_send_on(self, nameless: Caller) -> None:
        key = nameless.key_of("default")
        with nameless.cluster.moving(key):
            pass
        with pytest.raises(StoreUnavailable, match="no host name"):
            nameless.connection.call(nameless.connection.client.hget, key, "next")


def _prefer(cluster: ClusterServers, endpoint: str) -> None:
    for node in cluster.nodes:
        node.client.config_set("cluster-preferred-endpoint-type", endpoint)


class TestANodeThatDies:
    def test_its_replica_goes_on_and_others_never_stop(self, caller: Caller) -> None:
        caller.check("a", BIKES)
        dying = caller.primary_of("default")
        other = caller.elsewhere(dying, caller.registry())
        caller.check("a", BIKES, other)
        wait_until(caller.cluster.is_whole)
        dying.kill()
        answered = threading.Event()

        def keep_asking() -> int:
            number = 0
            while not answered.is_set():
                number += 1
                assert (
                    caller.check(f"id{number}", f"{number}a {number}b {number}c", other).match
                    is None
                )
            return number

        with ThreadPoolExecutor(1) as pool:
            asking = pool.submit(keep_asking)
            try:
                answer = until_answered(lambda: caller.check("a", BIKES))
            finally:
                answered.set()
            assert asking.result() > 0
        assert answer.replayed
        assert caller.primary_of("default") is not dying
        dying.start()
        wait_until(caller.cluster.is_whole)
        assert not dying.is_primary
        assert caller.check("b", BIKES).match is not None
        assert faults_at(caller.cluster.url) == []

    def test_a_slot_without_a_primary_is_missing_alone(self, caller: Caller) -> None:
        caller.check("a", BIKES)
        lost = caller.registry()
        gone = caller.elsewhere(lost)
        dying = caller.primary_of(gone)
        kept = caller.elsewhere(dying)
        for node in (caller.cluster.replica_of(dying), dying):
            node.kill()
        for number in range(5):
            with pytest.raises(StoreUnavailable):
                caller.check(f"id{number}", "some text of its own", gone)
            assert caller.check("first", BIKES, kept).replayed
        caller.connection.begin_call()
        told = caller.catalogue.readiness()
        assert (told.store, told.primaries, told.available) == ("partial", 3, 2)

    def test_a_frozen_node_keeps_nobody_who_is_elsewhere_waiting(
        self, empty_cluster: ClusterServers
    ) -> None:
        caller = Caller(empty_cluster, deadline=2.0)
        frozen = caller.elsewhere(caller.registry())
        node = caller.primary_of(frozen)
        kept = caller.elsewhere(node)
        with node.frozen():
            with pytest.raises(StoreUnavailable):
                caller.check("a", BIKES, frozen)
            began = time.monotonic()
            assert caller.check("first", BIKES, kept).replayed
            assert time.monotonic() - began < 1


class TestWhatAReplicaConfirms:
    def test_it_is_told_only_once_the_replica_has_it(self, empty_cluster: ClusterServers) -> None:
        caller = Caller(empty_cluster, deadline=1.0, replicated=True)
        until_answered(lambda: caller.check("a", BIKES))
        replica = empty_cluster.replica_of(caller.primary_of("default"))
        with replica.frozen():
            with pytest.raises(Unconfirmed):
                caller.check("b", BIKES.upper())
            with pytest.raises(Unconfirmed):  # what others wrote, too
                caller.check("b", BIKES.upper())
        answer = until_answered(lambda: caller.check("b", BIKES.upper()))
        assert (answer.replayed, answer.verdict) == (True, "exact_duplicate")

    def test_a_server_that_only_refused_is_not_asked_for_it(
        self, empty_cluster: ClusterServers
    ) -> None:
        caller = Caller(empty_cluster, replicated=True)
        caller.catalogue.configure("spread", {"partitions": 3})
        until_answered(lambda: caller.check("a", BIKES, "spread"))
        empty_cluster.move_whole(caller.key_of("spread"))
        assert caller.check("b", BIKES, "spread").match is not None

    @pytest.mark.parametrize("behind", [0, 1])
    def test_of_several_partitions_none_has_a_step_that_may_be_lost_at_home_or_forgotten_there(
        self, empty_cluster: ClusterServers, behind: int
    ) -> None:
        caller = Caller(empty_cluster, deadline=1.0, replicated=True)
        caller.catalogue.configure("spread", {"partitions": 3})
        until_answered(lambda: caller.check("a", BIKES, "spread"))
        collection = caller.store.collection("spread")
        caller.store._spread.sequencer.catch_up(collection)
        parts = places(collection.uid, 3).keys
        late = empty_cluster.replica_of(empty_cluster.primary_of(parts[behind].settings))
        with closing(empty_cluster.client()) as client, late.frozen():
            with pytest.raises(Unconfirmed):
                caller.check("b", "Every lamp in the stair is switched off at night.", "spread")
            assert client.hlen(parts[0].redo) == 1
            assert sum(client.hlen(part.documents) for part in parts) == 1
        answer = until_answered(
            lambda: caller.check("b", "Every lamp in the stair is switched off at night.", "spread")
        )
        assert (answer.verdict, answer.replayed) == ("new", True)

    def test_in_a_batch_each_answer_waits_for_it(self, empty_cluster: ClusterServers) -> None:
        caller = Caller(empty_cluster, deadline=1.0, replicated=True)
        until_answered(lambda: caller.check("a", BIKES))
        batches = Batches(caller.store, caller.checker)
        posted = [Document(f"id{n}", Posted(f"{n}a {n}b {n}c", None)) for n in range(3)]
        empty = Document("empty", Posted(" ", None))
        with empty_cluster.replica_of(caller.primary_of("default")).frozen():
            results = list(batches.check([*posted, empty, *posted]))
        assert [type(result) for result in results] == [
            *[Unconfirmed] * 3,
            EmptyText,
            *[Unconfirmed] * 3,
        ]
        wait_until(empty_cluster.is_whole)
        results = list(batches.check(posted))
        assert [isinstance(result, Answer) and result.replayed for result in results] == [True] * 3

    def test_a_user_that_may_not_wait_is_told_apart(self, empty_cluster: ClusterServers) -> None:
        for node in empty_cluster.nodes:
            node.ask("ACL SETUSER", "hasty", "on", ">secret", "~*", "+@all", "-wait")
        url = empty_cluster.url.replace("://", "://hasty:secret@")
        connection = Connection(url, deadline=5.0, replicated=True)
        connection.run("release", [REGISTRY], ["nobody", "0"])
        with pytest.raises(StoreUnavailable) as refused:
            connection.confirm()
        assert refused.value.kind == "noperm"

    def test_what_two_processes_told_is_not_confirmed(self, empty_cluster: ClusterServers) -> None:
        """Between a read and the write that confirms it, another one may have taken the place of
        the server that was read: with other data."""
        caller = Caller(empty_cluster, replicated=True)
        caller.check("a", BIKES)
        key, node = caller.key_of("default"), caller.primary_of("default")
        caller.connection.begin_call()
        caller.connection.call(caller.connection.client.hget, key, "next")
        node.kill()
        node.start()
        wait_until(empty_cluster.is_whole)
        caller.connection.call(caller.connection.client.hget, key, "next")
        with pytest.raises(Unconfirmed):
            caller.connection.confirm()
        caller.connection.begin_call()
        caller.connection.call(caller.connection.client.hget, key, "next")
        caller.connection.confirm()


def test_scripts_for_several_nodes_go_out_together(caller: Caller) -> None:
    names = [caller.made(f"c{number}") for number in range(12)]
    keys = [caller.key_of(name) for name in names]
    assert len({caller.cluster.primary_of(key).port for key in keys}) == 3
    calls: list[Call] = [("drop", [key], []) for key in keys]
    for node in caller.cluster.primaries:
        node.ask("SCRIPT", "FLUSH")
    with caller.cluster.moving(keys[0]) as (source, target):
        caller.cluster.move_keys(source, target, [keys[0].encode()])
        replies = caller.connection.run_all(calls)
    with closing(caller.cluster.client()) as client:
        levels = [client.hget(key, "level") for key in keys]
    assert [reply[1] for reply in replies] == levels


def test_what_one_node_does_not_answer_is_told_in_its_place(caller: Caller) -> None:
    here = caller.elsewhere()
    dead = caller.primary_of(here)
    there = caller.elsewhere(dead)
    keys = [caller.key_of(name) for name in (here, there)]
    for node in (caller.cluster.replica_of(dead), dead):
        node.kill()
    lost, given = caller.connection.run_all([("drop", [key], []) for key in keys])
    assert isinstance(lost, StoreUnavailable)
    assert not isinstance(given, redis.RedisError)


@pytest.mark.parametrize(("said", "lies_in"), [({}, 3), ({"partitions": 1}, 1)])
def test_a_collection_lies_over_all_primaries_unless_it_is_said_otherwise(
    empty_cluster: ClusterServers, said: dict[str, int], lies_in: int
) -> None:
    store = connect(Settings(redis_url=empty_cluster.url))
    store.configure("docs", said)
    assert store.collection("docs").settings.partitions == lies_in


@pytest.mark.usefixtures("server_client")
def test_on_one_server_a_collection_is_whole(server_url: str) -> None:
    store = connect(Settings(redis_url=server_url))
    store.configure("docs", {})
    assert store.collection("docs").settings.partitions == 1
