"""A proxy before the store delays what passes, and loses replies: a check may have run whose answer
nobody got."""

from collections.abc import Callable, Iterator

import pytest

from tests.e2e.running import Service, services, wait_until
from tests.fire.forms import LOST_REPLIES
from tests.fire.ledger import Ledger
from tests.fire.proxy import Proxy
from tests.fire.stores import StoreServer, store_server
from tests.fire.test_faults import CLIENTS, DEADLINE, MARGIN, REFUSALS, is_as_promised

TOO_SLOW = DEADLINE
SLOW = DEADLINE / 10

Figure = Callable[[str], None]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreServer]:
    with store_server(tmp_path_factory.mktemp("behind") / "store") as server:
        yield server


@pytest.fixture(scope="module")
def proxy(store: StoreServer) -> Iterator[Proxy]:
    between = Proxy(store.port)
    yield between
    between.close()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, proxy: Proxy) -> Iterator[Service]:
    """Two workers that reach their store through the proxy."""
    with services(tmp_path_factory.mktemp("served")) as start:
        settings = {"TWINSIFT_DEADLINE": f"{DEADLINE}s", "COVERAGE_PROCESS_CONFIG": ""}
        yield start(TWINSIFT_REDIS_URL=proxy.url, **settings).ready()


def _lose_a_few(proxy: Proxy) -> None:
    lost = proxy.lost
    proxy.to_lose = CLIENTS
    wait_until(lambda: proxy.lost >= lost + CLIENTS, pause=0.001)


def test_a_reply_that_is_lost_is_a_refusal_and_the_check_is_counted_once(
    service: Service, store: StoreServer, proxy: Proxy, figure: Figure
) -> None:
    ledger = Ledger(service, "lost-replies")
    with ledger.posting(CLIENTS):
        while proxy.lost < LOST_REPLIES:
            _lose_a_few(proxy)
            ledger.wait_for_answers(CLIENTS)
    figure(
        f"lost replies: {proxy.lost}, {len(ledger.refusals)} refused, "
        f"{len(ledger.acknowledged)} acknowledged"
    )
    assert len(ledger.refusals) > 0
    assert [refusal for refusal in ledger.refusals if not is_as_promised(refusal)] == []
    assert ledger.contradictions(store.url) == []


def test_a_store_that_is_slow_is_waited_for(
    service: Service, store: StoreServer, proxy: Proxy
) -> None:
    ledger = Ledger(service, "slow")
    with ledger.posting(CLIENTS):
        proxy.delay = SLOW
        ledger.wait_for_answers(CLIENTS)
        proxy.delay = 0.0
    assert ledger.contradictions(store.url) == []


def test_a_store_that_is_too_slow_is_given_up_in_time(
    service: Service, store: StoreServer, proxy: Proxy, figure: Figure
) -> None:
    ledger = Ledger(service, "too-slow")
    with ledger.posting(CLIENTS):
        proxy.delay = TOO_SLOW
        ledger.wait_for_refusals(REFUSALS)
        assert service.call("GET", "/healthz")[0] == 200
        assert service.call("GET", "/readyz")[0] == 503
        proxy.delay = 0.0
        ledger.wait_for_answers(1)
    longest = max(refusal.took for refusal in ledger.refusals)
    figure(f"too slow: {len(ledger.refusals)} refused in {longest:.2f} s at most")
    assert longest < DEADLINE + MARGIN
    assert [refusal for refusal in ledger.refusals if not is_as_promised(refusal)] == []
    assert ledger.contradictions(store.url) == []
