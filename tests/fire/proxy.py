"""A TCP proxy before a store, which delays, drips or loses what passes."""

import socket
import threading
import time
from contextlib import suppress

PIECE = 64 * 1024


class Proxy:
    """Passes bytes both ways between whoever connects and the store at `port`, one pair of threads
    for each connection. What it does to them may be changed at any time:

    `delay`: seconds that each piece of a reply waits; `drip`: a reply goes out byte by byte, with
    the delay before each; `to_lose`: so many replies are not passed on, the connection is cut
    instead. `lost` counts the replies that were.
    """

    def __init__(self, port: int) -> None:
        self.delay = 0.0
        self.drip = False
        self.to_lose = 0
        self.lost = 0
        self._to = port
        self._open: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def close(self) -> None:
        for each in (self._listener, *self._open):
            _shut(each)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                try:
                    store = socket.create_connection(("127.0.0.1", self._to))
                except OSError:
                    _shut(client)
                    continue
                self._open |= {client, store}
                for pass_on in (self._questions, self._replies):
                    threading.Thread(target=pass_on, args=(client, store), daemon=True).start()

    def _questions(self, client: socket.socket, store: socket.socket) -> None:
        with suppress(OSError):
            while piece := client.recv(PIECE):
                store.sendall(piece)
        self._cut(client, store)

    def _replies(self, client: socket.socket, store: socket.socket) -> None:
        with suppress(OSError):
            while piece := store.recv(PIECE):
                if self.to_lose > 0:
                    self.to_lose -= 1
                    self.lost += 1
                    break
                for part in (bytes([byte]) for byte in piece) if self.drip else (piece,):
                    time.sleep(self.delay)
                    client.sendall(part)
        self._cut(client, store)

    def _cut(self, *pair: socket.socket) -> None:
        for each in pair:
            self._open.discard(each)
            _shut(each)


def _shut(end: socket.socket) -> None:
    """Ends a socket for whoever waits on it, too."""
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()
