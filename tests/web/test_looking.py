"""Counters, health and the contract itself."""

from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient

from service.app import create_app
from service.settings import Settings

Post = Callable[..., dict[str, Any]]
Expect = Callable[..., dict[str, Any]]
Documented = Callable[[Any, str], None]

WORDS = "the quick brown fox jumps over the lazy dog while seven wizards brew a strong potion"


@pytest.fixture
def cut_off() -> FlaskClient:
    """A service whose store cannot be reached."""
    return create_app(Settings(redis_url="redis://127.0.0.1:1/0")).test_client()


def test_stats_of_an_empty_service_are_zeros(
    client: FlaskClient, expect_documented: Documented
) -> None:
    stats = client.get("/stats").get_json()
    expect_documented(stats, "Stats")
    assert stats["collections"]["default"]["checks"]["total"] == 0


def test_stats_count_what_was_answered(
    check: Post, client: FlaskClient, expect_documented: Documented
) -> None:
    check("a", WORDS)
    check("a", WORDS)
    check("b", WORDS)
    check("c", f"{WORDS} today")
    check("d", WORDS, dry_run=True)
    stats = client.get("/stats").get_json()
    expect_documented(stats, "Stats")
    counted = stats["collections"]["default"]
    assert counted["documents"] == {"active": 1, "held": 0, "dropped": 2}
    assert counted["checks"] == {
        "total": 4,
        "replayed": 1,
        "verdicts": {"new": 1, "exact_duplicate": 1, "near_duplicate": 1},
        "actions": {"ingest": 1, "skip": 2, "review": 0},
    }
    assert counted["embedding_calls_saved"] == 2
    assert counted["conflicts"] == {"open": 0, "resolved": 0, "void": 0}
    assert counted["scores"] == [{"from": 0.9, "to": 0.95, "count": 1}]


def test_stats_count_the_characters_removed_by_rule(check: Post, client: FlaskClient) -> None:
    answer = check("a", f"{WORDS}    and   more\x07 ")
    counted = client.get("/stats").get_json()["collections"]["default"]["cleaning"]
    report = answer["cleaning"]
    assert counted["chars_before"] == report["chars_before"]
    assert counted["chars_after"] == report["chars_after"]
    removed = {rule["rule"]: rule["chars"] for rule in report["removed"]}
    assert {rule: chars for rule, chars in counted["removed"].items() if chars} == removed


def test_stats_of_one_collection_hold_that_one_alone(client: FlaskClient) -> None:
    client.put("/collections/docs", json={})
    assert set(client.get("/stats?collection=docs").get_json()["collections"]) == {"docs"}
    assert set(client.get("/stats").get_json()["collections"]) == {"default", "docs"}


def test_stats_of_an_unknown_collection_are_not_found(
    client: FlaskClient, expect_problem: Expect
) -> None:
    expect_problem(client.get("/stats?collection=nowhere"), 404, "unknown_collection")


def test_the_process_is_healthy(client: FlaskClient, expect_documented: Documented) -> None:
    answer = client.get("/healthz").get_json()
    expect_documented(answer, "Alive")
    assert answer == {"status": "ok"}


def test_the_process_is_healthy_without_a_store(cut_off: FlaskClient) -> None:
    assert cut_off.get("/healthz").status_code == 200


def test_the_service_is_ready(client: FlaskClient, expect_documented: Documented) -> None:
    answer = client.get("/readyz").get_json()
    expect_documented(answer, "Ready")
    topology = {"kind": "single", "primaries": 1, "available": 1, "replicas": 0}
    assert answer == {"status": "ready", "store": "ready", "topology": topology}


def test_the_service_is_not_ready_without_a_store(
    cut_off: FlaskClient, expect_problem: Expect
) -> None:
    expect_problem(cut_off.get("/readyz"), 503, "store_unavailable")


def test_a_check_without_a_store_is_unavailable_and_says_when_to_ask_again(
    cut_off: FlaskClient, expect_problem: Expect
) -> None:
    response = cut_off.post("/check", json={"id": "a", "text": WORDS})
    expect_problem(response, 503, "store_unavailable")
    assert int(response.headers["Retry-After"]) >= 1


def test_the_contract_is_served(client: FlaskClient) -> None:
    contract = client.get("/openapi.json").get_json()
    assert contract["openapi"].startswith("3.1")
    assert "/check" in contract["paths"]


@pytest.mark.parametrize("path", ["/stats", "/healthz", "/readyz", "/openapi.json"])
def test_an_unknown_parameter_is_invalid_and_named(
    client: FlaskClient, expect_problem: Expect, path: str
) -> None:
    problem = expect_problem(client.get(f"{path}?verbose=1"), 422, "invalid_request")
    assert problem["errors"][0]["pointer"] == "/verbose"
