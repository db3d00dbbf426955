"""Every error of the service and of Flask, told as problem+json.

No answer and no log line shows any posted text: details are the service's own words, and of an
unexpected exception only its type and its way through the code are logged.
"""

from __future__ import annotations

import logging
from http import HTTPStatus
from math import ceil
from random import randint
from typing import Any

import orjson
from flask import Flask, Response
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response as AnyResponse

from service import errors
from service.errors import Fault, RateLimited, RequestError, StoreError, TwinsiftError
from service.logs import fields, way
from service.web import metrics
from service.web.problems import (
    INTERNAL,
    INTERNAL_WORDS,
    MEDIA_TYPE,
    NO_SUCH_CALL,
    PROBLEMS,
    Problem,
    body_of,
)
from service.web.request_ids import request_id
from service.web.request_log import note

_log = logging.getLogger("twinsift.web")


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


def _about(seconds: int) -> str:
    """So many seconds or a little more: those who were refused together do not come back so."""
    return str(randint(seconds, seconds + max(2, seconds // 2)))  # noqa: S311 - no secret


def counted(error: TwinsiftError) -> Problem:
    """How an error is told, once it has been counted; INTERNAL for one that nothing tells."""
    problem = _problem_of(type(error))
    if problem is None:
        unexpected(error)
        return INTERNAL
    _count(problem, error)
    if isinstance(error, StoreError):
        note(reason=str(error))
    return problem


def unexpected(error: Exception) -> None:
    """Counts and logs an error that nobody foresaw, without its words: they may be posted ones."""
    metrics.rejected(INTERNAL.code)
    _log.error("unexpected error", extra=fields(request_id=request_id(), way=way(error)))


def _ours(error: TwinsiftError) -> Response:
    problem = counted(error)
    if problem is INTERNAL:
        return response(INTERNAL, INTERNAL_WORDS)
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
    unexpected(error)
    return response(INTERNAL, INTERNAL_WORDS)
