"""A `twinsift serve` as a process of its own, for tests from outside."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import redis

from service.store.embedded import EmbeddedServer

SECONDS = 30


class Service:
    """One `twinsift serve`, its data in a directory of the test's own."""

    def __init__(self, data_dir: Path, *options: str, **environ: str) -> None:
        self.data_dir = data_dir
        self.port = free_port()
        self._has_own_store = not environ.get("TWINSIFT_REDIS_URL")
        self._said = tempfile.TemporaryFile("w+")  # a pipe would be full some day  # noqa: SIM115
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
            stderr=self._said,
            pipesize=1 << 20,  # all that it says until somebody reads it
            text=True,
            start_new_session=True,  # a group of its own, so that all of it can be killed
        )

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)) as connection:
            headers = {"Content-Type": "application/json"} if body is not None else {}
            connection.request(method, path, json.dumps(body) if headers else None, headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())

    def raw_call(
        self, method: str, path: str, body: Any, headers: dict[str, str]
    ) -> tuple[int, str]:
        """Status and body of a call that is sent as it is given, JSON values apart."""
        sent = body if body is None or isinstance(body, str) else json.dumps(body)
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            connection.request(method, path, sent, headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

    def emptied(self) -> "Service":
        """The same service, with nothing stored."""
        with closing(redis.Redis.from_url(self.store_url)) as store:
            store.flushall()
        return self

    @property
    def store_url(self) -> str:
        """The address of its embedded store."""
        return f"unix://{self.data_dir / 'valkey.sock'}"

    def ready(self) -> "Service":
        wait_until(self.is_ready)
        return self

    def is_ready(self) -> bool:
        assert self.process.poll() is None, self.end()
        try:
            return self.call("GET", "/readyz")[0] == 200
        except OSError:
            return False

    def end(self) -> tuple[int, str]:
        """Its exit status and what it said on stderr, once it has ended."""
        self.process.communicate(timeout=SECONDS)
        with self._said:
            self._said.seek(0)
            return self.process.returncode, self._said.read()

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
        """The children of gunicorn, which is in the service's process group as they are. It is the
        process itself, or its child where there is a store of its own to look after."""
        parents = {
            int(stat.parent.name): parent
            for stat in Path("/proc").glob("[0-9]*/stat")
            for parent, group in [parent_and_group(stat)]
            if group == self.process.pid
        }
        own = {pid for pid, parent in parents.items() if parent == self.process.pid}
        if not self._has_own_store:
            return own
        return {pid for pid, parent in parents.items() if parent in own}

    def server_pid(self) -> int:
        with closing(redis.Redis(unix_socket_path=str(self.data_dir / "valkey.sock"))) as client:
            return int(client.info("server")["process_id"])

    def wait_for_disk(self) -> None:
        """What was written so far is on the disk, as it is within a second in any case."""
        with closing(redis.Redis(unix_socket_path=str(self.data_dir / "valkey.sock"))) as client:
            client.set("last", "write")  # it waits for its own writes, and so for all before
            assert client.waitaof(1, 0, 5000)[0] == 1

    def clean_up(self) -> None:
        if self.process.returncode is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.end()


@contextmanager
def services(data_dir: Path) -> Iterator[Callable[..., Service]]:
    """Starts services on one directory: `start("--option", NAME="value")`. Ends whatever of them is
    left running."""
    started: list[Service] = []

    def start(*options: str, **environ: str) -> Service:
        started.append(Service(data_dir, *options, **environ))
        return started[-1]

    try:
        yield start
    finally:
        for service in started:
            service.clean_up()
        if (data_dir / "lock").exists():  # a server may outlive a kill: join it, leave as last
            server = EmbeddedServer(data_dir)
            server.start()
            server.release()


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def parent_and_group(stat: Path) -> tuple[int, int]:
    """Of the process that `stat` tells of; read once, as it may end at any time."""
    try:
        _, parent, group = stat.read_text().rpartition(")")[2].split()[:3]
    except OSError:
        return -1, -1
    return int(parent), int(group)


def wait_until(condition: Callable[[], bool], *, pause: float = 0.05) -> None:
    give_up = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < give_up, "waited too long"
        time.sleep(pause)


def post_check(port: int, request: dict[str, Any], barrier: Any) -> dict[str, Any]:
    """Posts one check once all that wait at the barrier are there; the answer."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.connect()
        barrier.wait()
        body = json.dumps(request)
        connection.request("POST", "/check", body, {"Content-Type": "application/json"})
        answer: dict[str, Any] = json.loads(connection.getresponse().read())
        return answer
