"""Which server is asked: the one there is, or the one that somebody names.

`cluster.py` and `sentinels.py` have the others.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from service.errors import StoreUnavailable
from service.store.server import Server
from service.store_address import Kind


class Target(NamedTuple):
    """The server to ask next: after a `pause` (seconds), and `asking` where a slot is only moving
    to it."""

    server: Server
    asking: bool = False
    pause: float = 0.0


class Route(Protocol):
    """Where the keys are. What is told here is learned from what servers answer, so it may be out
    of date: whoever is refused asks where to go `after` that."""

    kind: Kind

    def server_of(self, key: str) -> Server:
        """The primary that has a key; raises StoreUnavailable where none is known."""

    def after(self, error: StoreUnavailable, key: str, server: Server) -> Target | None:
        """Whom to ask after a server answered so, or did not answer; None: nobody, now."""

    def primaries(self) -> list[Server]:
        """All that hold a part of the keys; raises StoreUnavailable where none are known."""

    def parts(self) -> int:
        """Over how many servers the keys are spread; raises StoreUnavailable where not all of them
        are known."""

    def close(self) -> None:
        """Closes all connections."""


class OneServer:
    """The route where there is but one server."""

    kind = Kind.SINGLE

    def __init__(self, server: Server) -> None:
        self._server = server

    def server_of(self, key: str) -> Server:  # noqa: ARG002 - all keys are there
        """The one."""
        return self._server

    def after(self, error: StoreUnavailable, key: str, server: Server) -> None:
        """Nobody: there is no other."""

    def primaries(self) -> list[Server]:
        """The one."""
        return [self._server]

    def parts(self) -> int:
        """One."""
        return 1

    def close(self) -> None:
        """Closes its connections."""
        self._server.close()
