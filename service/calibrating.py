"""The use case: what would thresholds have done to pairs that a person has labelled?

Texts are cleaned by the rules that a new collection has, and normalised, as those of a check are.
Nothing is stored or asked of the store.
"""

from __future__ import annotations

from collections.abc import Sequence

from service.dedup.calibration import Costs, Pair, Sweep, sweep
from service.dedup.scheme import CollectionSettings
from service.dedup.shingles import Shingles
from service.preparing import nothing_left
from service.text.cleaning import clean, split_pages
from service.text.normalization import Kind, normalize


def calibrate(
    pairs: Sequence[Pair],
    normalization: Kind,
    shingles: Sequence[Shingles],
    thresholds: Sequence[float],
    costs: Costs,
) -> list[Sweep]:
    """A sweep of the thresholds for each shingle setting.

    Raises EmptyText for a text of which nothing is left to compare."""
    rules = CollectionSettings().cleaning
    normalized: dict[str, str] = {}
    for place, pair in enumerate(pairs):
        for side, text in (("a", pair.a), ("b", pair.b)):
            if text not in normalized:
                normalized[text] = normalize(clean(split_pages(text), rules).text, normalization)
            if not normalized[text]:
                raise nothing_left(f"/pairs/{place}/{side}")
    return [sweep(pairs, normalized.__getitem__, one, thresholds, costs) for one in shingles]
