"""Near copies race for a cluster whose slots move and whose primaries are killed, and any process
of several services may go at any time: what was confirmed is true afterwards."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from itertools import zip_longest
from time import monotonic, sleep

import pytest

from service.repairing import repair_of
from service.settings import Settings
from service.store.any_store import AnyStore
from service.store.connection import Connection
from service.store.spread.placement import places
from tests.clusters import ClusterServers, cluster_servers
from tests.e2e.running import services, wait_until
from tests.fire.breaking import OPTIONS, Mover, kill_primary
from tests.fire.contradictions import (
    among_the_answers,
    with_the_documents,
    with_what_is_answered_now,
)
from tests.fire.forms import PRIMARY_KILLS, PRIMARY_KILLS_EVERY
from tests.fire.racing import Race
from tests.fire.replicas import Replicas
from tests.store.index_walk import faults_at

SERVICES = 2
WORKERS = 4
SERVED = {
    "TWINSIFT_WORKERS": str(WORKERS),
    "TWINSIFT_DURABILITY": "replicated",
    "COVERAGE_PROCESS_CONFIG": "",
}
PARTITIONS = {"spread": 3, "whole": 1}
LANES = 2
SEED = 1
ANSWERS_BETWEEN_KILLS = 16

Figure = Callable[[str], None]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClusterServers]:
    """One of its own, that is broken all the time."""
    with cluster_servers(tmp_path_factory.mktemp("moving") / "nodes", more=OPTIONS) as started:
        yield started


@pytest.fixture(scope="module")
def replicas(
    cluster: ClusterServers, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Replicas]:
    with services(tmp_path_factory.mktemp("served")) as start:
        made = Replicas(lambda: start(TWINSIFT_REDIS_URL=cluster.url, **SERVED), SERVICES, SEED)
        for name, partitions in PARTITIONS.items():
            status, answer = made.call("PUT", f"/collections/{name}", {"partitions": partitions})
            assert status in (200, 201), answer
        yield made


def keys_of(cluster: ClusterServers) -> list[str]:
    """A key of each slot that the collections have, home first, those of one with several first."""
    with closing(Connection(cluster.url, deadline=5.0)) as connection:
        store = AnyStore(connection)
        uids = {name: store.collection(name).uid for name in PARTITIONS}
    parts = [places(uids[name], count).keys for name, count in PARTITIONS.items()]
    return [keys.settings for turn in zip_longest(*parts) for keys in turn if keys is not None]


@pytest.fixture(scope="module")
def race(cluster: ClusterServers, replicas: Replicas, figure: Figure) -> Race:
    """A race that is over, and all is whole again."""
    keys = keys_of(cluster)
    mover = Mover(cluster, keys, SEED)
    race = Race(replicas, list(PARTITIONS), LANES, SEED)
    began = monotonic()
    with going_on(race.run_until, mover.move_until, replicas.kill_until):
        for number in range(PRIMARY_KILLS):
            race.wait_for_answers(ANSWERS_BETWEEN_KILLS)
            turn, place = divmod(number, len(keys))
            kill_primary(cluster, mover, keys[place], behind=(turn + place) % 2 == 0)
            race.wait_for_answers(ANSWERS_BETWEEN_KILLS)
            sleep(max(0.0, began + (number + 1) * PRIMARY_KILLS_EVERY - monotonic()))
    wait_until(cluster.is_whole)
    figure(
        f"a moving cluster: {PRIMARY_KILLS} primaries killed in {monotonic() - began:.0f} s, slots "
        f"moved: {dict(mover.moved)}; {race.confirmed} checks of {len(race.families)} families "
        f"confirmed, calls and killed processes: {dict(replicas.counted)}"
    )
    return race


@contextmanager
def going_on(*works: Callable[[threading.Event], None]) -> Iterator[None]:
    """All of these go on while the block runs, and are told when it is over. Raises what they
    raise."""
    over = threading.Event()
    with ThreadPoolExecutor(len(works)) as pool:
        working = [pool.submit(work, over) for work in works]
        try:
            yield
        finally:
            over.set()
            for each in working:
                each.result()


def repair(url: str, collection: str) -> None:
    """What an operator does after a failover, before the walk is to find nothing."""
    list(repair_of(Settings(redis_url=url, deadline=10.0)).run(collection, dry_run=False))


def test_exactly_one_of_each_family_is_new_and_the_others_name_it(race: Race) -> None:
    assert [words for one in race.families for words in among_the_answers(one)] == []


@pytest.mark.parametrize("collection", PARTITIONS)
def test_what_was_confirmed_is_there_and_what_was_deleted_is_not(
    race: Race, replicas: Replicas, collection: str
) -> None:
    assert list(with_the_documents(replicas, collection, race.of(collection))) == []


@pytest.mark.parametrize("collection", PARTITIONS)
def test_asking_again_gives_what_was_confirmed_and_a_copy_finds_it(
    race: Race, replicas: Replicas, collection: str
) -> None:
    assert with_what_is_answered_now(replicas, race.of(collection)) == []


@pytest.mark.parametrize("collection", PARTITIONS)
def test_the_index_agrees_with_itself_after_a_repair(
    race: Race, cluster: ClusterServers, collection: str
) -> None:
    repair(cluster.url, collection)
    assert faults_at(cluster.url, collection) == []
