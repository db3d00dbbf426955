"""What a page shows of long texts, so that it stays small whatever was posted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from markupsafe import Markup, escape

from service.web.review.showing import shown

MOST_BYTES: Final = 98_000
"""Of a page. What it loads beside is small and kept by the browser."""
_STEP: Final = 16  # characters that are looked at together


class Excerpt(NamedTuple):
    """The beginning of a text as it is shown, and how many characters are left out behind it."""

    text: Markup
    left_out: int


def excerpt(text: str, most: int) -> Excerpt:
    """As much of a text as takes at most `most` bytes when it is shown."""
    pieces: list[Markup] = []
    for at in range(0, len(text), _STEP):
        piece = shown(text[at : at + _STEP])
        most -= len(piece.encode())
        if most < 0:
            return Excerpt(Markup("").join(pieces), len(text) - at)
        pieces.append(piece)
    return Excerpt(Markup("").join(pieces), 0)


def with_typed(render: Callable[[str | None], str], typed: str) -> str:
    """The page that `render` makes of what was typed into its form; where that makes the page too
    large, the page that it makes of None."""
    without = render(None)
    if len(without.encode()) + len(escape(typed).encode()) > MOST_BYTES:
        return without
    return render(typed)
