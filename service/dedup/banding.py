"""How a signature is cut into bands, and what that finds.

Two texts are candidates when they agree in all rows of at least one band. With similarity s that
happens with probability 1 - (1 - s^rows)^bands (Leskovec, Rajaraman, Ullman, "Mining of Massive
Datasets", section 3.4.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

LEAST_RECALL_AT_THRESHOLD = 0.985
LEAST_MEAN_RECALL = 0.998
MOST_ROWS = 6
BAND_CHOICES = (32, 64)
INTEGRATION_STEPS = 1000


@dataclass(frozen=True, slots=True)
class Banding:
    """`bands` bands of `rows` rows each: bands x rows permutations."""

    bands: int
    rows: int

    @property
    def permutations(self) -> int:
        """How many MinHash values a signature has."""
        return self.bands * self.rows


def candidate_probability(similarity: float, banding: Banding) -> float:
    """The chance that two texts of this similarity share a bucket.

    Worked value: 0.5 with 32 bands of 4 rows gives 0.873.
    """
    return 1.0 - (1.0 - similarity**banding.rows) ** banding.bands


def mean_recall(threshold: float, banding: Banding) -> float:
    """The share of pairs found, averaged over similarities spread evenly from `threshold` to 1.

    By the trapezoid rule; worked value: 0.6 with 32 bands of 4 rows gives 0.9992.
    """
    step = (1.0 - threshold) / INTEGRATION_STEPS
    if step == 0.0:
        return 1.0
    heights = [
        candidate_probability(threshold + step * i, banding) for i in range(INTEGRATION_STEPS + 1)
    ]
    return (sum(heights) - (heights[0] + heights[-1]) / 2) / INTEGRATION_STEPS


@cache
def banding_for(threshold: float) -> Banding:
    """The bands for a threshold: the fewest bands, then the most rows (the fewest candidates),
    that still find 98.5 % of the pairs at the threshold and 99.8 % of those above it."""
    for bands in BAND_CHOICES:
        for rows in range(MOST_ROWS, 0, -1):
            banding = Banding(bands, rows)
            if candidate_probability(threshold, banding) < LEAST_RECALL_AT_THRESHOLD:
                continue
            # More bands are better spent on more rows: single rows find nearly everything.
            if rows == 1 and bands != BAND_CHOICES[-1]:
                continue
            if mean_recall(threshold, banding) >= LEAST_MEAN_RECALL:
                return banding
    return Banding(BAND_CHOICES[-1], 1)
