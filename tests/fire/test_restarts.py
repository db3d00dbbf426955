"""Services are restarted while clients post: no request is lost."""

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.running import Service, services, wait_until
from tests.fire.forms import REPLACEMENTS, RESTARTS
from tests.fire.ledger import Ledger

CLIENTS = 8
ANSWERS_BETWEEN_RESTARTS = 50

Start = Callable[..., Service]
Figure = Callable[[str], None]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Services over one embedded store."""
    with services(tmp_path) as start_one:
        yield lambda: start_one(TWINSIFT_DEADLINE="20s", COVERAGE_PROCESS_CONFIG="").ready()


def restart(service: Service) -> None:
    """New workers for old, and the old ones have gone."""
    before = service.workers()
    service.process.send_signal(signal.SIGHUP)
    wait_until(lambda: has_replaced(service, before), pause=0.1)


def has_replaced(service: Service, before: set[int]) -> bool:
    now = service.workers()
    return len(now) == len(before) and not before & now


def test_workers_that_are_replaced_under_load_lose_no_request(start: Start, figure: Figure) -> None:
    service = start()
    ledger = Ledger(service, "restarts")
    with ledger.posting(CLIENTS):
        for _ in range(RESTARTS):
            restart(service)
            ledger.wait_for_answers(ANSWERS_BETWEEN_RESTARTS)
    figure(f"SIGHUP {RESTARTS} times: {ledger.sent} requests, {len(ledger.acknowledged)} answered")
    assert (ledger.refusals, ledger.cuts) == ([], [])
    assert ledger.contradictions(service.store_url) == []


def test_services_that_are_replaced_in_turn_over_one_store_lose_no_request(
    start: Start, figure: Figure
) -> None:
    stays, goes = start(), start()
    store, ledgers = stays.server_pid(), list[Ledger]()
    for number in range(REPLACEMENTS):
        ledger = Ledger(goes, f"replaced-{number}", elsewhere=stays)
        with ledger.posting(CLIENTS):
            ledger.wait_for_answers(ANSWERS_BETWEEN_RESTARTS)
            assert goes.stop() == 0
            ledger.wait_for_answers(ANSWERS_BETWEEN_RESTARTS)
            ledgers.append(ledger)
        stays, goes = start(), stays
    requests = sum(ledger.sent for ledger in ledgers)
    figure(f"SIGTERM of one of two {REPLACEMENTS} times: {requests} requests")
    for ledger in ledgers:
        ledger.service = stays
        assert (ledger.refusals, ledger.cuts) == ([], [])
        assert ledger.contradictions(stays.store_url) == []
    assert stays.server_pid() == store
