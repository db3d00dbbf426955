"""Collections are made, changed, looked at and removed."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient

Post = Callable[..., dict[str, Any]]
Expect = Callable[..., dict[str, Any]]
Documented = Callable[[Any, str], None]

DEFAULTS = {
    "cleaning": {
        "control_characters": True,
        "invisible_characters": True,
        "whitespace": True,
        "empty_lines": True,
        "repeated_lines": {"share": 0.5, "min_pages": 3},
        "page_numbers": True,
        "protect": [],
    },
    "normalization": "words",
    "shingles": {"unit": "word", "size": 3},
    "threshold": 0.6,
    "survivor": ["newest", "authority", "richest", "first"],
    "on_conflict": "review",
    "ttl_days": None,
    "partitions": 1,
}
WORDS = "the quick brown fox jumps over the lazy dog"


def test_the_default_collection_is_there_with_the_defaults(
    client: FlaskClient, expect_documented: Documented
) -> None:
    answer = client.get("/collections/default").get_json()
    expect_documented(answer, "Collection")
    assert answer["settings"] == DEFAULTS
    assert answer["documents"] == {"active": 0, "held": 0, "dropped": 0}


def test_an_empty_body_makes_a_collection_with_the_defaults(
    client: FlaskClient, expect_documented: Documented
) -> None:
    response = client.put("/collections/docs", json={})
    assert response.status_code == 201
    expect_documented(response.get_json(), "Collection")
    assert response.get_json()["settings"] == DEFAULTS


def test_a_second_put_changes_only_what_it_names(client: FlaskClient) -> None:
    client.put("/collections/docs", json={"threshold": 0.8, "cleaning": {"whitespace": False}})
    response = client.put("/collections/docs", json={"cleaning": {"protect": ["Keep"]}})
    assert response.status_code == 200
    settings = response.get_json()["settings"]
    assert settings["threshold"] == 0.8
    assert (settings["cleaning"]["whitespace"], settings["cleaning"]["protect"]) == (
        False,
        ["Keep"],
    )


def test_repeated_lines_go_off_and_on_again(client: FlaskClient) -> None:
    off = client.put("/collections/docs", json={"cleaning": {"repeated_lines": None}})
    assert off.get_json()["settings"]["cleaning"]["repeated_lines"] is None
    on = client.put("/collections/docs", json={"cleaning": {"repeated_lines": {"share": 0.2}}})
    repeated = on.get_json()["settings"]["cleaning"]["repeated_lines"]
    assert repeated == {"share": 0.2, "min_pages": 3}


def test_a_whole_number_may_be_written_with_a_point(client: FlaskClient) -> None:
    answer = client.put("/collections/docs", json={"shingles": {"size": 4.0}}).get_json()
    assert json.dumps(answer["settings"]["shingles"]["size"]) == "4"


def test_every_setting_comes_back_as_it_was_put(client: FlaskClient) -> None:
    settings = {
        "cleaning": {
            "control_characters": False,
            "invisible_characters": False,
            "whitespace": False,
            "empty_lines": False,
            "repeated_lines": {"share": 0.75, "min_pages": 5},
            "page_numbers": False,
            "protect": ["a", "b"],
        },
        "normalization": "squish",
        "shingles": {"unit": "char", "size": 5},
        "threshold": 0.9,
        "survivor": ["first"],
        "on_conflict": "ingest",
        "ttl_days": 30,
        "partitions": 3,
    }
    client.put("/collections/docs", json=settings)
    assert client.get("/collections/docs").get_json()["settings"] == settings


def test_partitions_are_chosen_once_though_there_are_no_documents(client: FlaskClient) -> None:
    client.put("/collections/docs", json={"partitions": 3})
    answer = client.put("/collections/docs", json={"partitions": 2})
    assert (answer.status_code, answer.get_json()["errors"][0]["code"]) == (409, "frozen_setting")
    assert client.get("/collections/docs").get_json()["settings"]["partitions"] == 3


def test_documents_are_counted(check: Post, client: FlaskClient) -> None:
    check("a", WORDS)
    check("b", WORDS)
    counts = client.get("/collections/default").get_json()["documents"]
    assert counts == {"active": 1, "held": 0, "dropped": 1}


@pytest.mark.parametrize(
    "change",
    [
        {"normalization": "squish"},
        {"shingles": {"size": 5}},
        {"cleaning": {"page_numbers": False}},
        {"threshold": 0.3},
    ],
    ids=["normalization", "shingles", "cleaning", "threshold"],
)
def test_what_signatures_depend_on_is_frozen_by_the_first_document(
    check: Post, client: FlaskClient, expect_problem: Expect, change: dict[str, Any]
) -> None:
    check("a", WORDS)
    response = client.put("/collections/default", json=change)
    problem = expect_problem(response, 409, "frozen_setting")
    assert next(iter(change)) in problem["detail"]
    assert client.get("/collections/default").get_json()["settings"] == DEFAULTS


def test_a_frozen_setting_may_be_named_with_its_value(check: Post, client: FlaskClient) -> None:
    check("a", WORDS)
    body = {"normalization": "words", "threshold": 0.7}
    assert client.put("/collections/default", json=body).status_code == 200


def test_collections_are_listed_part_by_part(
    client: FlaskClient, expect_documented: Documented
) -> None:
    for name in ("a", "b", "c"):
        client.put(f"/collections/{name}", json={})
    first = client.get("/collections?limit=3").get_json()
    second = client.get(
        "/collections", query_string={"limit": 3, "cursor": first["next"]}
    ).get_json()
    expect_documented(first, "CollectionList")
    names = [item["name"] for item in first["items"] + second["items"]]
    assert (names, second["next"]) == (["a", "b", "c", "default"], None)


def test_a_removed_collection_is_gone_with_its_documents(
    check: Post, client: FlaskClient, expect_documented: Documented, expect_problem: Expect
) -> None:
    client.put("/collections/docs", json={})
    check("a", WORDS, collection="docs")
    answer = client.delete("/collections/docs").get_json()
    expect_documented(answer, "DeletedCollection")
    expect_problem(client.get("/collections/docs"), 404, "unknown_collection")
    client.put("/collections/docs", json={})
    assert check("b", WORDS, collection="docs")["verdict"] == "new"


def test_the_default_collection_cannot_be_removed(
    client: FlaskClient, expect_problem: Expect
) -> None:
    expect_problem(client.delete("/collections/default"), 409, "default_collection")


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_an_unknown_collection_is_not_found(
    client: FlaskClient, expect_problem: Expect, method: str
) -> None:
    expect_problem(client.open("/collections/nowhere", method=method), 404, "unknown_collection")


@pytest.mark.parametrize(
    "name", ["Docs", "-a", ".a", "_a", "a b", "a%0A", "ä", "a" * 65, "%7Ba%7D", "a:b", "*"]
)
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_a_bad_name_is_invalid(
    client: FlaskClient, expect_problem: Expect, method: str, name: str
) -> None:
    response = client.open(
        f"/collections/{name}", method=method, json={} if method == "PUT" else None
    )
    problem = expect_problem(response, 422, "invalid_request")
    assert problem["errors"][0]["pointer"] == "/name"


@pytest.mark.parametrize("name", ["a", "0", "a.b-c_d", "a" * 64, "9-"])
def test_a_good_name_is_taken(client: FlaskClient, name: str) -> None:
    assert client.put(f"/collections/{name}", json={}).get_json()["name"] == name


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"threshold": 0}, "/threshold"),
        ({"threshold": -0.5}, "/threshold"),
        ({"threshold": 1.0000001}, "/threshold"),
        ({"threshold": "0.5"}, "/threshold"),
        ({"threshold": True}, "/threshold"),
        ({"threshold": None}, "/threshold"),
        ({"survivor": []}, "/survivor"),
        ({"survivor": ["first", "first"]}, "/survivor"),
        ({"survivor": ["oldest"]}, "/survivor"),
        ({"survivor": [["first"]]}, "/survivor"),
        ({"survivor": "first"}, "/survivor"),
        ({"on_conflict": "ask"}, "/on_conflict"),
        ({"on_conflict": ["review"]}, "/on_conflict"),
        ({"normalization": "none"}, "/normalization"),
        ({"normalization": 1}, "/normalization"),
        ({"shingles": {"size": 0}}, "/shingles/size"),
        ({"shingles": {"size": 3.5}}, "/shingles/size"),
        ({"shingles": {"size": True}}, "/shingles/size"),
        ({"shingles": {"size": 10**12}}, "/shingles/size"),
        ({"shingles": {"unit": "line"}}, "/shingles/unit"),
        ({"shingles": {"k": 3}}, "/shingles/k"),
        ({"shingles": 3}, "/shingles"),
        ({"shingles": None}, "/shingles"),
        ({"cleaning": {"repeated_lines": {"share": 1}}}, "/cleaning/repeated_lines/share"),
        ({"cleaning": {"repeated_lines": {"share": -0.1}}}, "/cleaning/repeated_lines/share"),
        ({"cleaning": {"repeated_lines": {"min_pages": 1}}}, "/cleaning/repeated_lines/min_pages"),
        ({"cleaning": {"protect": "a"}}, "/cleaning/protect"),
        ({"cleaning": {"protect": [""]}}, "/cleaning/protect/0"),
        ({"cleaning": {"protect": ["a", 1]}}, "/cleaning/protect/1"),
        ({"cleaning": {"line_ends": False}}, "/cleaning/line_ends"),
        ({"ttl_days": 0}, "/ttl_days"),
        ({"partitions": 0}, "/partitions"),
        ({"partitions": 65}, "/partitions"),
        ({"ttl_days": 1.5}, "/ttl_days"),
        ({"ttl_days": "30"}, "/ttl_days"),
        ({"name": "docs"}, "/name"),
        ({"scheme": {}}, "/scheme"),
        ([], ""),
    ],
    ids=str,
)
def test_a_setting_that_cannot_be_is_invalid_and_makes_nothing(
    client: FlaskClient, expect_problem: Expect, body: Any, pointer: str
) -> None:
    problem = expect_problem(client.put("/collections/docs", json=body), 422, "invalid_request")
    assert [error["pointer"] for error in problem["errors"]] == [pointer]
    assert client.get("/collections/docs").status_code == 404


@pytest.mark.parametrize("threshold", [1, 1.0, 0.000001])
def test_a_threshold_at_the_edge_is_taken(client: FlaskClient, threshold: float) -> None:
    response = client.put("/collections/docs", json={"threshold": threshold})
    assert response.get_json()["settings"]["threshold"] == threshold
