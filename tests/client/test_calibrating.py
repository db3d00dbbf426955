"""`twinsift sample` and `twinsift calibrate`: from what was seen to a threshold."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from service.client import Twinsift
from tests.client.commanding import at_a_terminal, status_here, twinsift
from tests.e2e.running import Service

TRAM = "the tram to the {} stops at the old market every ten minutes until late at night, {}"
PAIRS = [
    {"a": "one two three four", "b": "one two three five", "duplicate": True},
    {"a": "one two three four", "b": "one two six seven", "duplicate": False},
]
Write = Callable[[list[Any]], str]


@pytest.fixture
def written(tmp_path: Path) -> Write:
    """The name of a file with these values, a line each."""

    def write(values: list[Any]) -> str:
        path = tmp_path / "pairs.jsonl"
        path.write_text("".join(f"{json.dumps(value)}\n" for value in values), encoding="utf-8")
        return str(path)

    return write


def test_labelled_pairs_are_swept_without_a_service(written: Write) -> None:
    ran = twinsift("calibrate", written(PAIRS), "--shingles", "word:1", "--threshold", "0.5")
    [setting] = json.loads(ran.out)["settings"]
    [step] = setting["sweep"]
    assert (ran.status, step["caught"], step["wrongly_joined"]) == (0, 1, 0)


def test_at_a_terminal_the_sweep_is_a_table_with_the_pairs_nearest_the_line(
    written: Write,
) -> None:
    ran = at_a_terminal("calibrate", written(PAIRS), "--shingles", "word:1", port=1)
    assert "wrongly joined" in ran.out
    assert "Every threshold above 0.3333 and up to 0.6000 separates these pairs." in ran.out
    assert "0.6000 duplicate" in ran.out


def test_the_chart_is_drawn_where_it_was_asked_for(written: Write, tmp_path: Path) -> None:
    ran = twinsift("calibrate", written(PAIRS), "--plot", str(tmp_path / "sweep.png"))
    assert (ran.status, ran.err) == (0, "")
    assert (tmp_path / "sweep.png").read_bytes().startswith(b"\x89PNG")


def test_pairs_may_be_rows_of_csv(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("a;b;duplicate\none two;one two;TRUE\none;two;no\n", encoding="utf-8")
    ran = twinsift("calibrate", str(path), "--threshold", "0.5", "--shingles", "word:1")
    [setting] = json.loads(ran.out)["settings"]
    assert setting["separable"] is True


def test_pairs_that_are_not_labelled_are_left_out_and_counted(written: Write) -> None:
    ran = twinsift("calibrate", written([*PAIRS, {**PAIRS[0], "duplicate": None}]))
    assert (ran.status, ran.err) == (0, "twinsift: 1 pairs are not labelled and left out\n")


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([], "has no labelled pairs"),
        ([PAIRS[0], 7], "line 2 has not a, b and duplicate"),
        ([{**PAIRS[0], "a": 1}], "line 1: a and b must be strings"),
        ([{**PAIRS[0], "duplicate": "yes"}], "line 1: duplicate must be true, false or null"),
        ([{**PAIRS[0], "a": ""}], "line 1: nothing visible is left of the text a"),
    ],
)
def test_a_file_that_cannot_be_swept_is_told_by_its_line(
    written: Write, values: list[Any], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status_here("calibrate", written(values)) == 1
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    "options",
    [
        ["--shingles", "word"],
        ["--shingles", "word:0"],
        ["--threshold", "0"],
        ["--threshold", "1.5"],
        ["--cost-missed", "-1"],
        ["--plot", "sweep.txt"],
    ],
    ids=" ".join,
)
def test_wrong_options_are_usage_errors(written: Write, options: list[str]) -> None:
    assert status_here("calibrate", written(PAIRS), *options) == 2


def test_a_sample_has_pairs_from_both_sides_of_the_threshold(
    service: Service, client: Twinsift
) -> None:
    client.check("a", TRAM.format("north", "it waits for nobody at all"))
    client.check("near", TRAM.format("north", "it waits for nobody here"))
    client.check("missed", TRAM.format("south", "it waits for a few"))
    ran = twinsift("sample", port=service.port)
    pairs = [json.loads(line) for line in ran.out.splitlines()]
    assert [(pair["a_id"], pair["b_id"]) for pair in pairs] == [("a", "near"), ("a", "missed")]
    assert pairs[0]["score"] >= 0.6 > pairs[1]["score"]


def test_a_sample_once_labelled_can_be_swept(
    service: Service, client: Twinsift, written: Write
) -> None:
    client.check("a", TRAM.format("north", "it waits for nobody at all"))
    client.check("near", TRAM.format("north", "it waits for nobody here"))
    [line] = twinsift("sample", port=service.port).out.splitlines()
    ran = twinsift("calibrate", written([{**json.loads(line), "duplicate": True}]))
    assert ran.status == 0
