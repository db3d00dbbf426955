"""What the server refuses before any call is reached, told as whole answers of HTTP.

Nothing of what was sent is told: a kind, a status and words of our own.
"""

from __future__ import annotations

from uuid import uuid4

import orjson
from gunicorn.http.errors import (
    ExpectationFailed,
    LimitRequestHeaders,
    LimitRequestLine,
    ParseException,
)

from service.web.problems import INTERNAL, INTERNAL_WORDS, MEDIA_TYPE, TITLES, Problem, body_of
from service.web.request_ids import HEADER

MALFORMED = Problem(400, "malformed_request")
_REFUSALS: dict[type[ParseException], tuple[Problem, str]] = {
    LimitRequestLine: (Problem(414, "uri_too_long"), "The address is too long."),
    ExpectationFailed: (Problem(417, "expectation_failed"), "Only 100-continue can be expected."),
    LimitRequestHeaders: (
        Problem(431, "headers_too_large"),
        "The header fields are too many or too large.",
    ),
}
_MALFORMED_WORDS = "What was sent is not a request of HTTP/1.1 that means one thing."

REFUSED = (MALFORMED, *(problem for problem, _ in _REFUSALS.values()))
"""How what is no request is told; openapi.yaml and docs/errors.md name these too."""


def refusal(error: ParseException) -> tuple[int, bytes]:
    """The status, and the answer to what could not be read as a request."""
    problem, words = _REFUSALS.get(type(error), (MALFORMED, _MALFORMED_WORDS))
    return problem.status, _written(problem, words)


def unexpected() -> bytes:
    """The answer to an error that nothing else has caught."""
    return _written(INTERNAL, INTERNAL_WORDS)


def _written(problem: Problem, words: str) -> bytes:
    body = orjson.dumps(body_of(problem, words))
    head = (
        f"HTTP/1.1 {problem.status} {TITLES[problem.status]}\r\n"
        f"Content-Type: {MEDIA_TYPE}\r\n"
        f"Content-Length: {len(body)}\r\n"
        f"{HEADER}: {uuid4().hex}\r\n"
        "X-Content-Type-Options: nosniff\r\n"
        "Cache-Control: no-store\r\n"
        "Connection: close\r\n\r\n"
    )
    return head.encode() + body
