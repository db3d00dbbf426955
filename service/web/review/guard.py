"""Who may look at a page, and which forms are taken: signing in, other sites, forged forms.

Every page goes through `page`, every form through `form`; a guard test holds that. Without a tokens
file everyone who reaches the service may look and rule, as they may by the API.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Final, NoReturn, TypeVar, cast
from urllib.parse import urlsplit

from flask import Response, g, redirect, request, url_for
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response as AnyResponse

from service.errors import Forbidden, MalformedBody
from service.tokens import Token
from service.web.access import refuse_strange_hosts
from service.web.request_log import note
from service.web.wiring import wiring

COOKIE: Final = "twinsift_review"
FORGERY_FIELD: Final = "form_key"
AT_HOME: Final = "/review"
_KEY_BYTES: Final = 32
_SAME_SITE: Final = ("same-origin", "none")

Answer = AnyResponse | str
View = TypeVar("View", bound=Callable[..., Answer])


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who looks at the page. `name` is what rulings go by, None where nobody signs in and a form
    asks for it; `token` None: there are no tokens. `key` is the cookie's, `form_key` what their
    forms carry."""

    key: str
    name: str | None = None
    token: Token | None = None

    @property
    def form_key(self) -> str:
        """Known only to who may read the pages: another site may send the cookie, but not this."""
        return hmac.digest(self.key.encode(), b"form", "sha256").hex()

    @property
    def collections(self) -> frozenset[str] | None:
        """The collections they may look at; None: all."""
        return None if self.token is None else self.token.collections


def visitor() -> Visitor:
    """Who asks for the page at hand."""
    return cast(Visitor, g.visitor)


def page(view: View) -> View:
    """A page that is looked at: for who has signed in, where there are tokens."""
    return _guarded(view, _who_may_look)


def form(view: View) -> View:
    """What takes a form of such a page; its body has been read and its key looked at."""
    return _guarded(view, _who_may_look, takes_form=True)


def open_page(view: View) -> View:
    """A page for everyone: signing in."""
    return _guarded(view, _whoever)


def open_form(view: View) -> View:
    """What takes the form of such a page."""
    return _guarded(view, _whoever, takes_form=True)


def remember(answer: AnyResponse, key: str) -> AnyResponse:
    """Has the browser keep the key until it is closed, out of reach of scripts and other sites."""
    answer.set_cookie(
        COOKIE, key, path=AT_HOME, httponly=True, samesite="Strict", secure=request.is_secure
    )
    return answer


def forget(answer: AnyResponse) -> AnyResponse:
    """Has the browser forget the key."""
    answer.delete_cookie(
        COOKIE, path=AT_HOME, httponly=True, samesite="Strict", secure=request.is_secure
    )
    return answer


def _guarded(view: View, who: Callable[[], Visitor], *, takes_form: bool = False) -> View:
    @wraps(view)
    def guarded(**parts: str) -> Answer:
        refuse_strange_hosts()
        known = request.cookies.get(COOKIE)
        g.visitor = who()
        g.token = g.visitor.token
        room = wiring().turns.room()
        try:
            if takes_form:
                length = request.content_length
                if length is None:
                    raise MalformedBody("A form must say how long it is.")
                room.take_for(length)
                _refuse_forged_forms()
            with wiring().turns.turn():
                answer = view(**parts)
        finally:
            room.leave()
        if known == g.visitor.key:
            return answer
        return remember(Response(answer) if isinstance(answer, str) else answer, g.visitor.key)

    # A function has no such attribute for the types; the guard test reads it.
    guarded.is_guarded = "form" if takes_form else "page"  # type: ignore[attr-defined]
    return cast(View, guarded)


def _who_may_look() -> Visitor:
    sessions = wiring().sessions
    if sessions is None:
        return _whoever()
    key = request.cookies.get(COOKIE, "")
    session = sessions.find(key) if key else None
    if session is None:
        _ask_to_sign_in()
    wiring().limiter.admit(session.token)
    note(token=session.token.id)
    return Visitor(key, session.name, session.token)


def _whoever() -> Visitor:
    return Visitor(request.cookies.get(COOKIE) or secrets.token_urlsafe(_KEY_BYTES))


def _ask_to_sign_in() -> NoReturn:
    wanted = request.full_path.rstrip("?") if request.method == "GET" else None
    address = url_for("review.signing_in.show", next=wanted)
    raise HTTPException(response=redirect(address, 303))


def _refuse_forged_forms() -> None:
    origin = request.headers.get("Origin")
    site = request.headers.get("Sec-Fetch-Site", "same-origin")
    is_ours = origin is None or urlsplit(origin).netloc == request.host
    given, wanted = request.form.get(FORGERY_FIELD, ""), visitor().form_key
    has_key = hmac.compare_digest(given.encode(), wanted.encode())
    if not (is_ours and site in _SAME_SITE and has_key):
        raise Forbidden("The form did not come from a page of yours: load the page again.")
