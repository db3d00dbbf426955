"""POST /check answers as the contract says, field by field."""

import hashlib
from collections.abc import Callable
from typing import Any

from flask.testing import FlaskClient

Post = Callable[..., dict[str, Any]]
Documented = Callable[[Any, str], None]

WORDS = "the quick brown fox jumps over the lazy dog while seven wizards brew a strong potion"
NEAR = f"{WORDS} today"
OTHER = "an entirely different sentence about tram timetables and the price of tickets in winter"


def test_a_new_text_is_ingested(check: Post, expect_documented: Documented) -> None:
    answer = check("a", WORDS)
    expect_documented(answer, "CheckAnswer")
    assert (answer["verdict"], answer["action"], answer["match"]) == ("new", "ingest", None)


def test_the_same_text_under_another_id_is_an_exact_duplicate(
    check: Post, expect_documented: Documented
) -> None:
    check("a", WORDS)
    answer = check("b", WORDS)
    expect_documented(answer, "CheckAnswer")
    assert (answer["verdict"], answer["action"]) == ("exact_duplicate", "skip")
    assert answer["match"] == {
        "id": "a",
        "kind": "bytes",
        "score": 1.0,
        "score_kind": "jaccard",
        "state": "active",
    }


def test_the_same_text_after_normalisation_is_an_exact_duplicate(check: Post) -> None:
    check("a", WORDS)
    answer = check("b", WORDS.upper())
    assert (answer["verdict"], answer["match"]["kind"]) == ("exact_duplicate", "normalized")


def test_nearly_the_same_text_is_a_near_duplicate_with_its_similarity(
    check: Post, expect_documented: Documented
) -> None:
    check("a", WORDS)
    answer = check("b", NEAR)
    expect_documented(answer, "CheckAnswer")
    assert (answer["verdict"], answer["action"]) == ("near_duplicate", "skip")
    assert answer["match"]["kind"] == "near"
    # WORDS has 14 shingles of three words, NEAR one more.
    assert answer["match"]["score"] == round(14 / 15, 6)
    assert answer["candidates"] == {"looked_at": 1, "cut": False}


def test_a_duplicate_shares_the_family_of_its_match(check: Post) -> None:
    first = check("a", WORDS)
    assert check("b", NEAR)["family"] == first["family"]
    assert check("c", OTHER)["family"] != first["family"]


RULE = (
    "The lift in the north stair is checked by the fire service at least every 6 months, and the "
    "janitor keeps the book in which each check is written down with its date and its result."
)
CHANGED_RULE = RULE.replace("6 months", "9 months")
CHANGE = {"kind": "quantity", "before": "6 months", "after": "9 months", "fact": True}


def test_a_near_copy_tells_which_fact_it_changes(
    check: Post, expect_documented: Documented
) -> None:
    check("a", RULE)
    answer = check("b", CHANGED_RULE)
    expect_documented(answer, "CheckAnswer")
    assert (answer["verdict"], answer["facts_differ"]) == ("near_duplicate", True)
    assert answer["changes"] == [CHANGE]


def test_a_replay_tells_the_changes_again(check: Post) -> None:
    check("a", RULE)
    first = check("b", CHANGED_RULE)
    assert check("b", CHANGED_RULE) == first | {"replayed": True}


def test_a_near_copy_in_other_words_changes_no_fact(check: Post) -> None:
    check("a", RULE)
    answer = check("b", RULE.replace("written down", "noted"))
    assert (answer["verdict"], answer["facts_differ"]) == ("near_duplicate", False)


def test_a_copy_in_other_words_is_decided_by_a_rule_that_the_answer_names(check: Post) -> None:
    check("a", RULE, metadata={"version": "1.9"})
    answer = check("b", RULE.replace("written down", "noted"), metadata={"version": "1.10"})
    assert (answer["action"], answer["survivor"], answer["retire"]) == ("ingest", "incoming", ["a"])
    assert answer["reason"] == "newest: incoming version 1.10 is higher than existing version 1.9"
    assert answer["decision"] is not None
    assert answer["conflict"] is None


def test_a_copy_that_changes_a_fact_is_held_in_a_conflict(check: Post) -> None:
    check("a", RULE, metadata={"version": "1.9"})
    answer = check("b", CHANGED_RULE, metadata={"version": "1.10"})
    assert (answer["action"], answer["survivor"], answer["retire"]) == ("review", None, [])
    assert answer["reason"] == "facts differ: 6 months -> 9 months"
    assert answer["conflict"]["status"] == "open"
    assert answer["decision"] is not None


def test_a_new_text_names_no_decision(check: Post) -> None:
    assert check("a", WORDS)["decision"] is None


def test_an_update_tells_which_fact_it_changes(check: Post) -> None:
    check("a", RULE)
    assert check("a", CHANGED_RULE)["supersedes"]["changes"] == [CHANGE]


def test_an_exact_duplicate_has_no_changes(check: Post) -> None:
    check("a", RULE)
    answer = check("b", RULE.upper())
    assert (answer["verdict"], answer["facts_differ"], answer["changes"]) == (
        "exact_duplicate",
        False,
        [],
    )


def test_the_hash_of_the_bytes_is_that_of_the_text_as_posted(check: Post) -> None:
    text = "  Zwölf Boxkämpfer\tjagen\r\nViktor  "
    digest = hashlib.sha256(text.encode()).hexdigest()
    assert check("a", text)["hashes"]["bytes"] == f"sha256:{digest}"


def test_the_same_id_and_text_again_is_a_replay(check: Post) -> None:
    first = check("a", WORDS)
    second = check("a", WORDS)
    assert (first["replayed"], second["replayed"]) == (False, True)
    assert {**second, "replayed": False} == first


def test_another_text_under_the_same_id_supersedes(
    check: Post, expect_documented: Documented
) -> None:
    first = check("a", WORDS)
    answer = check("a", NEAR)
    expect_documented(answer, "CheckAnswer")
    assert answer["verdict"] == "new"
    superseded = answer["supersedes"]
    assert (superseded["normalized"], superseded["score"]) == (
        first["hashes"]["normalized"],
        round(14 / 15, 6),
    )


def test_a_dry_run_answers_and_writes_nothing(check: Post, client: FlaskClient) -> None:
    check("a", WORDS)
    stats = client.get("/stats").get_json()["collections"]
    answer = check("b", WORDS, dry_run=True)
    assert (answer["verdict"], answer["decision"]) == ("exact_duplicate", None)
    assert client.get("/documents?id=b").status_code == 404
    assert client.get("/stats").get_json()["collections"] == stats


def test_pages_come_back_each_at_its_place(check: Post) -> None:
    answer = check("a", pages=["first page of words", "", "third page of words"])
    assert answer["pages"] == ["first page of words", "", "third page of words"]
    assert answer["text"] == "first page of words\nthird page of words"


def test_a_text_without_form_feeds_has_no_pages(check: Post) -> None:
    assert check("a", WORDS)["pages"] is None


def test_a_text_with_form_feeds_is_its_pages(check: Post, client: FlaskClient) -> None:
    pages = ["first page of words", "second page of words"]
    posted = check("a", pages=pages)
    replay = check("a", "\f".join(pages))
    assert replay["replayed"]
    assert {**replay, "replayed": False} == posted


def test_splits_that_differ_are_told_as_a_leak(check: Post) -> None:
    check("a", WORDS, metadata={"split": "train"})
    answer = check("b", WORDS, metadata={"split": "eval"})
    assert answer["leak"] == {"split": "eval", "match_split": "train"}


def test_the_same_split_is_no_leak(check: Post) -> None:
    check("a", WORDS, metadata={"split": "train"})
    assert check("b", WORDS, metadata={"split": "train"})["leak"] is None


def test_collections_know_nothing_of_each_other(check: Post, client: FlaskClient) -> None:
    client.put("/collections/other", json={})
    check("a", WORDS)
    assert check("b", WORDS, collection="other")["verdict"] == "new"


def test_texts_of_every_script_come_back_as_they_were(check: Post) -> None:
    text = "Ünïcode 漢字 \U0001f600 עברית हिन्दी emoji 👩‍👩‍👧 done"
    assert check("a", text)["text"].startswith("Ünïcode 漢字 \U0001f600 עברית हिन्दी")


def test_the_answer_never_repeats_the_text_of_the_match(check: Post, client: FlaskClient) -> None:
    check("a", WORDS)
    raw = client.post("/check", json={"id": "b", "text": NEAR}).text
    assert raw.count("seven wizards") == 1
