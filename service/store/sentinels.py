"""The primary that sentinels name, asked anew where it is lost or is one no more."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from service.errors import StoreError, StoreUnavailable
from service.store.failures import code_of, of_all, ours_of
from service.store.routes import Target
from service.store.server import Server
from service.store.tls import client_of
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
        self._sentinels: Sequence[redis.Redis] = [
            client_of(
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
        self._why = ("no sentinel names a primary", "connection")
        self._next_question = 0.0
        self._asking = threading.Lock()

    def server_of(self, key: str) -> Server:  # noqa: ARG002 - all keys are there
        """The primary; raises StoreUnavailable where no sentinel names one."""
        if self._primary is None or self._is_doubtful:
            self._find()
        if self._primary is None:
            raise StoreUnavailable(*self._why)
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

    def parts(self) -> int:
        """One."""
        return 1

    def close(self) -> None:
        """Closes all connections, to sentinels too."""
        for sentinel in self._sentinels:
            sentinel.close()
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
            except StoreUnavailable as error:  # the last one that is known is tried
                self._is_doubtful, self._why = True, (str(error), error.kind)
            finally:
                self._next_question = time.monotonic() + PAUSE
                self._allowance.spend(time.monotonic() - began)
        finally:
            self._asking.release()

    def _named(self, limit: float) -> Server:
        found: list[Node] = []
        try:
            Attempt(lambda: found.append(self._ask()), lambda: None).within(limit)
        except TimeoutError:
            raise StoreUnavailable("no sentinel answered in time", "timeout") from None
        node = found[0]
        if node not in self._known:
            self._known[node] = self._make(node)
        return self._known[node]

    def _ask(self) -> Node:
        """The primary as the first sentinel names it that knows one; it is asked first then."""
        refused: list[StoreError] = []
        for sentinel in self._sentinels:
            try:
                told: Any = sentinel.sentinel_masters()
            except (RedisError, OSError) as error:
                refused.append(ours_of(error) or StoreUnavailable(f"it refused ({code_of(error)})"))
                continue
            state = told.get(self._service)
            if state is None:
                refused.append(StoreUnavailable("it knows no service of this name"))
            elif state["is_master"] and not state["is_sdown"] and not state["is_odown"]:
                self._sentinels = sorted(self._sentinels, key=lambda one: one is not sentinel)
                return Node(state["ip"], state["port"])
            else:
                refused.append(StoreUnavailable("it holds the primary to be down", "connection"))
        raise of_all("no sentinel names a primary", refused)
