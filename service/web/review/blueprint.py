"""All pages together, what every answer of theirs carries, and how their errors are told."""

from __future__ import annotations

from hashlib import sha256
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from flask import Blueprint, Response, g, redirect, render_template, request, url_for
from werkzeug.exceptions import HTTPException, NotFound
from werkzeug.wrappers import Response as AnyResponse

from service.errors import TwinsiftError
from service.web import errors
from service.web.problems import INTERNAL, INTERNAL_WORDS, TITLES
from service.web.review import (
    conflicts,
    decisions,
    overview,
    showing,
    signing_in,
    thresholds,
    trying,
)
from service.web.review.guard import AT_HOME, FORGERY_FIELD, Answer, Visitor, open_page
from service.web.wiring import wiring

STATIC: Final = Path(__file__).parent / "static"
_VERSION: Final = sha256(
    b"".join(path.read_bytes() for path in sorted(STATIC.iterdir()) if path.is_file())
).hexdigest()[:12]
# Nothing but what this server sends: no inline script or style, no other site's frame or form.
_POLICY: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_A_DAY: Final = 86_400

blueprint = Blueprint(
    "review",
    __name__,
    url_prefix=AT_HOME,
    template_folder="templates",
    static_folder="static",
    static_url_path="/static",
)
showing.register(blueprint)
for part in (overview, conflicts, decisions, thresholds, trying, signing_in):
    blueprint.register_blueprint(part.blueprint)


@blueprint.context_processor
def for_every_page() -> dict[str, Any]:
    """What every template may use."""
    return {
        "visitor": g.get("visitor") or Visitor(""),
        "may_look": wiring().sessions is None or g.get("token") is not None,
        "form_field": FORGERY_FIELD,
        "version": _VERSION,
    }


@blueprint.after_request
def protect(answer: AnyResponse) -> AnyResponse:
    """Holds browsers to what these pages need."""
    answer.headers["Content-Security-Policy"] = _POLICY
    answer.headers["Referrer-Policy"] = "same-origin"
    answer.headers["Cross-Origin-Opener-Policy"] = "same-origin"
    answer.headers["Cross-Origin-Resource-Policy"] = "same-origin"
    answer.headers["X-Frame-Options"] = "DENY"
    if request.endpoint == "review.static" and answer.status_code < 400:
        answer.headers["Cache-Control"] = f"max-age={_A_DAY}"  # addresses carry a version
    return answer


@blueprint.errorhandler(TwinsiftError)
def refused(error: TwinsiftError) -> AnyResponse:
    """What the service refuses, as a page."""
    problem = errors.counted(error)
    words = INTERNAL_WORDS if problem is INTERNAL else str(error)
    answer = _problem_page(problem.status, words)
    answer.headers.update(problem.headers)
    return answer


@blueprint.errorhandler(HTTPException)
def refused_by_flask(error: HTTPException) -> AnyResponse:
    """What Flask refuses, as a page; where it leads elsewhere, that."""
    if error.response is not None:
        return error.get_response()
    status = error.code or INTERNAL.status
    if status >= INTERNAL.status:
        return unforeseen(error)
    is_nowhere = status == HTTPStatus.NOT_FOUND
    words = "There is no such page." if is_nowhere else "The request cannot be answered as it is."
    return _problem_page(status, words)


@blueprint.errorhandler(Exception)
def unforeseen(error: Exception) -> AnyResponse:
    """An error that nobody foresaw, without its words."""
    errors.unexpected(error)
    return _problem_page(INTERNAL.status, INTERNAL_WORDS)


@blueprint.get("/")
def home() -> AnyResponse:
    """Leads to the overview, whose address has no slash at its end."""
    return redirect(url_for("review.overview.show"), 308)


@blueprint.get("/<anything:address>")
@open_page
def nowhere(**_address: str) -> Answer:
    """What no page is at, told as a page."""
    raise NotFound


def _problem_page(status: int, words: str) -> Response:
    title = TITLES.get(status, "Error")
    return Response(render_template("review/problem.html", title=title, words=words), status)
