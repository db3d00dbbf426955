"""`twinsift export`, and moving to other settings while serving, as docs/moving.md tells it."""

import gzip
import json
import re
import shlex
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import redis

from service.client import Twinsift
from tests.client.commanding import Ran, twinsift
from tests.client.made_up import items
from tests.e2e.running import Service, services

PAGE = (Path(__file__).parents[2] / "docs" / "moving.md").read_text("utf-8")
COMMANDS = re.findall(r"^\$ twinsift (.*)$", PAGE, re.MULTILINE)
SETTINGS = re.search(r"```json\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with services(tmp_path_factory.mktemp("moving")) as start:
        yield start().ready()


@pytest.fixture
def service(shared: Service) -> Service:
    return shared.emptied()


@pytest.fixture
def client(service: Service) -> Iterator[Twinsift]:
    with Twinsift(f"http://127.0.0.1:{service.port}") as client:
        yield client


def states(client: Twinsift, collection: str) -> dict[str, str]:
    return {one.id: one.state for one in client.documents(collection=collection)}


def of(documents: dict[str, str], *wanted: str) -> dict[str, str]:
    return {id: state for id, state in documents.items() if state in wanted}


def lines_in(path: Path) -> list[dict[str, Any]]:
    packed = path.read_bytes()
    raw = gzip.decompress(packed) if path.suffix == ".gz" else packed
    return [json.loads(line) for line in raw.splitlines()]


def fill(client: Twinsift) -> None:
    """Documents in every state, rulings of every kind, an update that waits, a deletion."""
    client.configure("handbook", {"threshold": 0.65})
    list(client.check_many({**item, "collection": "handbook"} for item in items(200)))
    held = list(client.conflicts(collection="handbook", status="open"))
    for number, conflict in enumerate(reversed(held)):
        keep = ("existing", "both", "incoming", None)[number % 4]
        if keep is not None and conflict.existing.id not in {one.incoming.id for one in held}:
            client.resolve(conflict.id, keep, by="ann")
    first = client.document("text-0", collection="handbook")
    assert first.text is not None
    client.check("update", "A text of its own, about nothing else.", collection="handbook")
    client.check("update", first.text.replace(" hours", " weeks"), collection="handbook")
    client.delete("text-3", collection="handbook")


def test_an_export_has_all_that_is_known(
    service: Service, client: Twinsift, tmp_path: Path
) -> None:
    fill(client)
    out = tmp_path / "all.jsonl.gz"
    run = twinsift("export", "--collection", "handbook", "--to", str(out), port=service.port)
    assert run.status == 0, run.err
    lines = lines_in(out)
    documents = [line["document"] for line in lines if line["kind"] == "document"]
    assert {one["id"]: one["state"] for one in documents} == states(client, "handbook")
    assert any(one["pending"] for one in documents)
    decisions = [line["decision"] for line in lines if line["kind"] == "decision"]
    assert [one["id"] for one in decisions] == [
        one.id for one in client.decisions(collection="handbook")
    ]
    (collection,) = (line["collection"] for line in lines if line["kind"] == "collection")
    assert collection["settings"]["threshold"] == 0.65


def test_a_pipe_gets_the_same_lines(service: Service, client: Twinsift) -> None:
    client.check("a", "One text.")
    lines = [json.loads(line) for line in twinsift("export", port=service.port).out.splitlines()]
    assert [line["kind"] for line in lines] == ["mark", "collection", "document"]


def test_an_export_restores_an_empty_service(
    service: Service, client: Twinsift, tmp_path: Path
) -> None:
    fill(client)
    before = states(client, "handbook")
    out = tmp_path / "all.jsonl"
    twinsift("export", "--to", str(out), port=service.port)
    with closing(redis.Redis.from_url(service.store_url)) as store:
        store.flushall()
    run = twinsift("import", str(out), port=service.port)
    assert run.status == 0, run.err
    assert client.collection("handbook").settings["threshold"] == 0.65
    after = states(client, "handbook")
    left_out = json.loads(run.out)["left_out"]
    assert of(after, "active", "held") == of(before, "active", "held")
    assert after.items() <= before.items()
    assert len(before) - len(after) == left_out
    assert client.document("update", collection="handbook").pending is not None


def test_nobody_is_asked_again_what_was_ruled_on(
    service: Service, client: Twinsift, tmp_path: Path
) -> None:
    fill(client)
    waiting = {one.incoming.id for one in client.conflicts(collection="handbook", status="open")}
    out = tmp_path / "all.jsonl"
    twinsift("export", "--to", str(out), port=service.port)
    twinsift("import", str(out), "--into", "next", port=service.port)
    asked = {one.incoming.id for one in client.conflicts(collection="next", status="open")}
    assert asked <= waiting


def test_moving_as_the_page_tells_it(service: Service, client: Twinsift, tmp_path: Path) -> None:
    def follow(command: str) -> Ran:
        run = twinsift(*shlex.split(command), port=service.port, cwd=tmp_path)
        assert run.status == 0, run.err
        return run

    assert SETTINGS is not None
    (tmp_path / "settings.json").write_text(SETTINGS[1], encoding="utf-8")
    export, fill_new, export_changes, catch_up = COMMANDS
    fill(client)
    follow(export)
    client.check("late", "This one came while the export ran.", collection="handbook")
    client.delete("text-5", collection="handbook")
    follow(fill_new)
    follow(export_changes)
    follow(catch_up)
    moved = states(client, "handbook-2")
    assert (
        client.collection("handbook-2").settings["threshold"]
        == json.loads(SETTINGS[1])["threshold"]
    )
    assert moved["late"] == "active"
    assert "text-5" not in moved
    assert {id for id, state in moved.items() if state == "active"} <= {
        id for id, state in states(client, "handbook").items() if state != "dropped"
    }


def test_an_export_of_changes_needs_an_export(service: Service, tmp_path: Path) -> None:
    (tmp_path / "other").write_text('{"id": "a"}\n', encoding="utf-8")
    run = twinsift("export", "--since", str(tmp_path / "other"), port=service.port)
    assert (run.status, "is no export" in run.err) == (1, True)


def test_several_collections_do_not_go_into_one(
    service: Service, client: Twinsift, tmp_path: Path
) -> None:
    client.configure("other")
    twinsift("export", "--to", str(tmp_path / "all"), port=service.port)
    run = twinsift("import", str(tmp_path / "all"), "--into", "next", port=service.port)
    assert (run.status, "--into names one" in run.err) == (1, True)


def test_an_export_that_fails_leaves_no_file(service: Service, tmp_path: Path) -> None:
    out = tmp_path / "all"
    run = twinsift("export", "--collection", "no", "--to", str(out), port=service.port)
    assert (run.status, list(tmp_path.iterdir())) == (1, [])
