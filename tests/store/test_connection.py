"""What the store's failures become, how long a call waits, and when the store is not asked."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
import redis

from service.errors import StoreError, StoreFull, StoreUnavailable
from service.store.breaker import FAILURES, PAUSE, Breaker
from service.store.connection import Connection
from service.store.embedded import EmbeddedServer
from service.store.failures import driver_errors
from service.store.scripts import Call
from tests.e2e.running import free_port, wait_until
from tests.fire.proxy import Proxy
from tests.fire.stores import StoreServer, frozen, loading, read_only, store_server

DEADLINE = 1.0
MARGIN = 1.0
FOREVER = "#!lua\nwhile true do end"
RELEASE: Call = ("release", ["ts1:collections"], ["nobody", "0"])  # writes, and changes nothing

Connect = Callable[..., Connection]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreServer]:
    with store_server(tmp_path_factory.mktemp("connection") / "store") as server:
        yield server


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Connections to an address, closed in the end."""
    made: list[Connection] = []

    def one(url: str, deadline: float = DEADLINE) -> Connection:
        made.append(Connection(url, deadline=deadline))
        return made[-1]

    yield one
    for each in made:
        each.close()


@pytest.fixture
def connection(store: StoreServer, connect: Connect) -> Connection:
    return connect(store.url)


@pytest.fixture
def proxy(store: StoreServer) -> Iterator[Proxy]:
    between = Proxy(store.port)
    yield between
    between.close()


def failure(work: Callable[..., Any], *arguments: Any) -> StoreError:
    with pytest.raises(StoreError) as caught:
        work(*arguments)
    return caught.value


def kind(connection: Connection) -> str:
    """The kind of error that a script which writes ends in."""
    return failure(connection.run, *RELEASE).kind


def write(connection: Connection) -> None:
    connection.run(*RELEASE)


def read(connection: Connection) -> None:
    connection.call(connection.client.hget, "a", "b")


class TestWhatAFailureBecomes:
    def test_no_memory(self, store: StoreServer, connection: Connection) -> None:
        store.client.config_set("maxmemory", 1)
        try:
            error = failure(connection.run, "configure", ["ts1:a", "ts1:b"], ["", "", "", "", 0, 5])
        finally:
            store.client.config_set("maxmemory", 0)
        assert isinstance(error, StoreFull)
        assert error.kind == "full"

    def test_a_replica(self, store: StoreServer, connection: Connection) -> None:
        with read_only(store):
            assert kind(connection) == "readonly"

    def test_a_replica_whose_data_may_be_old(
        self, store: StoreServer, connection: Connection
    ) -> None:
        store.client.config_set("replica-serve-stale-data", "no")
        try:
            with read_only(store):
                assert failure(read, connection).kind == "other"
        finally:
            store.client.config_set("replica-serve-stale-data", "yes")

    def test_too_few_replicas(self, store: StoreServer, connection: Connection) -> None:
        store.client.config_set("min-replicas-to-write", 1)
        try:
            assert kind(connection) == "other"
        finally:
            store.client.config_set("min-replicas-to-write", 0)

    def test_loading(self, store: StoreServer, connect: Connect) -> None:
        with loading(store):
            assert kind(connect(store.url, 10.0)) == "loading"

    def test_a_script_that_goes_on_for_ever(
        self, store: StoreServer, connection: Connection
    ) -> None:
        store.client.config_set("busy-reply-threshold", 10)
        running = threading.Thread(target=_run_until_killed, args=(store,))
        running.start()
        try:
            wait_until(lambda: _is_busy(store))
            assert kind(connection) == "other"
        finally:
            store.client.script_kill()
            running.join()

    @pytest.mark.parametrize(
        ("user", "rules"),
        [
            ("nothing", []),
            ("no-scripts", ["~*", "+@all", "-evalsha", "-eval"]),
            ("no-commands-in-scripts", ["~*", "+@all", "-hget"]),
            ("no-keys", ["~other:*", "+@all"]),
        ],
    )
    def test_no_permission(
        self, store: StoreServer, connect: Connect, user: str, rules: list[str]
    ) -> None:
        store.client.execute_command("ACL", "SETUSER", user, "on", ">secret", *rules)
        assert kind(connect(f"redis://{user}:secret@127.0.0.1:{store.port}/0")) == "noperm"

    def test_a_wrong_password(self, store: StoreServer, connect: Connect) -> None:
        store.client.execute_command("ACL", "SETUSER", "somebody", "on", ">secret", "~*", "+@all")
        assert kind(connect(f"redis://somebody:wrong@127.0.0.1:{store.port}/0")) == "noperm"

    def test_no_password(self, store: StoreServer, connect: Connect) -> None:
        store.client.config_set("requirepass", "secret")
        try:
            assert kind(connect(store.url)) == "noperm"
        finally:
            store.client.config_set("requirepass", "")

    def test_a_cluster_without_its_slots(self, tmp_path: Path, connect: Connect) -> None:
        options = {"cluster-enabled": "yes", "cluster-port": str(free_port())}
        with store_server(tmp_path / "cluster", options) as cluster:
            assert kind(connect(cluster.url)) == "other"

    def test_nobody_listens(self, connect: Connect) -> None:
        assert kind(connect("redis://127.0.0.1:1/0")) == "connection"

    def test_no_socket_is_there(self, tmp_path: Path, connect: Connect) -> None:
        assert kind(connect(f"unix://{tmp_path}/nobody.sock")) == "connection"

    def test_a_name_that_nobody_has(self, connect: Connect) -> None:
        assert kind(connect("redis://store.invalid:6379/0", 20.0)) == "connection"

    def test_too_many_clients(self, store: StoreServer, connect: Connect) -> None:
        most = str(store.client.config_get("maxclients")["maxclients"])
        store.client.config_set("maxclients", 1)
        try:
            assert kind(connect(store.url)) == "connection"
        finally:
            store.client.config_set("maxclients", most)

    def test_a_frozen_store(self, store: StoreServer, connection: Connection) -> None:
        with frozen(store):
            assert kind(connection) == "timeout"

    def test_a_cut_between_question_and_reply(self, connect: Connect, proxy: Proxy) -> None:
        connection = connect(proxy.url)
        write(connection)
        proxy.to_lose = 1
        assert kind(connection) == "connection"

    @pytest.mark.parametrize("words", ["TRYAGAIN Multiple keys", "MISCONF Errors writing"])
    def test_an_answer_that_a_pipeline_was_given(self, words: str) -> None:
        with pytest.raises(StoreUnavailable), driver_errors():
            raise redis.ResponseError(f"Command # 1 (HGET a b) of pipeline caused error: {words}")

    def test_a_mistake_of_ours_stays_one(self, connection: Connection) -> None:
        with pytest.raises(redis.ResponseError):
            connection.call(connection.client.execute_command, "NOSUCH")


def _is_busy(store: StoreServer) -> bool:
    try:
        store.client.ping()
    except redis.ResponseError:
        return True
    return False


def _run_until_killed(store: StoreServer) -> None:
    client = redis.Redis(port=store.port, socket_timeout=30)
    with closing(client), suppress(redis.RedisError):
        client.eval(FOREVER, 0)


def seconds_until_refused(connection: Connection, trips: int = 50) -> float:
    """How long one call of so many round trips takes until it is given up for want of time."""
    began = time.monotonic()
    connection.begin_call()

    def ask() -> None:
        for _ in range(trips):
            read(connection)

    assert failure(ask).kind == "timeout"
    return time.monotonic() - began


class TestHowLongACallWaits:
    def test_for_a_store_that_takes_the_connection_and_says_nothing(self, connect: Connect) -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            url = f"redis://127.0.0.1:{silent.getsockname()[1]}/0"
            assert seconds_until_refused(connect(url)) < DEADLINE + MARGIN

    def test_for_a_tls_handshake_that_nobody_answers(self, connect: Connect) -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            url = f"rediss://127.0.0.1:{silent.getsockname()[1]}/0"
            assert seconds_until_refused(connect(url)) < DEADLINE + MARGIN

    def test_for_a_name_that_is_looked_up_for_ever(
        self, store: StoreServer, connect: Connect, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        found = threading.Event()
        look_up = socket.getaddrinfo

        def slowly(*arguments: Any) -> Any:
            found.wait(30)
            return look_up(*arguments)

        monkeypatch.setattr(socket, "getaddrinfo", slowly)
        try:
            assert seconds_until_refused(connect(store.url)) < DEADLINE + MARGIN
        finally:
            found.set()

    def test_for_many_round_trips_that_are_slow(self, connect: Connect, proxy: Proxy) -> None:
        connection = connect(proxy.url)
        write(connection)
        proxy.delay = 0.2
        assert seconds_until_refused(connection) < DEADLINE + MARGIN

    def test_for_a_reply_that_comes_byte_by_byte(self, connect: Connect, proxy: Proxy) -> None:
        connection = connect(proxy.url)
        connection.call(connection.client.hset, "a", "b", "x" * 1000)
        proxy.delay, proxy.drip = 0.01, True
        assert seconds_until_refused(connection) < DEADLINE + MARGIN

    def test_for_replies_that_were_asked_for_together(self, connect: Connect, proxy: Proxy) -> None:
        connection = connect(proxy.url)
        write(connection)  # so that the script is known
        assert connection.send("release", [RELEASE[1:]] * 3)() == [0, 0, 0]
        proxy.delay = 2 * DEADLINE
        receive = connection.send("release", [RELEASE[1:]] * 3)
        began = time.monotonic()
        assert failure(receive).kind == "timeout"
        assert time.monotonic() - began < DEADLINE + MARGIN

    def test_replies_that_came_too_late_are_not_taken_for_others(
        self, connect: Connect, proxy: Proxy
    ) -> None:
        connection = connect(proxy.url)
        connection.send("release", [RELEASE[1:]])()
        proxy.delay = 2 * DEADLINE
        failure(connection.send("release", [RELEASE[1:]] * 3))
        proxy.delay = 0.0
        assert connection.send("release", [RELEASE[1:]])() == [0]

    def test_a_call_begins_with_all_its_time(self, connect: Connect, proxy: Proxy) -> None:
        connection = connect(proxy.url)
        write(connection)
        proxy.delay = 0.1
        for _ in range(15):
            connection.begin_call()
            write(connection)

    def test_what_is_long_by_nature_may_go_on(self, connect: Connect, proxy: Proxy) -> None:
        connection = connect(proxy.url)
        write(connection)
        proxy.delay = 0.1
        connection.begin_call()
        for _ in range(15):
            connection.go_on()
            write(connection)


class TestConnectionsThatWereLost:
    def test_what_writes_goes_over_a_new_one_where_the_store_closed_it(
        self, store: StoreServer, connection: Connection
    ) -> None:
        write(connection)
        store.client.client_kill_filter(_type="normal", skipme=True)
        write(connection)

    def test_what_reads_is_asked_again_where_the_reply_was_lost(
        self, connect: Connect, proxy: Proxy
    ) -> None:
        connection = connect(proxy.url)
        read(connection)
        proxy.to_lose = 1
        read(connection)
        assert proxy.lost == 1

    def test_a_unix_socket_is_found_again_after_a_restart(
        self, tmp_path: Path, connect: Connect
    ) -> None:
        server = EmbeddedServer(tmp_path)
        connection = connect(server.start())
        write(connection)
        server.release()
        assert kind(connection) == "connection"
        server.start()
        write(connection)
        server.release()


class TestScriptsThatGoOutTogether:
    def test_are_answered_in_their_order_though_the_server_forgot_them(
        self, store: StoreServer, connection: Connection
    ) -> None:
        store.client.flushall()
        store.client.script_flush()
        store.client.hset("ts1:{2.0}:m", mapping={"scheme": "s", "level": 5})
        calls: list[Call] = [("drop", [f"ts1:{{{n}.0}}:m"], []) for n in range(4)] + [RELEASE]
        nothing = [None, None, None]
        assert connection.run_all(calls) == [nothing, nothing, [b"s", b"5", None], nothing, 0]

    def test_tell_what_failed_in_its_place(
        self, store: StoreServer, connection: Connection
    ) -> None:
        store.client.set("ts1:{9.0}:m", "no hash")
        calls: list[Call] = [RELEASE, ("drop", ["ts1:{9.0}:m"], []), RELEASE]
        first, wrong, last = connection.run_all(calls)
        assert (first, last) == (0, 0)
        assert isinstance(wrong, redis.ResponseError)

    def test_of_those_that_were_lost_only_what_reads_is_sent_again(
        self, connect: Connect, proxy: Proxy
    ) -> None:
        connection = connect(proxy.url)
        write(connection)
        proxy.to_lose = 1
        recall: Call = ("recall", [f"ts1:{{1.0}}:{letter}" for letter in "idlco"], [b"1234", b""])
        given, lost = connection.run_all([recall, RELEASE])
        assert given is None
        assert isinstance(lost, StoreUnavailable)


class TestTheBreaker:
    def test_a_store_that_did_not_answer_is_not_asked(
        self, store: StoreServer, connection: Connection
    ) -> None:
        write(connection)
        with frozen(store):
            for _ in range(FAILURES):
                failure(write, connection)
            began = time.monotonic()
            assert failure(write, connection).kind == "timeout"
            assert time.monotonic() - began < 0.05

    def test_a_store_that_answers_again_is_asked_again(
        self, store: StoreServer, connection: Connection
    ) -> None:
        with frozen(store):
            for _ in range(FAILURES):
                failure(write, connection)
        give_up = time.monotonic() + 5
        while time.monotonic() < give_up:
            with suppress(StoreUnavailable):
                write(connection)
                return
        pytest.fail("it was never asked again")

    def test_one_is_let_through_after_a_pause(self) -> None:
        now = [0.0]
        breaker = Breaker(1.0, clock=lambda: now[0])
        for _ in range(FAILURES):
            assert breaker.admits()
            breaker.heard(timed_out=True)
        assert not breaker.admits()
        now[0] += PAUSE
        assert [breaker.admits() for _ in range(3)] == [True, False, False]

    def test_it_closes_again_for_a_pause_when_that_one_waited_in_vain(self) -> None:
        now = [0.0]
        breaker = Breaker(1.0, clock=lambda: now[0])
        for _ in range(FAILURES):
            breaker.heard(timed_out=True)
        now[0] += PAUSE
        assert breaker.admits()
        breaker.heard(timed_out=True)
        assert not breaker.admits()
        now[0] += PAUSE
        assert breaker.admits()

    def test_any_answer_lets_all_through(self) -> None:
        breaker = Breaker(1.0)
        for _ in range(FAILURES):
            breaker.heard(timed_out=True)
        breaker.heard(timed_out=False)
        assert all(breaker.admits() for _ in range(10))

    def test_waits_in_vain_count_only_in_a_row(self) -> None:
        breaker = Breaker(1.0)
        for timed_out in [True, False] * FAILURES:
            breaker.heard(timed_out=timed_out)
        assert breaker.admits()
