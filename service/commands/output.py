"""What a command says: tables for people at a terminal, JSON for whatever reads a pipe."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def is_for_people() -> bool:
    """Whether stdout is a terminal."""
    return sys.stdout.isatty()


def write_json(value: Mapping[str, Any]) -> None:
    """One line of JSON."""
    import orjson  # noqa: PLC0415 - see `commands`

    sys.stdout.write(orjson.dumps(value).decode() + "\n")


def write_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A table as wide as the terminal at most; numbers stand to the right."""
    from rich.table import Table  # noqa: PLC0415 - see `commands`

    listed = [list(row) for row in rows]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, name in enumerate(columns):
        is_number = all(isinstance(row[place], int | float) for row in listed)
        table.add_column(name, justify="right" if is_number and listed else "left")
    for row in listed:
        table.add_row(*map(_cell, row))
    _print(table)


def write_fields(fields: Mapping[str, Any]) -> None:
    """A name and its value a line; what is null or empty is left out."""
    from rich.table import Table  # noqa: PLC0415 - see `commands`

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in fields.items():
        if value not in (None, "", (), []):
            table.add_row(name, _cell(value))
    _print(table)


def safe(text: str) -> str:
    """A text that moves no cursor and changes no colour: control characters are shown escaped."""
    return _CONTROLS.sub(lambda found: ascii(found[0])[1:-1], text)


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, str):
        return safe(value)
    if isinstance(value, list | tuple):
        return "\n".join(map(_cell, value))
    return "" if value is None else str(value)


def _print(table: Any) -> None:
    from rich.console import Console  # noqa: PLC0415 - see `commands`

    Console(markup=False, highlight=False, emoji=False).print(table)
