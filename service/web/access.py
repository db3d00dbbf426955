"""Who may make a call: the bearer token, its scopes and its collections.

Without a tokens file everyone may make every call; the service listens on loopback only then, and
answers under names of this machine only.
"""

from __future__ import annotations

import ipaddress
from functools import lru_cache
from urllib.parse import urlsplit

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
    if scope is None:
        return
    tokens = wiring().tokens
    if tokens is None:
        refuse_strange_hosts()
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


def refuse_strange_hosts() -> None:
    """Without tokens only who is on this machine may ask: a site that has its own name lead to the
    loopback address (DNS rebinding) has its visitors' browsers send that name. Raises Forbidden."""
    settings = wiring().settings
    if settings.tokens_file is not None or settings.unsafe_no_tokens:
        return
    if not _is_here(request.host):
        raise Forbidden("Without tokens the service answers under names of this machine only.")


@lru_cache(maxsize=64)
def _is_here(host: str) -> bool:
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")


def permit(collection: str | None) -> None:
    """Lets the call touch this collection (None: all of them); raises Forbidden."""
    token: Token | None = g.token
    if token is None or token.collections is None:
        return
    if collection is None:
        raise Forbidden("The token is for some collections only: name one of them.")
    if collection not in token.collections:
        raise Forbidden("The token is not for this collection.")
