"""Hostile requests to a real process: each is answered as the contract says, none costs much
memory, and none keeps the others from their answers."""

import http.client
import io
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import NamedTuple

import pytest

from service.serving import RECEIVE_SECONDS
from service.web.refusals import REFUSED
from tests.e2e.hostile import ALL, CANARY, GOOD, MAX_BODY, chunked, get, post, stream
from tests.e2e.running import Service, services

# Bytes: of a worker's memory, above what it takes for small checks.
MOST_OF_REFUSAL, MOST_KEPT = 100 * 10**6, 100 * 10**6
MOST_OF_WORK, MOST_OF_A_PAGE = 100, 2000  # for each byte and for each page that was sent
PROBLEM_FIELDS = {"type", "title", "status", "detail", "code", "errors"}
ORDINARY = {"id": "ordinary", "text": "Brakes are checked every 3 months."}


class Answer(NamedTuple):
    """What came back: status 0 where nothing did; `rest` is what came after the answer."""

    status: int
    headers: dict[str, str]
    body: bytes
    rest: bytes = b""


class Outcome(NamedTuple):
    """What became of one request; `peak` is how far the worker's memory rose above what it was
    before the first of them, and `size` what was sent, in bytes."""

    answer: Answer
    went_on: bool
    peak: int
    size: int


class Run(NamedTuple):
    """What became of the whole list."""

    outcomes: dict[str, Outcome]
    growth: int
    log: str


def send(port: int, raw: bytes) -> Answer:
    """Sends the bytes, says that there are no more, and reads until the server closes."""
    with closing(socket.create_connection(("127.0.0.1", port), timeout=60)) as connection:
        sender = threading.Thread(target=_send_all, args=(connection, raw))
        sender.start()
        received = _received(connection)
        sender.join()
    return parsed(received)


def _send_all(connection: socket.socket, raw: bytes) -> None:
    try:
        connection.sendall(raw)
        connection.shutdown(socket.SHUT_WR)
    except OSError:
        return  # it was refused on the way


def _received(connection: socket.socket) -> bytes:
    pieces = []
    try:
        while piece := connection.recv(1 << 16):
            pieces.append(piece)
    except ConnectionResetError:
        pass
    return b"".join(pieces)


class _Pipe(io.BytesIO):
    """What `http.client` takes for a socket."""

    def makefile(self, _mode: str) -> "_Pipe":
        return self

    def close(self) -> None:
        """It is read on after the answer."""


def parsed(received: bytes) -> Answer:
    if not received:
        return Answer(0, {}, b"")
    pipe = _Pipe(received)
    response = http.client.HTTPResponse(pipe)  # type: ignore[arg-type]
    response.begin()
    headers = {name.lower(): value for name, value in response.getheaders()}
    return Answer(response.status, headers, response.read(), pipe.read())


def memory(pid: int, name: str) -> int:
    """Bytes of a process: `VmRSS` now, `VmHWM` at its highest."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The whole list, sent to one worker, one request after the other."""
    outcomes: dict[str, Outcome] = {}
    with services(tmp_path_factory.mktemp("hostile")) as start:
        service = start(TWINSIFT_WORKERS="1").ready()
        for _ in range(50):
            service.call("POST", "/check", ORDINARY)
        (worker,) = service.workers()
        before = memory(worker, "VmRSS")
        for name, hostile in ALL.items():
            raw = hostile.make()
            Path(f"/proc/{worker}/clear_refs").write_text("5")  # the peak is counted from here
            answer = send(service.port, raw)
            peak = memory(worker, "VmHWM") - before
            went_on = service.call("POST", "/check", ORDINARY)[0] == 200
            outcomes[name] = Outcome(answer, went_on, peak, len(raw))
        assert service.workers() == {worker}, "the worker has died on the way"
        growth = memory(worker, "VmRSS") - before
        service.process.terminate()
        log = service.end()[1]
    return Run(outcomes, growth, log)


each = pytest.mark.parametrize("name", ALL)


@each
def test_it_is_answered_as_it_should_be(run: Run, name: str) -> None:
    answer = run.outcomes[name].answer
    assert answer.status in ALL[name].statuses, answer
    assert answer.rest == b""


@each
def test_a_refusal_is_a_problem_of_the_contract(run: Run, name: str) -> None:
    answer = run.outcomes[name].answer
    if answer.status in (0, 200):
        return
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["x-request-id"]
    problem = json.loads(answer.body)
    assert set(problem) == PROBLEM_FIELDS
    assert problem["status"] == answer.status
    assert len(problem["errors"]) <= 20


@each
def test_what_is_no_request_is_not_quoted_and_ends_the_connection(run: Run, name: str) -> None:
    answer = run.outcomes[name].answer
    if not name.startswith("head: ") or answer.status in (0, 200):
        return
    assert CANARY.encode() not in answer.body
    if json.loads(answer.body)["code"] in {problem.code for problem in REFUSED}:
        assert answer.headers["connection"] == "close"


@each
def test_the_next_request_is_answered(run: Run, name: str) -> None:
    assert run.outcomes[name].went_on


@each
def test_it_costs_little_memory(run: Run, name: str) -> None:
    outcome, most = run.outcomes[name], MOST_OF_REFUSAL
    if name.startswith("text: "):  # that is no fault: it is worked on
        most += MOST_OF_WORK * outcome.size + MOST_OF_A_PAGE * ALL[name].pages
    assert outcome.peak < most


def test_the_memory_is_given_back(run: Run) -> None:
    assert run.growth < MOST_KEPT


def test_nothing_of_them_is_in_the_log(run: Run) -> None:
    assert "refused what is no request" in run.log
    assert CANARY not in run.log
    assert "Traceback" not in run.log


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with services(tmp_path_factory.mktemp("slow")) as start:
        yield start(TWINSIFT_WORKERS="1", TWINSIFT_THREADS="4").ready()


LARGE = b" " * 500_000
SLOW = {
    "say nothing": b"",
    "stop in the request line": b"GET /heal",
    "stop in the head": b"GET /healthz HTTP/1.1\r\nHost: a\r\nX-A:",
    "stop in a body": post(GOOD)[:-5],
    "stop in a large body": post(LARGE)[:400_000],
    "stop in a chunk": chunked(b"100\r\n{"),
    "stop in a body that no call reads": get("/healthz", body=GOOD)[:-5],
    "stop in a stream": stream(b"{" * 100)[:-5],
    "stop in a stream after a large line": stream(b"{" * 500_000)[:400_000],
    "stop in a packed stream": stream(b"{" * 100, "Content-Encoding: gzip")[:-95],
    "send nonsense and do not hang up": b"nonsense\r\n\r\n",
    "are refused and do not hang up": get("/healthz", body=b" " * (MAX_BODY + 1))[:1000],
}


@pytest.mark.parametrize("sent", [pytest.param(sent, id=name) for name, sent in SLOW.items()])
def test_a_dozen_clients_do_not_keep_a_check_waiting_that(service: Service, sent: bytes) -> None:
    with ExitStack() as stack:
        for _ in range(12):
            slow = stack.enter_context(closing(connect(service)))
            slow.sendall(sent)
        began = time.monotonic()
        for _ in range(3):
            assert service.call("POST", "/check", ORDINARY)[0] == 200
        assert time.monotonic() - began < RECEIVE_SECONDS / 2


def test_a_client_that_drips_does_not_keep_a_check_waiting(service: Service) -> None:
    with ExitStack() as stack:
        dripping = [stack.enter_context(closing(connect(service))) for _ in range(12)]
        began = time.monotonic()
        for byte in post(GOOD)[:30]:
            for slow in dripping:
                slow.sendall(bytes([byte]))
            assert service.call("POST", "/check", ORDINARY)[0] == 200
        assert time.monotonic() - began < RECEIVE_SECONDS


def test_large_bodies_wait_only_until_slow_ones_are_given_up(service: Service) -> None:
    with ExitStack() as stack:
        for _ in range(4):
            slow = stack.enter_context(closing(connect(service)))
            slow.sendall(post(LARGE)[:400_000])
        assert send(service.port, post(LARGE, "Connection: close")).status == 400


def connect(service: Service) -> socket.socket:
    return socket.create_connection(("127.0.0.1", service.port), timeout=60)
