"""The connection: pool, scripts, and the one place where driver errors become ours."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import sha1
from importlib.resources import files
from typing import Any

import hiredis
import redis
from redis.backoff import ExponentialWithJitterBackoff, NoBackoff
from redis.exceptions import (
    ConnectionError as DriverConnectionError,
)
from redis.exceptions import (
    NoScriptError,
    OutOfMemoryError,
    RedisError,
    ResponseError,
)
from redis.retry import Retry

from service.errors import StoreFull, StoreUnavailable

CONNECT_TIMEOUT = 0.5
POOL_TIMEOUT = 0.25
HEALTH_CHECK_INTERVAL = 15
# Answers that say "not now": the class alone does not tell them from a wrong command.
TEMPORARY = (
    "MISCONF", "READONLY", "NOREPLICAS", "LOADING", "BUSY", "CLUSTERDOWN", "TRYAGAIN", "MASTERDOWN",
    "MOVED", "ASK", "NOPERM", "NOAUTH", "WRONGPASS", "UNKILLABLE",
)  # fmt: skip
OUT_OF_MEMORY = "OOM"
NO_RETRY = Retry(NoBackoff(), 0)
VERBS = (
    "look", "check", "commit", "leave", "touch", "recall", "trim", "erase", "grow", "read",
    "configure", "drop", "release",
)  # fmt: skip


@contextmanager
def driver_errors() -> Iterator[None]:
    """Turns what the driver raises into StoreUnavailable or StoreFull.

    An answer that is none of these is a mistake in our scripts and stays what it is."""
    try:
        yield
    except OutOfMemoryError as exc:
        raise StoreFull("the store is at its memory limit") from exc
    except ResponseError as exc:
        words = str(exc)
        if words.startswith(OUT_OF_MEMORY):
            raise StoreFull("the store is at its memory limit") from exc
        if words.startswith(TEMPORARY):
            reason = words.split(" ", 1)[0]
            raise StoreUnavailable(f"the store takes no calls now ({reason})") from exc
        raise
    except (RedisError, OSError) as exc:
        raise StoreUnavailable(f"the store did not answer ({type(exc).__name__})") from exc


def _limit_waiting(connection: Any, *, seconds: float) -> None:
    """Lets the kernel end a wait, not Python, which would ask it before each send and receive."""
    whole = int(seconds)
    limit = struct.pack("ll", whole, int((seconds - whole) * 1_000_000))
    for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        connection._sock.setsockopt(socket.SOL_SOCKET, option, limit)
    connection.on_connect()


Receive = Callable[[], list[Any]]


@dataclass(frozen=True, slots=True)
class Script:
    """One verb that the server runs, with the digest it is known by there."""

    source: str
    sha: str
    only_reads: bool


INCLUDE = "-- include "


def load_script(name: str) -> Script:
    """The script in `lua/<name>.lua`: its first line, what all scripts share, and its body, with
    the files that it includes where it says so."""
    folder = files("service.store") / "lua"

    def read(part: str) -> str:
        return (folder / f"{part}.lua").read_text("utf-8")

    first_line, *body = read(name).splitlines()
    included = [
        read(line.removeprefix(INCLUDE)) if line.startswith(INCLUDE) else line for line in body
    ]
    source = "\n".join((first_line, read("records"), *included))
    sha = sha1(source.encode(), usedforsecurity=False).hexdigest()
    return Script(source, sha, only_reads="no-writes" in first_line)


class Connection:
    """The connections to one server, and the scripts that it runs.

    What only reads is tried twice, which takes care of connections that went stale while idle. What
    writes is not: whether it ran cannot be known, and asking again is the caller's. Nothing
    connects before the first call.

    Scripts go over connections of their thread and past the client's own `execute_command`, which
    spends as much on what is not used here (metrics, caches, a pool) as the command takes.
    """

    def __init__(self, url: str, *, threads: int, deadline: float) -> None:
        pool = redis.BlockingConnectionPool.from_url(
            url,
            protocol=3,
            decode_responses=False,
            max_connections=2 * threads + 2,
            timeout=POOL_TIMEOUT,
            socket_connect_timeout=min(CONNECT_TIMEOUT, deadline / 3),
            socket_timeout=None,
            redis_connect_func=partial(_limit_waiting, seconds=deadline / 3),
            health_check_interval=HEALTH_CHECK_INTERVAL,
            retry=Retry(ExponentialWithJitterBackoff(cap=0.2, base=0.02), 1),
            retry_on_error=[DriverConnectionError],
        )
        self.client = redis.Redis(connection_pool=pool)
        self._of_thread = threading.local()
        self._scripts = {name: load_script(name) for name in VERBS}

    def run(self, name: str, keys: Sequence[str], arguments: Sequence[Any]) -> Any:
        """Runs a script; one that the server has forgotten is sent again."""
        script, count = self._scripts[name], len(keys)
        with driver_errors():
            try:
                return self._exchange(script, ("EVALSHA", script.sha, count, *keys, *arguments))
            except NoScriptError:
                return self._exchange(script, ("EVAL", script.source, count, *keys, *arguments))

    def send(self, name: str, calls: Sequence[tuple[Sequence[Any], Sequence[Any]]]) -> Receive:
        """Sends several runs of one script, keys and arguments each, in one go; what it gives
        receives the replies, in order, an exception of the driver in the place of one that failed.
        Both go over a connection of their own, so that other scripts may run in between; of
        several sends each must be received, in their order."""
        script = self._scripts[name]
        connection = self._connection("in_flight")
        packed = [
            hiredis.pack_command(("EVALSHA", script.sha, len(keys), *keys, *arguments))
            for keys, arguments in calls
        ]

        with driver_errors():
            connection.send_packed_command(packed)
        sent_over = connection._sock

        def receive() -> list[Any]:
            replies: list[Any] = []
            with driver_errors():
                # Replies that were lost with their connection never come over the next one.
                if connection._sock is not sent_over:
                    raise DriverConnectionError("the connection was lost")
                for _ in packed:
                    try:
                        replies.append(connection.read_response())
                    except ResponseError as error:
                        replies.append(error)
            return replies

        return receive

    def _exchange(self, script: Script, command: tuple[Any, ...]) -> Any:
        connection = self._connection()
        packed = hiredis.pack_command(command)

        def send_and_read() -> Any:
            connection.send_packed_command([packed])
            return connection.read_response()

        def start_anew(_: Exception) -> None:
            connection.disconnect()

        retry = connection.retry if script.only_reads else NO_RETRY
        return retry.call_with_retry(send_and_read, start_anew)

    def _connection(self, use: str = "one_by_one") -> Any:
        """This thread's connection for scripts; one for each use."""
        connection = getattr(self._of_thread, use, None)
        if connection is None:
            connection = self.client.connection_pool.make_connection()
            setattr(self._of_thread, use, connection)
        return connection

    def call(self, command: Callable[..., Any], *arguments: Any) -> Any:
        """One ordinary command, with the driver's errors made ours."""
        with driver_errors():
            return command(*arguments)
