"""Charts as numbers: where each bar stands. Templates draw them, with their numbers as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor
from typing import Final

STEP: Final = 0.05
"""The width of a bar of the histogram of scores: they are counted by twentieths."""
_HEADROOM: Final = 14
_BELOW: Final = 22


@dataclass(frozen=True, slots=True)
class Share:
    """One row of a bar chart: `width` is its part of the widest, of 100."""

    name: str
    count: int
    width: float


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a histogram, from score `low` to `high`; the rest is in the picture's units."""

    low: float
    high: float
    count: int
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Line:
    """A threshold, and where it stands."""

    at: float
    x: float


@dataclass(frozen=True, slots=True)
class Histogram:
    """How many near copies had which score. `base` is where the bars stand; `ticks` are scores
    with their places."""

    width: int
    height: int
    base: int
    bars: tuple[Bar, ...]
    thresholds: tuple[Line, ...]
    ticks: tuple[Line, ...]


def shares(counts: Sequence[tuple[str, int]]) -> list[Share]:
    """A bar for each count, in the same order; all of width 0 where there is none."""
    most = max((count for _, count in counts), default=0)
    return [Share(name, n, round(100 * n / most, 2) if most else 0.0) for name, n in counts]


def histogram(
    counts: Mapping[float, int], thresholds: Sequence[float], width: int = 400, height: int = 190
) -> Histogram:
    """The bars from below the lowest threshold (or what was counted lower) up to 1."""
    lows = [*thresholds, *(low for low, count in counts.items() if count)]
    first = max(0, floor(min(lows, default=0.5) / STEP + 1e-9) - 1)
    last = round(1 / STEP)
    base = height - _BELOW
    each = width / (last - first)
    most = max(counts.values(), default=0)

    def place(score: float) -> float:
        return round((score / STEP - first) * each, 2)

    by_twentieth = {round(low / STEP): count for low, count in counts.items()}
    bars = []
    for twentieth in range(first, last):
        count = by_twentieth.get(twentieth, 0)
        tall = round((base - _HEADROOM) * count / most, 2) if most else 0.0
        left = round((twentieth - first) * each + 1, 2)
        low, high = round(twentieth * STEP, 2), round((twentieth + 1) * STEP, 2)
        bars.append(Bar(low, high, count, left, base - tall, round(each - 2, 2), tall))
    ticks = [
        round(twentieth * STEP, 2) for twentieth in range(first, last + 1) if twentieth % 2 == 0
    ]
    return Histogram(
        width=width,
        height=height,
        base=base,
        bars=tuple(bars),
        thresholds=tuple(Line(at, place(at)) for at in sorted(set(thresholds))),
        ticks=tuple(Line(at, place(at)) for at in ticks),
    )
