"""Shingle sets and their exact similarity.

A shingle is a run of `size` tokens or characters of a normalised text. The set of them is what
two texts are compared by (Broder 1997, "On the resemblance and containment of documents").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

ShingleSet = frozenset[str]


@dataclass(frozen=True, slots=True)
class Shingles:
    """A run of `size` units: `word` or `char`."""

    unit: str = "word"
    size: int = 3


def shingle_set(normalized: str, shingles: Shingles) -> ShingleSet:
    """The shingles of a normalised text; a text shorter than one shingle is one shingle.

    Only the empty text has none, and no two texts without shingles are alike.
    """
    if not normalized:
        return frozenset()
    cut = _CUTS[shingles.unit]
    return cut(normalized, shingles.size) or frozenset((normalized,))


def _word_runs(normalized: str, size: int) -> ShingleSet:
    words = normalized.split(" ")
    if size == 1:
        return frozenset(words)
    return frozenset(map(" ".join, zip(*(words[start:] for start in range(size)), strict=False)))


def _character_runs(normalized: str, size: int) -> ShingleSet:
    return frozenset(
        normalized[start : start + size] for start in range(len(normalized) - size + 1)
    )


_CUTS: dict[str, Callable[[str, int], ShingleSet]] = {
    "word": _word_runs,
    "char": _character_runs,
}


def jaccard(a: ShingleSet, b: ShingleSet) -> float:
    """Size of the overlap over size of the union, 0.0 where either set is empty.

    Worked value: two sets of 19 that share 15 give 15 / 23 = 0.652174.
    """
    if not a or not b:
        return 0.0
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared)
