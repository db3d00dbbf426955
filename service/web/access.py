"""Who may make a call: the bearer token, its scopes and its collections.

Without a tokens file everyone may make every call; the service listens on loopback only then.
"""

from __future__ import annotations

from flask import g, request

from service.errors import Forbidden, Unauthorized
from service.tokens import Scope, Token
from service.web.request_log import note
from service.web.wiring import wiring

_SCHEME = "bearer"


def authorize(scope: Scope | None) -> None:
    """Lets the call pass that needs this scope (None: any caller may).

    Raises Unauthorized, Forbidden or RateLimited; nothing of the body has been read then."""
    g.token = None
    tokens = wiring().tokens
    if tokens is None or scope is None:
        return
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    token = tokens.find(secret.strip()) if scheme.lower() == _SCHEME else None
    if token is None:
        raise Unauthorized("This call needs a valid bearer token.")
    if scope not in token.scopes:
        raise Forbidden(f"The token has not the scope {scope.value!r} that this call needs.")
    wiring().limiter.admit(token)
    g.token = token
    note(token=token.id)


def permit(collection: str | None) -> None:
    """Lets the call touch this collection (None: all of them); raises Forbidden."""
    token: Token | None = g.token
    if token is None or token.collections is None:
        return
    if collection is None:
        raise Forbidden("The token is for some collections only: name one of them.")
    if collection not in token.collections:
        raise Forbidden("The token is not for this collection.")
