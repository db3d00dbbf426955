"""POST /clean and POST /compare look at texts and store nothing."""

from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient

Expect = Callable[..., dict[str, Any]]
Documented = Callable[[Any, str], None]

HEADED = [f"Lumen Bikes Handbook\nBody number {word} goes here." for word in ("one", "two", "six")]


def test_cleaning_gives_the_text_and_what_was_removed(
    client: FlaskClient, expect_documented: Documented
) -> None:
    answer = client.post("/clean", json={"text": "one\x07 text"}).get_json()
    expect_documented(answer, "CleanAnswer")
    assert (answer["text"], answer["pages"]) == ("one text", None)
    assert (answer["cleaning"]["chars_before"], answer["cleaning"]["chars_after"]) == (9, 8)


def test_cleaned_pages_stay_pages(client: FlaskClient, expect_documented: Documented) -> None:
    answer = client.post("/clean", json={"pages": HEADED}).get_json()
    expect_documented(answer, "CleanAnswer")
    assert answer["pages"] == [page.partition("\n")[2] for page in HEADED]


def test_a_text_with_form_feeds_is_cleaned_as_its_pages(client: FlaskClient) -> None:
    by_pages = client.post("/clean", json={"pages": HEADED}).get_json()
    assert client.post("/clean", json={"text": "\f".join(HEADED)}).get_json() == by_pages


def test_a_rule_can_be_switched_off_for_one_call(client: FlaskClient) -> None:
    body = {"pages": HEADED, "cleaning": {"repeated_lines": None}}
    assert client.post("/clean", json=body).get_json()["pages"] == HEADED


def test_a_part_of_a_rule_can_be_set_for_one_call(client: FlaskClient) -> None:
    body = {"pages": HEADED, "cleaning": {"repeated_lines": {"min_pages": 4}}}
    assert client.post("/clean", json=body).get_json()["pages"] == HEADED


def test_a_protected_line_is_named_as_kept(
    client: FlaskClient, expect_documented: Documented
) -> None:
    body = {"pages": HEADED, "cleaning": {"protect": ["Lumen"]}}
    answer = client.post("/clean", json=body).get_json()
    expect_documented(answer, "CleanAnswer")
    assert [line["text"] for line in answer["cleaning"]["kept"]] == ["Lumen Bikes Handbook"]


def test_cleaning_stores_nothing(client: FlaskClient) -> None:
    client.post("/clean", json={"text": "one text"})
    assert client.get("/documents").get_json()["items"] == []


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        pytest.param({}, "/text", id="neither text nor pages"),
        pytest.param({"text": "a", "pages": ["a"]}, "/pages", id="text and pages"),
        pytest.param(
            {"text": "a", "collection": "default", "cleaning": {}},
            "/cleaning",
            id="a collection and rules of its own",
        ),
        pytest.param({"text": "a", "cleaning": None}, "/cleaning", id="rules that are null"),
        pytest.param({"text": "a", "cleaning": []}, "/cleaning", id="rules that are a list"),
        pytest.param({"text": "a", "cleaning": {"x": 1}}, "/cleaning/x", id="an unknown rule"),
        pytest.param(
            {"text": "a", "cleaning": {"whitespace": 1}}, "/cleaning/whitespace", id="a number"
        ),
        pytest.param(
            {"text": "a", "cleaning": {"repeated_lines": False}},
            "/cleaning/repeated_lines",
            id="false for null",
        ),
        pytest.param(
            {"text": "a", "cleaning": {"repeated_lines": {"pages": 1}}},
            "/cleaning/repeated_lines/pages",
            id="an unknown field two levels down",
        ),
        pytest.param({"text": "a", "id": "a"}, "/id", id="an id"),
    ],
)
def test_a_wrong_cleaning_request_says_where(
    client: FlaskClient, expect_problem: Expect, body: Any, pointer: str
) -> None:
    problem = expect_problem(client.post("/clean", json=body), 422, "invalid_request")
    assert [error["pointer"] for error in problem["errors"]] == [pointer]


def test_comparing_gives_every_similarity(
    client: FlaskClient, expect_documented: Documented
) -> None:
    shared = [f"word{i}" for i in range(18)]
    body = {"a": " ".join([*shared, "x", "y"]), "b": " ".join([*shared, "p", "q"])}
    answer = client.post("/compare", json=body).get_json()
    expect_documented(answer, "CompareAnswer")
    settings = [(at["unit"], at["size"]) for at in answer["similarity"]]
    words, chars = [("word", size) for size in (1, 2, 3, 5)], [("char", 3), ("char", 5)]
    assert settings == words + chars
    assert answer["similarity"][0]["score"] == 0.818182


def test_comparing_a_text_with_itself(client: FlaskClient) -> None:
    answer = client.post("/compare", json={"a": "same words", "b": "same words"}).get_json()
    assert answer["bytes_equal"]
    assert answer["normalized_equal"]
    assert (answer["score"], answer["verdict"]) == (1.0, "exact_duplicate")


def test_two_texts_side_by_side_tell_what_differs_below_the_threshold_too(
    client: FlaskClient,
) -> None:
    answer = client.post("/compare", json={"a": "two hours", "b": "3 hours"}).get_json()
    assert answer["facts_differ"]
    assert answer["changes"] == [
        {"kind": "quantity", "before": "two hours", "after": "3 hours", "fact": True}
    ]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        pytest.param({"b": "x"}, "/a", id="one side only"),
        pytest.param({"a": 1, "b": "x"}, "/a", id="a number for a text"),
        pytest.param({"a": "x", "b": ["x"]}, "/b", id="a list for a text"),
        pytest.param({"a": "x", "b": "y", "c": "z"}, "/c", id="three sides"),
    ],
)
def test_a_wrong_comparison_says_where(
    client: FlaskClient, expect_problem: Expect, body: Any, pointer: str
) -> None:
    problem = expect_problem(client.post("/compare", json=body), 422, "invalid_request")
    assert [error["pointer"] for error in problem["errors"]] == [pointer]


@pytest.mark.parametrize("call", ["/clean", "/compare"])
def test_an_unknown_collection_is_not_found(
    client: FlaskClient, expect_problem: Expect, call: str
) -> None:
    text = {"text": "a"} if call == "/clean" else {"a": "a", "b": "b"}
    response = client.post(call, json={**text, "collection": "nowhere"})
    expect_problem(response, 404, "unknown_collection")
