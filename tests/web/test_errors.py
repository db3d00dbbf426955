"""Every error is told the same way, and none of them tells what was posted."""

import logging
import re
from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient

from service import errors
from service.checker import Checker
from service.errors import StoreFull, StoreUnavailable, TwinsiftError
from service.logs import JsonFormatter
from service.web.problems import PROBLEMS

Expect = Callable[..., dict[str, Any]]

CANARY = "canary-7f3a"


def test_an_unknown_address_is_not_found(client: FlaskClient, expect_problem: Expect) -> None:
    expect_problem(client.get("/nowhere"), 404, "not_found")


@pytest.mark.parametrize("path", ["/", "/check/", "//check", "/documents/", "/collections/a/b"])
def test_an_address_is_not_guessed(client: FlaskClient, expect_problem: Expect, path: str) -> None:
    expect_problem(client.open(path, method="GET"), 404, "not_found")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/check", {"POST"}),
        ("POST", "/stats", {"GET"}),
        ("PATCH", "/collections/a", {"GET", "PUT", "DELETE"}),
        ("PUT", "/documents/a", {"GET", "DELETE"}),
        ("TRACE", "/healthz", {"GET"}),
    ],
)
def test_a_method_that_is_not_taken_names_those_that_are(
    client: FlaskClient, expect_problem: Expect, method: str, path: str, allowed: set[str]
) -> None:
    response = client.open(path, method=method)
    expect_problem(response, 405, "method_not_allowed")
    assert allowed <= set(response.headers["Allow"].split(", "))


@pytest.mark.parametrize("path", ["/healthz", "/stats", "/documents", "/collections/default"])
def test_head_answers_as_get_without_the_body(client: FlaskClient, path: str) -> None:
    response = client.head(path)
    assert (response.status_code, response.data) == (200, b"")


def test_options_names_the_methods(client: FlaskClient) -> None:
    response = client.options("/collections/default")
    assert response.status_code == 200
    assert {"GET", "PUT", "DELETE"} <= set(response.headers["Allow"].split(", "))


@pytest.mark.parametrize("path", ["/healthz", "/nowhere", "/documents?id=nobody"])
def test_every_answer_carries_the_request_id_that_was_sent(client: FlaskClient, path: str) -> None:
    response = client.get(path, headers={"X-Request-Id": "a.B_c-1"})
    assert response.headers["X-Request-Id"] == "a.B_c-1"


@pytest.mark.parametrize("sent", ["", "a b", "x" * 129, "a/b", "ä", "<a>", "a\tb"])
def test_a_request_id_that_is_not_plain_is_replaced(client: FlaskClient, sent: str) -> None:
    response = client.get("/healthz", environ_overrides={"HTTP_X_REQUEST_ID": sent})
    assert re.fullmatch(r"[0-9a-f]{32}", response.headers["X-Request-Id"])


def test_request_ids_made_here_differ(client: FlaskClient) -> None:
    made = {client.get("/healthz").headers["X-Request-Id"] for _ in range(10)}
    assert len(made) == 10


def test_the_type_of_a_problem_is_as_stable_as_its_code(
    client: FlaskClient, expect_problem: Expect
) -> None:
    problem = expect_problem(client.get("/nowhere"), 404, "not_found")
    assert problem["type"] == "urn:problem-type:twinsift:not_found"
    assert problem["title"] == "Not Found"


def _classes(base: type[TwinsiftError]) -> list[type[TwinsiftError]]:
    return [base, *(inner for child in base.__subclasses__() for inner in _classes(child))]


def test_every_error_of_the_service_has_a_status() -> None:
    grouping = {TwinsiftError, errors.RequestError, errors.StoreError}
    raised = {kind for kind in _classes(TwinsiftError) if kind.__module__ == "service.errors"}
    assert raised - grouping == set(PROBLEMS)


def break_check(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def broken(_self: Checker, _document: object) -> None:
        text = f"{CANARY} local"
        raise error from ValueError(text)

    monkeypatch.setattr(Checker, "check", broken)


def test_an_unexpected_error_is_internal_and_tells_nothing(
    client: FlaskClient,
    expect_problem: Expect,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    break_check(monkeypatch, KeyError(CANARY))
    with caplog.at_level(logging.DEBUG):
        response = client.post("/check", json={"id": "a", "text": CANARY})
    expect_problem(response, 500, "internal_error")
    written = "\n".join(map(JsonFormatter().format, caplog.records))
    assert CANARY not in response.text
    assert CANARY not in written
    assert "KeyError" in written
    assert response.headers["X-Request-Id"] in written


def test_a_full_store_says_when_to_ask_again(
    client: FlaskClient, expect_problem: Expect, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_check(monkeypatch, StoreFull("the store is full"))
    response = client.post("/check", json={"id": "a", "text": "b"})
    expect_problem(response, 503, "store_full")
    assert int(response.headers["Retry-After"]) >= 1


def test_those_who_are_refused_together_are_not_told_to_come_back_together(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_check(monkeypatch, StoreUnavailable("the store is down"))
    told = {
        int(client.post("/check", json={"id": "a", "text": "b"}).headers["Retry-After"])
        for _ in range(60)
    }
    assert told == {1, 2, 3}


@pytest.mark.parametrize(
    "body",
    [
        {"id": 1, "text": CANARY},
        {"id": f"{CANARY}\x00", "text": CANARY},
        {"id": "a", "text": [CANARY]},
        {"id": "a", "text": CANARY, "pages": [CANARY]},
        {"id": "a", "pages": [CANARY, 1]},
        {"id": "a", "text": CANARY, "metadata": {"updated_at": CANARY}},
        {"id": "a", "text": CANARY, "metadata": {"k": [CANARY]}},
        {"id": "a", "text": CANARY, "collection": CANARY.upper()},
        {"id": "a", "text": CANARY, "dry_run": CANARY},
        {"id": "a", "text": CANARY * 2000},
    ],
    ids="-".join,
)
def test_no_error_and_no_log_line_shows_what_was_posted(
    client: FlaskClient, caplog: pytest.LogCaptureFixture, body: dict[str, Any]
) -> None:
    with caplog.at_level(logging.DEBUG):
        response = client.post("/check", json=body)
    assert response.status_code in (404, 413, 422)
    assert CANARY not in response.text
    assert CANARY not in caplog.text


@pytest.mark.parametrize(
    "raw", [f'{{"id": "a", "text": "{CANARY}', f'{{"{CANARY}": 1, "{CANARY}": 2}}']
)
def test_no_error_about_json_shows_what_was_posted(client: FlaskClient, raw: str) -> None:
    response = client.post("/check", data=raw, content_type="application/json")
    assert response.status_code == 400
    assert CANARY not in response.text
