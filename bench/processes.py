"""The processes that are measured: the store's server, and gunicorn over it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Set
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
import redis

from bench.closing import Closing
from bench.load import Connection, post_request
from service.checker import Checker
from service.settings import Settings
from service.store.any_store import AnyStore, connect
from service.store.embedded import EmbeddedServer
from service.store.keys import REGISTRY, partition

ROOT = Path(__file__).resolve().parent.parent
START_SECONDS = 30
CORES: set[int] = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
"""What this process may use, as far as the system tells it."""


class StoreServer(Closing):
    """The embedded server, with the options that it always has, in a directory of its own."""

    def __init__(self) -> None:
        stop_all_when_told_to_end()
        self._directory = TemporaryDirectory(prefix="twinsift-bench-")
        self._server = EmbeddedServer(Path(self._directory.name))
        self.url = self._server.start()
        self.client = redis.Redis.from_url(self.url)

    def close(self) -> None:
        """Stop the server and remove its directory."""
        # What it holds is not needed: an ordinary stop would first write all of it out.
        with suppress(redis.RedisError):
            self.client.config_set("appendonly", "no")
            self.client.flushall(asynchronous=False)
        self.client.close()
        self._server.release()
        self._directory.cleanup()

    def store(self) -> AnyStore:
        """A store over this server, as the service makes it."""
        return connect(Settings(redis_url=self.url, deadline=30.0))

    def checker(self) -> Checker:
        """The code path of a check, in this process."""
        return Checker(self.store(), deadline=30.0)

    def cpu_seconds(self) -> float:
        """What the server's process has used so far."""
        used = self.client.info("cpu")
        return float(used["used_cpu_user"]) + float(used["used_cpu_sys"])

    @property
    def pid(self) -> int:
        """The server's process."""
        return int(self.client.info("server")["process_id"])

    def used_memory(self) -> int:
        """Bytes in use, once nothing is being rewritten or freed."""
        self.wait_until_quiet()
        return int(self.client.info("memory")["used_memory"])

    def wait_until_quiet(self) -> None:
        """Until the append-only file is not being rewritten and nothing waits to be freed."""
        while True:
            rewriting = self.client.info("persistence")["aof_rewrite_in_progress"]
            waiting = self.client.info("memory").get("lazyfree_pending_objects", 0)
            if not rewriting and not waiting:
                return
            time.sleep(0.1)

    def text_bytes(self, collection: str) -> int:
        """What the kept texts of a collection take, by the server's own count of every one."""
        uid = self.client.hget(REGISTRY, collection)
        assert isinstance(uid, bytes)
        key = partition(uid.decode()).texts
        return int(self.client.memory_usage(key, samples=0) or 0)


class WebServer(Closing):
    """Gunicorn with one worker: the service, or `bench.altered_app`."""

    def __init__(self, module: str, *arguments: str, store_url: str) -> None:
        self.port = _free_port()
        kept = {name: value for name, value in os.environ.items() if "TWINSIFT" not in name}
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            cwd=ROOT,
            env={
                **kept,
                "TWINSIFT_BIND": f"127.0.0.1:{self.port}",
                "TWINSIFT_REDIS_URL": store_url,
                "TWINSIFT_WORKERS": "1",
                "TWINSIFT_DEADLINE": "30s",
            },
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._wait_until_ready()

    @classmethod
    def service(cls, store_url: str) -> WebServer:
        """`twinsift serve` with one worker."""
        return cls("service.cli", "serve", store_url=store_url)

    @classmethod
    def altered(cls, how: str, store_url: str) -> WebServer:
        """One of `bench.altered_app`."""
        return cls("bench.altered_app", how, store_url=store_url)

    def close(self) -> None:
        """Stop gunicorn."""
        self._process.terminate()
        self._process.wait(START_SECONDS)

    def cpu_seconds(self) -> float:
        """What gunicorn and its worker have used so far."""
        parent = psutil.Process(self._process.pid)
        times = [process.cpu_times() for process in (parent, *parent.children(recursive=True))]
        return float(sum(used.user + used.system for used in times))

    @property
    def pid(self) -> int:
        """Gunicorn's process, where its worker may run too."""
        return self._process.pid

    def configure(self, collection: str, settings: dict[str, object]) -> None:
        """Make a collection."""
        with Connection(self.port) as connection:
            connection.ask(post_request(f"/collections/{collection}", settings, method="PUT"))

    def _wait_until_ready(self) -> None:
        request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        gives_up = time.monotonic() + START_SECONDS
        while time.monotonic() < gives_up and self._process.poll() is None:
            with suppress(OSError), Connection(self.port) as connection:
                connection.ask(request)
                return
            time.sleep(0.05)
        raise SystemExit(f"the web server did not start (exit status {self._process.poll()})")


class CpuSeconds:
    """CPU seconds of all who take part, this process too, added up over its `with` statements."""

    def __init__(self, store: StoreServer, web: WebServer | None = None) -> None:
        self._store = store
        self._web = web
        self._before: dict[str, float] = {}
        self.used: dict[str, float] = {}

    def __enter__(self) -> None:
        self._before = self._clocks()

    def __exit__(self, *_: object) -> None:
        for name, now in self._clocks().items():
            self.used[name] = self.used.get(name, 0.0) + now - self._before[name]

    def _clocks(self) -> dict[str, float]:
        clocks = {"worker": self._web.cpu_seconds()} if self._web else {}
        return clocks | {"server": self._store.cpu_seconds(), "client": time.process_time()}

    def told(self, count: int) -> str:
        """What each of so many requests took, in words."""
        parts = (f"{name} {used / count * 1e6:,.0f}" for name, used in self.used.items())
        return f"µs of CPU each: {', '.join(parts)}"


def stop_all_when_told_to_end() -> None:
    """SIGTERM ends this process in order from now on, so that what it started is stopped too."""
    signal.signal(signal.SIGTERM, _end)


def _end(_number: int, _frame: object) -> None:
    sys.exit(128 + signal.SIGTERM)


@contextmanager
def on_cores(cores: Set[int]) -> Iterator[None]:
    """What is started inside stays on these cores, where there are such; none: wherever it was."""
    if not cores or not cores <= CORES:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def cores_of(pid: int) -> str:
    """Where a process may run, in words; 0: this one."""
    if not CORES or os.sched_getaffinity(pid) == CORES:
        return "on any core"
    return f"on core {', '.join(map(str, sorted(os.sched_getaffinity(pid))))}"


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
