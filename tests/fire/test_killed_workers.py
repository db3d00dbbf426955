"""Workers are killed in mid-check, again and again, while 64 clients post near copies."""

import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import count
from random import Random
from time import monotonic
from typing import Any

import pytest

from tests.e2e.running import Service, services, wait_until
from tests.fire.clients import CLIENTS, Client, Told, at_once, checks_counted, documents, told
from tests.fire.forms import KILLS, SERVED
from tests.fire.near_copies import COPIES, family_of, request_for
from tests.store.index_walk import faults_at

FAMILIES_AT_ONCE = 10
ANSWERS_BETWEEN_KILLS = 32


@dataclass
class Load:
    """Clients that post near copies until they are told to stop."""

    port: int
    clients: list[Client] = field(default_factory=list)
    acknowledged: dict[str, Told] = field(default_factory=dict)
    stopped: bool = False

    @property
    def answered(self) -> int:
        return sum(client.answered for client in self.clients)

    @property
    def cut(self) -> int:
        return sum(client.cut for client in self.clients)

    @property
    def sent(self) -> int:
        return sum(client.sent for client in self.clients)

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """Posts while the block runs, and then until all that was begun is answered."""
        self.clients = [Client(self.port) for _ in range(CLIENTS)]
        numbers = count()
        with ThreadPoolExecutor(CLIENTS) as pool:
            working: list[Future[None]] = [
                pool.submit(self._work, client, numbers) for client in self.clients
            ]
            try:
                yield
            finally:
                self.stopped = True
        for each in working:
            each.result()

    def _work(self, client: Client, numbers: Iterator[int]) -> None:
        with closing(client):
            while not self.stopped:
                request = request_at(next(numbers))
                self.acknowledged[request["id"]] = told(client.check_until_answered(request))


def request_at(place: int) -> dict[str, str]:
    """An endless row of requests: the copies of a few families, shuffled, then of the next few."""
    window, at = divmod(place, FAMILIES_AT_ONCE * COPIES)
    order = Random(window).sample(range(FAMILIES_AT_ONCE * COPIES), FAMILIES_AT_ONCE * COPIES)
    number, copy = divmod(order[at], COPIES)
    return request_for(window * FAMILIES_AT_ONCE + number, copy)


def kill_oldest_worker(service: Service, load: Load, by_age: list[int]) -> bool:
    """Kills the worker that has lived longest, once checks are answered; whether it cut any off.
    `by_age` is what this remembers from one kill to the next."""
    answered, cut = load.answered, load.cut
    wait_until(lambda: load.answered >= answered + ANSWERS_BETWEEN_KILLS, pause=0.005)
    alive = service.workers()
    by_age[:] = [pid for pid in by_age if pid in alive] + sorted(alive - set(by_age))
    os.kill(by_age[0], signal.SIGKILL)
    wait_until(lambda: by_age[0] not in service.workers(), pause=0.005)
    answered = load.answered
    wait_until(lambda: load.cut > cut or load.answered >= answered + CLIENTS, pause=0.005)
    return load.cut > cut


@dataclass
class Survived:
    """What was told of each id, under fire and again, how much was sent, and what was counted."""

    acknowledged: dict[str, Told]
    again: dict[str, Told]
    counted: Any
    sent: int
    again_replayed: set[bool]


@pytest.fixture(scope="module", params=[1, 3])
def partitions(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(scope="module")
def service(partitions: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Four workers over a store of their own; their collection lies in so many partitions."""
    with services(tmp_path_factory.mktemp("fire")) as start:
        service = start(**SERVED).ready()
        service.call("PUT", "/collections/default", {"partitions": partitions})
        yield service


@pytest.fixture(scope="module")
def survived(service: Service, partitions: int, figure: Callable[[str], None]) -> Survived:
    wanted = KILLS if partitions == 1 else KILLS // 4
    load, kills, in_mid_check = Load(service.port), 0, 0
    by_age: list[int] = []
    began = monotonic()
    with load.going_on():
        while in_mid_check < wanted:
            kills += 1
            in_mid_check += kill_oldest_worker(service, load, by_age)
    took = monotonic() - began
    counted = checks_counted(service.port)
    figure(
        f"kill -9: {kills} workers in {took:.1f} s, {wanted} in mid-check; {load.answered} checks "
        f"answered, {load.cut} cut off and sent again"
    )
    requests = [request_at(place) for place in range(len(load.acknowledged))]
    assert {request["id"] for request in requests} == set(load.acknowledged)
    again, _ = at_once(service.port, requests, Client.check)
    return Survived(
        acknowledged=load.acknowledged,
        again={answer["id"]: told(answer) for answer in again},
        counted=counted,
        sent=load.sent,
        again_replayed={answer["replayed"] for answer in again},
    )


def test_the_index_agrees_with_itself_after_the_kills(survived: Survived, service: Service) -> None:
    assert faults_at(service.store_url) == []


def test_every_acknowledged_answer_is_there_with_the_same_answer(survived: Survived) -> None:
    assert survived.again == survived.acknowledged


def test_nothing_that_was_acknowledged_is_checked_anew(survived: Survived) -> None:
    assert survived.again_replayed == {True}


def test_exactly_one_of_each_family_is_active_after_the_kills(
    survived: Survived, service: Service
) -> None:
    active = Counter(family_of(found["id"]) for found in documents(service.port, state="active"))
    assert active == {family_of(id): 1 for id in survived.acknowledged}


def test_first_answers_are_counted_once_however_often_they_were_cut_off(survived: Survived) -> None:
    answered = Counter(answer["verdict"] for answer in survived.acknowledged.values())
    assert {n: by for n, by in survived.counted["checks"]["verdicts"].items() if by} == answered


def test_no_more_is_counted_than_was_sent_and_no_less_than_was_answered(survived: Survived) -> None:
    total = survived.counted["checks"]["total"]
    assert len(survived.acknowledged) <= total <= survived.sent
