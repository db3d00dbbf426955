"""The route to the nodes of a cluster: by the slot of the first key, as the nodes tell it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from redis.exceptions import AskError, MovedError, RedisError

from service.errors import StoreError, StoreUnavailable
from service.store.failures import code_of, of_all
from service.store.routes import Target
from service.store.server import Server
from service.store.topology import UNKNOWN_HOST, Topology, read_topology, slot_of
from service.store.waiting import Allowance
from service.store_address import Kind, Node

PAUSE = 0.02
"""How long to wait before one asks again where a slot is just moving, in seconds."""
NOBODY_TELLS = "no node of the cluster tells its slots"
REFRESH_PAUSE = 0.1
"""The nodes are asked for the slots no more often than this, in seconds."""


class Cluster:
    """The route to the primary of each slot. `make` gives the server at an address.

    The slots are asked of the nodes where one was lost or named another, by one thread at a time;
    the others go by what was known before."""

    kind = Kind.CLUSTER

    def __init__(
        self, seeds: tuple[Node, ...], allowance: Allowance, make: Callable[[Node], Server]
    ) -> None:
        self._seeds = seeds
        self._allowance = allowance
        self._make = make
        self._known: dict[Node, Server] = {}
        self._topology: Topology | None = None
        self._is_doubtful = False
        self._why = (NOBODY_TELLS, "connection")
        self._doubted: Server | None = None
        self._next_refresh = 0.0
        self._refreshing = threading.Lock()

    def server_of(self, key: str) -> Server:
        """The primary of the key's slot; raises StoreUnavailable where none is known."""
        node = self._slots().primary_of(slot_of(key))
        if node is None:
            self._is_doubtful = True
            raise StoreUnavailable("no node of the cluster is known to have this slot")
        return self._server(node)

    def after(self, error: StoreUnavailable, key: str, server: Server) -> Target | None:
        """Where the node that refused sends it; to the same one again where a slot is just moving,
        or its primary just became a replica. What was lost on the way is nobody's to send again."""
        refusal = error.__cause__
        if isinstance(refusal, AskError):
            return Target(self._server(self._named(refusal, server)), asking=True)
        code = code_of(refusal) if isinstance(refusal, RedisError) else ""
        if code == "TRYAGAIN":
            return Target(self.server_of(key), pause=PAUSE)
        if isinstance(refusal, MovedError):
            self._doubt(None)
            node = self._named(refusal, server)
            if self._topology is not None:
                self._topology = self._topology.moved(slot_of(key), node)
            return Target(self._server(node))
        if code in ("CLUSTERDOWN", "READONLY") or error.kind in ("connection", "timeout"):
            self._doubt(server)
        if code in ("CLUSTERDOWN", "READONLY"):
            now = self.server_of(key)
            return Target(now) if now is not server else None
        return None

    def primaries(self) -> list[Server]:
        """All nodes that have slots; raises StoreUnavailable where none are known."""
        return [self._server(node) for node in self._slots().primaries()]

    def parts(self) -> int:
        """How many primaries there are. While a cluster is made not all of them are known yet."""
        slots = self._slots()
        if not slots.is_whole():
            self._is_doubtful = True
            raise StoreUnavailable("not all slots of the cluster are known to be at a node")
        return len(slots.primaries())

    def close(self) -> None:
        """Closes all connections."""
        for server in tuple(self._known.values()):
            server.close()

    def _server(self, node: Node) -> Server:
        known = self._known.get(node)
        # Of two threads that make the same one, one is kept.
        return known if known is not None else self._known.setdefault(node, self._make(node))

    def _named(self, refusal: MovedError | AskError, by: Server) -> Node:
        """The node that a redirection names; without a host it is that of the one who names it.
        Raises StoreUnavailable where nobody knows its host."""
        if refusal.host == UNKNOWN_HOST:
            raise StoreUnavailable("the node that has this slot announces no host name")
        if refusal.host:
            return Node(refusal.host, refusal.port)
        host = next(node.host for node, server in self._known.items() if server is by)
        return Node(host, refusal.port)

    def _doubt(self, server: Server | None) -> None:
        """The slots are to be asked for again, and this server last of all."""
        self._is_doubtful, self._doubted = True, server

    def _slots(self) -> Topology:
        if self._topology is None or self._is_doubtful:
            self._refresh()
        if self._topology is None:
            raise StoreUnavailable(*self._why)
        return self._topology

    def _refresh(self) -> None:
        """Asks the nodes for the slots, unless another thread does or somebody just did."""
        limit = self._allowance.next()
        if limit <= 0 or not self._refreshing.acquire(
            timeout=limit if self._topology is None else 0
        ):
            return
        try:
            if time.monotonic() < self._next_refresh:
                return
            self._is_doubtful = False
            self._topology = self._told() or self._topology
            self._next_refresh = time.monotonic() + REFRESH_PAUSE
        finally:
            self._refreshing.release()

    def _told(self) -> Topology | None:
        """The slots as the first node tells them that knows any; None where none does."""
        known = [] if self._topology is None else self._topology.primaries()
        nodes = dict.fromkeys((*known, *self._seeds))
        refused: list[StoreError] = []
        for node in sorted(nodes, key=lambda node: self._known.get(node) is self._doubted):
            server = self._server(node)
            try:
                reply = server.slots()
            except StoreError as error:
                refused.append(error)
                continue
            except RedisError as error:
                refused.append(StoreUnavailable(f"a node refused ({code_of(error)})"))
                continue
            found = read_topology(reply, node)
            if found.primaries():
                return found
            why = "nodes are to have host names, and have none" if reply else "no node has slots"
            refused.append(StoreUnavailable(why))
        refusal = of_all(NOBODY_TELLS, refused)
        self._why = (str(refusal), refusal.kind)
        self._is_doubtful = True
        return None
