"""Where two texts differ: stretches to look into, passages taken in or out, passages moved."""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter
from typing import Final, NamedTuple

from service.text.alignment import Hunk, align, common_prefix
from service.text.changes_chunks import Chunks, Span, chunks_of
from service.text.changes_moved import without_moved


class Difference(NamedTuple):
    """Two character ranges that differ: to be looked into, unless it is said what they are.

    A passage stands in one text only. Wording is a passage that moved, or other plain words.
    """

    here: Span
    there: Span
    passage: bool = False
    wording: bool = False


_CONTEXT: Final = 6  # chunks read on either side of a difference
_PASSAGE: Final = 5  # chunks; shorter ones only where they are whole sentences
_NEAR: Final = 16  # chunks between two differences that are looked into together
_LOOKED_INTO: Final = 120  # chunks read together, unless one difference is longer
_REPLACED: Final = 600  # chunks; a longer difference is told as one passage for another
_LONG_PASSAGE: Final = 8_000  # characters; longer differences are told as passages


def differences(one: str, other: str) -> list[Difference]:
    """The stretches that differ, in the order of the first text."""
    here, there = chunks_of(one, other)
    hunks = align(here.keys, there.keys)
    hunks, moved = without_moved(hunks, here, there)
    found = [(hunk[0], _difference(hunk, here, there, wording=True)) for hunk in moved]
    found += _told(hunks, here, there)
    found.sort(key=itemgetter(0))
    return [difference for _, difference in found]


def _told(hunks: list[Hunk], here: Chunks, there: Chunks) -> Iterator[tuple[int, Difference]]:
    """Each difference with its place: passages, and stretches of hunks near each other."""
    group: list[Hunk] = []
    for hunk in hunks:
        start, end, start_other, end_other = hunk
        parts: list[Hunk] = []
        if passage := _passage(hunk, here, there):
            parts = [passage]
        elif _is_replaced(hunk, here, there):
            parts = [(start, end, start_other, start_other), (end, end, start_other, end_other)]
        elif group and _is_near(group, hunk, here, there):
            group.append(hunk)
            continue
        # A passage parts what stands before it from what stands after it.
        yield from _of_group(group, here, there)
        for part in parts:
            yield start, _difference(part, here, there, passage=True)
        group = [] if parts else [hunk]
    yield from _of_group(group, here, there)


def _of_group(group: list[Hunk], here: Chunks, there: Chunks) -> Iterator[tuple[int, Difference]]:
    """One stretch to look into; or each hunk by itself where all are plain words."""
    if not group:
        return
    if all(here.are_plain(*hunk[:2]) and there.are_plain(*hunk[2:]) for hunk in group):
        for hunk in group:
            spans = here.words_span(*hunk[:2]), there.words_span(*hunk[2:])
            yield hunk[0], Difference(*spans, wording=True)
    else:
        (start, _, start_other, _), (_, end, _, end_other) = group[0], group[-1]
        yield start, _with_context((start, end, start_other, end_other), here, there)


def _difference(
    hunk: Hunk, here: Chunks, there: Chunks, *, passage: bool = False, wording: bool = False
) -> Difference:
    return Difference(here.span(*hunk[:2]), there.span(*hunk[2:]), passage, wording)


def _is_near(group: list[Hunk], hunk: Hunk, here: Chunks, there: Chunks) -> bool:
    (start, _, start_other, _), (_, end, _, end_other) = group[0], group[-1]
    return (
        hunk[0] - end <= _NEAR
        and hunk[2] - end_other <= _NEAR
        and max(hunk[1] - start, hunk[3] - start_other) <= _LOOKED_INTO
        and _longest((start, hunk[1], start_other, hunk[3]), here, there) <= _LONG_PASSAGE
    )


def _with_context(stretch: Hunk, here: Chunks, there: Chunks) -> Difference:
    """A stretch with the chunks on either side of it that stand in both texts."""
    start, end, start_other, end_other = stretch
    keys, keys_other = here.keys, there.keys
    before = common_prefix(
        keys[max(0, start - _CONTEXT) : start][::-1],
        keys_other[max(0, start_other - _CONTEXT) : start_other][::-1],
    )
    after = common_prefix(keys[end : end + _CONTEXT], keys_other[end_other : end_other + _CONTEXT])
    wide = (start - before, end + after, start_other - before, end_other + after)
    return _difference(wide, here, there)


def _is_replaced(hunk: Hunk, here: Chunks, there: Chunks) -> bool:
    """Whether so much differs that one passage stands for another."""
    if max(hunk[1] - hunk[0], hunk[3] - hunk[2]) > _REPLACED:
        return True
    return _longest(hunk, here, there) > _LONG_PASSAGE


def _longest(hunk: Hunk, here: Chunks, there: Chunks) -> int:
    (start, end), (start_other, end_other) = here.span(*hunk[:2]), there.span(*hunk[2:])
    return max(end - start, end_other - start_other)


def _passage(hunk: Hunk, here: Chunks, there: Chunks) -> Hunk | None:
    """The hunk, if it is a passage of one text only, moved to where a sentence starts."""
    start, end, start_other, end_other = hunk
    if start < end and start_other < end_other:
        return None
    if start < end:
        chunks, first, after = here, start, end
    else:
        chunks, first, after = there, start_other, end_other
    slid = _slid(chunks, first, after)
    whole = chunks.ends_sentence(slid[1] - 1) and (
        slid[0] == 0 or chunks.ends_sentence(slid[0] - 1)
    )
    length = after - first
    if length < _PASSAGE and not (whole and length >= 2):
        return None
    return (*slid, start_other, end_other) if start < end else (start, end, *slid)


def _slid(chunks: Chunks, first: int, after: int) -> Span:
    """The same passage taken a little earlier or later, if a sentence starts there.

    Between `A B` and `A B C B`, either `C B` or `B C` is what was taken in.
    """
    keys, at, end = chunks.keys, first, after
    for _ in range(_CONTEXT * 2):
        if at == 0 or chunks.ends_sentence(at - 1):
            return at, end
        if keys[at - 1] != keys[end - 1]:
            break
        at, end = at - 1, end - 1
    at, end = first, after
    for _ in range(_CONTEXT * 2):
        if end >= len(keys) or keys[at] != keys[end]:
            break
        at, end = at + 1, end + 1
        if chunks.ends_sentence(at - 1):
            return at, end
    return first, after
