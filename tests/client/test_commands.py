"""`twinsift check`, `stats` and `conflicts`: in a pipe, at a terminal, and where they cannot."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from service.client import Twinsift
from service.tokens import make
from tests.client.answering import Answering, problem
from tests.client.commanding import at_a_terminal, twinsift
from tests.e2e.running import Service, free_port

TEXT = "Every bike is washed and oiled on 3 days of each week before it is rented out again."
OTHER_FACT = TEXT.replace("3 days", "4 days")


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "page.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_a_file_is_checked_under_its_name(service: Service, page: Path) -> None:
    ran = twinsift("check", str(page), port=service.port)
    answer = json.loads(ran.out)
    assert (ran.status, answer["id"], answer["verdict"]) == (0, str(page), "new")


def test_stdin_needs_an_id(service: Service) -> None:
    assert twinsift("check", stdin=TEXT.encode(), port=service.port).status == 2
    ran = twinsift("check", "-", "--id", "a", stdin=TEXT.encode(), port=service.port)
    assert json.loads(ran.out)["id"] == "a"


def test_options_of_a_check_are_sent(service: Service, client: Twinsift, page: Path) -> None:
    client.configure("handbook")
    options = ["--id", "a", "--collection", "handbook", "--metadata", "source=a=b",
               "--metadata", "authority=7", "--metadata", "signed:=true"]  # fmt: skip
    twinsift("check", str(page), *options, "--dry-run", port=service.port)
    assert list(client.documents()) == []
    twinsift("check", str(page), *options, port=service.port)
    document = client.document("a", collection="handbook")
    assert document.metadata == {"source": "a=b", "authority": 7, "signed": True}


def test_the_action_is_told_by_the_exit_status_where_asked_for(
    service: Service, page: Path
) -> None:
    def status(id: str, text: str, *options: str) -> int:
        arguments = ["check", "-", "--id", id, *options]
        return twinsift(*arguments, stdin=text.encode(), port=service.port).status

    assert [status("a", TEXT, "--exit-code"), status("b", TEXT), status("c", TEXT, "--exit-code"),
            status("d", OTHER_FACT, "--exit-code")] == [0, 0, 10, 11]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["check", "no-such-file"], 1),
        (["check", "-", "--id", "a", "--metadata", "nothing"], 2),
        (["check", "-", "--id", "a", "--metadata", "n:=x"], 2),
        (["check", "-", "--id", "a", "--url", "nowhere"], 2),
        (["check", "-", "--id", "a", "--collection", "unknown"], 1),
        (["conflicts", "--resolve", "both", "--by", "ann"], 2),
        (["conflicts", "x", "--by", "ann"], 2),
        (["conflicts", "c-9-9"], 1),
        (["stats", "--collection", "unknown"], 1),
        (["stats", "--url", f"http://127.0.0.1:{free_port()}/"], 1),
    ],
)
def test_what_cannot_be_done_is_one_line_on_stderr(
    service: Service, answering: Callable[..., Answering], arguments: list[str], status: int
) -> None:
    if "--url" in arguments and status == 1:
        listener = answering(problem(403, "forbidden"))
        arguments = [*arguments[:-1], listener.url]
    ran = twinsift(*arguments, stdin=b"A text.", port=service.port)
    assert (ran.status, ran.out, ran.err.count("\n")) == (status, "", 1)
    assert ran.err.startswith("twinsift: ")


def test_a_file_that_is_no_utf_8_is_refused(service: Service, tmp_path: Path) -> None:
    (tmp_path / "page").write_bytes(b"caf\xe9")
    ran = twinsift("check", str(tmp_path / "page"), port=service.port)
    assert (ran.status, "not UTF-8" in ran.err) == (1, True)


def test_figures_are_one_line_of_json_in_a_pipe(service: Service, client: Twinsift) -> None:
    client.check("a", TEXT)
    told = json.loads(twinsift("stats", port=service.port).out)
    assert told["collections"]["default"]["checks"]["total"] == 1


def test_conflicts_are_a_line_each_in_a_pipe(service: Service, client: Twinsift) -> None:
    client.check("a", TEXT)
    for days in (4, 5):
        client.check(f"b{days}", TEXT.replace("3 days", f"{days} days"))
    lines = twinsift("conflicts", port=service.port).out.splitlines()
    assert [json.loads(line)["incoming"]["id"] for line in lines] == ["b5", "b4"]
    assert twinsift("conflicts", "--status", "void", port=service.port).out == ""


def test_a_conflict_is_ruled_on(service: Service, client: Twinsift) -> None:
    client.check("a", TEXT)
    held = client.check("b", OTHER_FACT)
    assert held.conflict is not None
    options = ["--resolve", "incoming", "--by", "ann", "--note", "newer"]
    ran = twinsift("conflicts", held.conflict.id, *options, port=service.port)
    ruling = json.loads(ran.out)
    assert (ruling["ingest"], ruling["resolution"]["note"]) == (["b"], "newer")


def test_a_terminal_gets_tables(service: Service, client: Twinsift, page: Path) -> None:
    client.check("a", TEXT)
    held = client.check("b", OTHER_FACT)
    assert held.conflict is not None
    checked = at_a_terminal("check", str(page), port=service.port).out
    listed = at_a_terminal("conflicts", port=service.port).out
    shown = at_a_terminal("conflicts", held.conflict.id, port=service.port).out
    counted = at_a_terminal("stats", port=service.port).out
    assert "exact_duplicate" in checked
    assert "a (bytes, 1.0, active)" in checked
    assert "3 days -> 4 days" in listed
    assert "oiled on 4 days" in shown
    assert "embeddings saved" in " ".join(counted.split())
    assert not any(out.startswith("{") for out in (checked, listed, shown, counted))


def test_a_text_cannot_play_with_the_terminal(service: Service, client: Twinsift) -> None:
    client.configure("raw", {"cleaning": {"control_characters": False}})
    client.check("a", TEXT, collection="raw")
    held = client.check("b", OTHER_FACT + " \x1b]0;owned\x07", collection="raw")
    assert held.conflict is not None
    shown = at_a_terminal("conflicts", held.conflict.id, port=service.port).out
    assert "\x1b]0;" not in shown
    assert "\\x1b]0;owned" in shown


def test_the_token_comes_from_the_environment(
    answering: Callable[..., Answering], tmp_path: Path
) -> None:
    secret, _ = make("ann", ["read"], [])
    listener = answering(problem(401, "unauthorized"))
    ran = twinsift("stats", "--url", listener.url, TWINSIFT_TOKEN=secret)
    assert (ran.status, secret in ran.err) == (1, False)
    assert f"Authorization: Bearer {secret}" in listener.heard
