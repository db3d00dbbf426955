"""The scripts that the server runs: their contracts, read from their sources."""

import re
from pathlib import Path

import pytest

from service.store.connection import VERBS

FOLDER = Path(__file__).parents[2] / "service" / "store" / "lua"
SHARED = ("records", "looking", "registering")
INCLUDED = re.compile(r"^-- include (\w+)$", re.MULTILINE)
CALL = re.compile(r"redis\.call\(\s*'([A-Z]+)'\s*,\s*([^,)]+)")


def source(name: str) -> str:
    return (FOLDER / f"{name}.lua").read_text("utf-8")


def test_every_script_is_a_verb_and_every_verb_a_script():
    assert {path.stem for path in FOLDER.glob("*.lua")} == {*VERBS, *SHARED}


@pytest.mark.parametrize("name", VERBS)
def test_a_script_declares_itself_to_the_server_so_that_the_memory_limit_refuses_it_whole(name):
    assert re.match(r"#!lua( flags=(no-writes|allow-oom))?\n", source(name))


@pytest.mark.parametrize("name", VERBS)
def test_a_script_has_its_contract_at_its_head(name):
    head = source(name).split("\n")[1:3]
    assert head[0].startswith(f"-- {name}: ")
    assert all(word in source(name) for word in ("-- KEYS", "-- ARGV", "-- Returns"))


@pytest.mark.parametrize("name", [*VERBS, *SHARED])
def test_a_script_makes_no_key_of_its_own(name):
    keys = [key.strip() for _, key in CALL.findall(source(name))]
    made = [key for key in keys if "'" in key or ".." in key or key.startswith("ARGV")]
    assert made == []


@pytest.mark.parametrize("name", [n for n in VERBS if "no-writes" in source(n).split("\n")[0]])
def test_a_script_that_says_it_writes_nothing_calls_no_command_that_does(name):
    own = source(name) + "".join(source(part) for part in INCLUDED.findall(source(name)))
    commands = {command for command, _ in CALL.findall(own)}
    assert commands <= {"HGET", "HMGET", "HRANDFIELD", "ZRANGEBYLEX"}
