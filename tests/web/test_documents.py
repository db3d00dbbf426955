"""Stored documents can be looked at, listed and deleted, whatever their ids look like."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from flask.testing import FlaskClient

Post = Callable[..., dict[str, Any]]
Expect = Callable[..., dict[str, Any]]
Documented = Callable[[Any, str], None]

WORDS = "the quick brown fox jumps over the lazy dog while seven wizards brew a strong potion"

ODD_IDS = {
    "a slash": "a/b",
    "slashes all over": "//a//b//",
    "a path upwards": "../../etc/passwd",
    "two dots": "..",
    "one dot": ".",
    "a per cent sign": "100%",
    "an escape": "a%2Fb%00",
    "an asterisk": "*",
    "a pattern": "a[b]?{c}",
    "colons": "a:b::c",
    "braces": "{a}:{b}",
    "an address": "https://example.org/a?b=c&d=e#f",
    "a plus sign and spaces": " a + b ",
    "quotes": "\"a\" 'b' `c`",
    "backslashes": "a\\b\\..",
    "an emoji": "\U0001f468‍\U0001f469‍\U0001f467",
    "Hebrew": "מסמך",
    "a decomposed letter": "e\u0301",
    "a line separator": "a\u2028b",
    "the replacement character": "\ufffd",
    "512 characters": "é" * 512,
    "a number": "0",
    "markup": "<script>alert(1)</script>",
}
odd = pytest.mark.parametrize(
    "id", [pytest.param(id, id=f"with {name}") for name, id in ODD_IDS.items()]
)
# What a path cannot carry: clients resolve these before they send them.
odd_in_paths = pytest.mark.parametrize(
    "id",
    [
        pytest.param(id, id=f"with {name}")
        for name, id in ODD_IDS.items()
        if id not in (".", "..") and not id.startswith(("/", "../"))
    ],
)


@odd
def test_an_id_comes_back_as_it_was(check: Post, client: FlaskClient, id: str) -> None:
    assert check(id, WORDS)["id"] == id
    assert client.get("/documents", query_string={"id": id}).get_json()["id"] == id


@odd
def test_an_id_is_named_as_a_match_as_it_was(check: Post, id: str) -> None:
    check(id, WORDS)
    assert check("another", WORDS)["match"]["id"] == id


@odd_in_paths
def test_an_id_in_a_path_comes_back_as_it_was(check: Post, client: FlaskClient, id: str) -> None:
    check(id, WORDS)
    assert client.get(f"/documents/{quote(id, safe='')}").get_json()["id"] == id


@odd
def test_a_document_of_any_id_can_be_deleted(check: Post, client: FlaskClient, id: str) -> None:
    check(id, WORDS)
    answer = client.delete("/documents", query_string={"id": id}).get_json()
    assert answer == {"deleted": id, "twins": []}
    assert client.get("/documents", query_string={"id": id}).status_code == 404


def test_slashes_in_a_path_may_stand_as_they_are(check: Post, client: FlaskClient) -> None:
    check("a//b/", WORDS)
    assert client.get("/documents/a//b/").get_json()["id"] == "a//b/"


def test_bytes_that_are_not_utf8_name_no_document(
    check: Post, client: FlaskClient, expect_problem: Expect
) -> None:
    check("\ufffd", WORDS)
    in_path = client.delete("/documents/x", environ_overrides={"PATH_INFO": "/documents/\xff"})
    expect_problem(in_path, 404, "not_found")
    expect_problem(client.delete("/documents?id=%FF"), 422, "invalid_request")
    assert client.get("/documents?id=%EF%BF%BD").status_code == 200


def test_a_document_is_shown_in_full(
    check: Post, client: FlaskClient, expect_documented: Documented
) -> None:
    metadata = {"source": "intranet", "authority": 10, "draft": False, "ratio": 0.5}
    answer = check("a", WORDS, metadata=metadata)
    document = client.get("/documents?id=a").get_json()
    expect_documented(document, "Document")
    assert document["metadata"] == metadata
    assert (document["state"], document["text"]) == ("active", WORDS)
    assert (document["hashes"], document["family"]) == (answer["hashes"], answer["family"])
    assert document["registered_at"].endswith("Z")


def test_a_dropped_copy_names_its_twin_and_the_other_way_round(
    check: Post, client: FlaskClient, expect_documented: Documented
) -> None:
    check("a", WORDS)
    check("b", WORDS)
    kept, dropped = (client.get(f"/documents?id={id}").get_json() for id in ("a", "b"))
    expect_documented(kept, "Document")
    expect_documented(dropped, "Document")
    assert (dropped["state"], dropped["twin_of"]["id"]) == ("dropped", "a")
    assert [twin["id"] for twin in kept["twins"]] == ["b"]


def test_deleting_names_the_copies_that_were_dropped_for_it(
    check: Post, client: FlaskClient, expect_documented: Documented
) -> None:
    check("a", WORDS)
    check("b", WORDS)
    answer = client.delete("/documents/a").get_json()
    expect_documented(answer, "DeletedDocument")
    assert [twin["id"] for twin in answer["twins"]] == ["b"]
    assert client.get("/documents?id=b").get_json()["orphaned"]


def test_a_deleted_text_is_new_again(check: Post, client: FlaskClient) -> None:
    check("a", WORDS)
    client.delete("/documents?id=a")
    assert check("b", WORDS)["verdict"] == "new"


@pytest.mark.parametrize("method", ["GET", "DELETE"])
@pytest.mark.parametrize("address", ["/documents/nobody", "/documents?id=nobody"])
def test_an_unknown_document_is_not_found(
    client: FlaskClient, expect_problem: Expect, method: str, address: str
) -> None:
    expect_problem(client.open(address, method=method), 404, "unknown_document")


@pytest.mark.parametrize("method", ["GET", "DELETE"])
@pytest.mark.parametrize("address", ["/documents/a?collection=x", "/documents?id=a&collection=x"])
def test_an_unknown_collection_is_not_found(
    client: FlaskClient, expect_problem: Expect, method: str, address: str
) -> None:
    expect_problem(client.open(address, method=method), 404, "unknown_collection")


@pytest.mark.parametrize("erase", ["true", "false"])
def test_deleting_takes_erase(check: Post, client: FlaskClient, erase: str) -> None:
    check("a", WORDS)
    assert client.delete(f"/documents?id=a&erase={erase}").status_code == 200


@pytest.mark.parametrize(
    ("method", "address", "pointer"),
    [
        pytest.param("DELETE", "/documents", "/id", id="deleting without an id"),
        pytest.param("DELETE", "/documents/a?id=a", "/id", id="an id in path and query, deleting"),
        pytest.param("GET", "/documents/a?id=a", "/id", id="an id in path and query"),
        pytest.param("GET", "/documents?id=", "/id", id="an empty id"),
        pytest.param("GET", "/documents?id=a%00", "/id", id="a NUL in an id"),
        pytest.param("GET", "/documents/a%0A", "/id", id="a line end in a path"),
        pytest.param("GET", f"/documents/{'x' * 513}", "/id", id="an id of 513 characters"),
        pytest.param("GET", "/documents?id=a&id=b", "/id", id="two ids"),
        pytest.param("GET", "/documents?id=a&limit=5", "/limit", id="an id and a limit"),
        pytest.param("GET", "/documents?color=red", "/color", id="an unknown parameter"),
        pytest.param("GET", "/documents?limit=0", "/limit", id="a limit of 0"),
        pytest.param("GET", "/documents?limit=501", "/limit", id="a limit of 501"),
        pytest.param("GET", "/documents?limit=-1", "/limit", id="a negative limit"),
        pytest.param("GET", "/documents?limit=1.0", "/limit", id="a limit with a point"),
        pytest.param("GET", "/documents?limit=1_0", "/limit", id="a limit with an underscore"),
        pytest.param("GET", "/documents?limit=+5", "/limit", id="a limit with a space"),
        pytest.param("GET", "/documents?limit=%D9%A3", "/limit", id="an Arabic digit"),
        pytest.param("GET", f"/documents?limit={'9' * 5000}", "/limit", id="5,000 digits"),
        pytest.param("GET", "/documents?limit=", "/limit", id="an empty limit"),
        pytest.param("GET", "/documents?state=gone", "/state", id="an unknown state"),
        pytest.param("GET", "/documents?orphaned=1", "/orphaned", id="a number for a flag"),
        pytest.param("GET", "/documents?orphaned=True", "/orphaned", id="a flag in upper case"),
        pytest.param("GET", "/documents?collection=A", "/collection", id="a bad collection"),
        pytest.param("GET", "/documents?cursor=", "/cursor", id="an empty cursor"),
        pytest.param("DELETE", "/documents?id=a&erase=yes", "/erase", id="yes for true"),
    ],
)
def test_a_wrong_parameter_is_invalid_and_named(
    client: FlaskClient, expect_problem: Expect, method: str, address: str, pointer: str
) -> None:
    problem = expect_problem(client.open(address, method=method), 422, "invalid_request")
    assert [error["pointer"] for error in problem["errors"]] == [pointer]


@pytest.mark.parametrize("cursor", ["x", "bm9uc2Vuc2U", "%00", "..", "0", "e30", "\U0001f600", "-"])
@pytest.mark.parametrize("path", ["/documents", "/collections"])
def test_a_cursor_that_no_answer_gave_is_invalid(
    client: FlaskClient, expect_problem: Expect, path: str, cursor: str
) -> None:
    response = client.get(path, query_string={"cursor": cursor})
    expect_problem(response, 422, "invalid_request")


def test_a_list_is_given_part_by_part(
    check: Post, client: FlaskClient, expect_documented: Documented
) -> None:
    ids = {f"d{i}" for i in range(7)}
    for id in ids:
        check(id, f"{id} holds a text of its own, number {id}, that no other has")
    seen: list[str] = []
    query: dict[str, Any] = {"limit": 3}
    while True:
        answer = client.get("/documents", query_string=query).get_json()
        expect_documented(answer, "DocumentList")
        assert len(answer["items"]) <= 3
        seen += [item["id"] for item in answer["items"]]
        if answer["next"] is None:
            break
        query["cursor"] = answer["next"]
    assert (len(seen), set(seen)) == (7, ids)


def test_a_list_can_be_narrowed(check: Post, client: FlaskClient) -> None:
    family = check("a", WORDS)["family"]
    check("b", WORDS)
    check("c", "an entirely different sentence about tram timetables and ticket prices")

    def listed(**query: str) -> list[str]:
        answer = client.get("/documents", query_string=query).get_json()
        return sorted(item["id"] for item in answer["items"])

    assert listed() == ["a", "b", "c"]
    assert listed(state="dropped") == ["b"]
    assert listed(family=family) == ["a", "b"]
    assert listed(family=family, state="active", collection="default") == ["a"]
    assert listed(orphaned="true") == []
    assert listed(orphaned="false") == ["a", "b", "c"]
