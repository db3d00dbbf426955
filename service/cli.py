"""The command line: `twinsift COMMAND`. Each command is a file in `service/commands/`."""

import argparse
import os
import sys
from collections.abc import Sequence

import service
from service.commands import (
    calibrate,
    check,
    conflicts,
    exporting,
    importing,
    repair,
    sample,
    serve,
    stats,
    token,
)
from service.commands.failing import CommandError, UsageError
from service.settings import SettingsError
from service.store.embedded import EmbeddedServerError

COMMANDS = (
    serve,
    check,
    importing,
    exporting,
    conflicts,
    stats,
    repair,
    sample,
    calibrate,
    token,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; its exit status. What cannot be done is said in one line on stderr."""
    chosen = _parser().parse_args(arguments)
    try:
        status: int = chosen.run(chosen, os.environ)
    except (SettingsError, EmbeddedServerError, CommandError) as exc:
        sys.stderr.write(f"twinsift: {exc}\n")
        return 1
    except UsageError as exc:
        sys.stderr.write(f"twinsift: {exc}\n")
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # whoever read the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="twinsift", description=service.__doc__)
    parser.add_argument("--version", action="version", version=service.__version__)
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
