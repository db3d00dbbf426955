"""`twinsift serve` as a process of its own: how it starts, stops, refuses and comes back."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import redis

from service.store.embedded import EmbeddedServer

SECONDS = 30


class Service:
    """One `twinsift serve`, its data in a directory of the test's own."""

    def __init__(self, data_dir: Path, *options: str, **environ: str) -> None:
        self.data_dir = data_dir
        self.port = free_port()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "service.cli", "serve", *options],
            env={
                **os.environ,
                "TWINSIFT_BIND": f"127.0.0.1:{self.port}",
                "TWINSIFT_DATA_DIR": str(data_dir),
                "TWINSIFT_WORKERS": "2",
                **environ,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,  # a group of its own, so that all of it can be killed
        )

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)) as connection:
            headers = {"Content-Type": "application/json"} if body is not None else {}
            connection.request(method, path, json.dumps(body) if headers else None, headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())

    def ready(self) -> "Service":
        wait_until(self.is_ready)
        return self

    def is_ready(self) -> bool:
        assert self.process.poll() is None, self.process.communicate()
        try:
            return self.call("GET", "/readyz")[0] == 200
        except OSError:
            return False

    def end(self) -> tuple[int, str]:
        """Its exit status and what it said on stderr, once it has ended."""
        _, said = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, said

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.end()[0]

    def kill_all(self) -> None:
        """`kill -9` of the parent, gunicorn, its workers and the server."""
        server = self.server_pid()
        os.killpg(self.process.pid, signal.SIGKILL)
        os.kill(server, signal.SIGKILL)
        self.end()

    def workers(self) -> set[int]:
        """The children of gunicorn, which is in the service's process group as they are."""
        group = {
            int(stat.parent.name): int(stat.read_text().rpartition(")")[2].split()[1])
            for stat in Path("/proc").glob("[0-9]*/stat")
            if process_group(stat) == self.process.pid
        }
        return {pid for pid, parent in group.items() if group.get(parent) == self.process.pid}

    def server_pid(self) -> int:
        with closing(redis.Redis(unix_socket_path=str(self.data_dir / "valkey.sock"))) as client:
            return int(client.info("server")["process_id"])

    def wait_for_disk(self) -> None:
        """What was written so far is on the disk, as it is within a second in any case."""
        with closing(redis.Redis(unix_socket_path=str(self.data_dir / "valkey.sock"))) as client:
            client.set("written-last", 1)  # the store waits for what its asker wrote, and all before
            assert client.waitaof(1, 0, 5000)[0] == 1

    def clean_up(self) -> None:
        if self.process.returncode is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.communicate(timeout=SECONDS)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def process_group(stat: Path) -> int:
    try:
        return int(stat.read_text().rpartition(")")[2].split()[2])
    except OSError:  # it ended while it was looked at
        return -1


def wait_until(condition: Callable[[], bool]) -> None:
    give_up = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < give_up, "waited too long"
        time.sleep(0.05)


def is_listened_on(port: int) -> bool:
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Service]]:
    started: list[Service] = []

    def start(*options: str, **environ: str) -> Service:
        started.append(Service(tmp_path, *options, **environ))
        return started[-1]

    yield start
    for service in started:
        service.clean_up()
    if (tmp_path / "lock").exists():  # a server may have outlived a kill: join it, leave as last
        server = EmbeddedServer(tmp_path)
        server.start()
        server.release()


def test_it_answers_healthz(serve: Callable[..., Service]) -> None:
    assert serve().ready().call("GET", "/healthz")[0] == 200


def test_sigterm_ends_it_with_status_0(serve: Callable[..., Service]) -> None:
    assert serve().ready().stop() == 0


def test_sigterm_before_it_is_ready_ends_it_with_status_0(serve: Callable[..., Service]) -> None:
    service = serve()
    wait_until((service.data_dir / "users").exists)
    assert service.stop() == 0


def test_sigterm_stops_the_embedded_server_too(serve: Callable[..., Service]) -> None:
    service = serve().ready()
    service.stop()
    assert not (service.data_dir / "valkey.sock").exists()


def test_a_request_that_is_under_way_at_sigterm_is_answered(serve: Callable[..., Service]) -> None:
    service = serve().ready()
    body = json.dumps({"id": "late", "text": "Tyres are pumped up every 2 weeks."}).encode()
    with closing(http.client.HTTPConnection("127.0.0.1", service.port, timeout=10)) as connection:
        connection.putrequest("POST", "/check")
        connection.putheader("Content-Type", "application/json")
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body[:20])
        time.sleep(0.3)  # a worker has it now
        service.process.send_signal(signal.SIGTERM)
        time.sleep(0.5)  # and knows that it is to end
        connection.send(body[20:])
        assert connection.getresponse().status == 200
    assert service.end()[0] == 0


def test_sighup_replaces_the_workers_and_goes_on(serve: Callable[..., Service]) -> None:
    service = serve().ready()
    before = service.workers()
    service.process.send_signal(signal.SIGHUP)
    wait_until(lambda: not before & service.workers())
    assert service.call("GET", "/healthz")[0] == 200


def test_the_example_is_printed_once_it_is_answered(serve: Callable[..., Service]) -> None:
    service = serve("--example")
    assert service.process.stdout is not None
    line = next(line for line in service.process.stdout if "curl" in line)
    assert f"http://127.0.0.1:{service.port}/check" in line
    assert service.call("GET", "/healthz")[0] == 200


def test_two_services_share_the_store_of_one_directory(serve: Callable[..., Service]) -> None:
    first, second = serve().ready(), serve().ready()
    first.call("POST", "/check", {"id": "a", "text": "Pumps are checked every 6 months."})
    _, answer = second.call(
        "POST", "/check", {"id": "b", "text": "Pumps are checked every 6 months."}
    )
    assert answer["verdict"] == "exact_duplicate"


def test_the_store_outlives_the_first_of_two_services(serve: Callable[..., Service]) -> None:
    first, second = serve().ready(), serve().ready()
    first.stop()
    assert second.call("GET", "/readyz")[0] == 200


def test_a_stop_and_a_start_keep_what_was_answered(serve: Callable[..., Service]) -> None:
    first = serve().ready()
    first.call("POST", "/check", {"id": "kept", "text": "Chains are oiled every 3 weeks."})
    first.stop()
    assert serve().ready().call("GET", "/documents?id=kept")[0] == 200


def test_kill_9_of_everything_keeps_what_was_answered(serve: Callable[..., Service]) -> None:
    first = serve().ready()
    first.call("POST", "/check", {"id": "kept", "text": "Chains are oiled every 3 weeks."})
    first.wait_for_disk()
    first.kill_all()
    assert serve().ready().call("GET", "/documents?id=kept")[0] == 200


def test_a_killed_store_comes_back_by_itself_with_its_data(serve: Callable[..., Service]) -> None:
    service = serve().ready()
    service.call("POST", "/check", {"id": "kept", "text": "Chains are oiled every 3 weeks."})
    service.wait_for_disk()
    os.kill(service.server_pid(), signal.SIGKILL)
    wait_until(lambda: service.call("GET", "/documents?id=kept")[0] == 200)


def test_nothing_goes_on_listening_when_the_parent_is_killed(
    serve: Callable[..., Service],
) -> None:
    service = serve().ready()
    service.process.kill()
    wait_until(lambda: not is_listened_on(service.port))


def test_with_a_store_of_ones_own_no_other_is_started(
    serve: Callable[..., Service], redis_url: str
) -> None:
    service = serve(TWINSIFT_REDIS_URL=redis_url).ready()
    assert not (service.data_dir / "lock").exists()
    assert service.stop() == 0


def test_a_store_that_is_not_there_yet_does_not_stop_the_start(
    serve: Callable[..., Service],
) -> None:
    service = serve(TWINSIFT_REDIS_URL=f"redis://127.0.0.1:{free_port()}/0")
    wait_until(lambda: is_listened_on(service.port))
    assert service.call("GET", "/healthz")[0] == 200
    assert service.call("GET", "/readyz")[0] == 503


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TWINSIFT_BIND", "nowhere"),
        ("TWINSIFT_BIND", "0.0.0.0:8000"),
        ("TWINSIFT_BIND", "192.0.2.1:8000"),  # an address that no machine has
        ("TWINSIFT_REDIS_URL", "http://store"),
        ("TWINSIFT_REDIS_URL", "redis://127.0.0.1:6379/0?health_check_interval=often"),
        ("TWINSIFT_MAX_BODY", "much"),
        ("TWINSIFT_DATA_DIR", "/dev/null/data"),
    ],
)
def test_what_cannot_be_served_is_said_in_one_line(
    serve: Callable[..., Service], name: str, value: str
) -> None:
    status, said = serve(**{name: value}).end()
    assert (status, said.count("\n")) == (1, 1), said
    assert said.startswith("twinsift: ")


def test_a_port_that_is_taken_is_said_in_one_line(serve: Callable[..., Service]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        bind = f"127.0.0.1:{taken.getsockname()[1]}"
        status, said = serve(TWINSIFT_BIND=bind).end()
    assert (status, said.count("\n")) == (1, 1), said
    assert "another process listens there" in said


def test_a_store_that_evicts_is_refused_in_one_line(
    serve: Callable[..., Service], tmp_path: Path
) -> None:
    server = EmbeddedServer(tmp_path / "store")
    try:
        url = server.start()
        with closing(redis.Redis.from_url(url)) as client:
            client.config_set("maxmemory-policy", "allkeys-lru")
        status, said = serve(TWINSIFT_REDIS_URL=url).end()
    finally:
        server.release()
    assert (status, said.count("\n")) == (1, 1), said
    assert "evicts" in said
