"""`twinsift serve`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from service import settings
from service.commands.parts import Commands, command


def add(commands: Commands) -> None:
    """Adds the command."""
    parser = command(
        commands,
        "serve",
        run,
        summary="serve HTTP",
        about="Serves HTTP. Everything is set by the environment:",
        more="\n".join(
            f"{row.name} ({row.default or 'unset'})\n    {row.help}" for row in settings.TABLE
        ),
    )
    parser.add_argument(
        "--example", action="store_true", help="print a request to try, once it is answered"
    )


def run(chosen: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Serves until told to stop."""
    from service import serving  # noqa: PLC0415 - the other commands need none of it

    serving.serve(settings.load(environ), example=chosen.example)
