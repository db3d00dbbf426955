"""The client against a real service, started once, its store emptied for each test."""

from collections.abc import Callable, Iterator

import pytest

from service.client import Patience, Twinsift
from tests.client.answering import Answering
from tests.e2e.running import Service, services

SOON = Patience(attempts=4, seconds=20)


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with services(tmp_path_factory.mktemp("client")) as start:
        yield start(TWINSIFT_MAX_BODY="64KiB").ready()


@pytest.fixture
def service(shared: Service) -> Service:
    return shared.emptied()


@pytest.fixture
def client(service: Service) -> Iterator[Twinsift]:
    with Twinsift(f"http://127.0.0.1:{service.port}", patience=SOON) as client:
        yield client


@pytest.fixture
def answering() -> Iterator[Callable[..., Answering]]:
    """Starts a listener that gives these answers, one a connection."""
    started: list[Answering] = []

    def start(*answers: bytes | None) -> Answering:
        started.append(Answering(answers))
        return started[-1]

    yield start
    for one in started:
        one.close()
