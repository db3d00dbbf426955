"""`twinsift serve` as a process of its own: how it starts, stops, refuses and comes back."""

import http.client
import json
import os
import signal
import socket
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import redis

from service.store.embedded import EmbeddedServer
from service.tokens import make
from tests.e2e.running import Service, free_port, wait_until


def is_listened_on(port: int) -> bool:
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0


def test_sigterm_before_it_is_ready_ends_it_with_status_0(serve: Callable[..., Service]) -> None:
    service = serve()
    wait_until((service.data_dir / "users").exists)
    assert service.stop() == 0


def test_sigterm_ends_it_with_status_0_and_the_embedded_server_too(
    serve: Callable[..., Service],
) -> None:
    service = serve().ready()
    assert service.call("GET", "/healthz")[0] == 200
    assert service.stop() == 0
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
    wait_until(lambda: not before & service.workers(), pause=0.1)
    assert service.call("GET", "/healthz")[0] == 200


def test_the_example_is_printed_once_it_is_answered(serve: Callable[..., Service]) -> None:
    service = serve("--example")
    assert service.process.stdout is not None
    line = next(line for line in service.process.stdout if "curl" in line)
    assert f"http://127.0.0.1:{service.port}/check" in line
    assert service.call("GET", "/healthz")[0] == 200


def test_two_services_share_the_store_of_one_directory_which_outlives_the_first(
    serve: Callable[..., Service],
) -> None:
    first, second = serve().ready(), serve().ready()
    first.call("POST", "/check", {"id": "a", "text": "Pumps are checked every 6 months."})
    _, answer = second.call(
        "POST", "/check", {"id": "b", "text": "Pumps are checked every 6 months."}
    )
    assert answer["verdict"] == "exact_duplicate"
    first.stop()
    assert second.call("GET", "/readyz")[0] == 200


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


def test_a_tokens_file_that_cannot_be_read_stops_the_start_in_one_line(
    serve: Callable[..., Service], tmp_path: Path
) -> None:
    code, said = serve(TWINSIFT_TOKENS_FILE=str(tmp_path / "none.toml")).end()
    assert (code, said.count("\n")) == (1, 1)
    assert "TWINSIFT_TOKENS_FILE" in said


def test_with_a_tokens_file_nobody_comes_in_without_a_token(
    serve: Callable[..., Service], tmp_path: Path
) -> None:
    path = tmp_path / "tokens.toml"
    path.write_text(make("worker", ["check"], [])[1], encoding="utf-8")
    service = serve(TWINSIFT_TOKENS_FILE=str(path)).ready()
    assert service.call("POST", "/check", {"id": "a", "text": "b"})[0] == 401
