"""An answer that says `Connection: close` has the server close, where the server can be told."""

from typing import Any

import pytest

from service.web.closing import closes_when_told


class ServersResponse:
    """What gunicorn hands an application: a bound method of the response it is about to send."""

    def __init__(self) -> None:
        self.closes = False

    def force_close(self) -> None:
        self.closes = True

    def start_response(self, _status: str, _headers: Any, _error: Any = None) -> Any:
        return lambda _data: None


def answering(*headers: tuple[str, str]) -> Any:
    def app(_environ: Any, start_response: Any) -> list[bytes]:
        start_response("413 Content Too Large", list(headers))
        return [b"body"]

    return closes_when_told(app)


@pytest.mark.parametrize(
    ("headers", "closes"),
    [
        pytest.param([("Connection", "close")], True, id="with the header it closes"),
        pytest.param([("Content-Length", "4")], False, id="without it does not"),
    ],
)
def test_the_connection_is_closed_by_the_header(
    headers: list[tuple[str, str]], closes: bool
) -> None:
    response = ServersResponse()
    assert answering(*headers)({}, response.start_response) == [b"body"]
    assert response.closes is closes


def test_a_server_that_cannot_be_told_is_left_alone() -> None:
    told: list[str] = []
    app = answering(("Connection", "close"))
    app({}, lambda status, _headers: told.append(status))
    assert told == ["413 Content Too Large"]
