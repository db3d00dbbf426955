"""One browser and two services for all tests: one that each may fill, one filled as `make demo`
does it."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser

from demo.browsing import started
from demo.filling import fill
from service.client import Twinsift
from service.tokens import make
from tests.browser.seen import Person, person
from tests.e2e.running import Service, services

SCOPES = ("check", "read", "review", "admin")


class Site(NamedTuple):
    """A running service, and the token that may do all there."""

    service: Service
    token: str

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.service.port}"

    def worker(self) -> Twinsift:
        """A client, as a program that posts texts has one."""
        return Twinsift(self.address, token=self.token)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    with started(os.environ.get("CHROMIUM", "/usr/bin/chromium")) as browser:
        yield browser


@pytest.fixture(scope="session")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Site]]:
    """Starts a service with a token of its own; all are ended with the session."""
    with ExitStack() as running:

        def started_site() -> Site:
            directory: Path = tmp_path_factory.mktemp("site")
            token, row = make("desk", SCOPES, [])
            (directory / "tokens.toml").write_text(row)
            begin = running.enter_context(services(directory / "data"))
            service = begin(TWINSIFT_TOKENS_FILE=str(directory / "tokens.toml"))
            return Site(service.ready(), token)

        yield started_site


@pytest.fixture(scope="session")
def own_site(start: Callable[[], Site]) -> Site:
    return start()


@pytest.fixture
def site(own_site: Site) -> Site:
    """Empty when the test begins."""
    own_site.service.emptied()
    return own_site


@pytest.fixture(scope="session")
def demo(start: Callable[[], Site]) -> Site:
    """Filled as `make demo` does it; tests only look at it."""
    site = start()
    with site.worker() as worker:
        fill(worker)
    return site


@pytest.fixture(scope="session")
def visitor(chromium: Browser, demo: Site) -> Iterator[Person]:
    with person(chromium, demo.address) as dana:
        dana.sign_in(demo.token, "Dana")
        yield dana


@pytest.fixture
def dana(visitor: Person) -> Iterator[Person]:
    """Somebody who has signed in there: the same for all tests, with a wide and light screen."""
    visitor.look(1920, "light")
    yield visitor
    visitor.seen.hold()


@pytest.fixture
def anyone(chromium: Browser, site: Site) -> Iterator[Callable[..., Person]]:
    """Makes people with browsers of their own, who have not signed in."""
    with ExitStack() as there:
        yield lambda **look: there.enter_context(person(chromium, site.address, **look))


@pytest.fixture
def reviewer(anyone: Callable[..., Person], site: Site) -> Callable[..., Person]:
    """Makes people who have signed in."""

    def signed_in(name: str = "", path: str = "/review", **look) -> Person:
        someone = anyone(**look)
        someone.sign_in(site.token, name, path)
        return someone

    return signed_in
