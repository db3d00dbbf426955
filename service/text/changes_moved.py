"""Passages that stand in both texts, only elsewhere."""

from __future__ import annotations

from typing import Final

from service.text.alignment import Hunk
from service.text.changes_chunks import Chunks, Span

_MOVED: Final = 4  # chunks that tell a moved passage from a common phrase


def without_moved(hunks: list[Hunk], here: Chunks, there: Chunks) -> tuple[list[Hunk], list[Hunk]]:
    """The hunks without the passages that stand in both texts, only elsewhere; and those."""
    places: dict[tuple[str, ...], int] = {}
    for start, end, _, _ in hunks:
        for at in range(start, end - _MOVED + 1):
            places.setdefault(tuple(here.keys[at : at + _MOVED]), at)
    if not places:
        return hunks, []
    hunk_of = {at: hunk for hunk in hunks for at in range(hunk[0], hunk[1])}
    moved: list[Hunk] = []
    taken: set[int] = set()
    for hunk in hunks:
        _, _, at, end = hunk
        while at + _MOVED <= end:
            found = places.get(tuple(there.keys[at : at + _MOVED]))
            if found is None or found in taken or hunk_of[found] is hunk:
                at += 1
                continue
            length, limit = _MOVED, hunk_of[found][1]
            while (
                at + length < end
                and found + length < limit
                and here.keys[found + length] == there.keys[at + length]
            ):
                length += 1
            moved.append((found, found + length, at, at + length))
            taken.update(range(found, found + length))
            at += length
    return (_cut_out(hunks, moved), sorted(moved)) if moved else (hunks, [])


def _cut_out(hunks: list[Hunk], moved: list[Hunk]) -> list[Hunk]:
    """The hunks without the moved stretches; what is left of each stays apart."""
    left: list[Hunk] = []
    by_here = sorted((start, end) for start, end, _, _ in moved)
    by_there = sorted((start, end) for _, _, start, end in moved)
    at_here = at_there = 0
    for start, end, start_other, end_other in hunks:
        pieces_here, at_here = _rest(start, end, by_here, at_here)
        pieces_there, at_there = _rest(start_other, end_other, by_there, at_there)
        for step in range(max(len(pieces_here), len(pieces_there))):
            one = pieces_here[step] if step < len(pieces_here) else (end, end)
            other = pieces_there[step] if step < len(pieces_there) else (end_other, end_other)
            if one[0] < one[1] or other[0] < other[1]:
                left.append((*one, *other))
    return left


def _rest(start: int, end: int, cuts: list[Span], at: int) -> tuple[list[Span], int]:
    pieces = []
    while at < len(cuts) and cuts[at][0] < end and cuts[at][0] >= start:
        pieces.append((start, cuts[at][0]))
        start = cuts[at][1]
        at += 1
    pieces.append((start, end))
    return [piece for piece in pieces if piece[0] < piece[1]] or [(end, end)], at
