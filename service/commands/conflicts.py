"""`twinsift conflicts`: what waits for a person, and a ruling on it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from service.commands.connecting import add_url, connected
from service.commands.failing import UsageError
from service.commands.output import is_for_people, write_fields, write_json, write_table
from service.commands.parts import Commands, command
from service.commands.wording import in_words

if TYPE_CHECKING:
    from service.client import Conflict, Twinsift

COLUMNS = ("conflict", "opened", "collection", "existing", "incoming", "score", "facts that differ")
MOST_ROWS = 100


def add(commands: Commands) -> None:
    """Adds the command."""
    parser = command(
        commands,
        "conflicts",
        run,
        summary="list conflicts, show one, rule on one",
        about="Lists conflicts, the newest first; with an id, shows that one; with --resolve,\n"
        "rules on it. Tables at a terminal, elsewhere a line of JSON for each.",
    )
    parser.add_argument("id", nargs="?", help="the conflict to show or to rule on")
    parser.add_argument("--collection", help="list those of this one alone")
    parser.add_argument(
        "--status",
        choices=["open", "resolved", "void", "all"],
        default="open",
        help="list these; left out: open",
    )
    parser.add_argument("--resolve", choices=["incoming", "existing", "both"], help="what stays")
    parser.add_argument("--by", help="who rules")
    parser.add_argument("--note", help="and why")
    add_url(parser)


def run(chosen: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Lists, shows or rules."""
    if chosen.resolve and not (chosen.id and chosen.by):
        raise UsageError("--resolve needs the conflict's id, and --by")
    if (chosen.by or chosen.note) and not chosen.resolve:
        raise UsageError("--by and --note belong to --resolve")
    with connected(chosen, environ) as client:
        if chosen.id is None:
            _list(client, chosen)
        elif chosen.resolve is None:
            _show(client.conflict(chosen.id))
        else:
            _show(client.resolve(chosen.id, chosen.resolve, by=chosen.by, note=chosen.note))
    return 0


def _list(client: Twinsift, chosen: argparse.Namespace) -> None:
    status = None if chosen.status == "all" else chosen.status
    found = client.conflicts(collection=chosen.collection, status=status)
    if not is_for_people():
        for one in found:
            write_json(one.raw)
        return
    write_table(COLUMNS, map(_row, islice(found, MOST_ROWS)))
    _tell_of_more(found)


def _tell_of_more(found: Iterator[Conflict]) -> None:
    if next(found, None) is not None:
        write_fields({"more": f"these are the newest {MOST_ROWS}; in a pipe all are given"})


def _row(one: Conflict) -> list[Any]:
    return [
        one.id,
        f"{one.opened_at:%Y-%m-%d %H:%M}",
        one.collection,
        one.existing.id,
        one.incoming.id,
        one.score,
        [in_words(change) for change in one.changes if change.fact],
    ]


def _show(one: Conflict) -> None:
    if not is_for_people():
        write_json(one.raw)
        return
    ruling = one.resolution
    write_fields(
        {
            "conflict": one.id,
            "status": one.status,
            "score": str(one.score),
            "facts": [in_words(change) for change in one.changes if change.fact],
            "wording": [in_words(change) for change in one.changes if not change.fact],
            "existing": one.existing.id,
            " text": one.existing.text,
            " metadata": [f"{key}: {value}" for key, value in one.existing.metadata.items()],
            "incoming": one.incoming.id,
            " text ": one.incoming.text,
            " metadata ": [f"{key}: {value}" for key, value in one.incoming.metadata.items()],
            "kept": ruling and f"{ruling.keep}, by {ruling.by}, {ruling.at:%Y-%m-%d %H:%M}",
            "note": ruling and ruling.note,
            "ingest": getattr(one, "ingest", None),
            "retire": getattr(one, "retire", None),
        }
    )
