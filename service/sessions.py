"""Who looks at the pages for people: sessions, begun with a token of the scope `review`.

A session is kept in the store, so that every worker knows it and none needs a secret of its own. It
ends when it was not used for an hour, half a day after it began, or when its token's row has gone.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from service.errors import Forbidden, Unauthorized
from service.store.base import Store
from service.tokens import Scope, Token, Tokens

IDLE: Final = 3600
LONGEST: Final = 12 * 3600
KEY_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class Session:
    """A person who signed in: the name that their rulings go by, and the token they came with."""

    name: str
    token: Token


class Sessions:
    """Begins, finds and ends sessions. `clock` gives the time in seconds since 1970."""

    def __init__(
        self, store: Store, tokens: Tokens, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._store = store
        self._tokens = tokens
        self._clock = clock

    def begin(self, secret: str, name: str) -> str:
        """The key of a new session of who has this token. Without a `name` the token's id is it.

        Raises Unauthorized, Forbidden, or what the store raises."""
        token = self._tokens.find(secret)
        if token is None:
            raise Unauthorized("There is no such token.")
        if Scope.REVIEW not in token.scopes:
            raise Forbidden("The token has not the scope 'review' that these pages need.")
        key = secrets.token_urlsafe(KEY_BYTES)
        ends_at = int(self._clock()) + LONGEST
        kept = f"{ends_at} {token.digest} {name or token.id}"
        self._store.keep_session(_digest(key), kept.encode(), IDLE)
        return key

    def find(self, key: str) -> Session | None:
        """The session of this key, which is used now; None where it is over."""
        kept = self._store.session(_digest(key), IDLE)
        if kept is None:
            return None
        ends_at, digest, name = kept.decode().split(" ", 2)
        token = self._tokens.of_digest(digest)
        if int(ends_at) <= self._clock() or token is None or Scope.REVIEW not in token.scopes:
            return None
        return Session(name, token)

    def end(self, key: str) -> None:
        """Ends a session; one that is over is no error."""
        self._store.end_session(_digest(key))


def _digest(key: str) -> str:
    """What the store knows a key by: whoever reads the store cannot take a session over."""
    return sha256(key.encode("utf-8", "surrogateescape")).hexdigest()
