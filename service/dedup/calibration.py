"""Choosing a threshold by looking: what each would have done to pairs that a person has labelled.

Thresholds are similarities: a pair is joined at or above one. A duplicate that is joined is
*caught*, one that is not is *missed*; a distinct pair that is joined is *wrongly joined*.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Final

from service.dedup.shingles import Shingles, jaccard, shingle_set

NEAREST: Final = 5
"""How many pairs are shown on either side of a threshold."""
_Z_95: Final = 1.959963984540054
"""The normal quantile of a two-sided interval of 95 %."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts, and whether a person calls them duplicates."""

    a: str
    b: str
    duplicate: bool


@dataclass(frozen=True, slots=True)
class ScoredPair:
    """A pair with its exact Jaccard similarity."""

    pair: Pair
    score: float


@dataclass(frozen=True, slots=True)
class Costs:
    """What one error of each kind costs, in any unit that both share."""

    missed: float = 1.0
    wrongly_joined: float = 1.0


@dataclass(frozen=True, slots=True)
class Step:
    """What one threshold does. `precision` is None where nothing is joined, `recall` and its
    interval (95 %, Wilson) where there is no duplicate."""

    threshold: float
    caught: int
    wrongly_joined: int
    missed: int
    precision: float | None
    recall: float | None
    recall_interval: tuple[float, float] | None
    cost: float


@dataclass(frozen=True, slots=True)
class Witness:
    """Two pairs that no threshold can tell apart rightly: the distinct one is at least as alike."""

    duplicate: ScoredPair
    distinct: ScoredPair


@dataclass(frozen=True)
class Sweep:
    """What thresholds do to pairs at one shingle setting; `scored` has the most alike first."""

    shingles: Shingles
    scored: tuple[ScoredPair, ...]
    steps: tuple[Step, ...]

    @property
    def best(self) -> Step:
        """The step of least cost; of several the highest threshold, which joins the fewest."""
        return min(self.steps, key=lambda step: (step.cost, -step.threshold))

    @cached_property
    def _lowest(self) -> ScoredPair | None:
        duplicates = (one for one in self.scored if one.pair.duplicate)
        return min(duplicates, key=lambda one: one.score, default=None)

    @cached_property
    def _highest(self) -> ScoredPair | None:
        distinct = (one for one in self.scored if not one.pair.duplicate)
        return max(distinct, key=lambda one: one.score, default=None)

    @property
    def witness(self) -> Witness | None:
        """The least alike duplicate and the most alike distinct pair, where no threshold has the
        one on its upper side and the other on its lower; None where some threshold has."""
        if self._lowest is None or self._highest is None:
            return None
        if self._lowest.score > self._highest.score:
            return None
        return Witness(self._lowest, self._highest)

    @property
    def statement(self) -> str:
        """In words, whether a threshold separates the pairs."""
        if self.witness is not None:
            return (
                "No threshold separates these pairs: two distinct texts are alike by "
                f"{_both(self.witness.distinct.score)}, and two duplicates by no more than "
                f"{_both(self.witness.duplicate.score)}."
            )
        lowest, highest = self._lowest, self._highest
        if lowest is None or highest is None:
            missing = "duplicates" if lowest is None else "distinct pairs"
            return f"There are no {missing} among these pairs, so nothing is to be separated."
        between = f"above {highest.score:.4f} and up to {lowest.score:.4f}"
        return f"Every threshold {between} separates these pairs."

    def nearest(self) -> tuple[tuple[ScoredPair, ...], tuple[ScoredPair, ...]]:
        """The pairs next to the threshold of least cost, from it outwards: at or above it, and
        below it."""
        above = [one for one in self.scored if one.score >= self.best.threshold]
        below = self.scored[len(above) :]
        return tuple(above[::-1][:NEAREST]), tuple(below[:NEAREST])


def _both(score: float) -> str:
    return f"{score:.4f} (distance {1 - score:.4f})"


def sweep(
    pairs: Sequence[Pair],
    normalized: Callable[[str], str],
    shingles: Shingles,
    thresholds: Sequence[float],
    costs: Costs,
) -> Sweep:
    """What each threshold would have done; `normalized` prepares a text for comparison."""

    def score(pair: Pair) -> float:
        a, b = (shingle_set(normalized(text), shingles) for text in (pair.a, pair.b))
        return jaccard(a, b)

    scored = sorted((ScoredPair(pair, score(pair)) for pair in pairs), key=lambda s: -s.score)
    steps = [_step(scored, threshold, costs) for threshold in thresholds]
    return Sweep(shingles, tuple(scored), tuple(steps))


def _step(scored: Sequence[ScoredPair], threshold: float, costs: Costs) -> Step:
    duplicates = sum(one.pair.duplicate for one in scored)
    joined = [one.pair.duplicate for one in scored if one.score >= threshold]
    caught = sum(joined)
    wrongly_joined, missed = len(joined) - caught, duplicates - caught
    return Step(
        threshold=threshold,
        caught=caught,
        wrongly_joined=wrongly_joined,
        missed=missed,
        precision=caught / len(joined) if joined else None,
        recall=caught / duplicates if duplicates else None,
        recall_interval=wilson_interval(caught, duplicates) if duplicates else None,
        cost=missed * costs.missed + wrongly_joined * costs.wrongly_joined,
    )


def wilson_interval(successes: int, trials: int) -> tuple[float, float]:
    """Bounds of a share that hold it in 95 of 100 samples (Wilson 1927, score interval).

    Worked value: 8 of 10 give 0.4902 to 0.9433."""
    share, z_squared = successes / trials, _Z_95**2
    centre = share + z_squared / (2 * trials)
    spread = _Z_95 * sqrt(share * (1 - share) / trials + z_squared / (4 * trials**2))
    whole = 1 + z_squared / trials
    # At 0 and 1 a bound is the share itself, but for the last digit.
    return min(share, max(0.0, (centre - spread) / whole)), max(
        share, min(1.0, (centre + spread) / whole)
    )
