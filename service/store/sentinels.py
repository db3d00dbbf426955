"""The primary that sentinels name, asked anew where it is lost or is one no more."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry
from redis.sentinel import Sentinel

from service.errors import StoreUnavailable
from service.store.routes import Target
from service.store.server import Server
from service.store.waiting import Allowance, Attempt
from service.store_address import Kind, Node, StoreAddress

PAUSE = 0.1
"""Sentinels are asked no more often than this, in seconds."""


class Sentinels:
    """The route to the primary of one service. `make` gives the server at an address."""

    kind = Kind.SENTINEL

    def __init__(
        self, address: StoreAddress, allowance: Allowance, make: Callable[[Node], Server]
    ) -> None:
        self._service = address.service
        self._allowance = allowance
        self._make = make
        self._sentinel = Sentinel([])  # type: ignore[no-untyped-call]
        self._sentinel.sentinels = [
            redis.Redis.from_url(
                address.url_of_sentinel(node),
                decode_responses=True,
                # One that does not answer leaves time to ask the others.
                socket_timeout=allowance.at_once / len(address.nodes),
                socket_connect_timeout=allowance.at_once / len(address.nodes),
                retry=Retry(NoBackoff(), 0),
            )
            for node in address.nodes
        ]
        self._known: dict[Node, Server] = {}
        self._primary: Server | None = None
        self._is_doubtful = False
        self._next_question = 0.0
        self._asking = threading.Lock()

    def server_of(self, key: str) -> Server:  # noqa: ARG002 - all keys are there
        """The primary; raises StoreUnavailable where no sentinel names one."""
        if self._primary is None or self._is_doubtful:
            self._find()
        if self._primary is None:
            raise StoreUnavailable("no sentinel names a primary", "connection")
        return self._primary

    def after(self, error: StoreUnavailable, key: str, server: Server) -> Target | None:
        """The new primary where the old one has become a replica: it has refused for certain. What
        was lost on the way is nobody's to send again."""
        if error.kind not in ("readonly", "connection", "timeout"):
            return None
        self._is_doubtful = True
        if error.kind != "readonly":
            return None
        now = self.server_of(key)
        # They hear of a failover one after the other: the same one may be named again.
        return Target(now, pause=PAUSE if now is server else 0.0)

    def primaries(self) -> list[Server]:
        """The primary."""
        return [self.server_of("")]

    def close(self) -> None:
        """Closes all connections, to sentinels too."""
        self._sentinel.close()
        for server in tuple(self._known.values()):
            server.close()

    def _find(self) -> None:
        """Asks the sentinels, unless another thread does or somebody just did."""
        limit = self._allowance.next()
        if limit <= 0 or not self._asking.acquire(timeout=limit if self._primary is None else 0):
            return
        try:
            if time.monotonic() < self._next_question:
                return
            began = time.monotonic()
            try:
                self._primary = self._named(limit)
                self._is_doubtful = False
            except (RedisError, OSError):  # nobody names one now: the last one known is tried
                self._is_doubtful = True
            finally:
                self._next_question = time.monotonic() + PAUSE
                self._allowance.spend(time.monotonic() - began)
        finally:
            self._asking.release()

    def _named(self, limit: float) -> Server:
        found: list[tuple[str, int]] = []

        def ask() -> None:
            primary = self._sentinel.discover_master(self._service)  # type: ignore[no-untyped-call]
            found.append(primary)

        Attempt(ask, lambda: None).within(limit)
        node = Node(*found[0])
        if node not in self._known:
            self._known[node] = self._make(node)
        return self._known[node]
