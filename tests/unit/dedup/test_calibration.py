"""What thresholds do to labelled pairs, in numbers worked out by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.dedup.calibration import Costs, Pair, Sweep, sweep, wilson_interval
from service.dedup.shingles import Shingles

WORDS = Shingles("word", 1)
# One of so many words is another: 3/4 shared of 5 is 0.6, and so on.
ALIKE = {1.0: ("a b", "a b"), 0.6: ("a b c d", "a b c e"), 0.25: ("a b c", "a x"), 0.0: ("a", "b")}


def pairs(*labelled: tuple[float, bool]) -> list[Pair]:
    return [Pair(*ALIKE[score], duplicate) for score, duplicate in labelled]


def swept(labelled: list[Pair], *thresholds: float, costs: Costs | None = None) -> Sweep:
    return sweep(labelled, str, WORDS, thresholds, costs or Costs())


def test_a_pair_at_the_threshold_is_joined():
    [step] = swept(pairs((0.6, True)), 0.6).steps
    assert (step.caught, step.missed) == (1, 0)


def test_a_pair_below_the_threshold_is_not():
    [step] = swept(pairs((0.6, True)), 0.61).steps
    assert (step.caught, step.missed) == (0, 1)


def test_a_distinct_pair_at_the_threshold_is_wrongly_joined():
    [step] = swept(pairs((0.6, False)), 0.6).steps
    assert step.wrongly_joined == 1


def test_precision_is_the_share_of_duplicates_among_the_joined():
    [step] = swept(pairs((1.0, True), (0.6, False), (0.6, True)), 0.6).steps
    assert step.precision == pytest.approx(2 / 3)


def test_precision_of_nothing_joined_is_unknown():
    [step] = swept(pairs((0.25, True)), 0.6).steps
    assert step.precision is None


def test_recall_is_the_share_of_duplicates_that_are_joined():
    [step] = swept(pairs((1.0, True), (0.25, True)), 0.6).steps
    assert step.recall == 0.5


def test_recall_without_duplicates_is_unknown():
    [step] = swept(pairs((1.0, False)), 0.6).steps
    assert (step.recall, step.recall_interval) == (None, None)


def test_the_cost_weighs_each_kind_of_error():
    labelled = pairs((1.0, False), (0.25, True), (0.0, True))
    [step] = swept(labelled, 0.6, costs=Costs(missed=2, wrongly_joined=10)).steps
    assert step.cost == 2 * 2 + 10


def test_wilson_s_interval_of_eight_in_ten():
    low, high = wilson_interval(8, 10)
    assert (round(low, 4), round(high, 4)) == (0.4902, 0.9433)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_holds_the_share_and_stays_within_0_and_1(counted: tuple[int, int]):
    successes, trials = counted
    low, high = wilson_interval(successes, trials)
    assert 0 <= low <= successes / trials <= high <= 1


def test_pairs_are_separable_where_every_duplicate_is_more_alike():
    found = swept(pairs((1.0, True), (0.6, True), (0.25, False)), 0.6)
    assert found.witness is None
    assert found.statement == "Every threshold above 0.2500 and up to 0.6000 separates these pairs."


def test_of_pairs_that_are_not_the_nearest_of_both_kinds_prove_it():
    found = swept(pairs((1.0, True), (0.25, True), (0.6, False), (0.0, False)), 0.6)
    assert found.witness is not None
    assert (found.witness.duplicate.score, found.witness.distinct.score) == (0.25, 0.6)


def test_equally_alike_pairs_of_both_kinds_are_not_separable():
    assert swept(pairs((0.6, True), (0.6, False)), 0.6).witness is not None


@pytest.mark.parametrize(
    ("duplicate", "words"), [(True, "no distinct pairs"), (False, "no duplicates")]
)
def test_of_one_kind_alone_there_is_nothing_to_separate(duplicate: bool, words: str):
    found = swept(pairs((0.6, duplicate)), 0.6)
    assert found.witness is None
    assert words in found.statement


def test_the_best_threshold_costs_least():
    found = swept(pairs((1.0, True), (0.6, True), (0.25, False)), 0.1, 0.5, 0.9)
    assert found.best.threshold == 0.5


def test_of_equal_costs_the_highest_threshold_is_best():
    found = swept(pairs((1.0, True), (0.0, False)), 0.1, 0.5, 0.9)
    assert found.best.threshold == 0.9


def test_the_nearest_pairs_go_outwards_from_the_best_threshold():
    labelled = pairs((1.0, True), (0.6, True), (0.25, False), (0.0, False))
    above, below = swept(labelled, 0.5).nearest()
    assert [one.score for one in above] == [0.6, 1.0]
    assert [one.score for one in below] == [0.25, 0.0]


def test_no_more_than_five_pairs_are_near():
    above, below = swept(pairs(*[(0.6, True)] * 9, *[(0.25, False)] * 9), 0.5).nearest()
    assert (len(above), len(below)) == (5, 5)
