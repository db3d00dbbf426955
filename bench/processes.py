"""The processes that are measured: the store's server, and gunicorn over it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Self

import psutil  # type: ignore[import-untyped]
import redis

from bench.load import Connection, post_request
from service.checker import Checker
from service.settings import Settings
from service.store.embedded import EmbeddedServer
from service.store.keys import REGISTRY, partition
from service.store.redis_store import RedisStore, connect

ROOT = Path(__file__).resolve().parent.parent
START_SECONDS = 30


class StoreServer:
    """The embedded server, with the options that it always has, in a directory of its own."""

    def __init__(self) -> None:
        signal.signal(signal.SIGTERM, _end)  # so that what was started is stopped too
        self._directory = TemporaryDirectory(prefix="twinsift-bench-")
        self._server = EmbeddedServer(Path(self._directory.name))
        self.url = self._server.start()
        self.client = redis.Redis.from_url(self.url)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # What it holds is not needed: an ordinary stop would first write all of it out.
        with suppress(redis.RedisError):
            self.client.config_set("appendonly", "no")
            self.client.flushall(asynchronous=False)
        self.client.close()
        self._server.release()
        self._directory.cleanup()

    def store(self) -> RedisStore:
        """A store over this server, as the service makes it."""
        return connect(Settings(redis_url=self.url, deadline=30.0))

    def checker(self) -> Checker:
        """The code path of a check, in this process."""
        return Checker(self.store(), deadline=30.0)

    def cpu_seconds(self) -> float:
        """What the server's process has used so far."""
        used = self.client.info("cpu")
        return float(used["used_cpu_user"]) + float(used["used_cpu_sys"])

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


class WebServer:
    """Gunicorn with one worker: the service, or `bench.bare_route`."""

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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.terminate()
        self._process.wait(START_SECONDS)

    def cpu_seconds(self) -> float:
        """What gunicorn and its worker have used so far."""
        parent = psutil.Process(self._process.pid)
        times = [process.cpu_times() for process in (parent, *parent.children(recursive=True))]
        return float(sum(used.user + used.system for used in times))

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


def _end(_number: int, _frame: object) -> None:
    sys.exit(128 + signal.SIGTERM)


@contextmanager
def on_cores(cores: set[int]) -> Iterator[None]:
    """What is started inside stays on these cores, where the machine has them and can be told."""
    if not hasattr(os, "sched_setaffinity") or not cores <= os.sched_getaffinity(0):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
