"""One service over HTTP: connections that are kept, and calls that are asked again."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

import orjson
import urllib3
from urllib3.exceptions import HTTPError, LocationParseError, SSLError

from service import __version__
from service.client.errors import Fault, Refused, TwinsiftError, Unavailable
from service.client.patience import ASK_AGAIN, Asking, Patience, retry_after
from service.client.told import unexpected

JSON = "application/json"


class Transport:
    """Calls one service. Threads may share it."""

    def __init__(
        self, url: str, *, token: str | None, timeout: float, connections: int, patience: Patience
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("the address must be as http://host:port")
        self._prefix = parts.path.rstrip("/")
        self._patience = patience
        self._headers = {"Accept": JSON, "User-Agent": f"twinsift/{__version__}"}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"
        try:
            self._pool = urllib3.connection_from_url(
                f"{parts.scheme}://{parts.netloc}",
                timeout=urllib3.Timeout(connect=min(timeout, 5.0), read=timeout),
                maxsize=connections,
                retries=False,
            )
        except LocationParseError:
            raise ValueError("the address must be as http://host:port") from None

    def call(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        *,
        patience: Patience | None = None,
        stop: threading.Event | None = None,
    ) -> Any:
        """The answer's JSON. `body` is bytes of JSON, or what is made into them; null values of
        `query` are left out. Once `stop` is set it is not asked again.

        Raises:
            Refused: the service said no, or what answered is not twinsift.
            Unavailable: it could not be reached, or not answer, for as long as patience lasts.
        """
        sent = body if body is None or isinstance(body, bytes) else encoded(body)
        asking = Asking(patience or self._patience, stop)
        address = self._prefix + path + written(query or {})
        while True:
            outcome, least = self._ask(method, address, sent, asking.attempts)
            if not isinstance(outcome, TwinsiftError):
                return outcome
            if isinstance(outcome, Refused) or not asking.waits(least):
                raise outcome

    def close(self) -> None:
        """Lets go of the connections."""
        self._pool.close()

    def _ask(
        self, method: str, address: str, body: bytes | None, attempts: int
    ) -> tuple[Any, float | None]:
        """The answer, or the error that it is with the seconds that the service said to wait."""
        headers = self._headers if body is None else {**self._headers, "Content-Type": JSON}
        try:
            reply = self._pool.request(method, address, body=body, headers=headers)
        except SSLError:
            words = "the service's certificate is not one to trust, or the port speaks no TLS"
            return Refused(words, code="unreachable", attempts=attempts), None
        except HTTPError as error:
            words = f"the service cannot be reached ({_kind(error)})"
            return Unavailable(words, code="unreachable", attempts=attempts), None
        if 200 <= reply.status < 300:
            return decoded(reply.data), None
        kind = Unavailable if reply.status in ASK_AGAIN else Refused
        return _problem(kind, reply, attempts), retry_after(reply.headers)


def encoded(body: Any) -> bytes:
    """JSON; raises Refused for what none can be made of, a lone surrogate say."""
    try:
        return orjson.dumps(body)
    except TypeError:
        raise Refused("the request cannot be written as JSON", code="unsendable") from None


def decoded(body: bytes) -> Any:
    """What the JSON says; raises Refused where it is none."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        raise unexpected() from None


def written(query: Mapping[str, Any]) -> str:
    """`?name=value`, or nothing where there is nothing to say."""
    given = {
        name: str(value).lower() if isinstance(value, bool) else value
        for name, value in query.items()
        if value is not None
    }
    return f"?{urlencode(given)}" if given else ""


def _problem(
    kind: type[TwinsiftError], reply: urllib3.BaseHTTPResponse, attempts: int
) -> TwinsiftError:
    """The error that a problem document tells of; an answer of something else is one too."""
    request_id = reply.headers.get("X-Request-Id")
    try:
        told = orjson.loads(reply.data)
        faults = [Fault(one["pointer"], one["code"], one["detail"]) for one in told["errors"]]
        code, detail = told["code"], told["detail"]
    except (ValueError, TypeError, KeyError):
        code, detail, faults = "unexpected_answer", f"something answered {reply.status}", []
    return kind(
        detail,
        code=code,
        status=reply.status,
        faults=faults,
        request_id=request_id,
        attempts=attempts,
    )


def _kind(error: HTTPError) -> str:
    """In a word, without the address, which might carry an id."""
    return {
        "NewConnectionError": "nothing listens there",
        "NameResolutionError": "the name of the host is not known",
        "ConnectTimeoutError": "no connection in time",
        "ReadTimeoutError": "no answer in time",
        "ProtocolError": "the connection broke off",
    }.get(type(error).__name__, type(error).__name__)
