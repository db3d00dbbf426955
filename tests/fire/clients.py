"""Clients of a service: many at once, some that hang up, and what they were told."""

import http.client
import json
import socket
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any, TypeVar

T = TypeVar("T")
Request = dict[str, Any]
Told = dict[str, Any]

CLIENTS = 64
SECONDS = 60
REQUESTS_A_CONNECTION = 20


class Client:
    """One client. It takes a new connection now and then, so that new workers get their share.

    `sent` counts the checks that reached the service whole, `answered` those that got an answer,
    and `cut` those that the service hung up on.
    """

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
        self._port = port
        self._asked = 0
        self.sent = self.answered = self.cut = 0

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Status and body of one call; OSError or HTTPException where it was cut."""
        if self._asked % REQUESTS_A_CONNECTION == 0:
            self.close()
        self._asked += 1
        headers = {} if body is None else {"Content-Type": "application/json"}
        try:
            self._connection.request(method, path, body and json.dumps(body), headers)
            answer = self._connection.getresponse()
            return answer.status, json.loads(answer.read())
        except (OSError, http.client.HTTPException):
            self.close()
            raise

    def check(self, request: Request) -> Any:
        """The answer to a check; AssertionError where it is an error."""
        self.sent += 1
        status, answer = self.call("POST", "/check", request)
        assert status == 200, answer
        self.answered += 1
        return answer

    def check_until_answered(self, request: Request) -> Any:
        """The answer to a check, which is sent again as long as it is cut."""
        while True:
            try:
                return self.check(request)
            except (OSError, http.client.HTTPException):
                self.cut += 1

    def check_and_hang_up(self, request: Request) -> None:
        """Sends a whole check and leaves before the answer is there."""
        body = json.dumps(request).encode()
        head = (
            "POST /check HTTP/1.1\r\nHost: localhost\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", self._port), timeout=SECONDS) as connection:
            connection.sendall(head.encode() + body)
        self.sent += 1

    def close(self) -> None:
        self._connection.close()


def at_once(
    port: int, requests: Sequence[T], ask: Callable[[Client, T], Any], clients: int = CLIENTS
) -> tuple[list[Any], int]:
    """What `ask` made of each request, many clients working at once; how many checks were sent."""

    def work(number: int) -> tuple[list[Any], int]:
        with closing(Client(port)) as client:
            return [ask(client, request) for request in requests[number::clients]], client.sent

    with ThreadPoolExecutor(clients) as pool:
        done = list(pool.map(work, range(clients)))
    return [told for each, _ in done for told in each], sum(sent for _, sent in done)


def told(answer: Any) -> Told:
    """What every repeat of a check must say too."""
    left_out = ("replayed", "text", "pages", "cleaning", "hashes")
    return {name: value for name, value in answer.items() if name not in left_out}


def documents(port: int, **wanted: str) -> Iterator[Any]:
    """All documents that the list has, page by page."""
    query = "&".join(f"{name}={value}" for name, value in wanted.items())
    cursor = ""
    with closing(Client(port)) as client:
        while True:
            status, page = client.call("GET", f"/documents?limit=500&{query}{cursor}")
            assert status == 200, page
            yield from page["items"]
            if page["next"] is None:
                return
            cursor = f"&cursor={page['next']}"


def checks_counted(port: int) -> Any:
    """What the statistics tell of the default collection."""
    with closing(Client(port)) as client:
        return client.call("GET", "/stats?collection=default")[1]["collections"]["default"]
