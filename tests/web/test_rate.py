"""How often a token may call."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from service.app import create_app
from service.settings import Settings
from service.tokens import Scope, make


@pytest.fixture
def caller(redis_url: str, redis_client: object, tmp_path: Path) -> Callable[..., FlaskClient]:
    """A client with a token; `row` is added to its row of the tokens file."""
    path = tmp_path / "tokens.toml"

    def client(row: str = "", *, id: str = "a", rate: int | None = None) -> FlaskClient:
        secret, written = make(id, list(Scope), [])
        path.write_text(f"{written}{row}\n", encoding="utf-8")
        made = create_app(Settings(redis_url=redis_url, tokens_file=path, rate=rate)).test_client()
        made.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {secret}"
        return made

    return client


def statuses(client: FlaskClient, calls: int) -> list[int]:
    return [client.get("/collections").status_code for _ in range(calls)]


def test_a_token_without_a_rate_may_call_as_often_as_it_likes(
    caller: Callable[..., FlaskClient],
) -> None:
    assert statuses(caller(), 50) == [200] * 50


def test_a_second_s_worth_of_calls_may_come_at_once_and_no_more(
    caller: Callable[..., FlaskClient],
) -> None:
    assert statuses(caller("rate = 2"), 3) == [200, 200, 429]


def test_a_call_too_many_says_when_to_ask_again(
    caller: Callable[..., FlaskClient], expect_problem: Callable[..., dict[str, Any]]
) -> None:
    client = caller("rate = 1")
    client.get("/collections")
    refused = client.get("/collections")
    expect_problem(refused, 429, "rate_limited")
    assert refused.headers["Retry-After"] == "1"


def test_a_rate_for_all_tokens_holds_where_the_row_says_nothing(
    caller: Callable[..., FlaskClient],
) -> None:
    assert statuses(caller(rate=1), 2) == [200, 429]


def test_the_row_s_own_rate_goes_before_that_for_all(caller: Callable[..., FlaskClient]) -> None:
    assert statuses(caller("rate = 2", rate=1), 3) == [200, 200, 429]


def test_one_token_does_not_use_up_the_calls_of_another(
    caller: Callable[..., FlaskClient],
) -> None:
    assert statuses(caller("rate = 1", id="a"), 2) == [200, 429]
    assert statuses(caller("rate = 1", id="b"), 1) == [200]


def test_all_workers_count_together(caller: Callable[..., FlaskClient]) -> None:
    one = caller("rate = 1")
    other = create_app(one.application.extensions["twinsift"].settings).test_client()
    other.environ_base["HTTP_AUTHORIZATION"] = one.environ_base["HTTP_AUTHORIZATION"]
    assert statuses(one, 1) + statuses(other, 1) == [200, 429]


def test_health_is_not_counted(caller: Callable[..., FlaskClient]) -> None:
    client = caller("rate = 1")
    assert [client.get("/healthz").status_code for _ in range(5)] == [200] * 5
