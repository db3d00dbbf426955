"""How changes are put for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from service.client import Change

_LONGEST = 60


def in_words(change: Change) -> str:
    """`quantity: 2 hours -> 3 hours`."""
    return f"{change.kind}: {_short(change.before)} -> {_short(change.after)}"


def _short(text: str | None) -> str:
    if text is None:
        return "nothing"
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
