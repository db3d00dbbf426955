"""Which service a command asks: `--url` and the settings of the client."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from service.commands.failing import CommandError, UsageError
from service.settings import Setting

if TYPE_CHECKING:
    from service.client import Patience, Twinsift

TABLE: Final = (
    Setting("TWINSIFT_URL", "http://127.0.0.1:8000", "the service that the commands ask"),
    Setting(
        "TWINSIFT_TOKEN",
        "",
        "the bearer token that they send. There is no option for it: arguments of a process are "
        "seen by others",
    ),
)
"""The settings of the client, in the order in which README shows them."""


def add_url(parser: argparse.ArgumentParser) -> None:
    """Adds `--url` to a command."""
    parser.add_argument("--url", help="the service to ask; left out: TWINSIFT_URL")


@contextmanager
def connected(
    chosen: argparse.Namespace, environ: Mapping[str, str], patience: Patience | None = None
) -> Iterator[Twinsift]:
    """A client of the service that was chosen; raises CommandError for whatever goes wrong with
    it."""
    from service.client import Twinsift, TwinsiftError  # noqa: PLC0415 - see `commands`

    values = {row.name: environ.get(row.name, "").strip() or row.default for row in TABLE}
    url, token = chosen.url or values["TWINSIFT_URL"], values["TWINSIFT_TOKEN"] or None
    try:
        client = Twinsift(url, token=token, patience=patience)
    except ValueError as exc:
        raise UsageError(f"{'--url' if chosen.url else 'TWINSIFT_URL'}: {exc}") from None
    try:
        with client:
            yield client
    except TwinsiftError as exc:
        request = f" (request {exc.request_id})" if exc.request_id else ""
        raise CommandError(f"{exc}{request}") from None
