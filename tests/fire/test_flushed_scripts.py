"""The server forgets its scripts over and over, while every verb of the index is in use."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from time import monotonic
from typing import Any
from urllib.parse import quote

import pytest
import redis

from tests.e2e.running import Service
from tests.fire.clients import Client, at_once
from tests.fire.forms import FLUSHED_FAMILIES
from tests.fire.near_copies import family, shuffled_requests
from tests.store.index_walk import faults_at

ANOTHER_TEXT = family(FLUSHED_FAMILIES)[0]


@dataclass
class Flushed:
    """What was asked, what was answered that is no success, how often scripts were forgotten."""

    calls: int
    errors: list[Any]
    flushes: int


def use_every_verb(client: Client, request: dict[str, str]) -> list[Any]:
    """What is answered to a text, again, in other bytes, to another; to looks, lists, a delete."""
    by_id = f"/documents?id={quote(request['id'])}"
    calls = [
        ("POST", "/check", request),
        ("POST", "/check", request),
        ("POST", "/check", request | {"text": request["text"].swapcase()}),
        ("GET", by_id, None),
        ("POST", "/check", request | {"text": ANOTHER_TEXT}),
        ("GET", "/documents?limit=5", None),
        ("DELETE", by_id, None),
        ("POST", "/check", request),
    ]
    return [client.call(method, path, body) for method, path, body in calls]


@pytest.fixture(scope="module")
def flushed(service: Service, figure: Callable[[str], None]) -> Flushed:
    requests = shuffled_requests(FLUSHED_FAMILIES, seed=3)
    flushes, began = 0, monotonic()
    with (
        ThreadPoolExecutor(1) as pool,
        closing(redis.Redis.from_url(service.store_url)) as client,
    ):
        load = pool.submit(at_once, service.port, requests, use_every_verb)
        while not load.done():
            client.script_flush()
            flushes += 1
        answers = load.result()[0]
    took, calls = monotonic() - began, sum(len(each) for each in answers)
    errors = [answer for each in answers for answer in each if answer[0] != 200]
    figure(f"SCRIPT FLUSH: {flushes} times in {took:.1f} s, during {calls} calls")
    return Flushed(calls, errors, flushes)


def test_scripts_that_are_forgotten_during_load_make_no_error(flushed: Flushed) -> None:
    assert Counter(status for status, _ in flushed.errors) == {}, flushed.errors[:3]


def test_scripts_were_forgotten_often_enough_to_matter(flushed: Flushed) -> None:
    assert flushed.flushes > flushed.calls / 10


def test_the_index_agrees_with_itself_after_the_flushes(flushed: Flushed, service: Service) -> None:
    assert faults_at(service.store_url) == []
