"""How often a token may call: counted in the store, so that all workers count together."""

from __future__ import annotations

from service.errors import RateLimited
from service.store.base import Store
from service.tokens import Token


class Limiter:
    """Lets a token make so many calls a second; `rate` is for tokens whose row says nothing, None
    for no limit."""

    def __init__(self, store: Store, rate: int | None) -> None:
        self._store = store
        self._rate = rate

    def admit(self, token: Token) -> None:
        """Counts a call; raises RateLimited where there were too many."""
        rate = token.rate or self._rate
        if rate is None:
            return
        wait = self._store.admit(token.id, rate)
        if wait > 0:
            raise RateLimited(wait)
