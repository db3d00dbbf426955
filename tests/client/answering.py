"""A listener that answers as a test says: for what a healthy service does not do."""

import socket
import threading
from collections.abc import Sequence


def http(status: int, body: str, **headers: str) -> bytes:
    """An answer that ends its connection."""
    lines = [f"HTTP/1.1 {status} Said", f"Content-Length: {len(body)}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode()


def problem(status: int, code: str, **headers: str) -> bytes:
    body = f'{{"status": {status}, "code": "{code}", "detail": "It is so.", "errors": []}}'
    return http(status, body, **headers)


class Answering:
    """Gives one answer a connection, in order; None cuts the connection once it was asked."""

    def __init__(self, answers: Sequence[bytes | None]) -> None:
        self.asked = 0
        self.heard = ""
        self._answers = answers
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._answer, daemon=True)
        self._thread.start()

    def _answer(self) -> None:
        for answer in self._answers:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                self.heard += connection.recv(1 << 16).decode()
                self.asked += 1
                if answer is not None:
                    connection.sendall(answer)

    def close(self) -> None:
        self._listener.close()
        self._thread.join(timeout=0.1)
