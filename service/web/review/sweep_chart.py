"""The step chart of a sweep as lines of SVG: what each threshold catches and joins wrongly."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Final

from service.dedup.calibration import Sweep

WIDTH: Final = 400
HEIGHT: Final = 232
LEFT, RIGHT, TOP, BOTTOM = 40, 388, 12, 192
_COARSE: Final = 2  # units; steps that are closer than that are drawn as one
_MOST_TICKS: Final = 5


@dataclass(frozen=True, slots=True)
class Tick:
    """A line of the grid: its place and what stands beside it."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class SweepChart:
    """`caught` and `wrongly_joined` are paths; `best` is where the cheapest threshold stands."""

    caught: str
    wrongly_joined: str
    best: float
    across: tuple[Tick, ...]
    upwards: tuple[Tick, ...]


def sweep_chart(sweep: Sweep) -> SweepChart:
    """Both counts over every threshold from 0 to 1."""
    duplicates = [one.score for one in sweep.scored if one.pair.duplicate]
    distinct = [one.score for one in sweep.scored if not one.pair.duplicate]
    most = max(len(duplicates), len(distinct))
    return SweepChart(
        caught=_steps(duplicates, most),
        wrongly_joined=_steps(distinct, most),
        best=round(_across(sweep.best.threshold), 1),
        across=tuple(Tick(round(_across(n / 5), 1), f"{n / 5:g}") for n in range(6)),
        upwards=tuple(Tick(_upwards(n, most), str(n)) for n in range(0, most + 1, _apart(most))),
    )


def _steps(scores: list[float], most: int) -> str:
    """From the left, where every pair is joined, a step down behind each score."""
    left = len(scores)
    path = [f"M{LEFT} {_upwards(left, most)}"]
    for at, together in groupby(sorted(scores), key=_coarsely):
        left -= len(list(together))
        path.append(f"H{at}V{_upwards(left, most):g}")
    return "".join([*path, f"H{RIGHT}"])


def _coarsely(score: float) -> int:
    return round(_across(score) / _COARSE) * _COARSE


def _across(score: float) -> float:
    return LEFT + score * (RIGHT - LEFT)


def _upwards(count: int, most: int) -> float:
    return round(BOTTOM - count / most * (BOTTOM - TOP), 1)


def _apart(most: int) -> int:
    """How far apart the labels stand: 1, 2 or 5 of some power of ten."""
    size = 1
    while True:
        for step in (size, 2 * size, 5 * size):
            if most / step <= _MOST_TICKS:
                return step
        size *= 10
