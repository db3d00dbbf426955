"""Each error's HTTP status and code, in one table, and the problem+json that tells it.

No answer and no log line shows any posted text: details are the service's own words, and of an
unexpected exception only its type and its way through the code are logged.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from http import HTTPStatus
from math import ceil
from random import randint
from typing import Any, NamedTuple

import orjson
from flask import Flask, Response
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response as AnyResponse

from service import errors
from service.errors import Fault, RateLimited, RequestError, StoreError, TwinsiftError
from service.logs import fields, way
from service.web import metrics
from service.web.body import ENCODINGS
from service.web.request_ids import request_id
from service.web.request_log import note

MEDIA_TYPE = "application/problem+json"

_log = logging.getLogger("twinsift.web")


class Problem(NamedTuple):
    """How an error is told: the status, the stable code, and headers that help."""

    status: int
    code: str
    headers: Mapping[str, str] = {}


PROBLEMS: dict[type[TwinsiftError], Problem] = {
    errors.MalformedJson: Problem(400, "malformed_json"),
    errors.MalformedBody: Problem(400, "malformed_body", {"Connection": "close"}),
    errors.Unauthorized: Problem(
        401, "unauthorized", {"WWW-Authenticate": "Bearer", "Connection": "close"}
    ),
    errors.Forbidden: Problem(403, "forbidden", {"Connection": "close"}),
    errors.UnknownCollection: Problem(404, "unknown_collection"),
    errors.UnknownDocument: Problem(404, "unknown_document"),
    errors.UnknownConflict: Problem(404, "unknown_conflict"),
    errors.UnknownDecision: Problem(404, "unknown_decision"),
    errors.FrozenSetting: Problem(409, "frozen_setting"),
    errors.DefaultCollection: Problem(409, "default_collection"),
    errors.AlreadyResolved: Problem(409, "already_resolved"),
    errors.EarlierConflict: Problem(409, "earlier_conflict"),
    errors.ConflictVoid: Problem(409, "conflict_void"),
    errors.AlreadyReverted: Problem(409, "already_reverted"),
    errors.NotRevertible: Problem(409, "not_revertible"),
    errors.TooLarge: Problem(413, "too_large", {"Connection": "close"}),
    errors.UnsupportedMediaType: Problem(
        415, "unsupported_media_type", {"Accept-Encoding": ", ".join(ENCODINGS)}
    ),
    errors.InvalidRequest: Problem(422, "invalid_request"),
    errors.EmptyText: Problem(422, "empty_text"),
    errors.RateLimited: Problem(429, "rate_limited", {"Connection": "close"}),
    errors.StoreUnavailable: Problem(503, "store_unavailable", {"Retry-After": "1"}),
    errors.StoreFull: Problem(503, "store_full", {"Retry-After": "10"}),
}

NO_SUCH_CALL = (Problem(404, "not_found"), Problem(405, "method_not_allowed"))
# What Flask and Werkzeug refuse by themselves.
_BY_STATUS = {
    **{problem.status: problem for problem in NO_SUCH_CALL},
    400: Problem(400, "malformed_body", {"Connection": "close"}),
    413: PROBLEMS[errors.TooLarge],
    415: PROBLEMS[errors.UnsupportedMediaType],
}
_WORDS = {
    404: "There is no such address.",
    405: "The address does not take this method.",
    413: "The body is too large.",
}
TITLES = {
    200: "OK",
    201: "Created",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    409: "Conflict",
    413: "Content Too Large",
    414: "URI Too Long",
    415: "Unsupported Media Type",
    417: "Expectation Failed",
    422: "Unprocessable Content",
    429: "Too Many Requests",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    503: "Service Unavailable",
}
"""RFC 9110's names of the statuses; the standard library's differ between Python versions."""

INTERNAL = Problem(500, "internal_error")
INTERNAL_WORDS = "Something went wrong here; asking again is safe."


def register(app: Flask) -> None:
    """Have the app tell every error this way."""
    app.register_error_handler(TwinsiftError, _ours)
    app.register_error_handler(HTTPException, _werkzeugs)
    app.register_error_handler(Exception, _unexpected)


def problem(error: TwinsiftError) -> dict[str, Any]:
    """The problem as it stands in a list of results."""
    row = _problem_of(type(error)) or INTERNAL
    _count(row, error)
    faults = error.faults if isinstance(error, RequestError) else ()
    return body_of(row, str(error), faults)


def response(problem: Problem, detail: str, faults: tuple[Fault, ...] = ()) -> Response:
    """The problem as an answer."""
    note(code=problem.code)
    body = body_of(problem, detail, faults)
    answer = Response(orjson.dumps(body), problem.status, content_type=MEDIA_TYPE)
    answer.headers.update(problem.headers)
    if "Retry-After" in problem.headers:
        answer.headers["Retry-After"] = _about(int(problem.headers["Retry-After"]))
    return answer


def body_of(problem: Problem, detail: str, faults: tuple[Fault, ...] = ()) -> dict[str, Any]:
    """The fields of a problem."""
    return {
        "type": f"urn:problem-type:twinsift:{problem.code}",
        "title": TITLES.get(problem.status, problem.code),
        "status": problem.status,
        "detail": detail,
        "code": problem.code,
        "errors": [_fault(fault) for fault in faults],
    }


def _about(seconds: int) -> str:
    """So many seconds or a little more: those who were refused together do not come back so."""
    return str(randint(seconds, seconds + max(2, seconds // 2)))  # noqa: S311 - no secret


def _fault(fault: Fault) -> dict[str, str]:
    return {"pointer": fault.pointer, "code": fault.code, "detail": fault.detail}


def _ours(error: TwinsiftError) -> Response:
    problem = _problem_of(type(error))
    if problem is None:
        return _unexpected(error)
    _count(problem, error)
    if isinstance(error, StoreError):
        note(reason=str(error))
    faults = error.faults if isinstance(error, RequestError) else ()
    answer = response(problem, str(error), faults)
    if isinstance(error, RateLimited):
        answer.headers["Retry-After"] = str(max(1, ceil(error.wait)))
    return answer


def _count(problem: Problem, error: TwinsiftError) -> None:
    metrics.rejected(problem.code)
    if isinstance(error, StoreError):
        metrics.store_failed(error.kind)


def _problem_of(kind: type[Any]) -> Problem | None:
    """The row of the class, or of the nearest one it is made from."""
    return next((PROBLEMS[base] for base in kind.__mro__ if base in PROBLEMS), None)


def _werkzeugs(error: HTTPException) -> AnyResponse:
    status = error.code or 500
    if status < 400:
        return error.get_response()
    if status >= 500:
        return _unexpected(error)
    problem = _BY_STATUS.get(status) or Problem(status, HTTPStatus(status).name.lower())
    metrics.rejected(problem.code)
    answer = response(problem, _WORDS.get(status, "The request cannot be read."))
    for name, value in error.get_headers():
        if name == "Allow":
            answer.headers[name] = value
    return answer


def _unexpected(error: Exception) -> Response:
    metrics.rejected(INTERNAL.code)
    _log.error("unexpected error", extra=fields(request_id=request_id(), way=way(error)))
    return response(INTERNAL, INTERNAL_WORDS)
