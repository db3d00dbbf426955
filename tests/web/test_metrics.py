"""What Prometheus is told."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from prometheus_client.parser import text_string_to_metric_families

from service.app import create_app
from service.settings import Settings

Post = Callable[..., dict[str, Any]]

ROOT = Path(__file__).parents[2]
WORDS = "bicycles are lent for {} hours and have to be back in the shop before it closes at night"


@pytest.fixture
def measured(client: FlaskClient) -> Callable[..., float | None]:
    """The value of a measure with these labels, None where it is not told."""

    def value(name: str, **labels: str) -> float | None:
        return measures(client).get((name, frozenset(labels.items())))

    return value


@pytest.fixture
def added(measured: Callable[..., float | None]) -> Callable[..., float]:
    """What `act` adds to a counter: counters are of the process, and other tests count too."""

    def difference(act: Callable[[], object], name: str, **labels: str) -> float:
        before = measured(name, **labels) or 0.0
        act()
        return (measured(name, **labels) or 0.0) - before

    return difference


def measures(client: FlaskClient) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    answer = client.get("/metrics")
    assert (answer.status_code, answer.mimetype) == (200, "text/plain")
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def test_a_check_is_counted_by_its_verdict(check: Post, added: Callable[..., float]) -> None:
    assert added(lambda: check("a", WORDS), "twinsift_checks_total", verdict="new") == 1


def test_a_check_is_counted_by_its_action(check: Post, added: Callable[..., float]) -> None:
    check("a", WORDS)
    assert added(lambda: check("b", WORDS), "twinsift_actions_total", action="skip") == 1


def test_a_replay_is_counted_as_one(check: Post, added: Callable[..., float]) -> None:
    check("a", WORDS)
    assert added(lambda: check("a", WORDS), "twinsift_idempotent_replays_total") == 1


def test_a_replay_is_no_check(check: Post, added: Callable[..., float]) -> None:
    check("a", WORDS)
    assert added(lambda: check("a", WORDS), "twinsift_checks_total", verdict="new") == 0


def test_a_dry_run_is_no_check(check: Post, added: Callable[..., float]) -> None:
    def dry_run() -> object:
        return check("a", WORDS, dry_run=True)

    assert added(dry_run, "twinsift_checks_total", verdict="new") == 0


def test_items_of_a_batch_are_counted_as_checks(
    client: FlaskClient, added: Callable[..., float]
) -> None:
    items = [{"id": "a", "text": WORDS}, {"id": "b", "text": WORDS, "dry_run": True}, {}]

    def post() -> object:
        return client.post("/check/batch", json={"items": items})

    assert added(post, "twinsift_checks_total", verdict="new") == 1


def test_a_problem_is_counted_by_its_code(client: FlaskClient, added: Callable[..., float]) -> None:
    def post() -> object:
        return client.post("/check", json={"id": "a", "text": ""})

    assert added(post, "twinsift_rejected_total", reason="empty_text") == 1


def test_a_problem_of_an_item_is_counted(client: FlaskClient, added: Callable[..., float]) -> None:
    def post() -> object:
        return client.post("/check/batch", json={"items": [{"id": "a", "text": ""}]})

    assert added(post, "twinsift_rejected_total", reason="empty_text") == 1


def test_a_request_is_counted_under_the_pattern_of_its_address(
    client: FlaskClient, added: Callable[..., float]
) -> None:
    labels = {"route": "/documents/{id}", "method": "GET", "code": "404"}
    name = "twinsift_http_request_duration_seconds_count"
    assert added(lambda: client.get("/documents/none"), name, **labels) == 1


def test_addresses_and_methods_that_are_none_share_one_label(
    client: FlaskClient, added: Callable[..., float]
) -> None:
    labels = {"route": "unknown", "method": "unknown", "code": "404"}
    name = "twinsift_http_request_duration_seconds_count"
    assert added(lambda: client.open("/no/where", method="BREW"), name, **labels) == 1


@pytest.mark.parametrize("stage", ["parse", "hash", "redis", "verify"])
def test_a_check_of_a_near_copy_spends_time_in_every_stage(
    check: Post, added: Callable[..., float], stage: str
) -> None:
    check("a", WORDS.format(2))
    name = "twinsift_stage_duration_seconds_sum"
    assert added(lambda: check("b", WORDS.format(3)), name, stage=stage) > 0


def test_what_is_stored_is_told(check: Post, measured: Callable[..., float | None]) -> None:
    check("a", WORDS.format(2))
    check("b", WORDS.format(3))
    assert measured("twinsift_index_documents", state="active") == 1
    assert measured("twinsift_index_documents", state="held") == 1
    assert measured("twinsift_conflicts_open") == 1


def test_the_oldest_open_conflict_tells_its_age(
    check: Post, measured: Callable[..., float | None]
) -> None:
    assert measured("twinsift_oldest_conflict_age_seconds") == 0
    check("a", WORDS.format(2))
    check("b", WORDS.format(3))
    age = measured("twinsift_oldest_conflict_age_seconds")
    assert age is not None
    assert 0 < age < 60


def test_a_store_that_answers_is_up(measured: Callable[..., float | None]) -> None:
    assert measured("twinsift_redis_up") == 1
    assert measured("twinsift_redis_aof_write_ok") == 1
    assert measured("twinsift_redis_evicted_keys_total") == 0


def test_of_a_store_that_does_not_answer_nothing_else_is_told() -> None:
    cut_off = create_app(Settings(redis_url="redis://127.0.0.1:1/0")).test_client()
    told = {name: value for (name, _), value in measures(cut_off).items()}
    assert told["twinsift_redis_up"] == 0
    assert "twinsift_index_documents" not in told


def test_every_measure_is_in_the_docs(client: FlaskClient) -> None:
    page = (ROOT / "docs" / "watching.md").read_text("utf-8")
    names = {name for name, _ in measures(client) if name.startswith("twinsift_")}
    for ending in ("_bucket", "_sum", "_count", "_created"):
        names = {name.removesuffix(ending) for name in names}
    missing = {n for n in names if f"`{n}" not in page and f"`{n}_total" not in page}
    assert missing == set()
