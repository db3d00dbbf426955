"""Checks, updates and deletes of few ids from many processes, over a small pool of near copies."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from multiprocessing import get_context
from typing import Any

import pytest

from service.dedup.scheme import CollectionSettings
from service.dedup.shingles import jaccard
from service.preparing import shingles_of
from tests.e2e.running import Service
from tests.fire.clients import checks_counted, documents
from tests.fire.forms import CHURN_SECONDS
from tests.fire.near_copies import COPIES, family
from tests.fire.posting import IDS, PROCESSES, Churn, churn
from tests.store.index_walk import faults_at

FAMILIES = 5
ROUND_SECONDS = 0.5
SETTINGS = CollectionSettings()
# Half of each text is common to all: the families share buckets, and are still not alike.
COMMON = family(1_000)[0]


def pool_text(number: int, copy: int) -> str:
    """A text of the pool: which family it is of can be told from any of its copies."""
    return f"{COMMON}\n{family(number)[copy]}"


FAMILY_OF_TEXT = {pool_text(n, copy): n for n in range(FAMILIES) for copy in range(COPIES)}


@dataclass
class Churned:
    """What was asked, what was answered that must not be, what was active after each round, and
    what is left, by id."""

    checks: int
    wrong: list[Any]
    active: list[list[Any]]
    left: dict[str, Any]


@pytest.fixture(scope="module")
def churned(service: Service, figure: Callable[[str], None]) -> Churned:
    texts, seeds = sorted(FAMILY_OF_TEXT), count()
    done: list[Churn] = []
    active = []
    context = get_context("spawn")
    with context.Manager() as manager, context.Pool(PROCESSES) as pool:
        barrier = manager.Barrier(PROCESSES)
        for _ in range(round(CHURN_SECONDS / ROUND_SECONDS)):
            jobs = [
                (service.port, next(seeds), texts, ROUND_SECONDS, barrier) for _ in range(PROCESSES)
            ]
            done += pool.starmap(churn, jobs, chunksize=1)
            active.append(list(documents(service.port, state="active")))
        pool.close()
        pool.join()
    checks, deletes = sum(each.checks for each in done), sum(each.deletes for each in done)
    figure(
        f"churn: {checks} checks and {deletes} deletes of {IDS} ids from {PROCESSES} processes "
        f"in {CHURN_SECONDS} s"
    )
    return Churned(
        checks=checks,
        wrong=[answer for each in done for answer in each.wrong],
        active=active,
        left={document["id"]: document for document in documents(service.port)},
    )


def test_nothing_is_refused_or_matched_with_itself(churned: Churned) -> None:
    assert churned.wrong == []


def test_the_index_agrees_with_itself_after_the_churn(churned: Churned, service: Service) -> None:
    assert faults_at(service.store_url) == []


def test_no_two_active_documents_are_ever_near_copies(churned: Churned) -> None:
    for documents_of_a_round in churned.active:
        active = Counter(FAMILY_OF_TEXT[document["text"]] for document in documents_of_a_round)
        assert set(active.values()) <= {1}


def test_every_dropped_document_that_is_no_orphan_has_its_twin(churned: Churned) -> None:
    for id, document in churned.left.items():
        if document["state"] == "dropped" and not document["orphaned"]:
            twin = churned.left[document["twin_of"]["id"]]
            assert twin["state"] == "active"
            assert id in {copy["id"] for copy in twin["twins"]}


def test_every_dropped_document_is_as_like_its_twin_as_was_said(churned: Churned) -> None:
    for document in churned.left.values():
        if document["state"] == "dropped" and not document["orphaned"]:
            twin = churned.left[document["twin_of"]["id"]]
            own, other = (shingles_of(one["text"], SETTINGS) for one in (document, twin))
            assert document["twin_of"]["score"] == pytest.approx(jaccard(own, other), abs=1e-6)


def test_every_check_of_the_churn_is_counted_once(churned: Churned, service: Service) -> None:
    assert checks_counted(service.port)["checks"]["total"] == churned.checks
