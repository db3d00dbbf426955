"""`twinsift token new`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping

from service import tokens
from service.commands.parts import Commands, command


def add(commands: Commands) -> None:
    """Adds the command."""
    token = commands.add_parser("token", help="make bearer tokens")
    actions = token.add_subparsers(title="commands", required=True, metavar="COMMAND")
    new = command(
        actions,
        "new",
        run,
        summary="make a token",
        about="Prints a row for the file that TWINSIFT_TOKENS_FILE names, and the token.",
    )
    new.add_argument("--id", required=True, help="what the token is called")
    new.add_argument(
        "--scope",
        action="append",
        required=True,
        choices=[scope.value for scope in tokens.Scope],
        help="what it is good for; may be given more than once",
    )
    new.add_argument(
        "--collection",
        action="append",
        default=[],
        help="a collection it is for, more than once for several; left out: all",
    )


def run(chosen: argparse.Namespace, _environ: Mapping[str, str]) -> int:
    """The rows for the tokens file on stdout, the token itself on stderr: `>>` keeps only rows."""
    secret, row = tokens.make(chosen.id, chosen.scope, chosen.collection)
    sys.stdout.write(row)
    sys.stderr.write(f"The token, shown this once: {secret}\n")
    return 0
