"""One line of the log for each request, and its measures: when, what kind, how it ended, how long.

Neither the path nor any id, name or text of a request is told: the route stands for the path.
"""

from __future__ import annotations

import logging
from http import HTTPStatus
from time import perf_counter
from typing import Any

from flask import Flask, Response, g, request

from service import stages
from service.logs import fields
from service.web import metrics
from service.web.request_ids import request_id

# What asks again and again whether all is well.
_PROBES = {"/healthz", "/readyz", "/metrics"}
_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
_UNKNOWN = "unknown"

_log = logging.getLogger("twinsift.request")


def watch(app: Flask) -> None:
    """Have the app tell of every request. To be called before anything else is asked of it."""
    app.before_request(_begin)
    app.after_request(_answered)


def note(**facts: Any) -> None:
    """Adds to the line of the request at hand. For the service's own words and numbers only."""
    g.noted.update(facts)


def _begin() -> None:
    stages.begin()
    g.started = perf_counter()
    g.noted = {}


def _answered(answer: Response) -> Response:
    """Tells of an answer, of a stream once it has ended."""
    method = request.method if request.method in _METHODS else _UNKNOWN
    route = _UNKNOWN if request.url_rule is None else metrics.route(request.url_rule.rule)
    noted = {"request_id": request_id(), "method": method, "route": route} | g.noted
    g.noted = noted  # a stream goes on noting
    started, status = g.started, answer.status_code

    def tell() -> None:
        seconds, by_stage = perf_counter() - started, stages.spent()
        metrics.request(route, method, status, seconds, by_stage)
        level = logging.DEBUG if route in _PROBES else logging.INFO
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            level = logging.WARNING
        if _log.isEnabledFor(level):
            in_ms = {stage: _milliseconds(spent) for stage, spent in by_stage.items()}
            facts = fields(**noted, status=status, ms=_milliseconds(seconds), stages=in_ms)
            _log.log(level, "request", extra=facts)

    if answer.is_streamed:
        answer.call_on_close(tell)
    else:
        tell()
    return answer


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 3)
