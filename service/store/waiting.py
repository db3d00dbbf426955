"""How long a call waits for the store: in all, in one round trip, and for a connection."""

from __future__ import annotations

import math
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable
from typing import Any

_SLACK = 0.05
_WOULD_BLOCK = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


class Allowance(threading.local):
    """What each thread may still wait, in seconds: `whole` from `begin` on, and no longer than
    `at_once` for one round trip. A thread that never began a call has the second limit alone."""

    def __init__(self, whole: float, at_once: float) -> None:
        self._whole = whole
        self.at_once = at_once
        self._left: float | None = None

    def begin(self) -> None:
        """A call begins in this thread."""
        self._left = self._whole

    def renew(self) -> None:
        """The call that goes on in this thread, if one does, may wait as long again."""
        if self._left is not None:
            self._left = self._whole

    def patience(self) -> float:
        """How long all that is still to be asked may take together."""
        return self._whole if self._left is None else self._left

    def next(self) -> float:
        """How long the next round trip may take; 0 or less where the call's time is up."""
        return self.at_once if self._left is None else min(self.at_once, self._left)

    def spend(self, seconds: float) -> None:
        """So long was waited."""
        if self._left is not None:
            self._left -= seconds


class TimedSocket:
    """A connected socket that gives up at the moment `ends_at` (`time.monotonic`), however little
    comes or goes at a time. All else is the socket's own.

    The kernel ends a wait, not Python, which would ask it before each send and receive; it is told
    anew only where the limit differs by more than `_SLACK` from the one it has. Over TLS Python
    ends it, for there it begins a wait anew that the kernel has ended.
    """

    def __init__(self, connected: socket.socket, ends_at: float) -> None:
        self.ends_at = ends_at
        self._limit = math.inf  # the kernel has none yet
        self._socket = connected
        connected.settimeout(None)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._socket, name)

    def recv_into(self, buffer: bytearray) -> int:
        """Waits for a part of a reply; raises TimeoutError."""
        self._limit_wait()
        try:
            return self._socket.recv_into(buffer)
        except _WOULD_BLOCK:
            raise TimeoutError from None

    def sendall(self, data: bytes) -> None:
        """Sends all of it; raises TimeoutError."""
        view = memoryview(data)
        while view:
            self._limit_wait()
            try:
                view = view[self._socket.send(view) :]
            except _WOULD_BLOCK:
                raise TimeoutError from None

    def _limit_wait(self) -> None:
        left = self.ends_at - time.monotonic()
        if left <= 0:
            raise TimeoutError
        if -_SLACK < left - self._limit < _SLACK:
            return
        self._limit = left
        if isinstance(self._socket, ssl.SSLSocket):
            self._socket.settimeout(left)
            return
        whole = int(left)
        limit = struct.pack("ll", whole, max(1, int((left - whole) * 1_000_000)))
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            self._socket.setsockopt(socket.SOL_SOCKET, option, limit)


class Attempt(threading.Thread):
    """Something that knows no limit of time, done in a thread of its own so that it can be left
    behind: looking up a host's name does not, nor does trying all its addresses.

    `undo` is called where it succeeds after it was left behind.
    """

    def __init__(self, work: Callable[[], None], undo: Callable[[], None]) -> None:
        super().__init__(daemon=True)
        self._work = work
        self._undo = undo
        self._error: Exception | None = None
        self._is_left = False
        self._lock = threading.Lock()
        self._done = threading.Event()

    def run(self) -> None:
        """Not to be called: `within` does."""
        try:
            self._work()
        except Exception as error:  # noqa: BLE001 - told to the one who waits
            self._error = error
        with self._lock:
            self._done.set()
            if self._is_left:
                self._undo()

    def within(self, seconds: float) -> None:
        """Waits for it; raises what it raises, or TimeoutError when it is left behind."""
        self.start()
        self._done.wait(seconds)
        with self._lock:
            self._is_left = not self._done.is_set()
        if self._is_left:
            raise TimeoutError
        if self._error is not None:  # and why, which is lost where it is raised amid another one
            raise self._error from (self._error.__cause__ or self._error.__context__)
