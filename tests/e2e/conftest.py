"""Starts services for a test, and ends whatever it left running."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.running import Service, services


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Service]]:
    with services(tmp_path) as start:
        yield start
