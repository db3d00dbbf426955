"""A light HTTP client: requests made beforehand, plain sockets, answers only counted or timed."""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Iterable, Sequence

import orjson

from bench.closing import Closing

_END = b"\r\n\r\n"
_LENGTH = b"content-length:"


def post_request(path: str, body: object, *, method: str = "POST") -> bytes:
    """A whole request with a JSON body."""
    written = orjson.dumps(body)
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(written)}\r\n\r\n"
    )
    return head.encode() + written


def check_request(id: str, text: str, collection: str) -> bytes:
    """A whole `POST /check`."""
    return post_request("/check", {"id": id, "text": text, "collection": collection})


def batch_requests(texts: Sequence[tuple[str, str]], collection: str, size: int) -> list[bytes]:
    """Whole `POST /check/batch` of so many items each."""
    items = [{"id": id, "text": text, "collection": collection} for id, text in texts]
    return [
        post_request("/check/batch", {"items": items[start : start + size]})
        for start in range(0, len(items), size)
    ]


class Connection(Closing):
    """One keep-alive connection, one request at a time."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def close(self) -> None:
        """Close the socket."""
        self.socket.close()

    def send(self, request: bytes) -> None:
        """Send a request."""
        self.socket.sendall(request)

    def receive(self) -> bytes:
        """The body of the answer; ends the script where it is an error."""
        got = b""
        while (end := got.find(_END)) < 0:
            got += self._more()
        head = got[:end].lower()
        at = head.index(_LENGTH) + len(_LENGTH)
        length = int(head[at:].split(b"\r\n", 1)[0])
        body = got[end + len(_END) :]
        while len(body) < length:
            body += self._more()
        if head[9:10] != b"2":
            raise SystemExit(f"the service answered {head[9:12].decode()}: {body[:300]!r}")
        return body

    def ask(self, request: bytes) -> bytes:
        """Send a request and wait for the answer."""
        self.send(request)
        return self.receive()

    def _more(self) -> bytes:
        got = self.socket.recv(65536)
        if not got:
            raise ConnectionError("the connection was closed in the middle of an answer")
        return got


def saturate(port: int, requests: Sequence[bytes], connections: int) -> float:
    """Send all requests over several connections, one at a time on each; the seconds it took."""
    left = iter(requests)
    with selectors.DefaultSelector() as selector:
        opened = [Connection(port) for _ in range(connections)]
        started = time.perf_counter()
        for connection in opened:
            selector.register(connection.socket, selectors.EVENT_READ, connection)
            connection.send(next(left))
        waiting = len(opened)
        while waiting:
            for key, _ in selector.select():
                connection = key.data
                connection.receive()
                request = next(left, None)
                if request is None:
                    waiting -= 1
                    selector.unregister(connection.socket)
                else:
                    connection.send(request)
        seconds = time.perf_counter() - started
        for connection in opened:
            connection.close()
    return seconds


def timed(connection: Connection, requests: Iterable[bytes]) -> list[float]:
    """Milliseconds of each request, one after the other on one connection."""
    taken = []
    for request in requests:
        started = time.perf_counter()
        connection.ask(request)
        taken.append((time.perf_counter() - started) * 1000)
    return taken
