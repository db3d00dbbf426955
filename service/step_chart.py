"""The step chart of a sweep: what each threshold catches and what it joins wrongly."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from service.dedup.calibration import Sweep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

FORMATS: Final = (".png", ".svg", ".pdf")
_INCHES: Final = (8, 4.2)  # of one sweep
# Told apart by people who see no red or no green, and in print by their dashes.
_LINES: Final = (
    (True, "duplicates caught", "#0063a6", "-"),
    (False, "distinct pairs wrongly joined", "#c2410c", "--"),
)


class NoCharts(Exception):
    """The package that draws is not installed."""


def draw(sweeps: Sequence[Sweep], path: Path) -> None:
    """Writes a chart of the sweeps, one below the other, in the format that the name ends in.

    Raises NoCharts without matplotlib, OSError where the file cannot be written."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - an optional dependency
    except ImportError as error:
        raise NoCharts("charts need matplotlib: pip install 'twinsift[plot]'") from error
    width, height = _INCHES
    figure = Figure(figsize=(width, height * len(sweeps)), layout="constrained")
    for axes, sweep in zip(figure.subplots(len(sweeps), squeeze=False)[:, 0], sweeps, strict=True):
        _draw(axes, sweep)
    figure.savefig(path, dpi=150)


def _draw(axes: Axes, sweep: Sweep) -> None:
    """Both counts over every threshold from 0 to 1, and a point at each that was asked for."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 - an optional dependency

    for duplicate, label, colour, dashes in _LINES:
        scores = sorted(one.score for one in sweep.scored if one.pair.duplicate is duplicate)
        # A step down behind each score: at the score itself the pair is still joined.
        at, counts = [0.0, *scores, 1.0], [len(scores) - n for n in range(len(scores) + 1)]
        axes.stairs(counts, at, baseline=None, color=colour, linestyle=dashes, linewidth=1.8)
        asked = [(s.threshold, s.caught if duplicate else s.wrongly_joined) for s in sweep.steps]
        axes.plot(*zip(*asked, strict=True), "o", color=colour, markersize=5, clip_on=False)
        axes.plot([], [], "o", color=colour, linestyle=dashes, label=label)
    shingles = sweep.shingles
    kind = "word" if shingles.unit == "word" else "character"
    axes.set_title(f"{len(sweep.scored)} pairs, {kind} shingles of {shingles.size}", loc="left")
    axes.set_xlabel("Jaccard similarity threshold (joined at or above)")
    axes.set_ylabel("pairs")
    axes.set_xlim(0, 1.02)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(axis="y", alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    distance = axes.secondary_xaxis("top", functions=(_other, _other))
    distance.set_xlabel("Jaccard distance threshold")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=2, frameon=False)


def _other(value: Any) -> Any:
    """Similarities as distances, and back."""
    return 1 - value
