"""The connections to one server, and their time limits."""

from __future__ import annotations

import ssl
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import redis
from redis.backoff import NoBackoff
from redis.exceptions import (
    ConnectionError as DriverConnectionError,
)
from redis.exceptions import (
    NoScriptError,
    RedisError,
    ResponseError,
)
from redis.retry import Retry

from service.errors import StoreError, StoreUnavailable
from service.stages import STORING
from service.store.breaker import Breaker
from service.store.failures import HungUp, driver_errors
from service.store.scripts import Script, packed
from service.store.tls import connecting_so
from service.store.touched import Touched
from service.store.waiting import Allowance, Attempt, TimedSocket

T = TypeVar("T")
Receive = Callable[[], list[Any]]

HEALTH_CHECK_INTERVAL = 15
ASKING = packed("ASKING")
"""Lets the next command run where a slot is only moving to."""


HUNG_UP = "the store ended the connection before it answered, as one does that "
WANTS_TLS = HUNG_UP + "wants TLS (rediss://)"
WANTS_CERTIFICATE = HUNG_UP + "wants a certificate of the service (ssl_certfile)"


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
    is_tls = isinstance(connection._sock, ssl.SSLSocket)
    connection._sock = TimedSocket(connection._sock, ends_at)
    try:
        connection.on_connect_check_health(check_health=False)
    except DriverConnectionError as error:
        if type(error) is not DriverConnectionError:  # this is an answer
            raise
        raise HungUp(WANTS_CERTIFICATE if is_tls else WANTS_TLS) from error


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


class Server:
    """The connections to one server, which is known by its URL.

    Whatever is asked takes no longer than `allowance` gives one round trip: connections, names
    and replies that come in pieces included. While the server is known not to answer (see
    `Breaker`) it is not asked.

    What only reads is tried twice, which takes care of connections that are cut. What writes is
    not: whether it ran cannot be known, and asking again is the caller's. Nothing connects before
    the first question.

    As many connections are kept as were used at once. Scripts go past the client's own
    `execute_command`, which spends as much on what is not used here (metrics, caches, a pool) as
    the command takes.
    """

    def __init__(self, url: str, allowance: Allowance, touched: Touched) -> None:
        self._pool = _Pool.from_url(
            url,
            protocol=3,
            decode_responses=False,
            driver_info=None,  # telling it takes a right, which Redis 7.0 does not know
            socket_timeout=allowance.at_once,  # of a TLS handshake; see `_timed` for what follows
            health_check_interval=HEALTH_CHECK_INTERVAL,
            retry=Retry(NoBackoff(), 0),
        )
        connecting_so(self._pool)
        self._idle: deque[Any] = deque()
        self._pool.take, self._pool.give_back = self._take, self._idle.append
        self.client = redis.Redis(connection_pool=self._pool)
        self._allowance = allowance
        self._touched = touched
        self._breaker = Breaker(allowance.at_once)
        self._of_thread = threading.local()
        self._made: weakref.WeakSet[Any] = weakref.WeakSet()

    def run(
        self,
        script: Script,
        keys: Sequence[Any],
        arguments: Sequence[Any],
        *,
        asking: bool = False,
    ) -> Any:
        """Runs a script; one that the server has forgotten is sent again. `asking`: the slot of
        its keys is only moving here."""

        def exchange(command: bytes) -> Any:
            commands = [ASKING, command] if asking else [command]
            return self._exchange(commands, is_repeatable=script.only_reads)

        def ask() -> Any:
            try:
                return exchange(script.by_digest(keys, arguments))
            except NoScriptError:
                return exchange(script.by_source(keys, arguments))

        return self._wait(ask)

    def begin(self, commands: Sequence[bytes]) -> Receive:
        """Sends commands in one go; what it gives receives the replies, in order, an exception of
        the driver in the place of one that failed. Both go over a connection of their own, so that
        others may be used in between."""

        def ask() -> Any:
            connection = self._take()
            connection.send_packed_command(commands, check_health=False)
            return connection

        connection = self._wait(ask)

        def read() -> list[Any]:
            if connection._sock is None:  # what was sent is lost with it
                raise DriverConnectionError("the connection was lost")
            connection._sock.ends_at = self._of_thread.ends_at
            replies: list[Any] = []
            for _ in commands:
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

    def call(self, command: Callable[[], T]) -> T:
        """A command of `client`, which may be sent twice."""
        return self._wait(lambda: _twice(command))

    def slots(self) -> list[Any]:
        """Which nodes of its cluster have which slots, as it answers (`CLUSTER SLOTS`)."""
        question = [packed("CLUSTER", "SLOTS")]
        return list(self._wait(lambda: self._exchange(question, is_repeatable=True)))

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

    def _exchange(self, commands: Sequence[bytes], *, is_repeatable: bool) -> Any:
        """Sends commands; the reply to the last of them."""

        def send_and_read() -> Any:
            connection = self._take()
            try:
                connection.send_packed_command(commands, check_health=False)
                for _ in commands[1:]:
                    connection.read_response()
                return connection.read_response()
            finally:
                self._idle.append(connection)

        return _twice(send_and_read) if is_repeatable else send_and_read()

    def _take(self) -> Any:
        """A connection with nothing left to be read."""
        now = time.monotonic()
        ends_at = getattr(self._of_thread, "ends_at", None) or now + self._allowance.next()
        try:
            connection = self._idle.pop()
        except IndexError:
            return self._connect(now, ends_at)
        if self._is_good(connection, now, ends_at):
            self._touched.over(self, connection)
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
        self._touched.connected(connection)
        self._touched.over(self, connection)
        return connection
