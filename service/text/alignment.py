"""Aligning two sequences: which items stand in both, in the same order.

Long stretches are first cut at anchors, runs of items that stand once in each (patience); what
lies between is aligned by the shortest edit (Myers 1986). Work is bounded: near copies are
aligned exactly, others more coarsely, and the time is linear in any case.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Final

# A stretch that differs: from and to in the one sequence, from and to in the other.
Hunk = tuple[int, int, int, int]

# After so many single differences in a row the alignment so far is taken as it is.
_MOST_EDITS: Final = 64
# Longer stretches are cut at anchors before they are aligned item by item.
_LONG: Final = 400
# Items in an anchor. A long run is seldom the same by chance.
_ANCHOR: Final = 4
_DEEPEST: Final = 4
# Steps of exact alignment for one pair of texts; then stretches that differ are told whole.
_MOST_STEPS: Final = 800_000


def align(one: Sequence[Hashable], other: Sequence[Hashable], anchor: int = _ANCHOR) -> list[Hunk]:
    """The stretches in which two sequences differ, in order, never touching each other.

    `anchor` is how many items in a row must be the same to cut long sequences there.
    """
    return _Alignment(one, other, anchor).hunks()


def common_prefix(one: Sequence[Hashable], other: Sequence[Hashable]) -> int:
    """How many items at the start are the same.

    Compares slices that grow, then halves the first one that differs: faster than item by item.
    """
    same, size, growing = 0, 16, True
    shorter = min(len(one), len(other))
    while same < shorter:
        step = min(size, shorter - same)
        if one[same : same + step] == other[same : same + step]:
            same += step
            size = size * 2 if growing else max(1, size // 2)
        elif step == 1:
            break
        else:
            size, growing = step // 2, False
    return same


class _Alignment:
    """One run of the alignment, with the steps that it still may take."""

    def __init__(self, one: Sequence[Hashable], other: Sequence[Hashable], anchor: int) -> None:
        self._anchor = anchor
        self._one = one
        self._other = other
        self._steps = _MOST_STEPS
        self._found: list[Hunk] = []

    def hunks(self) -> list[Hunk]:
        # A list of stretches to do rather than recursion: last in, first out keeps the order.
        waiting = [(0, len(self._one), 0, len(self._other), 0)]
        while waiting:
            start, end, start_other, end_other, depth = waiting.pop()
            stretch = self._trimmed(start, end, start_other, end_other)
            start, end, start_other, end_other = stretch
            if start == end or start_other == end_other:
                if start < end or start_other < end_other:
                    self._add(stretch)
                continue
            pieces: list[Hunk] = []
            if depth < _DEEPEST and max(end - start, end_other - start_other) > _LONG:
                pieces = self._between_anchors(stretch)
            if pieces:
                waiting += [(*piece, depth + 1) for piece in reversed(pieces)]
            else:
                self._walk(stretch)
        return self._found

    def _add(self, hunk: Hunk) -> None:
        if self._found and self._found[-1][1] == hunk[0] and self._found[-1][3] == hunk[2]:
            last = self._found.pop()
            hunk = (last[0], hunk[1], last[2], hunk[3])
        self._found.append(hunk)

    def _trimmed(self, start: int, end: int, start_other: int, end_other: int) -> Hunk:
        one, other = self._one, self._other
        while start < end and start_other < end_other and one[start] == other[start_other]:
            start += 1
            start_other += 1
        while end > start and end_other > start_other and one[end - 1] == other[end_other - 1]:
            end -= 1
            end_other -= 1
        return start, end, start_other, end_other

    def _walk(self, stretch: Hunk) -> None:
        """Aligned by edits, as far as they go at a time."""
        start, end, start_other, end_other = stretch
        while start < end and start_other < end_other and self._steps > 0:
            hunks, start, start_other = self._edits((start, end, start_other, end_other))
            for hunk in hunks:
                self._add(hunk)
        if start < end or start_other < end_other:
            self._add((start, end, start_other, end_other))

    def _edits(self, stretch: Hunk) -> tuple[list[Hunk], int, int]:
        """The shortest edit, or the beginning of one; and how far along both it leads."""
        start, end, start_other, end_other = stretch
        one, other = self._one, self._other
        length, length_other = end - start, end_other - start_other
        # The furthest point on each diagonal, x - y, by how far along `one` it is.
        reached = {1: 0}
        trace: list[dict[int, int]] = []
        steps = 0
        for edits in range(min(length + length_other, _MOST_EDITS) + 1):
            trace.append(reached)
            reached = dict(reached)
            steps += edits + 1
            for diagonal in range(-edits, edits + 1, 2):
                if diagonal == -edits or (
                    diagonal != edits and reached[diagonal - 1] < reached[diagonal + 1]
                ):
                    x = reached[diagonal + 1]
                else:
                    x = reached[diagonal - 1] + 1
                y = x - diagonal
                if x > length or y > length_other:
                    reached[diagonal] = x
                    continue
                began = x
                while x < length and y < length_other and one[start + x] == other[start_other + y]:
                    x += 1
                    y += 1
                steps += x - began
                reached[diagonal] = x
                if x >= length and y >= length_other:
                    self._steps -= steps
                    return _walked_back(trace, x, y, stretch), end, end_other
        self._steps -= steps
        x, y = max(
            (
                (x, x - diagonal)
                for diagonal, x in reached.items()
                if (diagonal - edits) % 2 == 0 and x <= length and 0 <= x - diagonal <= length_other
            ),
            key=sum,
        )
        return _walked_back(trace, x, y, stretch), start + x, start_other + y

    def _between_anchors(self, stretch: Hunk) -> list[Hunk]:
        """The stretches between anchors; of these, as many as stand in the same order."""
        start, end, start_other, end_other = stretch
        runs = _runs(self._one[start:end], self._anchor)
        runs_other = _runs(self._other[start_other:end_other], self._anchor)
        once = {run for run, count in Counter(runs).items() if count == 1}
        once &= {run for run, count in Counter(runs_other).items() if count == 1}
        if not once:
            return []
        place = {run: at for at, run in enumerate(runs_other) if run in once}
        pairs = [(at, place[run]) for at, run in enumerate(runs) if run in once]
        pieces: list[Hunk] = []
        at, at_other = start, start_other
        for here, there in _in_order(pairs):
            here, there = start + here, start_other + there  # noqa: PLW2901 - now in the whole text
            # Runs that follow each other overlap: only the first item of each is taken.
            if here > at or there > at_other:
                pieces.append((at, here, at_other, there))
            at, at_other = here + 1, there + 1
        if at < end or at_other < end_other:
            pieces.append((at, end, at_other, end_other))
        return pieces


def _runs(items: Sequence[Hashable], length: int) -> list[tuple[Hashable, ...]]:
    return list(zip(*(items[at:] for at in range(length)), strict=False))


def _walked_back(trace: list[dict[int, int]], x: int, y: int, stretch: Hunk) -> list[Hunk]:
    """The hunks of an edit that leads to a point, from what each round had reached."""
    start, _, start_other, _ = stretch
    hunks: list[Hunk] = []
    for edits in range(len(trace) - 1, 0, -1):
        reached = trace[edits]
        diagonal = x - y
        if diagonal == -edits or (
            diagonal != edits and reached[diagonal - 1] < reached[diagonal + 1]
        ):
            from_x, from_diagonal = reached[diagonal + 1], diagonal + 1
            after_x = from_x
        else:
            from_x, from_diagonal = reached[diagonal - 1], diagonal - 1
            after_x = from_x + 1
        from_y = from_x - from_diagonal
        hunk = (
            start + from_x,
            start + after_x,
            start_other + from_y,
            start_other + after_x - diagonal,
        )
        if hunks and hunks[-1][0] == hunk[1] and hunks[-1][2] == hunk[3]:
            later = hunks.pop()
            hunk = (hunk[0], later[1], hunk[2], later[3])
        hunks.append(hunk)
        x, y = from_x, from_y
    return hunks[::-1]


def _in_order(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest run of pairs that grows on both sides; the first side grows already."""
    ends: list[int] = []  # the smallest place in which a run of each length can end
    ends_at: list[int] = []
    previous: list[int] = []
    for at, (_, place) in enumerate(pairs):
        if not ends or place > ends[-1]:
            length = len(ends)
            ends.append(place)
            ends_at.append(at)
        else:
            length = bisect_left(ends, place)
            ends[length] = place
            ends_at[length] = at
        previous.append(ends_at[length - 1] if length else -1)
    run: list[tuple[int, int]] = []
    at = ends_at[-1] if ends_at else -1
    while at >= 0:
        run.append(pairs[at])
        at = previous[at]
    return run[::-1]
