"""The command line: `twinsift serve`, `twinsift token new`."""

import argparse
import os
import sys
from collections.abc import Sequence

import service
from service import settings, tokens
from service.settings import SettingsError
from service.store.embedded import EmbeddedServerError


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; its exit status. What cannot be done is said in one line on stderr."""
    parser = _parser()
    chosen = parser.parse_args(arguments)
    try:
        status: int = chosen.run(chosen)
    except (SettingsError, EmbeddedServerError) as exc:
        sys.stderr.write(f"twinsift: {exc}\n")
        return 1
    return status


def _serve(chosen: argparse.Namespace) -> int:
    from service import serving  # noqa: PLC0415 - `twinsift --help` needs none of it

    serving.serve(settings.load(os.environ), example=chosen.example)


def _new_token(chosen: argparse.Namespace) -> int:
    """The rows for the tokens file on stdout, the token itself on stderr: `>>` keeps only rows."""
    secret, row = tokens.make(chosen.id, chosen.scope, chosen.collection)
    sys.stdout.write(row)
    sys.stderr.write(f"The token, shown this once: {secret}\n")
    return 0


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
    serve.set_defaults(run=_serve)
    token = commands.add_parser("token", help="make bearer tokens")
    actions = token.add_subparsers(title="commands", required=True, metavar="COMMAND")
    new = actions.add_parser(
        "new",
        help="make a token",
        description="Prints a row for the file that TWINSIFT_TOKENS_FILE names, and the token.",
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
    new.set_defaults(run=_new_token)
    return parser


if __name__ == "__main__":
    sys.exit(main())
