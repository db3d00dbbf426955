"""Every order of every step of three writers, with one of them lost at any of them."""

from dataclasses import replace

import pytest

from tests.model.protocol import Op, Rules, explore

A, B, C = ("check", "a", "A"), ("check", "b", "B"), ("check", "c", "C")
CASES: dict[str, tuple[Op, ...]] = {
    "a chain": (A, B, C),
    "three alike": (("check", "a", "B"), B, ("check", "c", "B")),
    "one id, three texts": (A, ("check", "a", "C"), ("check", "a", "B")),
    "a document is deleted under its copy": (A, B, ("delete", "a")),
    "an update beside its copies": (A, ("check", "a", "C"), B),
    "posted again, and deleted": (B, B, ("delete", "b")),
}
BROKEN = {
    "nothing is validated": ("three alike", {"validates": False}),
    "a snapshot forgets what is under way": ("three alike", {"knows_unfinished": False}),
    "pieces are applied again": ("one id, three texts", {"guards_pieces": False}),
    "done before all others have applied it": ("three alike", {"home_comes_last": False}),
    "the snapshot is taken after the reads": ("three alike", {"snapshot_before_reads": False}),
    "the text that a decision names is not validated": (
        "a document is deleted under its copy",
        {"readers_are_noted": False},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_in_whatever_order_the_answers_are_those_of_one_order_and_nothing_is_torn(case: str):
    worlds, fault = explore(CASES[case], Rules())
    assert fault is None
    assert worlds > 1_000


@pytest.mark.parametrize("broken", BROKEN)
def test_the_model_notices_a_protocol_that_lacks_a_part(broken: str):
    case, missing = BROKEN[broken]
    assert explore(CASES[case], replace(Rules(), **missing))[1] is not None
