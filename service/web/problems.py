"""Each error's HTTP status and code, in one table, and how a problem is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from service import errors
from service.errors import Fault, TwinsiftError
from service.web.body import ENCODINGS

MEDIA_TYPE = "application/problem+json"


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
    errors.Unconfirmed: Problem(503, "unconfirmed", {"Retry-After": "1"}),
}

NO_SUCH_CALL = (Problem(404, "not_found"), Problem(405, "method_not_allowed"))
INTERNAL = Problem(500, "internal_error")
INTERNAL_WORDS = "Something went wrong here; asking again is safe."
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


def _fault(fault: Fault) -> dict[str, str]:
    return {"pointer": fault.pointer, "code": fault.code, "detail": fault.detail}
