"""Gunicorn's threaded worker, as strangers meet it: what it refuses, and who waits for whom.

- What is no HTTP request is answered in the words of the contract, as problem+json, and neither the
  answer nor the log quotes any of it. Gunicorn by itself answers HTML and logs the line at fault.
- A client that stops in the middle of a request holds a thread that does nothing else, of which
  there are many, and not one of those that work (`web/turns.py`).
"""

from __future__ import annotations

import ctypes
import re
import socket
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final

from gunicorn.http import Request, RequestParser
from gunicorn.http.errors import (  # type: ignore[attr-defined] # the stubs are older
    InvalidHeader,
    InvalidResponseHeader,
    InvalidResponseHeaderName,
    NoMoreData,
    ParseException,
)
from gunicorn.http.unreader import SocketUnreader
from gunicorn.workers.gthread import TConn

from service.leaving import LeavingWorker
from service.web.refusals import refusal, unexpected

WAITING_THREADS: Final = 128
"""So many clients of one worker may be slow at once before others wait for them."""

# RFC 3986's host and port, loosely: what cannot be in either is refused.
_HOST = re.compile(r"[A-Za-z0-9._~!$&'()*+,;=%:\[\]-]*")


# glibc's names for them, and what they are set to; see `_give_memory_back`.
_MALLOC_OPTIONS = {-8: 2, -3: 4 << 20, -1: 8 << 20}  # arenas, mmap and trim thresholds


class HttpWorker(LeavingWorker):
    """See the module."""

    def init_process(self) -> None:
        """Begins to work, in the process of the worker."""
        _give_memory_back()
        super().init_process()

    def get_thread_pool(self) -> ThreadPoolExecutor:
        """Threads for those that work and those that wait; made when they are first needed."""
        return ThreadPoolExecutor(max_workers=self.cfg.threads + WAITING_THREADS)

    def enqueue_req(self, conn: TConn) -> None:
        """Hands the connection to a thread, with our parser where it has none yet."""
        if conn.parser is None:
            conn.parser = _Parser(self.cfg, conn.sock, conn.client)
            conn.parser.unreader = _Unreader(conn.sock)
        super().enqueue_req(conn)

    def handle(self, conn: TConn) -> bool:
        """Answers a request; a connection that is to end ends here.

        Gunicorn would end it in its one loop, which waits up to two seconds for a client that does
        not hang up, and accepts nobody meanwhile.
        """
        kept = super().handle(conn)
        if not kept:
            conn.close(graceful=True)
        return kept

    def finish_request(self, conn: TConn, fs: Future[bool]) -> None:
        """Takes back the connection from the thread that had it."""
        if conn.sock.fileno() == -1:  # ended by `handle`
            self.nr_conns -= 1
            return
        super().finish_request(conn, fs)

    def _keepalive_after(self, conn: TConn, keepalive: bool) -> bool:
        """Whether the connection can be used again, once what is left of the body was read.

        Where that cannot be read there is nothing to answer: the request has its answer already.
        """
        try:
            return bool(super()._keepalive_after(conn, keepalive))  # type: ignore[misc]
        except (ParseException, OSError):
            return False

    def handle_error(
        self,
        req: Request | None,  # noqa: ARG002 - gunicorn's signature; none of it is to be told
        client: socket.socket,
        addr: Any,  # noqa: ARG002 - as above
        exc: BaseException,
    ) -> None:
        """Answers what could not be read, or an error that no handler of the app has caught."""
        ours = isinstance(exc, InvalidResponseHeader | InvalidResponseHeaderName)
        if isinstance(exc, ParseException) and not ours:
            status, raw = refusal(exc)
            self.log.warning("refused what is no request: %s, %d", type(exc).__name__, status)
        else:
            raw = unexpected()
            self.log.error("unexpected error outside of the app", exc_info=exc)
        try:
            client.sendall(raw)
        except OSError:
            self.log.debug("the answer to what is no request could not be sent")


class _Request(Request):
    """A request that says which host it is for, as RFC 9112 demands of HTTP/1.1, and whose body is
    framed in one of the two ways that every proxy reads alike."""

    def parse(self, unreader: Any) -> Any:
        unused = super().parse(unreader)
        hosts = [value for name, value in self.headers if name == "HOST"]
        if not hosts and self.version != (1, 0):
            raise InvalidHeader("HOST", req=self)
        if not all(map(_HOST.fullmatch, hosts)):
            raise InvalidHeader("HOST", req=self)
        codings = [value for name, value in self.headers if name == "TRANSFER-ENCODING"]
        if codings and [coding.lower() for coding in codings] != ["chunked"]:
            raise InvalidHeader("TRANSFER-ENCODING", req=self)
        return unused


class _Parser(RequestParser):
    mesg_class = _Request


class _Unreader(SocketUnreader):
    """Reads from the socket; a client that is silent for too long has gone (see `serving`)."""

    def chunk(self, size_hint: int | None = None) -> bytes:
        try:
            return super().chunk(size_hint)  # type: ignore[call-arg] # as above
        except (BlockingIOError, TimeoutError):
            raise NoMoreData from None


def _give_memory_back() -> None:
    """Has glibc return large blocks to the system once they are free.

    By itself it learns from the first large body to keep such blocks, in each of its arenas, of
    which it makes more for more threads. Other C libraries are left as they are.
    """
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)
    if sys.platform == "linux" and set_option is not None:
        for option, value in _MALLOC_OPTIONS.items():
            set_option(option, value)
