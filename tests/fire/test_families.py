"""64 clients post families of near copies at once, hang up now and then, and ask again."""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from time import monotonic
from typing import Any

import pytest

from service.dedup.scheme import CollectionSettings
from service.dedup.shingles import jaccard
from service.preparing import shingles_of
from tests.e2e.running import Service, wait_until
from tests.fire.clients import Client, Request, Told, at_once, checks_counted, documents, told
from tests.fire.forms import FAMILIES
from tests.fire.near_copies import COPIES, LEAST_ALIKE, family, family_of, shuffled_requests
from tests.store.index_walk import faults_at

ONE_IN = 10
DOCUMENTS = FAMILIES * COPIES


@dataclass
class Posted:
    """What was told of each id, at first and again, how much was sent, and what was counted."""

    first: dict[str, Told]
    again: dict[str, Told]
    replayed: set[bool]
    sent: int
    counted: Any


@pytest.fixture(scope="module")
def posted(service: Service, figure: Callable[[str], None]) -> Posted:
    hanging_up = random.Random(1)

    def ask(client: Client, request: Request) -> Any:
        while hanging_up.randrange(ONE_IN) == 0:
            client.check_and_hang_up(request)
        return client.check(request)

    began = monotonic()
    first, sent = at_once(service.port, shuffled_requests(FAMILIES, seed=1), ask)
    again, sent_again = at_once(service.port, shuffled_requests(FAMILIES, seed=2), ask)
    sent += sent_again
    took = monotonic() - began
    # Whoever hung up last left a check behind that may be under way still.
    wait_until(lambda: checks_counted(service.port)["checks"]["total"] >= sent)
    figure(
        f"families: {FAMILIES} of {COPIES}, {sent} checks in {took:.1f} s, "
        f"{sent - len(first) - len(again)} cut off"
    )
    return Posted(
        {answer["id"]: told(answer) for answer in first},
        {answer["id"]: told(answer) for answer in again},
        {answer["replayed"] for answer in again},
        sent,
        checks_counted(service.port),
    )


def test_any_two_copies_of_a_family_are_nine_tenths_alike() -> None:
    settings = CollectionSettings()
    for number in range(FAMILIES):
        sets = [shingles_of(text, settings) for text in family(number)]
        assert min(jaccard(a, b) for a, b in combinations(sets, 2)) >= LEAST_ALIKE


def test_exactly_one_of_each_family_is_told_new(posted: Posted) -> None:
    new = Counter(family_of(id) for id, answer in posted.first.items() if answer["match"] is None)
    assert new == {f"f{number}": 1 for number in range(FAMILIES)}


def test_exactly_one_document_of_each_family_is_active(posted: Posted, service: Service) -> None:
    active = Counter(family_of(found["id"]) for found in documents(service.port, state="active"))
    assert active == {f"f{number}": 1 for number in range(FAMILIES)}


def test_the_others_of_a_family_name_the_one_that_was_new(posted: Posted) -> None:
    new = {family_of(id): id for id, answer in posted.first.items() if answer["match"] is None}
    for id, answer in posted.first.items():
        if answer["match"] is not None:
            assert answer["match"]["id"] == new[family_of(id)]


def test_every_repeat_gives_the_first_answer(posted: Posted) -> None:
    assert posted.again == posted.first


def test_every_repeat_says_that_it_is_one(posted: Posted) -> None:
    assert posted.replayed == {True}


def test_every_check_that_was_sent_is_counted_once(posted: Posted) -> None:
    assert posted.counted["checks"]["total"] == posted.sent


def test_what_was_no_first_answer_is_counted_as_replayed(posted: Posted) -> None:
    assert posted.counted["checks"]["replayed"] == posted.sent - DOCUMENTS


def test_verdicts_and_actions_are_counted_as_they_were_answered(posted: Posted) -> None:
    answered = Counter(
        answer[name] for answer in posted.first.values() for name in ("verdict", "action")
    )
    checks = posted.counted["checks"]
    assert {n: by for n, by in (checks["verdicts"] | checks["actions"]).items() if by} == answered


def test_scores_are_counted_as_they_were_answered(posted: Posted) -> None:
    near = sum(answer["verdict"] == "near_duplicate" for answer in posted.first.values())
    assert sum(score["count"] for score in posted.counted["scores"]) == near


def test_documents_are_counted_by_state(posted: Posted) -> None:
    assert posted.counted["documents"] == {
        "active": FAMILIES,
        "held": 0,
        "dropped": DOCUMENTS - FAMILIES,
    }


def test_the_index_agrees_with_itself_after_the_families(posted: Posted, service: Service) -> None:
    assert faults_at(service.store_url) == []
