"""Signatures: stable, and true to the similarity that they stand for."""

import random
from hashlib import sha256
from statistics import fmean

import pytest

from service.dedup.banding import Banding, candidate_probability
from service.dedup.minhash import band_tags, estimate, row_bytes, signature

BANDINGS = [Banding(64, 1), Banding(32, 2), Banding(32, 3), Banding(32, 4), Banding(32, 6)]


def pair_of_sets(shared: int, apart: int, seed: int) -> tuple[frozenset[str], frozenset[str]]:
    drawn = random.Random(seed)
    items = [f"{drawn.getrandbits(64):x}" for _ in range(shared + 2 * apart)]
    common = items[:shared]
    return (
        frozenset(common + items[shared : shared + apart]),
        frozenset(common + items[shared + apart :]),
    )


def test_a_signature_never_changes():
    """Stored signatures depend on it: another value here is another scheme."""
    signed = signature(frozenset({"the lift is", "lift is broken"}), Banding(32, 4))
    assert sha256(signed).hexdigest()[:16] == "4f7582c68727fcb7"


def test_a_signature_does_not_depend_on_the_order_of_the_shingles():
    items = [f"shingle {i}" for i in range(50)]
    one, other = frozenset(items), frozenset(reversed(items))
    assert signature(one, Banding(32, 4)) == signature(other, Banding(32, 4))


@pytest.mark.parametrize("banding", BANDINGS, ids=str)
def test_a_signature_keeps_so_many_bytes_of_each_minimum(banding: Banding):
    signed = signature(frozenset({"a"}), banding)
    assert len(signed) == banding.permutations * row_bytes(banding.rows)


@pytest.mark.parametrize("banding", BANDINGS, ids=str)
def test_there_is_a_tag_of_four_bytes_for_each_band(banding: Banding):
    tags = band_tags(signature(frozenset({"a", "b"}), banding), banding)
    assert [len(tag) for tag in tags] == [4] * banding.bands


@pytest.mark.parametrize("banding", BANDINGS, ids=str)
def test_the_estimate_is_near_the_similarity(banding: Banding):
    estimates = []
    for seed in range(200):
        one, other = pair_of_sets(shared=60, apart=20, seed=seed)
        estimates.append(estimate(signature(one, banding), signature(other, banding), banding))
    assert abs(fmean(estimates) - 0.6) < 0.02


@pytest.mark.parametrize("banding", BANDINGS, ids=str)
def test_the_estimate_of_equal_sets_is_one(banding: Banding):
    signed = signature(frozenset({"a", "b", "c"}), banding)
    assert estimate(signed, signed, banding) == 1.0


def test_pairs_share_a_band_as_often_as_the_formula_says():
    banding, found, pairs = Banding(32, 4), 0, 400
    for seed in range(pairs):
        one, other = pair_of_sets(shared=50, apart=25, seed=seed)  # similarity 0.5
        tags = (band_tags(signature(side, banding), banding) for side in (one, other))
        found += any(a == b for a, b in zip(*tags, strict=True))
    assert abs(found / pairs - candidate_probability(0.5, banding)) < 0.06
