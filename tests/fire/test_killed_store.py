"""The store is killed again and again while clients post. With `appendfsync always` nothing that
was answered is lost, on a full disk neither."""

import time
from collections.abc import Callable, Iterator

import pytest

from tests.e2e.running import Service, services, wait_until
from tests.fire.forms import STORE_KILLS
from tests.fire.ledger import Ledger
from tests.fire.stores import StoreServer, disk_full, store_server
from tests.fire.test_faults import CLIENTS, RECOVERY, is_as_promised

ANSWERS_BETWEEN_KILLS = 40

Figure = Callable[[str], None]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreServer]:
    """One that writes each answer to its disk first; it is started again whenever it ends."""
    directory = tmp_path_factory.mktemp("always") / "store"
    with store_server(directory, {"appendfsync": "always"}) as server, server.supervised():
        yield server


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, store: StoreServer) -> Iterator[Service]:
    with services(tmp_path_factory.mktemp("served")) as start:
        yield start(TWINSIFT_REDIS_URL=store.url, COVERAGE_PROCESS_CONFIG="").ready()


def _killed_and_restarted(store: StoreServer) -> float:
    """When it was started again."""
    killed = store.process
    killed.kill()
    wait_until(lambda: store.process is not killed, pause=0.01)
    return time.monotonic()


def test_kill_9_loses_nothing_that_was_answered(
    service: Service, store: StoreServer, figure: Figure
) -> None:
    ledger, recovered = Ledger(service, "killed"), list[float]()
    with ledger.posting(CLIENTS):
        for _ in range(STORE_KILLS):
            ledger.wait_for_answers(ANSWERS_BETWEEN_KILLS)
            recovered.append(ledger.first_answer_after(_killed_and_restarted(store)))
    figure(
        f"kill -9 of the store, {STORE_KILLS} times: {len(ledger.acknowledged)} acknowledged, "
        f"{len(ledger.refusals)} refused, an answer {max(recovered):.2f} s after a start at most"
    )
    assert [refusal for refusal in ledger.refusals if not is_as_promised(refusal)] == []
    assert ledger.cuts == []
    assert max(recovered) < RECOVERY
    assert ledger.contradictions(store.url) == []


def test_a_disk_that_is_full_ends_the_store_and_loses_nothing_that_was_answered(
    service: Service, store: StoreServer, figure: Figure
) -> None:
    ledger = Ledger(service, "disk-full")
    with ledger.posting(CLIENTS):
        first = store.process
        with disk_full(store):
            wait_until(lambda: store.process is not first)
            ledger.wait_for_refusals(CLIENTS)
            assert service.call("GET", "/healthz")[0] == 200
        recovered = ledger.first_answer_after(time.monotonic())
        wait_until(lambda: service.call("GET", "/readyz")[0] == 200)
    figure(f"disk full, always: {len(ledger.refusals)} refused, back after {recovered:.2f} s")
    assert [refusal for refusal in ledger.refusals if not is_as_promised(refusal)] == []
    assert recovered < RECOVERY
    assert ledger.contradictions(store.url) == []
