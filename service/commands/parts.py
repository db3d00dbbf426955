"""What commands have in common on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import TypeAlias

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
"""Where a command adds itself."""

Run = Callable[[argparse.Namespace, Mapping[str, str]], int]


def command(
    commands: Commands, name: str, run: Run, *, summary: str, about: str = "", more: str = ""
) -> argparse.ArgumentParser:
    """A command of this name: `summary` stands in the list of commands, `about` above and `more`
    below its own options."""
    parser = commands.add_parser(
        name,
        help=summary,
        description=about or f"{summary[0].upper()}{summary[1:]}.",
        epilog=more,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser
