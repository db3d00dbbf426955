"""Starts services for a test, and ends whatever it left running."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from service.store.embedded import EmbeddedServer
from tests.e2e.running import Service


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Service]]:
    started: list[Service] = []

    def start(*options: str, **environ: str) -> Service:
        started.append(Service(tmp_path, *options, **environ))
        return started[-1]

    yield start
    for service in started:
        service.clean_up()
    if (tmp_path / "lock").exists():  # a server may have outlived a kill: join it, leave as last
        server = EmbeddedServer(tmp_path)
        server.start()
        server.release()
