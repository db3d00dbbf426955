"""The worked figures that the product was designed from, through the HTTP API."""

from itertools import combinations

import pytest

HEADER = "Lumen Bikes Handbook - Confidential"
PAGES = [
    f"{HEADER}\nShops open at 7 am\tand  close at 9 pm.\x00\nPage 1",
    f"{HEADER}\nA helmet is included  free with every rental.\x07\nPage 2",
    f"{HEADER}\nBikes returned late are charged 2 dollars for every 15 minutes.\x1b\nPage 3",
]
BODIES = [
    "Shops open at 7 am and close at 9 pm.",
    "A helmet is included free with every rental.",
    "Bikes returned late are charged 2 dollars for every 15 minutes.",
]

SQUISHED = {
    "normalization": "squish",
    "shingles": {"unit": "char", "size": 3},
    "threshold": 0.65,
    "on_conflict": "skip",
}
RECORDS = {
    "D01": "The employer pays for certification training.",
    "D02": "The employer pays for certification training.",
    "D03": "  THE employer   pays for certification   TRAINING. ",
    "D04": "The employer covers certification training.",
    "D05": "The employer pays for certification exam.",
    "D06": "Applicants need basic spreadsheet skills.",
}
BYTES_HASHES = {
    "D01": "438036566b2c",
    "D02": "438036566b2c",
    "D03": "067ebbd5c451",
    "D04": "a0a37ade34c8",
    "D05": "5b0a3b98751f",
    "D06": "3e2ee0c2b4dd",
}
NORMALIZED_HASHES = {
    "D01": "69adc10ac2fe",
    "D02": "69adc10ac2fe",
    "D03": "69adc10ac2fe",
    "D04": "cfdd886532f0",
    "D05": "4dbec4bc5178",
    "D06": "c2c27a31f3b6",
}
DISTANCES = {
    ("D01", "D02"): 0.0,
    ("D01", "D03"): 0.0,
    ("D01", "D04"): 0.32,
    ("D01", "D05"): 0.2917,
    ("D01", "D06"): 0.9877,
    ("D02", "D03"): 0.0,
    ("D02", "D04"): 0.32,
    ("D02", "D05"): 0.2917,
    ("D02", "D06"): 0.9877,
    ("D03", "D04"): 0.32,
    ("D03", "D05"): 0.2917,
    ("D03", "D06"): 0.9877,
    ("D04", "D05"): 0.5455,
    ("D04", "D06"): 0.9873,
    ("D05", "D06"): 0.987,
}


@pytest.fixture
def squished(client):
    client.put("/collections/records", json=SQUISHED)
    return client


def trigram_distance(client, a: str, b: str) -> float:
    body = {"a": a, "b": b, "collection": "records"}
    compared = client.post("/compare", json=body).get_json()["similarity"]
    score = next(s["score"] for s in compared if (s["unit"], s["size"]) == ("char", 3))
    return float(round(1 - score, 4))


def test_three_pages_keep_their_body_lines_alone(client):
    answer = client.post("/check", json={"id": "handbook", "pages": PAGES}).get_json()
    assert answer["pages"] == BODIES


def test_three_pages_have_144_characters_after_cleaning(client):
    answer = client.post("/check", json={"id": "handbook", "pages": PAGES}).get_json()
    assert answer["cleaning"]["chars_after"] == 144


def test_the_running_header_is_named_as_removed_from_three_of_three_pages(client):
    answer = client.post("/check", json={"id": "handbook", "pages": PAGES}).get_json()
    removed = {removal["rule"]: removal for removal in answer["cleaning"]["removed"]}
    assert removed["repeated_lines"]["count"] == 3
    assert removed["repeated_lines"]["chars"] == 108
    example = removed["repeated_lines"]["examples"][0]
    assert (example["text"], example["pages"], example["of"]) == (HEADER, 3, 3)


def test_what_was_removed_adds_up(client):
    cleaning = client.post("/clean", json={"pages": PAGES}).get_json()["cleaning"]
    removed = sum(removal["chars"] for removal in cleaning["removed"])
    assert cleaning["chars_before"] - cleaning["chars_after"] == removed


# Twenty different words each, one of them twice; eighteen are shared. Of the nineteen runs of
# three words a changed first word spoils one, a changed word within spoils three.
FIRST = [f"word{i}" for i in range(20)] + ["word5"]
SECOND = ["other", *FIRST[1:10], "another", *FIRST[11:]]


def similarity(client, unit: str, size: int) -> float:
    body = {"a": " ".join(FIRST), "b": " ".join(SECOND)}
    compared = client.post("/compare", json=body).get_json()["similarity"]
    return float(next(s["score"] for s in compared if (s["unit"], s["size"]) == (unit, size)))


def test_two_texts_of_twenty_words_that_share_eighteen_are_0_818_alike_by_words(client):
    assert similarity(client, "word", 1) == pytest.approx(18 / 22, abs=1e-6)


def test_the_same_pair_is_0_652_alike_by_runs_of_three_words(client):
    assert similarity(client, "word", 3) == pytest.approx(15 / 23, abs=1e-6)


@pytest.mark.parametrize("id", RECORDS)
def test_the_hash_of_the_bytes_is_that_of_the_text_as_posted(squished, id: str):
    body = {"id": id, "text": RECORDS[id], "collection": "records"}
    answer = squished.post("/check", json=body).get_json()
    assert answer["hashes"]["bytes"].startswith(f"sha256:{BYTES_HASHES[id]}")


@pytest.mark.parametrize("id", RECORDS)
def test_the_normalised_hash_is_that_of_the_squished_text(squished, id: str):
    body = {"id": id, "text": RECORDS[id], "collection": "records"}
    answer = squished.post("/check", json=body).get_json()
    assert answer["hashes"]["normalized"].startswith(f"sha256:{NORMALIZED_HASHES[id]}")


@pytest.mark.parametrize("pair", list(combinations(RECORDS, 2)), ids="-".join)
def test_the_trigram_distance_of_each_pair_is_as_worked_out(squished, pair: tuple[str, str]):
    one, other = (RECORDS[id] for id in pair)
    assert trigram_distance(squished, one, other) == DISTANCES[pair]


def test_the_calibration_pair_is_0_1132_apart(squished):
    distance = trigram_distance(
        squished,
        "Evening shifts require a valid forklift certification.",
        "Evening shifts require a valid forklift certificate.",
    )
    assert distance == 0.1132


def test_the_six_records_posted_in_order_get_the_verdicts_that_were_worked_out(squished):
    verdicts = []
    for id, text in RECORDS.items():
        body = {"id": id, "text": text, "collection": "records"}
        answer = squished.post("/check", json=body).get_json()
        match = answer["match"] or {"kind": None, "score": None}
        verdicts.append((answer["verdict"], match["kind"], match["score"]))
    assert verdicts == [
        ("new", None, None),
        ("exact_duplicate", "bytes", 1.0),
        ("exact_duplicate", "normalized", 1.0),
        ("near_duplicate", "near", 0.68),
        ("near_duplicate", "near", pytest.approx(0.7083, abs=5e-5)),
        ("new", None, None),
    ]
