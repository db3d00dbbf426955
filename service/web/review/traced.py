"""A text as it was posted, with what cleaning took away struck through where it stood."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from service.text.characters import BLANK_CHARACTERS, BLANKS
from service.text.cleaning_trace import Piece
from service.web.review.fitting import excerpt

NAMES: Final = {
    "control_characters": "control characters",
    "invisible_characters": "invisible characters",
    "line_ends": "line ends",
    "whitespace": "blanks",
    "empty_lines": "empty lines",
    "repeated_lines": "running headers and footers",
    "page_numbers": "page numbers",
}
"""The rules of cleaning in words."""

_OTHER_BLANKS: Final = re.compile(f"[{BLANKS[2:]}]")  # all but space and tab
_MARKUP = {
    "removed": Markup('<del title="{}">{}</del>'),
    "added": Markup('<ins title="{}">{}</ins>'),
}


@dataclass(frozen=True, slots=True)
class Traced:
    """The pages as markup; `is_whole`: nothing of the text is left out."""

    pages: tuple[Markup, ...]
    is_whole: bool


def traced(pages: Sequence[Sequence[Piece]], length: int, most: int) -> Traced:
    """The pieces of a text of `length` characters, in at most `most` bytes or little more."""
    done: list[Markup] = []
    for page in pages:
        pieces: list[Markup] = []
        for piece in page:
            told, is_whole = _told(piece, most)
            pieces.append(told)
            most -= len(told.encode())
            if not is_whole or most < 0:
                done.append(Markup("").join(pieces))
                return Traced(tuple(done), is_whole=False)
        done.append(Markup("").join(pieces))
    posted = sum(len(piece.text) for page in pages for piece in page if piece.kind != "added")
    return Traced(tuple(done), is_whole=posted == length)


def _told(piece: Piece, most: int) -> tuple[Markup, bool]:
    text = piece.text if piece.kind == "kept" else _visible(piece.text)
    part = excerpt(text, most)
    if piece.rule is None:
        return part.text, not part.left_out
    return _MARKUP[piece.kind].format(NAMES[piece.rule], part.text), not part.left_out


def _visible(text: str) -> str:
    """A text of which blanks and line breaks can be seen, which a line through it does not show."""
    is_blank = not text.strip(f"{BLANK_CHARACTERS}\n")
    seen = text.replace("\t", "⇥").replace(" ", "·" if is_blank else " ")
    return _OTHER_BLANKS.sub("␣", seen).replace("\n", "↵\n")
