"""POST /calibrate."""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import pytest
from flask.testing import FlaskClient

Expect = Callable[..., dict[str, Any]]

PAID = "The employer pays for certification training."
RECORDS = {
    "D01": PAID,
    "D02": PAID,
    "D03": "  THE employer   pays for certification   TRAINING. ",
    "D04": "The employer covers certification training.",
    "D05": "The employer pays for certification exam.",
    "D06": "Applicants need basic spreadsheet skills.",
}
DUPLICATES = ("D01", "D02", "D03", "D04")
WORKED: dict[str, Any] = {
    "pairs": [
        {"a": RECORDS[a], "b": RECORDS[b], "duplicate": {a, b} <= set(DUPLICATES)}
        for a, b in combinations(RECORDS, 2)
    ],
    "normalization": "squish",
    "shingles": [{"unit": "char", "size": 3}],
    # Distances of 0, 0.2, 0.3, 0.35, 0.7 and 0.99.
    "thresholds": [1.0, 0.8, 0.7, 0.65, 0.3, 0.01],
}


def calibrate(client: FlaskClient, **changed: Any) -> Any:
    return client.post("/calibrate", json={**WORKED, **changed})


def setting(client: FlaskClient, **changed: Any) -> dict[str, Any]:
    answer = calibrate(client, **changed)
    assert answer.status_code == 200, answer.text
    first: dict[str, Any] = answer.get_json()["settings"][0]
    return first


def test_the_worked_sweep_comes_out_as_it_was_worked_out(client: FlaskClient) -> None:
    steps = setting(client)["sweep"]
    joined = [(step["caught"], step["wrongly_joined"]) for step in steps]
    assert joined == [(3, 0), (3, 0), (3, 3), (6, 3), (6, 4), (6, 9)]


def test_nothing_separates_the_worked_pairs_and_two_of_them_prove_it(client: FlaskClient) -> None:
    told = setting(client)
    assert told["separable"] is False
    assert told["statement"] == (
        "No threshold separates these pairs: two distinct texts are alike by 0.7083 "
        "(distance 0.2917), and two duplicates by no more than 0.6800 (distance 0.3200)."
    )
    assert told["witness"]["duplicate"] == {"a": PAID, "b": RECORDS["D04"], "score": 0.68}
    assert told["witness"]["distinct"] == {"a": PAID, "b": RECORDS["D05"], "score": 0.708333}


def test_the_answer_is_as_documented(
    client: FlaskClient, expect_documented: Callable[[Any, str], None]
) -> None:
    expect_documented(calibrate(client).get_json(), "Calibration")


def test_every_setting_asked_for_has_a_sweep(client: FlaskClient) -> None:
    shingles = [{"unit": "word", "size": 1}, {"unit": "word", "size": 3}]
    told = calibrate(client, shingles=shingles).get_json()["settings"]
    assert [{"unit": one["unit"], "size": one["size"]} for one in told] == shingles


def test_errors_cost_one_each_where_nothing_is_said(client: FlaskClient) -> None:
    costs = [step["cost"] for step in setting(client)["sweep"]]
    assert costs == [3, 3, 6, 3, 4, 9]


def test_the_nearest_pairs_are_those_around_the_threshold_of_least_cost(
    client: FlaskClient,
) -> None:
    near = setting(client, costs={"missed": 10, "wrongly_joined": 1})["nearest"]
    assert near["threshold"] == 0.65
    assert [pair["score"] for pair in near["above"][:4]] == [0.68, 0.68, 0.68, 0.708333]
    assert near["below"][0]["score"] == 0.454545


def test_texts_are_cleaned_as_those_of_a_check_are(client: FlaskClient) -> None:
    pair = {"a": "Shops open\tat 7 am.\x00", "b": "Shops open at 7 am.", "duplicate": True}
    [step] = setting(client, pairs=[pair], thresholds=[1.0])["sweep"]
    assert step["caught"] == 1


@pytest.mark.parametrize(
    ("changed", "pointer"),
    [
        ({"pairs": []}, "/pairs"),
        ({"pairs": [{"a": "x", "b": "y"}]}, "/pairs/0/duplicate"),
        ({"pairs": [{"a": "x", "b": "y", "duplicate": 1}]}, "/pairs/0/duplicate"),
        ({"pairs": [7]}, "/pairs/0"),
        ({"pairs": {}}, "/pairs"),
        ({"thresholds": []}, "/thresholds"),
        ({"thresholds": [0.5, 0]}, "/thresholds/1"),
        ({"thresholds": [1.1]}, "/thresholds/0"),
        ({"thresholds": 0.5}, "/thresholds"),
        ({"shingles": []}, "/shingles"),
        ({"shingles": [{"unit": "word"}]}, "/shingles/0/size"),
        ({"shingles": [{"unit": "letter", "size": 3}]}, "/shingles/0/unit"),
        ({"normalization": "none"}, "/normalization"),
        ({"costs": {"missed": -1}}, "/costs/missed"),
        ({"costs": {"late": 1}}, "/costs/late"),
    ],
)
def test_what_is_wrong_is_named(
    client: FlaskClient, expect_problem: Expect, changed: dict[str, Any], pointer: str
) -> None:
    problem = expect_problem(calibrate(client, **changed), 422, "invalid_request")
    assert problem["errors"][0]["pointer"] == pointer


def test_a_pair_of_which_nothing_is_left_is_named(
    client: FlaskClient, expect_problem: Expect
) -> None:
    pairs = [*WORKED["pairs"], {"a": "x", "b": "\u200b", "duplicate": False}]
    problem = expect_problem(calibrate(client, pairs=pairs), 422, "empty_text")
    assert problem["errors"][0]["pointer"] == "/pairs/15/b"


def test_pairs_that_are_too_large_together_are_refused(
    client: FlaskClient, expect_problem: Expect
) -> None:
    pair = {"a": "x" * 6000, "b": "y" * 6000, "duplicate": False}
    expect_problem(calibrate(client, pairs=[pair]), 413, "too_large")


def test_nothing_is_stored(client: FlaskClient) -> None:
    calibrate(client)
    documents = client.get("/collections/default").get_json()["documents"]
    assert documents == {"active": 0, "held": 0, "dropped": 0}
