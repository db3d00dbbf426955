"""The command line: `twinsift serve`."""

import argparse
import os
import sys
from collections.abc import Sequence

import service
from service import settings
from service.settings import SettingsError
from service.store.embedded import EmbeddedServerError


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; its exit status. What cannot be done is said in one line on stderr."""
    parser = _parser()
    chosen = parser.parse_args(arguments)
    try:
        return _serve(example=chosen.example)
    except (SettingsError, EmbeddedServerError) as exc:
        sys.stderr.write(f"twinsift: {exc}\n")
        return 1


def _serve(*, example: bool) -> int:
    from service import serving  # noqa: PLC0415 - `twinsift --help` needs none of it

    serving.serve(settings.load(os.environ), example=example)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="twinsift", description=service.__doc__)
    parser.add_argument("--version", action="version", version=service.__version__)
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    serve = commands.add_parser(
        "serve",
        help="serve HTTP",
        description="Serves HTTP. Everything is set by the environment:",
        epilog="\n".join(
            f"{row.name} ({row.default or 'unset'})\n    {row.help}" for row in settings.TABLE
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    serve.add_argument(
        "--example", action="store_true", help="print a request to try, once it is answered"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
