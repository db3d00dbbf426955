"""Who may make which call: tokens, scopes and collections."""

from pathlib import Path

import pytest
from flask.testing import FlaskClient

from service.app import create_app
from service.settings import Settings
from service.tokens import Scope, make
from service.web.operations import OPERATIONS, Operation

SECRETS: dict[str, str] = {}


@pytest.fixture
def guarded(redis_url: str, redis_client: object, tmp_path: Path) -> FlaskClient:
    """The service with a token for each scope, and one that is for one collection only."""
    rows = []
    for scope in Scope:
        SECRETS[scope], row = make(scope, [scope], [])
        rows.append(row)
    SECRETS["handbook"], row = make("handbook", list(Scope), ["handbook"])
    path = tmp_path / "tokens.toml"
    path.write_text("".join([*rows, row]), encoding="utf-8")
    return create_app(Settings(redis_url=redis_url, tokens_file=path)).test_client()


def bearer(name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {SECRETS[name]}"}


def ask(client: FlaskClient, operation: Operation, headers: dict[str, str]) -> tuple[int, str]:
    address = operation.path.replace("{id}", "a").replace("{name}", "a")
    response = client.open(address, method=operation.method, json={}, headers=headers)
    return response.status_code, (response.get_json() or {}).get("code", "")


guarded_calls = pytest.mark.parametrize(
    "operation",
    [pytest.param(o, id=f"{o.method} {o.path}") for o in OPERATIONS if o.scope is not None],
)


@guarded_calls
@pytest.mark.parametrize(
    "headers",
    [{}, {"Authorization": "Bearer tw_wrong"}, {"Authorization": "Basic dHdvOg=="}],
    ids=["none", "wrong", "another scheme"],
)
def test_a_call_without_a_valid_token_is_refused(guarded, operation, headers):
    assert ask(guarded, operation, headers) == (401, "unauthorized")


@guarded_calls
def test_a_token_of_another_scope_is_refused(guarded, operation):
    for scope in set(Scope) - {operation.scope}:
        assert ask(guarded, operation, bearer(scope)) == (403, "forbidden")


@guarded_calls
def test_a_token_of_the_scope_passes(guarded, operation):
    assert ask(guarded, operation, bearer(operation.scope))[0] not in (401, 403)


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/openapi.json"])
def test_health_and_the_contract_are_open(guarded, path):
    assert guarded.get(path).status_code == 200


def test_a_refusal_tells_how_to_come_in(guarded):
    assert guarded.get("/stats").headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/check", {"id": "a", "text": "b"}),
        ("POST", "/clean", {"text": "b"}),
        ("POST", "/compare", {"a": "a", "b": "b"}),
        ("GET", "/documents", None),
        ("GET", "/documents?id=a", None),
        ("DELETE", "/documents?id=a&collection=other", None),
        ("GET", "/conflicts", None),
        ("GET", "/decisions?collection=other", None),
        ("GET", "/near-misses", None),
        ("GET", "/collections", None),
        ("GET", "/collections/other", None),
        ("PUT", "/collections/other", {}),
        ("DELETE", "/collections/other", None),
        ("GET", "/stats", None),
    ],
)
def test_a_token_for_one_collection_reaches_no_other(guarded, method, path, body):
    response = guarded.open(path, method=method, json=body, headers=bearer("handbook"))
    assert (response.status_code, response.get_json()["code"]) == (403, "forbidden")


def test_a_token_for_one_collection_works_there(guarded):
    headers = bearer("handbook")
    assert guarded.put("/collections/handbook", json={}, headers=headers).status_code == 201
    check = {"id": "a", "text": "b", "collection": "handbook"}
    assert guarded.post("/check", json=check, headers=headers).status_code == 200
    assert guarded.get("/decisions?collection=handbook", headers=headers).status_code == 200


def test_conflicts_and_decisions_of_another_collection_are_out_of_reach(guarded):
    text = "The desk is open from {} to five every day but Sunday, and closed on holidays."
    for id, hour in (("a", "eight"), ("b", "nine"), ("c", "eight")):
        body = {"id": id, "text": text.format(hour)}
        assert guarded.post("/check", json=body, headers=bearer("check")).status_code == 200
    (conflict,) = guarded.get("/conflicts", headers=bearer("read")).get_json()["items"]
    decisions = guarded.get("/decisions", headers=bearer("check")).get_json()["items"]
    ruling = {"keep": "both", "by": "somebody"}
    refused = [
        guarded.get(f"/conflicts/{conflict['id']}", headers=bearer("handbook")),
        guarded.post(
            f"/conflicts/{conflict['id']}/resolve", json=ruling, headers=bearer("handbook")
        ),
        guarded.post(
            f"/decisions/{decisions[0]['id']}/revert", json={}, headers=bearer("handbook")
        ),
    ]
    assert [response.status_code for response in refused] == [403, 403, 403]


def test_an_item_of_a_batch_for_another_collection_is_refused_alone(guarded):
    guarded.put("/collections/handbook", json={}, headers=bearer("admin"))
    items = [
        {"id": "a", "text": "one", "collection": "handbook"},
        {"id": "b", "text": "two"},
    ]
    response = guarded.post("/check/batch", json={"items": items}, headers=bearer("handbook"))
    one, other = response.get_json()["results"]
    assert (one["verdict"], other["problem"]["code"]) == ("new", "forbidden")
