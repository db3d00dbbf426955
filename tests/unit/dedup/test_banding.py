"""The choice of bands and rows."""

import pytest

from service.dedup.banding import Banding, banding_for, candidate_probability, mean_recall


def test_half_alike_texts_share_one_band_in_32_of_4_rows_with_a_chance_of_0_873():
    assert round(candidate_probability(0.5, Banding(32, 4)), 3) == 0.873


def test_equal_texts_always_share_a_band():
    assert candidate_probability(1.0, Banding(32, 6)) == 1.0


def test_32_bands_of_4_rows_find_0_9992_of_the_pairs_above_0_6():
    assert round(mean_recall(0.6, Banding(32, 4)), 4) == 0.9992


def test_the_default_threshold_has_32_bands_of_4_rows():
    assert banding_for(0.6) == Banding(32, 4)


@pytest.mark.parametrize("hundredths", range(10, 101, 5))
def test_every_threshold_from_a_tenth_has_bands_that_find_what_is_promised(hundredths: int):
    threshold = hundredths / 100
    banding = banding_for(threshold)
    assert mean_recall(threshold, banding) >= 0.998
    assert candidate_probability(threshold, banding) >= 0.985


@pytest.mark.parametrize("threshold", [0.001, 0.01, 0.05])
def test_a_threshold_below_all_use_has_the_most_that_bands_can_give(threshold: float):
    assert banding_for(threshold) == Banding(64, 1)


def test_a_higher_threshold_never_has_fewer_rows():
    rows = [banding_for(hundredths / 100).rows for hundredths in range(10, 101, 5)]
    assert rows == sorted(rows)
