"""The connection: its time limits, scripts, and the one place where driver errors become ours."""

from __future__ import annotations

import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import sha1
from importlib.resources import files
from typing import Any, TypeVar

import hiredis
import redis
from redis.backoff import NoBackoff
from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    NoScriptError,
    RedisError,
    ResponseError,
)
from redis.exceptions import (
    ConnectionError as DriverConnectionError,
)
from redis.exceptions import (
    TimeoutError as DriverTimeoutError,
)
from redis.retry import Retry

from service.errors import StoreError, StoreFull, StoreUnavailable
from service.stages import STORING
from service.store.breaker import Breaker
from service.store.waiting import Allowance, Attempt, TimedSocket

T = TypeVar("T")

ONE_ROUND_TRIP = 0.5
"""The part of the deadline that one round trip may take."""
HEALTH_CHECK_INTERVAL = 15
OUT_OF_MEMORY = "OOM"
# Answers that say "not now", and the kind of error that each is: the driver's class alone does not
# tell them from a wrong command, and the words differ between servers.
KINDS = {
    "READONLY": "readonly", "LOADING": "loading", "NOPERM": "noperm", "NOAUTH": "noperm",
    "WRONGPASS": "noperm", "MISCONF": "other", "NOREPLICAS": "other", "BUSY": "other",
    "UNKILLABLE": "other", "CLUSTERDOWN": "other", "TRYAGAIN": "other", "MASTERDOWN": "other",
    "MOVED": "other", "ASK": "other",
}  # fmt: skip
REFUSED_IN_SCRIPT = ("ACL failure", "The user executing the script can't run")
VERBS = (
    "look", "check", "commit", "leave", "touch", "recall", "trim", "erase", "grow", "read",
    "configure", "drop", "release", "admit", "gather", "gather_open", "publish", "publish_out",
    "piece", "finish",
)  # fmt: skip


@contextmanager
def driver_errors() -> Iterator[None]:
    """Turns what the driver raises into StoreUnavailable or StoreFull.

    An answer that is none of these is a mistake in our scripts and stays what it is."""
    try:
        yield
    except (RedisError, OSError) as exc:
        ours = _ours(exc)
        if ours is None:
            raise
        raise ours from exc


def _ours(error: Exception) -> StoreError | None:
    code = _code(error)
    if code == OUT_OF_MEMORY:
        return StoreFull("the store is at its memory limit")
    if code in KINDS:
        return StoreUnavailable(f"the store takes no calls now ({code})", KINDS[code])
    kind = "other"
    # What a user may not do inside a script is told without a code.
    of_script = isinstance(error, ResponseError) and str(error).startswith(REFUSED_IN_SCRIPT)
    if of_script or isinstance(error, (AuthenticationError, AuthorizationError)):
        kind = "noperm"
    elif isinstance(error, ResponseError):
        return None
    elif isinstance(error, (DriverTimeoutError, TimeoutError)):
        kind = "timeout"
    elif isinstance(error, (DriverConnectionError, OSError)):
        kind = "connection"
    return StoreUnavailable(f"the store did not answer ({type(error).__name__})", kind)


def _told(reply: Any) -> Any:
    """A reply, or ours for what the driver made of a refusal; a mistake in a script is raised."""
    if not isinstance(reply, Exception):
        return reply
    ours = _ours(reply)
    if ours is None:
        raise reply
    return ours


def _code(error: Exception) -> str:
    """The word that an answer begins with: the driver takes it off where it has a class for it, and
    puts words of its own before it in a pipeline."""
    code = getattr(error, "status_code", None)
    return code or str(error).rpartition("caused error: ")[2].partition(" ")[0]


def _twice(work: Callable[[], T]) -> T:
    """Does it again where the connection was lost on the way, once."""
    try:
        return work()
    except DriverConnectionError as error:
        if getattr(error, "status_code", None):  # this is an answer
            raise
        return work()


def _timed(connection: Any, *, ends_at: float) -> None:
    """What the driver calls with a new connection, before it greets the server."""
    connection._sock = TimedSocket(connection._sock, ends_at)
    connection.on_connect_check_health(check_health=False)


class _Pool(redis.ConnectionPool):
    """What the client takes for its pool: none ever waits for a connection. `take` gives one and
    `give_back` takes it back."""

    take: Callable[[], Any]
    give_back: Callable[[Any], None]

    def get_connection(self, *_arguments: Any, **_options: Any) -> Any:
        """One that is connected."""
        return self.take()

    def release(self, connection: Any) -> None:
        """It is no longer used."""
        self.give_back(connection)


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

    Whatever is asked takes no longer than half of `deadline` (seconds), and all that a thread asks
    after `begin_call` no longer than `deadline` together: connections, names and replies that come
    in pieces included. While the store is known not to answer (see `Breaker`) it is not asked.

    What only reads is tried twice, which takes care of connections that are cut. What writes is
    not: whether it ran cannot be known, and asking again is the caller's. Nothing connects before
    the first call.

    As many connections are kept as were used at once. Scripts go past the client's own
    `execute_command`, which spends as much on what is not used here (metrics, caches, a pool) as
    the command takes.
    """

    def __init__(self, url: str, *, deadline: float) -> None:
        at_once = deadline * ONE_ROUND_TRIP
        self._pool = _Pool.from_url(
            url,
            protocol=3,
            decode_responses=False,
            socket_timeout=at_once,  # of a TLS handshake; see `_timed` for what comes after
            health_check_interval=HEALTH_CHECK_INTERVAL,
            retry=Retry(NoBackoff(), 0),
        )
        self._idle: deque[Any] = deque()
        self._pool.take, self._pool.give_back = self._take, self._idle.append
        self.client = redis.Redis(connection_pool=self._pool)
        self._allowance = Allowance(deadline, at_once)
        self._breaker = Breaker(at_once)
        self._of_thread = threading.local()
        self._made: weakref.WeakSet[Any] = weakref.WeakSet()
        self._scripts = {name: load_script(name) for name in VERBS}

    def begin_call(self) -> None:
        """All that this thread asks from here on, until it begins another call, is one call."""
        self._allowance.begin()

    def go_on(self) -> None:
        """The call gets its time anew: for what is long by nature and makes progress."""
        self._allowance.renew()

    def run(self, name: str, keys: Sequence[str], arguments: Sequence[Any]) -> Any:
        """Runs a script; one that the server has forgotten is sent again."""
        script, count = self._scripts[name], len(keys)

        def ask() -> Any:
            try:
                return self._exchange(script, ("EVALSHA", script.sha, count, *keys, *arguments))
            except NoScriptError:
                return self._exchange(script, ("EVAL", script.source, count, *keys, *arguments))

        return self._wait(ask)

    def run_all(self, calls: Sequence[tuple[str, Sequence[str], Sequence[Any]]]) -> list[Any]:
        """Runs scripts, all sent before any reply is read; the replies in order, and a StoreError
        in the place of one that failed. Only what reads is tried again."""
        if not calls:
            return []
        scripts = [self._scripts[name] for name, _, _ in calls]
        commands = [
            ("EVALSHA", script.sha, len(keys), *keys, *arguments)
            for script, (_, keys, arguments) in zip(scripts, calls, strict=True)
        ]

        def ask() -> list[Any]:
            exchange = partial(self._exchange_all, commands)
            only_read = all(script.only_reads for script in scripts)
            replies = _twice(exchange) if only_read else exchange()
            lost = [at for at, reply in enumerate(replies) if isinstance(reply, NoScriptError)]
            if lost:
                again = [("EVAL", scripts[at].source, *commands[at][2:]) for at in lost]
                for at, reply in zip(lost, self._exchange_all(again), strict=True):
                    replies[at] = reply
            return [_told(reply) for reply in replies]

        return list(self._wait(ask))

    def _exchange_all(self, commands: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Sends all commands and reads their replies: what the server refused, in its place."""
        connection = self._take()
        connection.send_packed_command(
            [hiredis.pack_command(command) for command in commands], check_health=False
        )
        replies: list[Any] = []
        try:
            for _ in commands:
                try:
                    replies.append(connection.read_response())
                except ResponseError as error:
                    replies.append(error)
        except BaseException:  # what nobody reads would be taken for the next one's reply
            connection.disconnect()
            raise
        self._idle.append(connection)
        return replies

    def send(self, name: str, calls: Sequence[tuple[Sequence[Any], Sequence[Any]]]) -> Receive:
        """Sends several runs of one script, keys and arguments each, in one go; what it gives
        receives the replies, in order, an exception of the driver in the place of one that failed.
        Both go over a connection of their own, so that other scripts may run in between."""
        script = self._scripts[name]
        packed = [
            hiredis.pack_command(("EVALSHA", script.sha, len(keys), *keys, *arguments))
            for keys, arguments in calls
        ]

        def ask() -> Any:
            connection = self._take()
            connection.send_packed_command(packed, check_health=False)
            return connection

        connection = self._wait(ask)

        def read() -> list[Any]:
            if connection._sock is None:  # what was sent is lost with it
                raise DriverConnectionError("the connection was lost")
            connection._sock.ends_at = self._of_thread.ends_at
            replies: list[Any] = []
            for _ in packed:
                try:
                    replies.append(connection.read_response())
                except ResponseError as error:
                    replies.append(error)
            return replies

        def receive() -> list[Any]:
            try:
                replies = self._wait(read, asked=True)
            except StoreError:  # what nobody reads would be taken for the next one's reply
                connection.disconnect()
                raise
            self._idle.append(connection)
            return replies

        return receive

    def call(self, command: Callable[..., Any], *arguments: Any) -> Any:
        """One ordinary command, which may be sent twice, with the driver's errors made ours."""
        return self._wait(lambda: _twice(lambda: command(*arguments)))

    def close(self) -> None:
        """Closes all connections; they are opened again where they are asked for."""
        for connection in tuple(self._made):
            connection.disconnect()

    def _wait(self, ask: Callable[[], T], *, asked: bool = False) -> T:
        """What `ask` gives, in time. `asked`: the question was sent before."""
        began, limit = time.monotonic(), self._allowance.next()
        if limit <= 0:
            raise StoreUnavailable("the store did not answer in time", "timeout")
        if not asked and not self._breaker.admits():
            raise StoreUnavailable("the store has not answered for a while", "timeout")
        self._of_thread.ends_at = began + limit
        timed_out = False
        try:
            with STORING, driver_errors():
                return ask()
        except StoreUnavailable as error:
            timed_out = error.kind == "timeout"
            raise
        finally:
            self._of_thread.ends_at = None
            self._breaker.heard(timed_out=timed_out)
            self._allowance.spend(time.monotonic() - began)

    def _exchange(self, script: Script, command: tuple[Any, ...]) -> Any:
        packed = hiredis.pack_command(command)

        def send_and_read() -> Any:
            connection = self._take()
            try:
                connection.send_packed_command([packed], check_health=False)
                return connection.read_response()
            finally:
                self._idle.append(connection)

        return _twice(send_and_read) if script.only_reads else send_and_read()

    def _take(self) -> Any:
        """A connection with nothing left to be read."""
        now = time.monotonic()
        ends_at = getattr(self._of_thread, "ends_at", None) or now + self._allowance.next()
        try:
            connection = self._idle.pop()
        except IndexError:
            return self._connect(now, ends_at)
        if self._is_good(connection, now, ends_at):
            return connection
        self._idle.clear()  # the others are hardly better
        return self._connect(now, ends_at)

    def _is_good(self, connection: Any, now: float, ends_at: float) -> bool:
        """Whether it can be used at once; it is closed where it cannot."""
        timed: TimedSocket | None = connection._sock
        if timed is None:
            return False
        timed.ends_at = now + (ends_at - now) / 2  # a lost one leaves time for another
        try:
            if not connection.can_read():  # what would be read here: nothing, or its end
                connection.check_health()
                timed.ends_at = ends_at
                return True
        except (RedisError, OSError):
            pass
        connection.disconnect()
        return False

    def _connect(self, now: float, ends_at: float) -> Any:
        connection = self._pool.connection_class(**self._pool.connection_kwargs)
        self._made.add(connection)
        connection.socket_connect_timeout = ends_at - now
        connection.redis_connect_func = partial(_timed, ends_at=ends_at)
        connect = partial(
            connection.connect_check_health, check_health=False, retry_socket_connect=False
        )
        Attempt(connect, connection.disconnect).within(ends_at - now)
        return connection
