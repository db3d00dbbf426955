"""What a store is found to be at the start, and which are refused."""

import re

import pytest

from service.errors import StoreUnavailable
from service.store.capabilities import UnfitStore, look_at_store
from tests.clusters import ClusterServers
from tests.e2e.running import free_port
from tests.fire.stores import StoreServer, store_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory):
    with store_server(tmp_path_factory.mktemp("capabilities") / "store") as started:
        yield started


def test_a_single_server_is_told_as_it_is(server: StoreServer) -> None:
    found = look_at_store(server.url)
    assert (found.kind, found.primaries, found.replicas, found.persistent) == ("single", 1, 0, True)
    assert re.fullmatch(r"(valkey|redis) [0-9]+\.[0-9]+\.[0-9]+", found.server)


def test_so_is_a_cluster(cluster: ClusterServers) -> None:
    cluster.empty()
    found = look_at_store(cluster.url)
    assert (found.kind, found.primaries, found.replicas) == ("cluster", 3, 3)


def test_a_node_of_a_cluster_is_not_taken_for_a_single_server(cluster: ClusterServers) -> None:
    with pytest.raises(UnfitStore, match=r"redis\+cluster://"):
        look_at_store(f"redis://127.0.0.1:{cluster.nodes[0].port}")


def test_a_single_server_is_not_taken_for_a_cluster(server: StoreServer) -> None:
    with pytest.raises(UnfitStore, match="redis://"):
        look_at_store(f"redis+cluster://127.0.0.1:{server.port}")


def test_a_single_server_is_not_taken_for_a_sentinel(server: StoreServer) -> None:
    with pytest.raises(UnfitStore, match="redis://"):
        look_at_store(f"redis+sentinel://127.0.0.1:{server.port}/main")


def test_a_store_that_evicts_is_refused(server: StoreServer) -> None:
    server.client.config_set("maxmemory-policy", "allkeys-lru")
    try:
        with pytest.raises(UnfitStore, match="evicts"):
            look_at_store(server.url)
    finally:
        server.client.config_set("maxmemory-policy", "noeviction")


@pytest.mark.parametrize("scheme", ["redis://{}", "redis+cluster://{}", "redis+sentinel://{}/main"])
def test_one_that_cannot_be_asked_is_left_to_readiness(scheme: str) -> None:
    with pytest.raises(StoreUnavailable, match="Connection refused"):
        look_at_store(scheme.format(f"127.0.0.1:{free_port()}"))
