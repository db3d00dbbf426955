"""Signing in with a token, and out again."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from flask import Blueprint, Response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from service.errors import Forbidden, Unauthorized
from service.web.review.guard import (
    AT_HOME,
    Answer,
    forget,
    form,
    open_form,
    open_page,
    remember,
    visitor,
)
from service.web.wiring import wiring

LONGEST_NAME: Final = 256

blueprint = Blueprint("signing_in", __name__)


@blueprint.get("/sign-in")
@open_page
def show() -> Answer:
    """The form for signing in."""
    if wiring().sessions is None:
        return redirect(url_for("review.overview.show"), 303)
    return _form_page(None)


@blueprint.post("/sign-in")
@open_form
def begin() -> Answer:
    """Signs in, and leads to the page that was asked for."""
    sessions = wiring().sessions
    if sessions is None:
        return redirect(url_for("review.overview.show"), 303)
    name = " ".join(request.form.get("name", "").split())
    if len(name) > LONGEST_NAME or not name.isprintable():
        return _form_page(f"A name has at most {LONGEST_NAME} characters, all of them visible.")
    try:
        key = sessions.begin(request.form.get("token", "").strip(), name)
    except (Unauthorized, Forbidden) as error:
        return _form_page(str(error))
    return remember(redirect(_wanted(request.form.get("next", "")), 303), key)


@blueprint.post("/sign-out")
@form
def end() -> AnyResponse:
    """Ends the session."""
    sessions = wiring().sessions
    if sessions is not None:
        sessions.end(visitor().key)
    return forget(redirect(url_for("review.signing_in.show"), 303))


def _form_page(refusal: str | None) -> Answer:
    page = render_template(
        "review/sign_in.html", refusal=refusal, next=_wanted(request.values.get("next", ""))
    )
    return Response(page, 403 if refusal else 200)


def _wanted(address: str) -> str:
    """The page to go on to: one of ours, whatever the address says."""
    parts = urlsplit(address)
    is_ours = not parts.scheme and not parts.netloc and "\\" not in address
    at_home = parts.path == AT_HOME or parts.path.startswith(f"{AT_HOME}/")
    return address if is_ours and at_home else url_for("review.overview.show")
