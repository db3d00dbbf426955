"""The scripts that the server runs: their contracts, read from their sources."""

import re
from itertools import takewhile
from pathlib import Path

import pytest

from service.store.scripts import VERBS

FOLDER = Path(__file__).parents[2] / "service" / "store" / "lua"
SHARED = (
    "records", "looking", "registering", "recalling", "wording", "applying",
    "gathering", "piecing", "history", "publishing",
)  # fmt: skip
CONTRACT = ("KEYS", "ARGV", "Returns")
INCLUDED = re.compile(r"^-- include (\w+)$", re.MULTILINE)
ELSEWHERE = re.compile(r"\b(?:as|what) (\w+)\.lua says")
CALL = re.compile(r"redis\.call\(\s*'([A-Z]+)'\s*,\s*([^,)]+)")


def source(name: str) -> str:
    return (FOLDER / f"{name}.lua").read_text("utf-8")


def test_every_script_is_a_verb_and_every_verb_a_script():
    assert {path.stem for path in FOLDER.glob("*.lua")} == {*VERBS, *SHARED}


@pytest.mark.parametrize("name", VERBS)
def test_a_script_declares_itself_to_the_server_so_that_the_memory_limit_refuses_it_whole(name):
    assert re.match(r"#!lua( flags=(no-writes|allow-oom))?\n", source(name))


def told_at_the_head(name: str, word: str) -> str:
    """What the comment at a script's head says of its keys, arguments or reply; "" for nothing."""
    head = source(name).partition("\n")[2] if source(name).startswith("#!") else source(name)
    comment = "".join(f"{line}\n" for line in takewhile(is_comment, head.split("\n")))
    items = re.split(r"^-- (?=KEYS\b|ARGV\b|Returns\b)", comment, flags=re.MULTILINE)
    return next((item for item in items[1:] if word in re.split(r"  |\n", item)[0]), "")


def is_comment(line: str) -> bool:
    return line.startswith("-- ") or line == "--"


@pytest.mark.parametrize("name", VERBS)
def test_a_script_says_what_it_does_in_its_first_line(name):
    assert source(name).split("\n")[1].startswith(f"-- {name}: ")


@pytest.mark.parametrize("word", CONTRACT)
@pytest.mark.parametrize("name", VERBS)
def test_a_script_has_its_contract_at_its_head_or_names_the_shared_file_that_has_it(name, word):
    told = told_at_the_head(name, word)
    assert told
    for shared in ELSEWHERE.findall(told):
        assert shared in SHARED
        assert told_at_the_head(shared, word), f"{shared}.lua does not say it"


@pytest.mark.parametrize("name", [*VERBS, *SHARED])
def test_a_script_makes_no_key_of_its_own(name):
    keys = [key.strip() for command, key in CALL.findall(source(name)) if command != "INFO"]
    made = [key for key in keys if "'" in key or ".." in key or key.startswith("ARGV")]
    assert made == []


@pytest.mark.parametrize("name", [n for n in VERBS if "no-writes" in source(n).split("\n")[0]])
def test_a_script_that_says_it_writes_nothing_calls_no_command_that_does(name):
    own = source(name) + "".join(source(part) for part in INCLUDED.findall(source(name)))
    commands = {command for command, _ in CALL.findall(own)}
    assert commands <= {
        "HGET", "HMGET", "HGETALL", "HLEN", "HRANDFIELD", "HSCAN", "TIME", "ZRANGE", "ZRANGEBYLEX",
        "ZREVRANGEBYSCORE",
    }  # fmt: skip
