"""A service that is emptied for each module, and the figures of a long run."""

from collections.abc import Callable, Iterator

import pytest

from tests.e2e.running import Service, services
from tests.fire.forms import SERVED, SOAK

FIGURES = pytest.StashKey[list[str]]()


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with services(tmp_path_factory.mktemp("fire")) as start:
        yield start(**SERVED).ready()


@pytest.fixture(scope="module")
def service(served: Service) -> Service:
    """Four workers over an embedded store of their own, with nothing in it."""
    return served.emptied()


@pytest.fixture(scope="module")
def figure(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Notes a line that is shown at the end of a long run."""
    return request.config.stash.setdefault(FIGURES, []).append


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    lines = terminalreporter.config.stash.get(FIGURES, [])
    if SOAK and lines:
        terminalreporter.section("under fire")
        for line in lines:
            terminalreporter.write_line(line)
