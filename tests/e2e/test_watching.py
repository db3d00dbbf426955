"""The log and the measures of a service that runs: several workers, real processes."""

import json
import os
import signal
import urllib.request
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import redis

from tests.e2e.running import Service, wait_until

Serve = Callable[..., Service]
Call = tuple[str, str, Any, dict[str, str]]

CANARY = "zebras juggle quartz at midnight"
NEARLY = f"{CANARY} while the band plays on and on for {{}} hours in the old town hall"


def lines(said: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in said.splitlines()]


def measure(service: Service, name: str) -> float:
    told = read_measures(service)
    return sum(
        float(line.rpartition(" ")[2])
        for line in told.splitlines()
        if line.startswith((f"{name}{{", f"{name} "))
    )


def post(service: Service, number: int) -> None:
    status, _ = service.call("POST", "/check", {"id": f"a{number}", "text": f"text {number}"})
    assert status == 200


def test_every_line_of_the_log_is_json_and_a_call_has_one(serve: Serve) -> None:
    service = serve().ready()
    post(service, 1)
    service.process.send_signal(signal.SIGTERM)
    said = [line for line in lines(service.end()[1]) if line["logger"] == "twinsift.request"]
    assert [(line["route"], line["status"], line["verdict"]) for line in said] == [
        ("/check", 200, "new")
    ]
    assert set(said[0]["stages"]) == {"parse", "hash", "redis"}
    assert sum(said[0]["stages"].values()) <= said[0]["ms"]


def test_every_worker_tells_what_all_have_counted_those_too_that_are_gone(serve: Serve) -> None:
    service = serve(TWINSIFT_WORKERS="3").ready()
    for number in range(20):
        post(service, number)
    assert {measure(service, "twinsift_checks_total") for _ in range(12)} == {20}
    before = service.workers()
    service.process.send_signal(signal.SIGHUP)
    wait_until(lambda: len(service.workers() - before) == 3 == len(service.workers()), pause=0.1)
    assert measure(service, "twinsift_checks_total") == 20


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGKILL])
def test_after_a_restart_documents_and_stats_are_there_and_the_same_from_every_worker(
    serve: Serve, stop: signal.Signals
) -> None:
    service = serve().ready()
    for number in range(10):
        post(service, number)
    if stop == signal.SIGTERM:
        service.stop()
    else:
        service.wait_for_disk()
        service.kill_all()
    again = serve(TWINSIFT_WORKERS="3").ready()
    told = {json.dumps(again.call("GET", "/stats")[1]["collections"]) for _ in range(12)}
    assert len(told) == 1
    assert again.call("GET", "/documents?id=a1")[0] == 200
    assert json.loads(told.pop())["default"]["checks"]["verdicts"]["new"] == 10


def test_the_files_in_which_workers_count_go_when_the_service_stops(serve: Serve) -> None:
    service = serve().ready()
    files = [file for worker in service.workers() for file in mapped_by(worker)]
    assert any(file.exists() for file in files)
    service.stop()
    assert not any(file.parent.exists() for file in files)


def mapped_by(worker: int) -> list[Path]:
    maps = Path(f"/proc/{worker}/maps").read_text()
    return [Path(line.split()[-1]) for line in maps.splitlines() if "twinsift-metrics" in line]


def everywhere() -> list[Call]:
    """Calls that hold the canary in every place there is."""
    held = CANARY.replace(" ", "%20")
    item = {"id": CANARY, "text": CANARY, "metadata": {CANARY: CANARY}}
    protect, signed = {"protect": [CANARY]}, {"by": CANARY, "note": CANARY}
    json_type = {"Content-Type": "application/json"}
    ndjson = {"Content-Type": "application/x-ndjson"}
    return [
        ("POST", "/check", item, json_type),
        ("POST", "/check", {**item, "collection": CANARY}, json_type),
        ("POST", "/check", {**item, "pages": [CANARY]}, json_type),
        ("POST", "/check", {CANARY: CANARY}, json_type),
        ("POST", "/check", f'{{"{CANARY}": 1, "{CANARY}": 2}}', json_type),
        ("POST", "/check", f'{{"text": "{CANARY}', json_type),
        ("POST", "/check", CANARY, {"Content-Type": f"text/{held}"}),
        ("POST", "/check", CANARY, {**json_type, "Content-Encoding": held}),
        ("POST", "/check", CANARY, {**json_type, "Content-Encoding": "gzip"}),
        ("POST", "/check/batch", {"items": [item, {CANARY: 1}, CANARY]}, json_type),
        ("POST", "/check", {**item, "metadata": {CANARY: [CANARY]}}, json_type),
        ("POST", "/check/batch", f'{CANARY}\n{{"{CANARY}": 1}}\n', ndjson),
        ("POST", "/clean", {"text": CANARY, "cleaning": {**protect, CANARY: 1}}, json_type),
        ("POST", "/compare", {"a": CANARY, "b": CANARY, "collection": CANARY}, json_type),
        ("GET", f"/documents?id={held}&collection={held}", None, {}),
        ("GET", f"/documents?{held}={held}", None, {}),
        ("GET", f"/documents/{held}%00", None, {}),
        ("GET", f"/{held}", None, {"X-Request-Id": held, "Authorization": f"Bearer {held}"}),
        ("GET", f"/decisions?after={held}&cursor={held}", None, {"Cookie": f"a={held}"}),
        ("POST", f"/conflicts/{held}/resolve", {"keep": CANARY, **signed}, json_type),
        ("POST", f"/decisions/{held}/revert", signed, json_type),
        ("PUT", f"/collections/{held}", {"normalization": CANARY, CANARY: 1}, json_type),
        ("PUT", "/collections/a", {"survivor": [CANARY], "cleaning": protect}, json_type),
        ("DELETE", f"/documents?id={held}&erase=true", None, {}),
        ("POST", "/check", {"id": "near-2", "text": NEARLY.format(2)}, json_type),
        ("POST", "/check", {"id": "near-3", "text": NEARLY.format(3)}, json_type),
    ]  # fmt: skip


def refusals(service: Service, calls: Iterable[Call]) -> str:
    """The bodies of all answers that are errors."""
    answers = [service.raw_call(*call) for call in calls]
    return "".join(body for status, body in answers if status >= 400)


def read_measures(service: Service) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{service.port}/metrics") as answer:
        return str(answer.read().decode())


def expect_nothing_of_it(*told: str) -> None:
    for one in told:
        for written in (CANARY, CANARY.replace(" ", "%20"), "quartz"):
            assert written not in one


def test_no_posted_word_is_in_a_log_an_error_or_a_measure(serve: Serve) -> None:
    service = serve(TWINSIFT_LOG_LEVEL="debug").ready()
    refused = refusals(service, everywhere())
    measures = read_measures(service)
    service.process.send_signal(signal.SIGTERM)
    expect_nothing_of_it(refused, measures, service.end()[1])


def test_no_posted_word_is_in_a_log_or_an_error_when_the_service_fails(serve: Serve) -> None:
    service = serve(TWINSIFT_LOG_LEVEL="debug").ready()
    refusals(service, everywhere())
    with closing(redis.Redis(unix_socket_path=str(service.data_dir / "valkey.sock"))) as store:
        for key in store.scan_iter("ts1:*:x"):  # kept texts that nobody can read
            for field in store.hkeys(key):
                store.hset(key, field, CANARY)
    new = {"id": "near-4", "text": NEARLY.format(4)}
    refused = refusals(service, [("POST", "/check", new, {"Content-Type": "application/json"})])
    service.process.send_signal(signal.SIGTERM)
    said = service.end()[1]
    assert "internal_error" in refused
    assert "unexpected error" in said
    expect_nothing_of_it(refused, said)


def test_no_posted_word_is_in_a_log_or_an_error_when_the_store_fails(serve: Serve) -> None:
    service = serve(TWINSIFT_LOG_LEVEL="debug", TWINSIFT_DEADLINE="300ms").ready()
    with closing(redis.Redis(unix_socket_path=str(service.data_dir / "valkey.sock"))) as store:
        store.config_set("maxmemory", 1)
        refused = refusals(service, everywhere())
        server = service.server_pid()
    os.kill(server, signal.SIGSTOP)
    try:
        refused += refusals(service, everywhere())
    finally:
        os.kill(server, signal.SIGCONT)
    service.process.send_signal(signal.SIGTERM)
    said = service.end()[1]
    assert "store_full" in refused
    assert "store_unavailable" in refused
    expect_nothing_of_it(refused, said)
