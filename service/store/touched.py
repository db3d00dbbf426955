"""What a call has to do with: the servers that it asked, and their very processes."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from service.store.server import Server

_PROCESS = re.compile(rb"run_id:(\w+)")


class Touched(threading.local):
    """Where each thread has read or written since it last was told to `forget`: for each server a
    key that it was asked about, and the processes that answered, each known by its `run_id`.

    Kept only where it is `wanted`: it costs a question at each new connection."""

    def __init__(self, *, wanted: bool) -> None:
        self.wanted = wanted
        self._keys: dict[Server, str] = {}
        self._processes: dict[Server, set[bytes]] = {}

    def at(self, server: Server, key: str) -> None:
        """This key was asked about there."""
        if self.wanted:
            self._keys[server] = key

    def over(self, server: Server, connection: Any) -> None:
        """This connection to it is used."""
        if self.wanted:
            self._processes.setdefault(server, set()).add(connection.process)

    def connected(self, connection: Any) -> None:
        """Asks over a new connection which process it leads to."""
        if self.wanted:
            connection.send_command("INFO", "server", check_health=False)
            told = _PROCESS.search(connection.read_response())
            connection.process = told[1] if told else b""

    def servers(self) -> dict[Server, str]:
        """The servers that were asked, each with the last key it was asked about."""
        return dict(self._keys)

    def is_one_process(self, server: Server) -> bool:
        """Whether all that was asked of a server was answered by one process."""
        return len(self._processes.get(server, ())) == 1

    def forget(self, *, processes: bool = True) -> None:
        """Begins anew; the same `processes` are to answer, or others may."""
        self._keys = {}
        if processes:
            self._processes = {}
