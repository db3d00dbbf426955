"""Cuts a text into pieces: what is the same, what a change is about, and what is left out between.

All of it is pure. Offsets are code points, weights the bytes that a piece takes on a page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from service.web.review.showing import is_unseen

CONTEXT_LINES: Final = 3
# What a mark weighs beside its words: its tags, its label and its links.
WEIGHT_OF_A_MARK: Final = 420
WEIGHT_OF_A_GAP: Final = 160
_WEIGHT_OF_THE_UNSEEN: Final = 130
_WEIGHT_OF_THE_ESCAPED: Final = 6
_WORTH_A_GAP: Final = 60
_LONGEST_WORD: Final = 40


@dataclass(frozen=True, slots=True)
class Place:
    """Where a change is in a text; `fact`: it is one of a fact."""

    start: int
    end: int
    fact: bool


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text from `start` on. `change` is the number of the change that it is marked
    for, None for what is the same; `begins` are the changes whose places begin with it. Where
    `left_out` is not 0 so many characters stand here that are not shown."""

    start: int
    text: str
    change: int | None = None
    begins: tuple[int, ...] = ()
    left_out: int = 0


def place(
    text: str, words: str | None, span: tuple[int, int] | None, *, fact: bool
) -> Place | None:
    """Where a change is in this text; None where it has no words there, or other ones by now."""
    if words is None or span is None or not 0 <= span[0] < span[1] <= len(text):
        return None
    return Place(*span, fact) if text[slice(*span)] == words else None


def cut(text: str, places: Mapping[int, Place]) -> list[Piece]:
    """The whole text in pieces. Where places overlap, what both cover is marked for the fact, then
    for the shorter one."""
    edges = {0, len(text)} | {edge for one in places.values() for edge in (one.start, one.end)}
    pieces: list[Piece] = []
    for start, end in pairwise(sorted(edges)):
        over = [n for n, one in places.items() if one.start <= start and one.end >= end]
        change = min(over, key=lambda n: _rank(n, places[n]), default=None)
        begins = tuple(sorted(n for n in over if places[n].start == start))
        last = pieces[-1] if pieces else None
        if last is not None and last.change == change and not begins:
            pieces[-1] = replace(last, text=last.text + text[start:end])
        else:
            pieces.append(Piece(start, text[start:end], change, begins))
    return pieces


def _rank(number: int, one: Place) -> tuple[bool, int, int]:
    return not one.fact, one.end - one.start, number


def collapse(
    pieces: Sequence[Piece], context: int, longest_mark: int, shown: Iterable[int] | None = None
) -> list[Piece]:
    """The pieces with so many characters of what is the same around each mark, at most
    `CONTEXT_LINES` lines, and so many of the words of a mark. `shown`: marks of other changes count
    as the same (None: all are shown)."""
    wanted = None if shown is None else set(shown)
    joined = list(_joined(pieces, wanted))
    kept: list[Piece] = []
    for at, piece in enumerate(joined):
        if piece.change is not None:
            kept += _without_middle(piece, longest_mark, longest_mark)
            continue
        head = context if at > 0 else 0
        tail = context if at + 1 < len(joined) else 0
        if len(joined) == 1:
            head = 2 * context
        kept += _without_middle(piece, head, tail)
    return kept


def _joined(pieces: Iterable[Piece], wanted: set[int] | None) -> Iterator[Piece]:
    """The pieces with those that are marked for unwanted changes as part of what is the same."""
    last: Piece | None = None
    for piece in pieces:
        hidden = wanted is not None and piece.change is not None and piece.change not in wanted
        now = replace(piece, change=None, begins=()) if hidden else piece
        if last is not None and last.change is None and now.change is None:
            last = replace(last, text=last.text + now.text)
            continue
        if last is not None:
            yield last
        last = now
    if last is not None:
        yield last


def _without_middle(piece: Piece, head: int, tail: int) -> list[Piece]:
    """The piece, or its beginning and its end, cut between lines or words where there are any."""
    text = piece.text
    first = _end_of_context(text, head) if head else 0
    ending = text[max(0, len(text) - tail - 1) :][::-1]
    last = len(text) - (_end_of_context(ending, tail) if tail else 0)
    if last - first <= _WORTH_A_GAP:
        return [piece]
    parts = [
        replace(piece, text=text[:first]),
        Piece(piece.start + first, "", piece.change, left_out=last - first),
        replace(piece, start=piece.start + last, text=text[last:], begins=()),
    ]
    if not first and piece.begins:
        parts[1] = replace(parts[1], begins=piece.begins)
    return [part for part in parts if part.text or part.left_out]


def _end_of_context(text: str, most: int) -> int:
    """Where the context at the beginning of a text ends."""
    end = min(most, len(text))
    at = -1
    for _ in range(CONTEXT_LINES):
        at = text.find("\n", at + 1, end)
        if at < 0:
            break
    else:
        return at
    if end < len(text):
        space = max(text.rfind(" ", max(0, end - _LONGEST_WORD), end), 0)
        return space or end
    return end


def part_of(pieces: Iterable[Piece], start: int, end: int) -> list[Piece]:
    """What of the pieces stands between two offsets."""
    kept = []
    for piece in pieces:
        first, last = max(start, piece.start), min(end, piece.start + len(piece.text))
        if first < last:
            text = piece.text[first - piece.start : last - piece.start]
            begins = piece.begins if first == piece.start else ()
            kept.append(replace(piece, start=first, text=text, begins=begins))
    return kept


def weight(text: str) -> int:
    """How many bytes the text takes on a page, or a few more."""
    return sum(map(_weight_of, text))


def _weight_of(character: str) -> int:
    if character in "&<>\"'":
        return _WEIGHT_OF_THE_ESCAPED
    if character.isascii() and character.isprintable():
        return 1
    return (
        _WEIGHT_OF_THE_UNSEEN if is_unseen(character) else len(character.encode("utf-8", "replace"))
    )


def reach(text: str, start: int, most: int, *, back: bool = False) -> int:
    """How far one comes from `start` with so much weight, one character at least."""
    left, at, step = most, start, -1 if back else 1
    while 0 <= (here := at - back) < len(text):
        left -= _weight_of(text[here])
        if left < 0 and at != start:
            break
        at += step
    return at


def clipped(text: str, most: int) -> tuple[str, int]:
    """The beginning of a text that has this weight, and how many characters are missing."""
    end = reach(text, 0, most) if text else 0
    return text[:end], len(text) - end


def within(pieces: Iterable[Piece], most: int) -> list[Piece]:
    """The first pieces that have this weight together; what follows is left out."""
    kept: list[Piece] = []
    left = most
    rest = 0
    for piece in pieces:
        its_own = WEIGHT_OF_A_GAP if piece.left_out else WEIGHT_OF_A_MARK if piece.change else 0
        left -= its_own + weight(piece.text)
        if left < 0:
            rest += len(piece.text) + piece.left_out
        else:
            kept.append(piece)
    if rest:
        start = kept[-1].start + len(kept[-1].text) + kept[-1].left_out if kept else 0
        kept.append(Piece(start, "", left_out=rest))
    return kept


def total(pieces: Iterable[Piece]) -> int:
    """What the pieces weigh together."""
    return sum(
        weight(piece.text)
        + (WEIGHT_OF_A_GAP if piece.left_out else WEIGHT_OF_A_MARK if piece.change else 0)
        for piece in pieces
    )
