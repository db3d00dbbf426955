"""`twinsift import`: texts from files into a running service."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from service.commands.connecting import add_url, connected
from service.commands.failing import CommandError, UsageError
from service.commands.output import is_for_people, write_fields, write_json
from service.commands.parts import Commands, command

if TYPE_CHECKING:
    from service.bulk.importing import Ask
    from service.bulk.mapping import Fields
    from service.bulk.tally import Tally
    from service.client import Twinsift

REFUSED, INTERRUPTED = 3, 130
MORE = """\
The answers file is written in order, a line for each item, and is what --resume goes on
from. Items that were answered but not written are asked again, which counts nothing twice.

Exit status: 0 all were answered; 1 it stopped or could not begin; 2 wrong options; 3 some
items were refused, which are named on stderr by their lines; 130 interrupted.
"""


def add(commands: Commands) -> None:
    """Adds the command."""
    parser = command(
        commands,
        "import",
        run,
        summary="check the texts of files: JSON lines or CSV, packed or not",
        about="Checks each text of the files in order: JSON lines, or CSV with a header; as they\n"
        "are, or packed with gzip or zstd. What a file is is seen by how it begins.",
        more=MORE,
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="or - for stdin")
    parser.add_argument("--format", choices=["jsonl", "csv"], help="left out: as a file begins")
    parser.add_argument("--id", metavar="FIELD", help="left out: id")
    parser.add_argument(
        "--id-from", choices=["line", "hash"],
        help="make ids for items that have none: of file and line, or of the text (then an equal "
        "text is asked about once more, and no copy)",
    )  # fmt: skip
    texts = parser.add_mutually_exclusive_group()
    texts.add_argument("--text", metavar="FIELD", help="left out: text")
    texts.add_argument("--pages", metavar="FIELD", help="a list of texts; left out: pages")
    parser.add_argument(
        "--metadata", action="append", default=[], metavar="FIELD[=NAME]",
        help="take this field into the metadata; may be given more than once; left out: the "
        "object that is under `metadata`",
    )  # fmt: skip
    collections = parser.add_mutually_exclusive_group()
    collections.add_argument("--collection", metavar="NAME", help="left out: default")
    collections.add_argument("--collection-field", metavar="FIELD", help="a field that names it")
    parser.add_argument("--answers", metavar="OUT", type=Path, help="write the answers here")
    parser.add_argument("--resume", action="store_true", help="go on where the answers end")
    parser.add_argument(
        "--dry-run", nargs="?", const="all", choices=["all", "store"],
        help="answer, and store nothing: compared with what is stored and the items before, which "
        "takes a collection made for it and removed afterwards (scopes check, read and admin); or "
        "with `store` alone",
    )  # fmt: skip
    parser.add_argument(
        "--in-flight", type=int, default=1, metavar="N",
        help="ask for so many batches at once; above 1 which of two copies is new is chance",
    )  # fmt: skip
    parser.add_argument(
        "--patience", type=float, default=300.0, metavar="SECONDS",
        help="how long a service that does not answer is asked again; left out: 300",
    )  # fmt: skip
    export = parser.add_argument_group("of what `twinsift export` wrote")
    export.add_argument("--into", metavar="NAME", help="into this collection, which is made")
    export.add_argument(
        "--settings", metavar="FILE", type=Path,
        help="JSON: settings that it gets in place of those that it had",
    )  # fmt: skip
    add_url(parser)


def run(chosen: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Imports, and tells what came of it."""
    from service.bulk.errors import BulkError  # noqa: PLC0415 - see `commands`
    from service.bulk.tally import Tally  # noqa: PLC0415 - see `commands`
    from service.client import Patience  # noqa: PLC0415 - see `commands`

    if chosen.resume and (chosen.answers is None or chosen.dry_run):
        raise UsageError("--resume needs --answers, and no --dry-run")
    if chosen.in_flight < 1:
        raise UsageError("--in-flight must be 1 or more")
    tally = Tally()
    patience = Patience(attempts=1_000_000, seconds=chosen.patience)
    try:
        with connected(chosen, environ, patience) as client:
            _import(chosen, client, tally)
    except (BulkError, CommandError) as exc:
        _tell(tally, is_complete=False)
        go_on = f"; {_how_to_go_on(chosen)}" if tally.items else ""
        raise CommandError(f"{exc}{go_on}") from None
    except KeyboardInterrupt:
        _tell(tally, is_complete=False)
        sys.stderr.write(f"twinsift: interrupted; {_how_to_go_on(chosen)}\n")
        return INTERRUPTED
    _tell(tally, is_complete=True)
    return REFUSED if tally.refused else 0


def _import(chosen: argparse.Namespace, client: Twinsift, tally: Tally) -> None:
    from service.bulk.files import TextFile  # noqa: PLC0415 - see `commands`
    from service.bulk.importing import ask_all, skip_answered  # noqa: PLC0415 - see `commands`
    from service.bulk.journal import Journal  # noqa: PLC0415 - see `commands`
    from service.bulk.progress import Progress  # noqa: PLC0415 - see `commands`
    from service.bulk.reading import lines_of  # noqa: PLC0415 - see `commands`
    from service.bulk.restoring import Restoring  # noqa: PLC0415 - see `commands`

    with ExitStack() as stack:
        files = []
        for name in chosen.files:
            files.append(TextFile(name))
            stack.callback(files[-1].close)
        restoring = Restoring(
            client,
            into=chosen.into,
            settings=_settings(chosen.settings),
            is_dry=chosen.dry_run is not None,
        )
        lines = lines_of(files, chosen.format, _fields(chosen), restoring)
        journal = None
        if chosen.answers is not None:
            journal = Journal(chosen.answers, resume=chosen.resume)
            stack.callback(journal.close)
            skip_answered(lines, journal, tally)
        progress = stack.enter_context(Progress(files, tally))
        ask = _asks(chosen, client, stack)
        ask_all(lines, ask, restoring.rule, journal=journal, tally=tally, progress=progress)
        tally.left_out = restoring.left_out


def _settings(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        settings = json.loads(path.read_text("utf-8"))
    except OSError as exc:
        raise CommandError(f"{path}: {exc.strerror}") from None
    except ValueError:
        settings = None
    if not isinstance(settings, dict):
        raise CommandError(f"{path}: is no JSON object")
    return settings


def _fields(chosen: argparse.Namespace) -> Fields:
    from service.bulk.mapping import Fields  # noqa: PLC0415 - see `commands`

    pairs = (written.partition("=") for written in chosen.metadata)
    return Fields(
        id=chosen.id or "id",
        text=chosen.text,
        pages=chosen.pages,
        metadata={field: name or field for field, _, name in pairs},
        collection=chosen.collection,
        collection_field=chosen.collection_field,
        id_from=chosen.id_from,
    )


def _asks(chosen: argparse.Namespace, client: Twinsift, stack: ExitStack) -> Ask:
    """How the items are asked about."""
    from service.bulk.dry_run import Rehearsal, against_store  # noqa: PLC0415 - see `commands`

    if chosen.dry_run == "store":
        return lambda items: against_store(client, items)
    if chosen.dry_run == "all":
        rehearsal = Rehearsal(client)
        stack.callback(rehearsal.close)
        return rehearsal.ask

    def ask(items: Iterable[Any]) -> Iterator[Any]:
        return client.check_many(items, in_flight=chosen.in_flight)

    return ask


def _tell(tally: Tally, *, is_complete: bool) -> None:
    """The summary on stdout, the refused items on stderr."""
    from service.bulk.tally import MOST_NAMED  # noqa: PLC0415 - see `commands`

    for line in tally.named:
        sys.stderr.write(f"refused: {line}\n")
    if tally.refused > MOST_NAMED:
        sys.stderr.write(f"refused: {tally.refused - MOST_NAMED} more, see the answers\n")
    told = {**tally.as_json(), "complete": is_complete}
    if not is_for_people():
        write_json(told)
        return
    for name in ("verdicts", "actions"):
        told[name] = [f"{count:,} {word}" for word, count in told[name].items()]
    write_fields(told)


def _how_to_go_on(chosen: argparse.Namespace) -> str:
    if chosen.dry_run:
        return "nothing was stored"
    if chosen.answers is None:
        return "run it again: what was answered is a replay (--answers and --resume skip it)"
    return "go on with the same command and --resume"
