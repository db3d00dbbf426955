"""The store breaks in every way there is while clients post: what they are told, and what of it is
true afterwards."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest

from tests.e2e.running import Service, services, wait_until
from tests.fire.forms import FROZEN_SECONDS
from tests.fire.ledger import Ledger, Refusal
from tests.fire.stores import (
    StoreServer,
    disk_full,
    down,
    frozen,
    loading,
    out_of_memory,
    read_only,
    store_server,
)

CLIENTS = 6
REFUSALS = 12
DEADLINE = 2.0
MARGIN = 1.0
RECOVERY = 5.0
PROBE_TIMEOUT = 3.0
TEXT = {"id": "before", "text": "Saddles are set to the height of the hip."}

Figure = Callable[[str], None]
Fault = Callable[[StoreServer], AbstractContextManager[None]]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreServer]:
    with store_server(tmp_path_factory.mktemp("faults") / "store") as server:
        yield server


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, store: StoreServer) -> Iterator[Service]:
    """Two workers over a store that the tests break."""
    with services(tmp_path_factory.mktemp("served")) as start:
        settings = {"TWINSIFT_DEADLINE": f"{DEADLINE}s", "COVERAGE_PROCESS_CONFIG": ""}
        yield start(TWINSIFT_REDIS_URL=store.url, **settings).ready()


def is_as_promised(refusal: Refusal) -> bool:
    """A problem with a time to come back, told before the deadline."""
    return (
        (refusal.status, refusal.media_type) == (503, "application/problem+json")
        and int(refusal.retry_after or 0) >= 1
        and refusal.took < DEADLINE + MARGIN
    )


def readiness(service: Service) -> object:
    """The status of /readyz, and what it says of the store if it is ready."""
    status, body = service.call("GET", "/readyz")
    return body["store"] if status == 200 else status


@pytest.mark.parametrize("fault", [down, frozen, read_only, loading, disk_full])
def test_a_store_that_takes_no_writes_is_told_in_time_and_costs_nothing_that_was_answered(
    fault: Fault, service: Service, store: StoreServer, figure: Figure
) -> None:
    ledger = Ledger(service, fault.__name__.replace("_", "-"))
    with ledger.posting(CLIENTS):
        with fault(store):
            if fault is disk_full:  # it is noticed when the file is to grow
                wait_until(lambda: readiness(service) == 503)
            assert readiness(service) == 503
            assert service.call("GET", "/healthz")[0] == 200
            ledger.wait_for_refusals(1 if fault is loading else REFUSALS)
        over = time.monotonic()
        recovered = ledger.first_answer_after(over)
        wait_until(lambda: readiness(service) == "ready")
    longest = max(refusal.took for refusal in ledger.refusals)
    figure(
        f"{fault.__name__}: {len(ledger.acknowledged)} acknowledged, {len(ledger.refusals)} "
        f"refused in {longest:.2f} s at most, an answer {recovered:.2f} s after the end"
    )
    assert [refusal for refusal in ledger.refusals if not is_as_promised(refusal)] == []
    assert ledger.cuts == []
    assert recovered < RECOVERY
    assert ledger.contradictions(store.url) == []


def test_a_full_store_refuses_what_is_new_and_gives_and_deletes_the_rest(
    service: Service, store: StoreServer, figure: Figure
) -> None:
    ledger = Ledger(service, "out-of-memory")
    service.call("POST", "/check", TEXT)
    with ledger.posting(CLIENTS):
        with out_of_memory(store):
            ledger.wait_for_refusals(REFUSALS, "store_full")
            assert readiness(service) == "full"
            assert service.call("GET", "/healthz")[0] == 200
            assert service.call("POST", "/check", TEXT)[1]["replayed"]
            assert service.call("GET", "/documents?id=before")[0] == 200
            assert service.call("DELETE", "/documents?id=before")[0] == 200
        recovered = ledger.first_answer_after(time.monotonic())
    figure(f"out of memory: {len(ledger.refusals)} refused, back {recovered:.2f} s after the end")
    assert [refusal for refusal in ledger.refusals if not is_as_promised(refusal)] == []
    assert recovered < RECOVERY
    assert ledger.contradictions(store.url) == []


def test_a_process_is_alive_for_its_probe_while_many_clients_hammer_a_frozen_store(
    service: Service, store: StoreServer, figure: Figure
) -> None:
    ledger, took = Ledger(service, "hammered", pause=0), list[float]()
    with ledger.posting(32):
        with frozen(store):
            end = time.monotonic() + FROZEN_SECONDS
            while time.monotonic() < end:
                began = time.monotonic()
                assert service.call("GET", "/healthz")[0] == 200
                took.append(time.monotonic() - began)
        recovered = ledger.first_answer_after(time.monotonic())
    figure(
        f"SIGSTOP for {FROZEN_SECONDS} s under 32 clients: {len(ledger.refusals)} refused, "
        f"/healthz in {sorted(took)[len(took) // 2] * 1000:.0f} ms (median), {max(took):.2f} s "
        f"(longest of {len(took)}), an answer {recovered:.2f} s after the end"
    )
    assert max(took) < PROBE_TIMEOUT
    assert recovered < RECOVERY
    assert ledger.contradictions(store.url) == []
