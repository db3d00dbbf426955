"""The whole service on a cluster: everything it offers, in collections at different nodes."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from tests.clusters import ClusterServers
from tests.e2e.running import Service
from tests.store.index_walk import faults_at

COLLECTIONS = [f"books{number}" for number in range(6)]
RULE = (
    "A rented bike is yours for {} hours from {}, with a helmet, a lamp and a lock, "
    "and it comes back to the same shop before closing time."
)


class Api:
    """Calls that are answered with success, by as many workers as there are."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def __call__(self, method: str, path: str, body: Any = None) -> Any:
        status, answer = self._service.call(method, path, body)
        assert status in (200, 201), answer
        return answer

    def check(self, collection: str, id: str, text: str) -> Any:
        return self("POST", "/check", {"id": id, "text": text, "collection": collection})


def go_through(api: Api, name: str) -> None:
    """The life of documents in one collection."""
    api("PUT", f"/collections/{name}", {"ttl_days": 30})
    assert api.check(name, "first", RULE.format(2, "Monday"))["verdict"] == "new"
    assert api.check(name, "first", RULE.format(2, "Monday"))["replayed"]
    assert api.check(name, "same", RULE.format(2, "Monday"))["verdict"] == "exact_duplicate"
    assert api.check(name, "near", RULE.format(2, "Monday") + " Enjoy!")["action"] == "skip"
    held = api.check(name, "other", RULE.format(3, "Monday"))
    assert (held["action"], held["match"]["id"]) == ("review", "first")
    ruling = {"keep": "both", "by": "somebody"}
    resolve = f"/conflicts/{held['conflict']['id']}/resolve"
    ruled = api("POST", resolve, ruling)
    assert api("POST", resolve, ruling) == ruled
    dropped = api("GET", f"/decisions?collection={name}&kind=dropped")["items"][0]
    api("POST", f"/decisions/{quote(dropped['id'])}/revert", {})
    api("DELETE", f"/documents/near?collection={name}")
    kept = api("GET", f"/documents?collection={name}")["items"]
    assert [each["id"] for each in kept] == ["first", "same", "other"]


def test_everything_works_on_a_cluster_whose_replicas_confirm_it(
    serve: Callable[..., Service], cluster: ClusterServers
) -> None:
    cluster.empty()
    service = serve(TWINSIFT_REDIS_URL=cluster.url, TWINSIFT_DURABILITY="replicated").ready()
    api = Api(service)
    for name in COLLECTIONS:
        go_through(api, name)
    items = [
        {"id": f"of-{name}-{number}", "text": f"Notice {number} in {name}.", "collection": name}
        for number in range(5)
        for name in COLLECTIONS
    ]
    results = api("POST", "/check/batch", {"items": items})["results"]
    assert [result for result in results if "problem" in result] == []
    listed = api("GET", "/collections")["items"]
    assert {each["name"] for each in listed} == {"default", *COLLECTIONS}
    counted = api("GET", "/stats")["collections"]
    assert {counted[name]["checks"]["total"] for name in COLLECTIONS} == {10}
    assert api("GET", "/readyz") == {
        "status": "ready",
        "store": "ready",
        "topology": {"kind": "cluster", "primaries": 3, "available": 3, "replicas": 3},
    }
    assert "twinsift_redis_up 1.0" in service.raw_call("GET", "/metrics", None, {})[1]
    for name in COLLECTIONS:
        assert faults_at(cluster.url, name) == []
    api("DELETE", f"/collections/{COLLECTIONS[0]}")
    assert len(api("GET", "/collections")["items"]) == len(COLLECTIONS)
    assert service.stop() == 0
