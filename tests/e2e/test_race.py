"""Many processes at once against one service: races and retries of `POST /check`."""

from collections import Counter
from collections.abc import Iterator
from multiprocessing import get_context
from typing import Any

import pytest

from tests.e2e.posting import post_check
from tests.e2e.running import Service, services

TEXT = "The lift in the north stair is out of service until the spare part arrives on Monday."
PROCESSES = 20


def post_at_once(service: Service, requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Posts each request from a process of its own, all at the same moment."""
    context = get_context("spawn")
    with context.Manager() as manager:
        barrier = manager.Barrier(len(requests))
        with context.Pool(len(requests)) as pool:
            jobs = [(service.port, request, barrier) for request in requests]
            return pool.starmap(post_check, jobs)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with services(tmp_path_factory.mktemp("race")) as start:
        yield start().ready()


@pytest.fixture
def service(shared: Service) -> Service:
    return shared.emptied()


def test_of_twenty_processes_with_one_text_one_gets_new_and_the_others_name_it(service: Service):
    answers = post_at_once(service, [{"id": f"id{n}", "text": TEXT} for n in range(PROCESSES)])
    assert Counter(answer["verdict"] for answer in answers) == {
        "new": 1,
        "exact_duplicate": PROCESSES - 1,
    }
    new = next(answer["id"] for answer in answers if answer["verdict"] == "new")
    assert {answer["match"]["id"] for answer in answers if answer["match"]} == {new}


def test_twenty_processes_with_one_document_make_one_document(service: Service):
    answers = post_at_once(service, [{"id": "one", "text": TEXT}] * PROCESSES)
    assert {answer["verdict"] for answer in answers} == {"new"}
    assert [answer["replayed"] for answer in answers].count(False) == 1
    assert len(service.call("GET", "/documents")[1]["items"]) == 1


def test_a_hundred_times_the_same_document_is_one_document_and_one_answer(service: Service):
    answers = [service.call("POST", "/check", {"id": "one", "text": TEXT})[1] for _ in range(100)]
    first = answers[0] | {"replayed": True}
    assert all(answer == first for answer in answers[1:])
    assert len(service.call("GET", "/documents")[1]["items"]) == 1
