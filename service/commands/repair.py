"""`twinsift repair`: finds and mends what a failover left torn."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from service import settings
from service.commands.failing import CommandError, UsageError
from service.commands.parts import Commands, command

if TYPE_CHECKING:
    from service.repairing import Told

ABOUT = """\
Walks names, documents, buckets, conflicts and log of collections with several partitions, and mends
what lost writes left torn, while checks go on. It asks the store itself: TWINSIFT_REDIS_URL says
where that is. A line for each kind of damage; status 0 where all is whole, or mended."""


def add(commands: Commands) -> None:
    """Adds the command."""
    parser = command(commands, "repair", run, summary="mend what a failover left torn", about=ABOUT)
    parser.add_argument("--collection", metavar="NAME", help="this one alone")
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="tell what is torn and change nothing; status 1 where anything is",
    )


def run(chosen: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Repairs."""
    from service import repairing  # noqa: PLC0415 - the other commands need none of it

    known = settings.load(environ)
    if known.redis_url is None:
        raise UsageError("TWINSIFT_REDIS_URL is not set: the embedded store is never torn")
    try:
        repair = repairing.repair_of(known)
        for told in repair.run(chosen.collection, dry_run=chosen.dry_run):
            sys.stdout.write(f"{_line(told)}\n")
            sys.stdout.flush()
    except repairing.CANNOT as error:
        raise CommandError(str(error)) from error
    if not repair.all_seen:
        sys.stderr.write("twinsift: the store's user may not SCAN: keys that no name leads to were "
                         "not looked for\n")  # fmt: skip
    if repair.is_whole:
        sys.stdout.write("whole\n")
    return 0 if repair.is_whole else 1


def _line(told: Told) -> str:
    """One kind of damage in words, without anything posted."""
    where = "store" if told.collection is None else f"collection {told.collection}"
    mended = told.found - told.left
    return f"{where}: {told.damage}: {told.found} found, {mended} mended"
