"""Every order of every step of three writers, with one of them lost at any of them, and of two
that take what they have answered along with what they are asked next. Four cases only in the long
form."""

import os
from dataclasses import replace

import pytest

from tests.model.protocol import Ops, Rules, explore

A, B, C = ("check", "a", "A"), ("check", "b", "B"), ("check", "c", "C")
CASES: dict[str, tuple[Ops, ...]] = {
    "a chain": ((A,), (B,), (C,)),
    "three alike": ((("check", "a", "B"),), (B,), (("check", "c", "B"),)),
    "one id, three texts": ((A,), (("check", "a", "C"),), (("check", "a", "B"),)),
    "a document is deleted under its copy": ((A,), (B,), (("delete", "a"),)),
    "an update beside its copies": ((A,), (("check", "a", "C"),), (B,)),
    "posted again, and deleted": ((B,), (B,), (("delete", "b"),)),
    "one process checks two that are alike, another one a third": ((A, B), (C,)),
    "one posts again, one deletes": ((B, B), (("delete", "b"), ("check", "c", "B"))),
    "two processes check two of one id": ((A, ("check", "a", "C")), (B, ("check", "a", "B"))),
}
LONG = (
    "three alike",
    "one id, three texts",
    "an update beside its copies",
    "posted again, and deleted",
)
EXPLORED = [case for case in CASES if case not in LONG or os.environ.get("SOAK") == "1"]
BROKEN = {
    "nothing is validated": ("three alike", {"validates": False}),
    "a snapshot forgets what is under way": ("three alike", {"knows_unfinished": False}),
    "pieces are applied again": ("one id, three texts", {"guards_pieces": False}),
    "done before it is applied": ("three alike", {"applies_before_done": False}),
    "the snapshot is taken after the reads": ("three alike", {"snapshot_before_reads": False}),
    "pieces are taken along and not read": (
        "one process checks two that are alike, another one a third",
        {"carries_before_it_reads": False},
    ),
    "the text that a decision names is not validated": (
        "a document is deleted under its copy",
        {"readers_are_noted": False},
    ),
}


@pytest.mark.parametrize("case", EXPLORED)
def test_in_whatever_order_the_answers_are_those_of_one_order_and_nothing_is_torn(case: str):
    worlds, fault = explore(CASES[case], Rules())
    assert fault is None
    assert worlds > 1_000


@pytest.mark.parametrize("broken", BROKEN)
def test_the_model_notices_a_protocol_that_lacks_a_part(broken: str):
    case, missing = BROKEN[broken]
    assert explore(CASES[case], replace(Rules(), **missing))[1] is not None
