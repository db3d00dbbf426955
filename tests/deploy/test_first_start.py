"""What compose.yaml starts, started without Docker: its commands, secrets and health checks."""

import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from service.store.embedded import find_binary
from tests.deploy.own_store import DEPLOY
from tests.e2e.running import free_port, wait_until

COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]


class Started(NamedTuple):
    """The places that stand for those in the containers, and the ports."""

    root: Path
    port: int
    store_port: int

    def here(self, command: list[str]) -> list[str]:
        """A command of compose.yaml, as it is to be run outside of a container."""
        places = {
            "/etc/twinsift": str(DEPLOY),
            "/run/secrets": str(self.root / "secrets"),
            "/run/valkey": str(self.root / "run"),
            "/data": str(self.root / "data"),
            "store:6379": f"127.0.0.1:{self.store_port}",
            "8000": str(self.port),
            "$$": "$",
        }
        either = re.compile("|".join(map(re.escape, places)))
        return [
            "127.0.0.1" if word == "*" else either.sub(lambda found: places[found[0]], word)
            for word in command
        ]

    def is_healthy(self) -> bool:
        """What the health check of compose.yaml says."""
        _, *command = self.here(COMPOSE["twinsift"]["healthcheck"]["test"])
        outcome = subprocess.run(
            [sys.executable, *command[1:]], stderr=subprocess.DEVNULL, check=False
        )
        return outcome.returncode == 0

    def ask(self, token: str, path: str, body: Any = None) -> tuple[int, Any]:
        """The answer to a call with a token of make-secrets.sh."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            None if body is None else json.dumps(body).encode(),
            {
                "Authorization": f"Bearer {(self.root / 'secrets' / token).read_text()}",
                "Content-Type": "application/json",
            },
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - to ourselves
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, json.loads(refused.read())


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    here = Started(tmp_path_factory.mktemp("first"), free_port(), free_port())
    for name in ("run", "data", "bin"):
        (here.root / name).mkdir()
    subprocess.run([str(DEPLOY / "make-secrets.sh"), str(here.root / "secrets")], check=True)
    program = here.root / "bin" / "twinsift"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m service.cli "$@"\n')
    program.chmod(0o755)
    store, service = COMPOSE["store"], COMPOSE["twinsift"]
    settings = {**service["environment"], "TWINSIFT_BIND": f"127.0.0.1:{here.port}"}
    with ExitStack() as stack:
        start(
            stack,
            here.here([*store["entrypoint"], *store["command"]]),
            "--port",
            str(here.store_port),
            VALKEY_SERVER=str(find_binary()),
        )
        start(
            stack,
            here.here(service["entrypoint"]),
            PATH=f"{program.parent}:{os.environ['PATH']}",
            **dict(zip(settings, here.here([*settings.values()]), strict=True)),
        )
        wait_until(here.is_healthy)
        yield here


def start(stack: ExitStack, command: list[str], *more: str, **environ: str) -> None:
    """Starts a process, which the stack stops."""
    process = subprocess.Popen(
        [*command, *more],
        env={**os.environ, **environ},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    stack.callback(process.wait, timeout=30)
    stack.callback(process.terminate)


def test_a_worker_has_its_first_answer(started: Started) -> None:
    status, answer = started.ask("ingest_token", "/check", {"id": "a", "text": "Some words."})
    assert (status, answer["verdict"]) == (200, "new")


def test_prometheus_may_look_and_do_nothing_else(started: Started) -> None:
    assert started.ask("metrics_token", "/stats")[0] == 200
    assert started.ask("metrics_token", "/check", {"id": "a", "text": "Some words."})[0] == 403


def test_what_is_checked_is_in_the_file_of_the_store(started: Started) -> None:
    assert started.ask("ingest_token", "/check", {"id": "b", "text": "Other words."})[0] == 200
    files = (started.root / "data" / "appendonlydir").glob("*.incr.aof")
    assert any(b"ts1:collections" in path.read_bytes() for path in files)
