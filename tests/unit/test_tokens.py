"""Tokens: what the file may say, and that it is read again."""

import logging
import os
import re
from hashlib import sha256
from pathlib import Path

import pytest

from service.cli import main
from service.settings import SettingsError
from service.tokens import Scope, Tokens, make

DIGEST = sha256(b"tw_secret").hexdigest()
ROW = f'[[token]]\nid = "worker"\nsha256 = "{DIGEST}"\nscopes = ["check"]\n'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tokens.toml"


def write(path: Path, text: str) -> None:
    """Writes the file with a time of its own, however fast the test is."""
    later = path.stat().st_mtime_ns + 1_000_000 if path.exists() else None
    path.write_text(text, encoding="utf-8")
    if later is not None:
        os.utime(path, ns=(later, later))


def test_a_token_is_found_by_its_digest(path):
    write(path, ROW)
    found = Tokens(path).find("tw_secret")
    assert found is not None
    assert (found.id, found.collections) == ("worker", None)
    assert found.scopes == frozenset({Scope.CHECK})


@pytest.mark.parametrize("secret", ["", "tw_other", DIGEST, "tw_secret ", "tw_ſecret", "\udcff"])
def test_no_other_secret_finds_it(path, secret):
    write(path, ROW)
    assert Tokens(path).find(secret) is None


def test_a_file_that_changed_is_read_again(path):
    write(path, ROW)
    tokens = Tokens(path)
    secret, row = make("auditor", ["read", "review"], ["handbook"])
    write(path, ROW + row)
    found = tokens.find(secret)
    assert found is not None
    assert found.collections == frozenset({"handbook"})
    write(path, row)
    assert tokens.find("tw_secret") is None


@pytest.mark.parametrize("broken", ["[[token", "gone"])
def test_tokens_stay_as_they_were_where_the_file_breaks_later(path, broken, caplog):
    write(path, ROW)
    tokens = Tokens(path)
    if broken == "gone":
        path.unlink()
    else:
        write(path, broken)
    with caplog.at_level(logging.WARNING):
        assert tokens.find("tw_secret") is not None
    assert "the tokens stay as they were" in caplog.text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[token", "not TOML"),
        ("other = 1", "beside [[token]]"),
        ("token = 1", "beside [[token]]"),
        ("[[token]]\nid = 'a'\nname = 'b'", "token 1: has something beside"),
        (ROW.replace('id = "worker"\n', ""), "token 1: has no id"),
        (ROW.replace(DIGEST, "abc"), "token 1: sha256 is not 64 hex digits"),
        (ROW.replace('"check"', '"all"'), "token 1: scopes are not some of check, read"),
        (ROW.replace('["check"]', "[]"), "token 1: scopes are not some of"),
        (ROW + "collections = []", "token 1: collections are no list of names"),
        (ROW + ROW, "two tokens have the same id"),
        (ROW + ROW.replace("worker", "other"), "two tokens have the same digest"),
    ],
)
def test_a_file_that_means_nothing_clear_stops_the_start(path, text, words):
    write(path, text)
    with pytest.raises(SettingsError, match=re.escape(words)):
        Tokens(path)


def test_a_file_that_is_not_there_stops_the_start(path):
    with pytest.raises(SettingsError, match="TWINSIFT_TOKENS_FILE: the file cannot be read"):
        Tokens(path)


def test_the_command_makes_a_row_for_the_file_and_shows_the_token_apart(path, capsys):
    arguments = ["token", "new", "--id", 'a "b"', "--scope", "check", "--collection", "handbook"]
    assert main(arguments) == 0
    told = capsys.readouterr()
    secret = told.err.split()[-1]
    assert secret not in told.out
    write(path, told.out)
    found = Tokens(path).find(secret)
    assert found is not None
    assert (found.id, found.collections) == ('a "b"', frozenset({"handbook"}))
