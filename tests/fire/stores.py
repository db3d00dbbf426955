"""A store of one's own, which a test may break: a Valkey server and whoever starts it again."""

import resource
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from service.store import embedded
from tests.e2e.running import free_port, wait_until

LOADED_SLOWLY = 20_000


class StoreServer:
    """A server with the options of the embedded one, a port of its own, and `options`."""

    def __init__(self, directory: Path, options: Mapping[str, str]) -> None:
        directory.mkdir()
        self.directory = directory
        self.port = free_port()
        self.file_limit = resource.RLIM_INFINITY
        """No file of the server may grow beyond so many bytes: its disk is full then."""
        self._options = dict(embedded.OPTIONS) | {"port": str(self.port), **options}
        for name in ("unixsocket", "unixsocketperm"):
            del self._options[name]
        once = Retry(NoBackoff(), 0)  # by itself it asks ten times
        self.client = redis.Redis(port=self.port, protocol=3, socket_timeout=10, retry=once)
        self.process = self._spawn()
        try:
            wait_until(self.answers)
        except BaseException:
            self.clean_up()
            raise

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def answers(self) -> bool:
        with suppress(redis.RedisError):
            return bool(self.client.ping())
        return False

    def start(self, **options: str) -> None:
        """Starts it again; it may not answer yet."""
        self.process = self._spawn(**options)

    def send(self, number: int) -> None:
        self.process.send_signal(number)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """Ends it after it has written out all it has."""
        self.process.terminate()
        self.process.wait()

    def limit_files(self, size: int) -> None:
        """This server's, and those of all that are started from now on."""
        self.file_limit = size
        _limit_files(self.process.pid, size)

    def largest_file(self) -> int:
        return max(file.stat().st_size for file in self.directory.rglob("*.aof"))

    def clean_up(self) -> None:
        self.client.close()
        self.kill()

    @contextmanager
    def supervised(self) -> Iterator[list[float]]:
        """Starts it again whenever it has ended; when it did, in `time.monotonic`."""
        restarts: list[float] = []
        over = threading.Event()

        def watch() -> None:
            while not over.wait(0.1):
                if self.process.poll() is not None:
                    restarts.append(time.monotonic())
                    self.start()

        watching = threading.Thread(target=watch)
        watching.start()
        try:
            yield restarts
        finally:
            over.set()
            watching.join()

    def _spawn(self, **more: str) -> "subprocess.Popen[bytes]":
        command = [str(embedded.find_binary())]
        for name, value in (self._options | more).items():
            command += [f"--{name}", value]
        process = subprocess.Popen(
            command,
            cwd=self.directory,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            restore_signals=False,  # so that a file too large is an error for it, not its end
            start_new_session=True,
        )
        if self.file_limit != resource.RLIM_INFINITY:
            _limit_files(process.pid, self.file_limit)
        return process


def _limit_files(pid: int, size: int) -> None:
    with suppress(ProcessLookupError):  # it has ended: the next one is told at its start
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


@contextmanager
def store_server(
    directory: Path, options: Mapping[str, str] = MappingProxyType({})
) -> Iterator[StoreServer]:
    server = StoreServer(directory, options)
    try:
        yield server
    finally:
        server.clean_up()


@contextmanager
def down(store: StoreServer) -> Iterator[None]:
    """Stopped in an orderly way, and started again."""
    store.stop()
    try:
        yield
    finally:
        store.start()


@contextmanager
def frozen(store: StoreServer) -> Iterator[None]:
    """It takes connections, as the kernel does that for it, and says nothing."""
    store.send(signal.SIGSTOP)
    try:
        yield
    finally:
        store.send(signal.SIGCONT)


@contextmanager
def read_only(store: StoreServer) -> Iterator[None]:
    """A replica now, as after a failover to another server."""
    store.client.replicaof("127.0.0.1", "1")
    try:
        yield
    finally:
        store.client.replicaof("NO", "ONE")


@contextmanager
def loading(store: StoreServer) -> Iterator[None]:
    """Started again, it reads its file slowly; the block begins while it does."""
    with store.client.pipeline(transaction=False) as filling:
        for number in range(LOADED_SLOWLY):
            filling.set(f"filler:{number}", b"")
        filling.execute()
    store.stop()
    store.start(**{"key-load-delay": "100"})  # microseconds
    wait_until(lambda: is_loading(store), pause=0.01)
    yield
    wait_until(store.answers)
    store.client.config_set("key-load-delay", 0)


def is_loading(store: StoreServer) -> bool:
    try:
        store.client.ping()
    except redis.BusyLoadingError:
        return True
    except redis.RedisError:
        pass
    return False


@contextmanager
def out_of_memory(store: StoreServer) -> Iterator[None]:
    store.client.config_set("maxmemory", 1)
    try:
        yield
    finally:
        store.client.config_set("maxmemory", 0)


@contextmanager
def disk_full(store: StoreServer) -> Iterator[None]:
    """Its files may not grow any more."""
    store.limit_files(store.largest_file() + 1)
    try:
        yield
    finally:
        store.limit_files(resource.RLIM_INFINITY)
