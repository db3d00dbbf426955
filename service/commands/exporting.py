"""`twinsift export`: all that a service knows, as lines of JSON."""

from __future__ import annotations

import argparse
import gzip
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from service.commands.connecting import add_url, connected
from service.commands.failing import CommandError, UsageError
from service.commands.parts import Commands, command


def add(commands: Commands) -> None:
    """Adds the command."""
    parser = command(
        commands,
        "export",
        run,
        summary="write documents, settings and the log as JSON lines",
        about="Writes the log, the settings and the documents in every state as JSON lines, which\n"
        "`twinsift import` reads.",
    )
    parser.add_argument("--collection", help="this one alone; left out: all")
    parser.add_argument(
        "--to", metavar="FILE", type=Path, help="packed where it ends in .gz; left out: stdout"
    )
    parser.add_argument(
        "--since", metavar="EXPORT", help="only what has changed after this earlier export"
    )
    add_url(parser)


def run(chosen: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Exports."""
    import orjson  # noqa: PLC0415 - see `commands`

    from service.bulk.errors import BulkError  # noqa: PLC0415 - see `commands`
    from service.bulk.exporting import exported, mark_in  # noqa: PLC0415 - see `commands`

    if chosen.to is None and sys.stdout.isatty():
        raise UsageError("an export is not for a terminal: name a file with --to, or use a pipe")
    try:
        since = None if chosen.since is None else mark_in(chosen.since)
    except BulkError as exc:
        raise CommandError(str(exc)) from None
    with connected(chosen, environ) as client, _written(chosen.to) as out:
        for line in exported(client, chosen.collection, since):
            out.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
    return 0


@contextmanager
def _written(path: Path | None) -> Iterator[IO[bytes]]:
    """Where the lines go. A file gets its name once it is whole."""
    if path is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("xb") as raw:
            if path.suffix == ".gz":
                with gzip.open(raw, "wb", compresslevel=6) as packed:
                    yield cast("IO[bytes]", packed)
            else:
                yield raw
        part.rename(path)
    except OSError as exc:
        raise CommandError(f"{path}: {exc.strerror}") from None
    finally:
        part.unlink(missing_ok=True)
