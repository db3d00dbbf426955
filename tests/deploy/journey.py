"""All that the service does with its store, once: every resource, and what comes with time."""

import re
import time
from pathlib import Path
from typing import Any

from flask.testing import FlaskClient

from service.app import create_app
from service.checker import Checker
from service.dedup.verdict import Document, Posted
from service.repairing import Repair
from service.settings import LOCAL, Settings
from service.store.any_store import AnyStore
from service.store.connection import Connection
from service.store.growth import ENTRIES_A_SHARD, FIRST_LEVEL
from service.tokens import Scope, make

DEADLINE = 10.0
RULE = (
    "A rented bike is yours for {} hours from {}, with a helmet, a lamp and a lock, "
    "and it comes back to the same shop before closing time."
)
RULED = {
    "both": "Tandems are lent for {} days in a row, and a deposit is taken for each at once.",
    "incoming": "The workshop mends a flat tyre within {} hours while you wait in the yard.",
    "existing": "A child seat can be had for {} crowns, and whoever is on duty then mounts it.",
}
DAY = 86_400


def client_of(url: str, durability: str = LOCAL) -> FlaskClient:
    """Flask's client of a service on that store."""
    settings = Settings(redis_url=url, deadline=DEADLINE, durability=durability)
    return create_app(settings).test_client()


def travel(url: str, tokens: Path) -> None:
    """The whole journey; raises AssertionError where a call is not answered as it should be.
    `tokens` is where a tokens file may be made."""
    visit_all(url, tokens)
    grow_and_grow_old(url)


def visit_all(url: str, tokens: Path, durability: str = LOCAL) -> None:
    """The journey but for what comes with time, which takes longest."""
    client = client_of(url, durability)
    post_copies(client)
    rule_and_take_back(client)
    post_many(client)
    look_around(client)
    spread_out(client, url)
    look_at_pages(url, tokens, call(client, "GET", "/conflicts", status="open")["items"][0]["id"])
    remove(client)
    be_too_quick(url, tokens)


def call(client: FlaskClient, method: str, path: str, body: Any = None, **query: str) -> Any:
    response = client.open(path, method=method, json=body, query_string=query)
    assert response.status_code in (200, 201), f"{method} {path}: {response.text}"
    return response.get_json()


def check(client: FlaskClient, id: str, text: str, **more: Any) -> Any:
    return call(client, "POST", "/check", {"id": id, "text": text, **more})


def post_copies(client: FlaskClient) -> None:
    assert check(client, "first", RULE.format(2, "Monday"))["verdict"] == "new"
    assert check(client, "first", RULE.format(2, "Monday"))["replayed"]
    assert check(client, "same", RULE.format(2, "Monday"))["verdict"] == "exact_duplicate"
    assert check(client, "near", RULE.format(2, "Monday") + " Enjoy!")["action"] == "skip"
    assert check(client, "other", RULE.format(3, "Monday"))["action"] == "review"
    assert check(client, "third", RULE.format(4, "Friday"))["action"] == "review"
    assert check(client, "dry", RULE.format(9, "Friday"), dry_run=True)["verdict"] != "new"
    check(client, "first", "Another text altogether, about the price of tickets in winter.")
    check(client, "unlike", "a b c d e f g h i j k l m n o", metadata={"source": "here"})
    check(client, "below", "a b c d e f g h i j k w x y z", metadata={"source": "there"})


def rule_and_take_back(client: FlaskClient) -> None:
    for keep, text in RULED.items():
        check(client, f"ruled-{keep}-old", text.format(2))
        held = check(client, f"ruled-{keep}", text.format(3))
        address = f"/conflicts/{held['conflict']['id']}"
        call(client, "GET", address)
        call(client, "POST", f"{address}/resolve", {"keep": keep, "by": "somebody"})
    resolved = call(client, "GET", "/decisions", kind="resolved")["items"][-1]
    call(client, "POST", f"/decisions/{resolved['id']}/revert", {})
    dropped = call(client, "GET", "/decisions", document="same", kind="dropped")["items"][-1]
    call(client, "POST", f"/decisions/{dropped['id']}/revert", {"by": "somebody"})


def post_many(client: FlaskClient) -> None:
    items = [{"id": f"of-many-{n}", "text": f"Notice number {n % 5}."} for n in range(9)]
    results = call(client, "POST", "/check/batch", {"items": items})["results"]
    assert not [result for result in results if "problem" in result]


def look_around(client: FlaskClient) -> None:
    call(client, "PUT", "/collections/docs", {"ttl_days": 30})
    call(client, "PUT", "/collections/docs", {"on_conflict": "ingest"})
    assert check(client, "in-docs", "A text of docs.", collection="docs")["verdict"] == "new"
    for path in ("/documents", "/conflicts", "/decisions", "/near-misses", "/collections"):
        call(client, "GET", path)
    call(client, "GET", "/conflicts", status="open")
    call(client, "GET", "/documents", id="other")
    call(client, "GET", "/collections/docs")
    assert call(client, "GET", "/stats")["collections"]["default"]["bytes_per_document"] > 0
    assert call(client, "GET", "/readyz")["store"] == "ready"
    assert b"twinsift_redis_up 1.0" in client.get("/metrics").data


def spread_out(client: FlaskClient, url: str) -> None:
    """A collection that lies in several partitions."""
    call(client, "PUT", "/collections/wide", {"partitions": 3})
    # Two processes in turn: each meets what the other one has published since, and not yet applied.
    processes = [
        Checker(AnyStore(Connection(url, deadline=DEADLINE)), deadline=DEADLINE) for _ in "ab"
    ]
    for number in range(8):
        text = f"word{number} of two processes that check texts in turn, {number}"
        document = Document(f"turn-{number}", Posted(text, None), collection="wide")
        processes[number % 2].check(document)
    for number in range(5):
        check(client, f"wide-{number}", f"Room {number} {number}b {number}c.", collection="wide")
    check(client, "wide", RULE.format(2, "Monday"), collection="wide")
    held = check(client, "wider", RULE.format(3, "Monday"), collection="wide")
    call(
        client,
        "POST",
        f"/conflicts/{held['conflict']['id']}/resolve",
        {"keep": "incoming", "by": "somebody"},
    )
    call(client, "DELETE", "/documents", id="wider", collection="wide", erase="true")
    repair = Repair(AnyStore(Connection(url, deadline=DEADLINE)))
    assert list(repair.run("wide", dry_run=False)) == []
    call(client, "DELETE", "/collections/wide")


def look_at_pages(url: str, tokens: Path, conflict: str) -> None:
    """A person signs in, looks at the conflicts, and signs out."""
    secret, row = make("person", [Scope.REVIEW], [])
    tokens.write_text(row)
    settings = Settings(redis_url=url, deadline=DEADLINE, tokens_file=tokens)
    client = create_app(settings).test_client()

    def send(path: str, page: str, **fields: str) -> None:
        key = re.findall(r'name="form_key" value="(\w+)"', client.get(page).text)[0]
        assert client.post(path, data={"form_key": key, **fields}).status_code == 303

    send("/review/sign-in", "/review/sign-in", token=secret)
    for page in ("/review/conflicts", f"/review/conflicts/{conflict}"):
        assert client.get(page).status_code == 200
    send("/review/sign-out", "/review")


def remove(client: FlaskClient) -> None:
    call(client, "DELETE", "/documents", id="near")
    call(client, "DELETE", "/documents", id="other", erase="true")
    call(client, "DELETE", "/documents", id="ruled-both-old", erase="true")
    call(client, "DELETE", "/collections/docs")


def be_too_quick(url: str, tokens: Path) -> None:
    """A token that may call once a second calls until it is refused."""
    secret, row = make("slow", [Scope.READ], [])
    tokens.write_text(row)
    settings = Settings(redis_url=url, deadline=DEADLINE, tokens_file=tokens, rate=1)
    client = create_app(settings).test_client()
    headers = {"Authorization": f"Bearer {secret}"}
    answers = [client.get("/collections", headers=headers).status_code for _ in range(10)]
    assert set(answers) == {200, 429}


def grow_and_grow_old(url: str) -> None:
    """An index that outgrows its first shards, and a collection whose documents and log expire."""
    ahead = 0.0
    store = AnyStore(Connection(url, deadline=DEADLINE), clock=lambda: time.time() + ahead)
    checker = Checker(store, deadline=DEADLINE, clock=lambda: time.time() + ahead, log_days=10)
    store.configure("ageing", {"ttl_days": 5})

    def post(id: str, text: str) -> None:
        checker.check(Document(id, Posted(text, None), collection="ageing"))

    for number in range((ENTRIES_A_SHARD << FIRST_LEVEL) + 16):
        post(f"of-{number}", f"word{number} word{number + 7} word{number * 3} and so on, {number}")
    post("twice", "word0 word7 word0 and so on, 0")
    for later in (8, 16):  # first the documents leave, then their entries in the log
        ahead = later * DAY
        post(f"after-{later}", f"The only text of day {later}, which is like no other.")
        post(f"copy-{later}", f"The only text of day {later}, which is like no other.")
