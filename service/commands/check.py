"""`twinsift check`: one text, from a file or from stdin."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from service.commands.connecting import add_url, connected
from service.commands.failing import CommandError, UsageError
from service.commands.output import is_for_people, write_fields, write_json
from service.commands.parts import Commands, command
from service.commands.wording import in_words

if TYPE_CHECKING:
    from service.client import Answer

STDIN = "-"
STATUSES = {"ingest": 0, "skip": 10, "review": 11}


def add(commands: Commands) -> None:
    """Adds the command."""
    parser = command(
        commands,
        "check",
        run,
        summary="check one text",
        about="Checks one text, pages apart by form feeds, and says what is to be done with it.\n"
        "The answer is a table at a terminal, and one line of JSON elsewhere.",
        more="Exit status: 0 answered, 1 not answered, 2 wrong options. With --exit-code\n"
        "0 ingest, 10 skip, 11 review.",
    )
    parser.add_argument("file", nargs="?", default=STDIN, help="UTF-8; left out or -: stdin")
    parser.add_argument("--id", help="the text's id; left out: the name of the file, as given")
    parser.add_argument("--collection", help="left out: default")
    parser.add_argument(
        "--metadata",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a string (of `authority` a number); KEY:=VALUE for numbers, true and false; may be "
        "given more than once",
    )
    parser.add_argument("--dry-run", action="store_true", help="answer, and store nothing")
    parser.add_argument(
        "--exit-code", action="store_true", help="tell the action by the exit status"
    )
    add_url(parser)


def run(chosen: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Checks the text."""
    id = chosen.id or chosen.file
    if id == STDIN:
        raise UsageError("a text from stdin needs --id")
    metadata = dict(map(_pair, chosen.metadata)) or None
    text = _text(chosen.file)
    with connected(chosen, environ) as client:
        answer = client.check(
            id,
            text,
            collection=chosen.collection,
            metadata=metadata,
            dry_run=chosen.dry_run,
        )
    if is_for_people():
        _show(answer)
    else:
        write_json(answer.raw)
    return STATUSES.get(answer.action, 1) if chosen.exit_code else 0


def _text(file: str) -> str:
    try:
        raw = sys.stdin.buffer.read() if file == STDIN else Path(file).read_bytes()
        return raw.decode("utf-8")
    except OSError as exc:
        raise CommandError(f"{file}: {exc.strerror}") from None
    except UnicodeDecodeError:
        raise CommandError(f"{file}: is not UTF-8") from None


def _pair(written: str) -> tuple[str, Any]:
    """`key=value` taken apart."""
    key, is_pair, value = written.partition("=")
    is_json = key.endswith(":") or key == "authority"
    key = key.removesuffix(":")
    if not is_pair or not key:
        raise UsageError("--metadata: must be KEY=VALUE or KEY:=VALUE")
    if not is_json:
        return key, value
    try:
        return key, json.loads(value)
    except ValueError:
        raise UsageError(f"--metadata: the value of {key} is no number, true or false") from None


def _show(answer: Answer) -> None:
    match = answer.match
    write_fields(
        {
            "verdict": answer.verdict,
            "action": answer.action,
            "match": match and f"{match.id} ({match.kind}, {match.score}, {match.state})",
            "reason": answer.reason,
            "changes": [in_words(one) for one in answer.changes],
            "conflict": answer.conflict and answer.conflict.id,
            "retire": answer.retire,
            "decision": answer.decision,
            "replayed": answer.replayed or None,
            "removed": [f"{one.rule}: {one.chars} characters" for one in answer.cleaning.removed],
        }
    )
