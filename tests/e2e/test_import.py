"""`twinsift import`: what it reads, and that stopping it changes nothing."""

import csv
import gzip
import json
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import redis
import zstandard

from service.cli import main
from service.tokens import make
from tests.client.commanding import at_a_terminal, command, environment, twinsift
from tests.client.made_up import items, write_lines
from tests.e2e.running import Service, services, wait_until

MADE_UP = items(400)
FOLLOWS_THE_PRESENT = {"replayed", "action", "retire", "conflict", "family", "candidates"}
BATCH = 200


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with services(tmp_path_factory.mktemp("import")) as start:
        yield start(TWINSIFT_MAX_TEXT="100KiB").ready()


@pytest.fixture
def service(shared: Service) -> Service:
    return shared.emptied()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "texts.jsonl", MADE_UP)


def answers_in(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def lasting(path: Path) -> list[dict[str, Any]]:
    """The answers without what follows the present, and without the numbers that the service gives
    to what it makes, a decision say: these tell in which order two windows were looked up."""
    return [lasting_part(answer) for answer in answers_in(path)]


def lasting_part(answer: dict[str, Any]) -> dict[str, Any]:
    lasts = {name: answer[name] for name in answer if name not in FOLLOWS_THE_PRESENT}
    match = answer["match"] and {**answer["match"], "state": "-"}
    return lasts | {"match": match, "decision": answer["decision"] is not None}


def verdicts(service: Service) -> list[tuple[str, str]]:
    """What is stored: each document and its state."""
    _, page = service.call("GET", "/documents?limit=500")
    return [(document["id"], document["state"]) for document in page["items"]]


def summary(out: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(out)
    return told


@pytest.fixture(scope="module")
def undisturbed(shared: Service, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The answers of a run that nothing disturbed."""
    directory = tmp_path_factory.mktemp("undisturbed")
    with closing(redis.Redis.from_url(shared.store_url)) as store:
        store.flushall()
    file = write_lines(directory / "texts.jsonl", MADE_UP)
    run = twinsift("import", file.name, "--answers", "out", port=shared.port, cwd=directory)
    assert run.status == 0, run.err
    return directory / "out"


def test_the_answers_are_in_order_and_counted(undisturbed: Path) -> None:
    answers = answers_in(undisturbed)
    assert [answer["id"] for answer in answers] == [item["id"] for item in MADE_UP]
    assert [answer["line"] for answer in answers] == list(range(1, 401))
    assert {answer["action"] for answer in answers} == {"ingest", "skip", "review"}


@pytest.mark.parametrize("lines_before_the_kill", [0, 1, BATCH, 250])
def test_killed_and_resumed_it_answers_as_if_undisturbed(
    service: Service, tmp_path: Path, file: Path, undisturbed: Path, lines_before_the_kill: int
) -> None:
    out = tmp_path / "out"
    process = subprocess.Popen(
        command("import", file.name, "--answers", out.name),
        env=environment(service.port, {}),
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
    )
    wait_until(lambda: out.exists() and has_lines(out, lines_before_the_kill), pause=0.001)
    process.kill()
    process.wait()
    if lines_before_the_kill:  # as a kill in the middle of a write leaves it
        with out.open("r+b") as written:
            written.truncate(out.stat().st_size - 10)
    run = twinsift(
        "import", file.name, "--answers", out.name, "--resume", port=service.port, cwd=tmp_path
    )
    assert run.status == 0, run.err
    assert lasting(out) == lasting(undisturbed)
    told = summary(run.out)
    assert (told["items"], sum(told["verdicts"].values())) == (400, 400)


def has_lines(path: Path, count: int) -> bool:
    return path.read_bytes().count(b"\n") >= count


def test_a_service_that_comes_back_is_waited_for(
    tmp_path: Path, file: Path, undisturbed: Path
) -> None:
    (tmp_path / "data").mkdir()
    with services(tmp_path / "data") as start:
        first = start().ready()
        process = subprocess.Popen(
            command("import", file.name, "--answers", "out"),
            env=environment(first.port, {}),
            cwd=tmp_path,
            stdout=subprocess.PIPE,
        )
        wait_until(lambda: (tmp_path / "out").exists() and has_lines(tmp_path / "out", 1))
        first.wait_for_disk()
        first.kill_all()
        start(TWINSIFT_BIND=f"127.0.0.1:{first.port}")
        out, _ = process.communicate(timeout=60)
    assert (process.returncode, summary(out.decode())["items"]) == (0, 400)
    assert lasting(tmp_path / "out") == lasting(undisturbed)


def test_interrupted_it_says_how_to_go_on(service: Service, tmp_path: Path) -> None:
    process = subprocess.Popen(
        command("import", "-", "--answers", "out"),
        env=environment(service.port, {}),
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    process.stdin.write(b"".join(json.dumps(item).encode() + b"\n" for item in MADE_UP[:-1]))
    process.stdin.flush()
    wait_until(lambda: bool(verdicts(service)))
    process.send_signal(signal.SIGINT)
    process.wait(timeout=30)  # before its input ends: then it would have nothing left to do
    out, err = process.communicate()
    assert (process.returncode, summary(out.decode())["complete"]) == (130, False)
    assert err.decode().startswith("twinsift: interrupted; go on with the same command")


def test_the_answers_that_are_there_are_not_written_over(
    service: Service, tmp_path: Path, file: Path
) -> None:
    (tmp_path / "out").write_text("precious")
    run = twinsift("import", str(file), "--answers", str(tmp_path / "out"), port=service.port)
    assert (run.status, "--resume" in run.err) == (1, True)
    assert (tmp_path / "out").read_text() == "precious"


def test_answers_to_another_file_are_not_gone_on_from(
    service: Service, tmp_path: Path, file: Path
) -> None:
    out, other = tmp_path / "out", write_lines(tmp_path / "other", MADE_UP[5:])
    twinsift("import", str(file), "--answers", str(out), port=service.port)
    run = twinsift("import", str(other), "--answers", str(out), "--resume", port=service.port)
    assert (run.status, "other files" in run.err) == (1, True)


@pytest.mark.parametrize(
    "pack",
    [gzip.compress, zstandard.compress, lambda raw: zstandard.compress(raw[:9000]) +
     zstandard.compress(raw[9000:]), lambda raw: b"\xef\xbb\xbf" + raw],
    ids=["gzip", "zstd", "frames", "mark"],
)  # fmt: skip
def test_a_file_is_unpacked_by_what_it_begins_with(
    service: Service, file: Path, pack: Callable[[bytes], bytes]
) -> None:
    packed = pack(file.read_bytes())
    file.write_bytes(packed)
    assert summary(twinsift("import", str(file), port=service.port).out)["items"] == 400
    assert summary(twinsift("import", "-", port=service.port, stdin=packed).out)["replayed"] == 400


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_file_that_was_cut_stops_it_after_what_is_whole(
    service: Service, file: Path, pack: Callable[[bytes], bytes]
) -> None:
    packed = pack(file.read_bytes())
    file.write_bytes(packed[: len(packed) * 3 // 4])
    run = twinsift("import", str(file), port=service.port)
    assert (run.status, summary(run.out)["complete"]) == (1, False)
    assert "broken from here on" in run.err


def test_csv_has_its_fields_by_its_header(service: Service, tmp_path: Path) -> None:
    path = tmp_path / "texts"
    with path.open("w", newline="", encoding="utf-8") as written:
        writer = csv.writer(written, delimiter=";")
        writer.writerow(["key", "body", "where", "rank"])
        writer.writerow(["a", 'One text; with "quotes"\nand a second line.', "intranet", "3"])
        writer.writerow(["b", "Another text.", "", ""])
    run = twinsift("import", str(path), "--id", "key", "--text", "body", "--metadata",
                   "where=source", "--metadata", "rank=authority", port=service.port)  # fmt: skip
    assert run.status == 0, run.err
    _, document = service.call("GET", "/documents?id=a")
    assert document["metadata"] == {"source": "intranet", "authority": 3}
    assert document["text"] == 'One text; with "quotes"\nand a second line.'
    _, document = service.call("GET", "/documents?id=b")
    assert document["metadata"] == {}


def test_fields_of_json_are_named_too(service: Service, tmp_path: Path) -> None:
    service.call("PUT", "/collections/handbook", {})
    row = {"n": 7, "parts": ["One.", "Two."], "where": "handbook", "page": 3, "no": None}
    path = write_lines(tmp_path / "rows", [row])
    twinsift("import", str(path), "--id", "n", "--pages", "parts", "--collection-field", "where",
             "--metadata", "page", "--metadata", "no", port=service.port)  # fmt: skip
    _, document = service.call("GET", "/documents?id=7&collection=handbook")
    assert (document["text"], document["metadata"]) == ("One.\nTwo.", {"page": 3})


BAD = b"""{"id": "a", "text": "A good text."}
no JSON, a secret

{"id": "b"}
{"text": "No id, a secret."}
{"id": "c", "text": "\xff\xfe secret"}
["secret"]
{"id": "d", "text": "Secret.", "metadata": {"updated_at": "secret"}}
{"id": "e", "text": "Another good text."}
"""


def test_bad_lines_are_refused_by_number_and_the_others_answered(
    service: Service, tmp_path: Path
) -> None:
    (tmp_path / "bad").write_bytes(BAD)
    run = twinsift("import", "bad", "--answers", "out", port=service.port, cwd=tmp_path)
    told = summary(run.out)
    assert (run.status, told["items"], told["refused"]) == (3, 8, 6)
    answers = answers_in(tmp_path / "out")
    problems = {one["line"]: one["problem"]["code"] for one in answers if "problem" in one}
    no_json, invalid = "malformed_json", "invalid_request"
    assert problems == {2: no_json, 4: invalid, 5: invalid, 6: no_json, 7: invalid, 8: invalid}
    assert [line.split(" ")[1] for line in run.err.splitlines()] == [
        f"bad:{line}:" for line in problems
    ]
    assert "ecret" not in run.err + (tmp_path / "out").read_text("utf-8")


def test_bad_rows_of_csv_are_refused_by_number(service: Service, tmp_path: Path) -> None:
    rows = b'id,text\na,"Two\nlines"\nb,\xff\nc,one,too many\nd\ne,Good.\n'
    run = twinsift("import", "-", port=service.port, stdin=rows)
    assert [line.split(" ")[1] for line in run.err.splitlines()] == ["-:4:", "-:5:", "-:6:"]
    assert summary(run.out)["verdicts"] == {"new": 2}


def test_a_text_over_the_limit_is_refused_alone(service: Service, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "large", [{"id": "a", "text": "wheel " * 20_000}, MADE_UP[0]])
    run = twinsift("import", str(path), port=service.port)
    assert (run.status, summary(run.out)["verdicts"]) == (3, {"new": 1})
    assert "large:1: " in run.err
    assert "too_large" in run.err


@pytest.mark.parametrize(("way", "verdict"), [("line", "exact_duplicate"), ("hash", "new")])
def test_ids_are_made_where_it_is_asked_for(
    service: Service, tmp_path: Path, way: str, verdict: str
) -> None:
    path = write_lines(tmp_path / "texts", [{"text": "One text."}, {"text": "One text."}])
    assert twinsift("import", str(path), port=service.port).status == 3
    run = twinsift("import", str(path), "--id-from", way, "--answers", str(tmp_path / "out"),
                   port=service.port)  # fmt: skip
    assert run.status == 0
    first, second = answers_in(tmp_path / "out")
    assert (first["id"] == second["id"]) is (way == "hash")
    assert (second["verdict"], second["replayed"]) == (verdict, way == "hash")


def test_a_dry_run_finds_copies_in_the_store_and_in_the_file_and_leaves_nothing(
    service: Service, tmp_path: Path, file: Path, undisturbed: Path
) -> None:
    service.call("POST", "/check", {**MADE_UP[0], "id": "stored"})
    out = tmp_path / "out"
    before = service.call("GET", "/collections")
    run = twinsift("import", str(file), "--dry-run", "--answers", str(out), port=service.port)
    assert run.status == 0, run.err
    assert service.call("GET", "/collections") == before
    first, *others = answers_in(out)
    assert first["match"]["id"] == "stored"
    expected = {one["id"]: one["verdict"] for one in answers_in(undisturbed)}
    found = {one["id"]: one["verdict"] for one in others}
    assert {id: (found[id], expected[id]) for id in found if found[id] != expected[id]} == {}


def test_a_dry_run_against_the_store_alone_says_so_of_the_store(
    service: Service, tmp_path: Path
) -> None:
    path = write_lines(tmp_path / "texts", [MADE_UP[0], {**MADE_UP[0], "id": "copy"}])
    run = twinsift("import", str(path), "--dry-run=store", port=service.port)
    assert summary(run.out)["verdicts"] == {"new": 2}
    assert verdicts(service) == []


def test_calls_that_are_too_many_are_made_later(tmp_path: Path, file: Path) -> None:
    secret, row = make("worker", ["check"], [])
    (tmp_path / "tokens.toml").write_text(row + "rate = 1\n", encoding="utf-8")
    (tmp_path / "data").mkdir()
    with services(tmp_path / "data") as start:
        service = start(TWINSIFT_TOKENS_FILE=str(tmp_path / "tokens.toml")).ready()
        run = twinsift("import", str(file), port=service.port, TWINSIFT_TOKEN=secret)
    assert (run.status, summary(run.out)["items"]) == (0, 400)


def test_options_that_do_not_go_together_are_wrong_usage(service: Service, file: Path) -> None:
    for options in (["--resume"], ["--text", "a", "--pages", "b"], ["--in-flight", "0"]):
        assert twinsift("import", str(file), *options, port=service.port).status == 2


def test_files_that_cannot_be_read_stop_it_before_it_begins(service: Service, file: Path) -> None:
    run = twinsift("import", str(file), "no-such-file", port=service.port)
    assert (run.status, run.err.count("\n"), verdicts(service)) == (1, 1, [])


def test_a_terminal_gets_a_bar_and_a_table(service: Service, file: Path) -> None:
    run = at_a_terminal("import", str(file), port=service.port, both=True)
    assert run.status == 0
    assert "100%" in run.out
    assert "400 texts, " in run.out
    assert re.search(r"items +.*400", run.out)


def test_a_pipe_gets_a_line_now_and_then(
    service: Service,
    file: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("service.bulk.progress.LINE_EVERY", 0.0)
    assert main(["import", str(file), "--url", f"http://127.0.0.1:{service.port}"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 400
    assert re.fullmatch(r"400 texts, [0-9,]+ a second, 0 s left: .* near_duplicate.*", lines[-1])
