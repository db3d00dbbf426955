"""What alerts and dashboard ask for is what the service tells, after traffic of every kind."""

import http.client
import json
import os
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from service.tokens import Scope, make
from tests.deploy.watched import Query, of_alerts, of_dashboard, told, unknown
from tests.e2e.running import Service, services, wait_until

RENTAL = "A rented bike is yours for {} hours, with helmet, lamp and lock, until the shop closes."


class Caller:
    """Calls a service with a token of every scope."""

    def __init__(self, port: int, token: str) -> None:
        self._port, self._token = port, token

    def __call__(self, method: str, path: str, body: Any = None) -> tuple[int, str]:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        with closing(http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)) as connection:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

    def check(self, id: str, text: str) -> int:
        return self("POST", "/check", {"id": id, "text": text})[0]


def make_traffic(service: Service, call: Caller) -> None:
    """Every verdict and action, a replay, a batch, refusals, and a store that does not answer."""
    for id, text in (
        ("a", RENTAL.format(2)),
        ("a", RENTAL.format(2)),
        ("b", RENTAL.format(2)),
        ("c", RENTAL.format(3)),
        ("d", RENTAL.format(2) + " Enjoy!"),
    ):
        assert call.check(id, text) == 200
    items = [{"id": f"batch-{number}", "text": f"Notice {number}."} for number in range(3)]
    assert call("POST", "/check/batch", {"items": items})[0] == 200
    assert call.check("", "") == 422
    server = service.server_pid()
    os.kill(server, signal.SIGSTOP)
    try:
        assert call.check("e", "Words that no store hears.") == 503
    finally:
        os.kill(server, signal.SIGCONT)
    wait_until(lambda: call("GET", "/readyz")[0] == 200)


@pytest.fixture(scope="module")
def series(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, set[str]]]:
    """What a scrape tells, after the traffic."""
    directory: Path = tmp_path_factory.mktemp("watched")
    secret, row = make("all", list(Scope), [])
    tokens = directory / "tokens.toml"
    tokens.write_text(row)
    with services(directory / "data") as start:
        service = start(
            TWINSIFT_REDIS_URL="", TWINSIFT_TOKENS_FILE=str(tokens), TWINSIFT_DEADLINE="600ms"
        ).ready()
        call = Caller(service.port, secret)
        make_traffic(service, call)
        status, exposition = call("GET", "/metrics")
        assert status == 200
        yield told(exposition)


@pytest.mark.parametrize("query", [*of_dashboard()], ids=lambda query: query.where)
def test_a_panel_asks_for_what_the_service_tells(series: dict[str, set[str]], query: Query) -> None:
    assert unknown(query, series) == []


@pytest.mark.parametrize("query", [*of_alerts()], ids=lambda query: query.where)
def test_a_rule_asks_for_what_the_service_tells(series: dict[str, set[str]], query: Query) -> None:
    assert unknown(query, series) == []


def test_a_name_or_label_that_is_not_told_is_found() -> None:
    series = told('twinsift_a_total{kind="x"} 1.0\ntwinsift_b 2.0\n')
    query = Query("", 'sum by (kind, other) (twinsift_a_total{kind="x",code="1"}) + twinsift_c')
    assert unknown(query, series) == [
        "twinsift_a_total has no label code",
        "no series twinsift_c",
        "nothing here has the label other",
    ]
    assert unknown(Query("", "sum by (kind, job) (twinsift_a_total) > twinsift_b"), series) == []
