"""Whatever is wrong with a request gets the status and code of the contract, and leaves nothing."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient

Expect = Callable[..., dict[str, Any]]

JSON = "application/json"

MALFORMED = {
    "nothing at all": b"",
    "only spaces": b"   ",
    "words": b"hello",
    "an object that is not closed": b'{"id": "a", "text": "b"',
    "something after the object": b'{"id": "a", "text": "b"} x',
    "two objects": b'{"id": "a", "text": "b"}{"id": "a", "text": "b"}',
    "single quotes": b"{'id': 'a', 'text': 'b'}",
    "a trailing comma": b'{"id": "a", "text": "b",}',
    "a comment": b'{"id": "a", "text": "b"} // c',
    "NaN": b'{"id": "a", "text": "b", "metadata": {"authority": NaN}}',
    "Infinity": b'{"id": "a", "text": "b", "metadata": {"authority": -Infinity}}',
    "a number too large for a float": b'{"id": "a", "text": "b", "metadata": {"authority": 1e999}}',
    "an integer of 65 bits": b'{"id": "a", "text": "b", "metadata": {"n": 18446744073709551616}}',
    "a negative one of 65 bits": b'{"id": "a", "text": "b", "dry_run": -9223372036854775809}',
    "an integer of 5,000 digits": b'{"id": "a", "text": "b", "metadata": {"n": %s}}'
    % (b"1" * 5000),
    "a leading zero": b'{"id": "a", "text": "b", "metadata": {"n": 01}}',
    "20,000 nested lists": b"[" * 10_000 + b"]" * 10_000,
    "20,000 open brackets": b"[" * 20_000,
    "2,000 nested objects": b'{"a":' * 2000 + b"1" + b"}" * 2000,
    "1,100 nested lists in a field": b'{"id": "a", "text": "b", "x": %s}'
    % (b"[" * 1100 + b"]" * 1100),
    "a lone high surrogate": b'{"id": "a", "text": "\\ud800"}',
    "a lone low surrogate": b'{"id": "a", "text": "\\udc00 b"}',
    "surrogates the wrong way round": b'{"id": "a", "text": "\\udc00\\ud800"}',
    "a lone surrogate as a key": b'{"id": "a", "text": "b", "\\ud800": 1}',
    "a surrogate in UTF-8": b'{"id": "a", "text": "\xed\xa0\x80"}',
    "bytes that are not UTF-8": b'{"id": "a", "text": "\xff"}',
    "an overlong encoding": b'{"id": "a", "text": "\xc0\x80"}',
    "UTF-16": '{"id": "a", "text": "b"}'.encode("utf-16"),
    "a byte order mark": b'\xef\xbb\xbf{"id": "a", "text": "b"}',
    "a raw NUL in a string": b'{"id": "a", "text": "b\x00"}',
    "a raw line end in a string": b'{"id": "a", "text": "b\n"}',
    "the same key twice": b'{"id": "a", "text": "b", "text": "c"}',
    "the same key twice, escaped once": b'{"id": "a", "text": "b", "\\u0074ext": "c"}',
    "the same key twice, nested": b'{"id": "a", "text": "b", "metadata": {"k": 1, "k": 1}}',
    "a bad escape": b'{"id": "a", "text": "\\x41"}',
}

GOOD: dict[str, Any] = {"id": "a", "text": "a text to check"}

INVALID: dict[str, tuple[Any, str]] = {
    "a list": ([GOOD], ""),
    "a string": ("a", ""),
    "a number": (1, ""),
    "null": (None, ""),
    "true": (True, ""),
    "no id": ({"text": "b"}, "/id"),
    "an id that is null": ({**GOOD, "id": None}, "/id"),
    "an id that is a number": ({**GOOD, "id": 7}, "/id"),
    "an id that is a boolean": ({**GOOD, "id": True}, "/id"),
    "an id that is a list": ({**GOOD, "id": ["a"]}, "/id"),
    "an empty id": ({**GOOD, "id": ""}, "/id"),
    "an id of 513 characters": ({**GOOD, "id": "x" * 513}, "/id"),
    "a NUL in the id": ({**GOOD, "id": "a\x00b"}, "/id"),
    "a line end in the id": ({**GOOD, "id": "a\n"}, "/id"),
    "DEL in the id": ({**GOOD, "id": "a\x7f"}, "/id"),
    "a C1 control in the id": ({**GOOD, "id": "a\x85"}, "/id"),
    "text and pages together": ({**GOOD, "pages": ["b"]}, "/pages"),
    "neither text nor pages": ({"id": "a"}, "/text"),
    "a text that is null": ({"id": "a", "text": None}, "/text"),
    "a text that is a number": ({"id": "a", "text": 5}, "/text"),
    "a text that is a list": ({"id": "a", "text": ["b"]}, "/text"),
    "pages that are a string": ({"id": "a", "pages": "b"}, "/pages"),
    "pages that are an object": ({"id": "a", "pages": {"0": "b"}}, "/pages"),
    "a page that is null": ({"id": "a", "pages": ["b", "c", None]}, "/pages/2"),
    "a page that is a number": ({"id": "a", "pages": [1]}, "/pages/0"),
    "an unknown field": ({**GOOD, "tags": []}, "/tags"),
    "a field of an answer": ({**GOOD, "verdict": "new"}, "/verdict"),
    "a field in the wrong case": ({**GOOD, "Text": "b"}, "/Text"),
    "an unknown field with a slash": ({**GOOD, "a/b~c": 1}, "/a~1b~0c"),
    "an unknown field called _schema": ({**GOOD, "_schema": 1}, "/_schema"),
    "an unknown field called __proto__": ({**GOOD, "__proto__": 1}, "/__proto__"),
    "a collection that is a number": ({**GOOD, "collection": 1}, "/collection"),
    "a collection that is null": ({**GOOD, "collection": None}, "/collection"),
    "an empty collection": ({**GOOD, "collection": ""}, "/collection"),
    "a collection in upper case": ({**GOOD, "collection": "Docs"}, "/collection"),
    "a collection with a line end": ({**GOOD, "collection": "docs\n"}, "/collection"),
    "a collection with a slash": ({**GOOD, "collection": "a/b"}, "/collection"),
    "a collection with braces": ({**GOOD, "collection": "a{b}"}, "/collection"),
    "a collection that begins with a dot": ({**GOOD, "collection": ".a"}, "/collection"),
    "a collection of 65 characters": ({**GOOD, "collection": "a" * 65}, "/collection"),
    "dry_run as a string": ({**GOOD, "dry_run": "true"}, "/dry_run"),
    "dry_run as a number": ({**GOOD, "dry_run": 1}, "/dry_run"),
    "dry_run as null": ({**GOOD, "dry_run": None}, "/dry_run"),
    "metadata that is a list": ({**GOOD, "metadata": []}, "/metadata"),
    "metadata that is null": ({**GOOD, "metadata": None}, "/metadata"),
    "65 keys of metadata": ({**GOOD, "metadata": {f"k{i}": 1 for i in range(65)}}, "/metadata"),
    "nested metadata": ({**GOOD, "metadata": {"k": {"l": 1}}}, "/metadata/k"),
    "a list in metadata": ({**GOOD, "metadata": {"k": [1]}}, "/metadata/k"),
    "null in metadata": ({**GOOD, "metadata": {"k": None}}, "/metadata/k"),
    "4,097 characters": ({**GOOD, "metadata": {"k": "x" * 4097}}, "/metadata/k"),
    "a NUL in a key": ({**GOOD, "metadata": {"k\x00": 1}}, "/metadata/k\\u0000"),
    "an empty key": ({**GOOD, "metadata": {"": 1}}, "/metadata/"),
    "authority as a string": ({**GOOD, "metadata": {"authority": "10"}}, "/metadata/authority"),
    "authority as a boolean": ({**GOOD, "metadata": {"authority": True}}, "/metadata/authority"),
    "source as a number": ({**GOOD, "metadata": {"source": 1}}, "/metadata/source"),
    "version as a number": ({**GOOD, "metadata": {"version": 3}}, "/metadata/version"),
    "split as a boolean": ({**GOOD, "metadata": {"split": True}}, "/metadata/split"),
    "updated_at as a number": ({**GOOD, "metadata": {"updated_at": 1}}, "/metadata/updated_at"),
}

NO_TIMES = [
    "yesterday",
    "2026-03-01",
    "2026-03-01T00:00:00",
    "2026-03-01 00:00:00Z",
    "2026-02-30T00:00:00Z",
    "2026-03-01T25:00:00Z",
    "2026-03-01T00:00Z",
    "2026-03-01T00:00:00+2:00",
    "2026-03-01T00:00:00+24:00",
    "2026-03-01T00:00:00.Z",
    "20260301T000000Z",
    "2026-W09-7T00:00:00Z",
    "٢٠٢٦-03-01T00:00:00Z",
    "0001-01-01T00:00:00+23:59",
    "2026-03-01T00:00:00Z\n",
    "",
]
TIMES = [
    "2026-03-01T00:00:00Z",
    "2026-03-01t00:00:00z",
    "2026-03-01T00:00:00.123456789+05:30",
    "2026-03-01T23:59:59-00:00",
    "2024-02-29T12:00:00+14:00",
]
EMPTY: dict[str, dict[str, Any]] = {
    "an empty text": {"text": ""},
    "white space": {"text": " \t\n\r\n "},
    "no-break spaces": {"text": "\u00a0\u2003"},
    "invisible characters": {"text": "\u200b\ufeff\u00ad"},
    "control characters": {"text": "\x00\x01\x1b"},
    "form feeds": {"text": "\f\f"},
    "no pages": {"pages": []},
    "empty pages": {"pages": ["", " ", "\u200b"]},
}


def of(cases: Any) -> Any:
    """The cases, each under its name."""
    return [pytest.param(*_tuple(case), id=name) for name, case in cases.items()]


def _tuple(case: Any) -> tuple[Any, ...]:
    return case if isinstance(case, tuple) else (case,)


@pytest.mark.parametrize("raw", of(MALFORMED))
def test_what_is_no_json_is_malformed(
    client: FlaskClient, expect_problem: Expect, raw: bytes
) -> None:
    response = client.post("/check", data=raw, content_type=JSON)
    assert expect_problem(response, 400, "malformed_json")["errors"] == []


@pytest.mark.parametrize(("body", "pointer"), of(INVALID))
def test_json_that_is_no_check_is_invalid_and_says_where(
    client: FlaskClient, expect_problem: Expect, body: Any, pointer: str
) -> None:
    response = client.post("/check", data=json.dumps(body), content_type=JSON)
    problem = expect_problem(response, 422, "invalid_request")
    assert [error["pointer"] for error in problem["errors"]] == [pointer]


@pytest.mark.parametrize("written", NO_TIMES)
def test_a_time_that_is_none_is_invalid(
    client: FlaskClient, expect_problem: Expect, written: str
) -> None:
    response = client.post("/check", json={**GOOD, "metadata": {"updated_at": written}})
    problem = expect_problem(response, 422, "invalid_request")
    assert problem["errors"][0]["pointer"] == "/metadata/updated_at"


@pytest.mark.parametrize("written", TIMES)
def test_a_time_of_any_offset_is_taken(client: FlaskClient, written: str) -> None:
    response = client.post("/check", json={**GOOD, "metadata": {"updated_at": written}})
    assert response.status_code == 200


@pytest.mark.parametrize("text", of(EMPTY))
def test_a_text_with_nothing_to_compare_is_empty(
    client: FlaskClient, expect_problem: Expect, text: dict[str, Any]
) -> None:
    expect_problem(client.post("/check", json={"id": "a", **text}), 422, "empty_text")


@pytest.mark.parametrize("path", ["/clean", "/compare", "/collections/docs"])
@pytest.mark.parametrize("raw", [b"{", b'{"a": NaN}', b'{"a": 1, "a": 2}'])
def test_every_call_refuses_what_is_no_json(
    client: FlaskClient, expect_problem: Expect, path: str, raw: bytes
) -> None:
    method = "PUT" if path.startswith("/collections") else "POST"
    response = client.open(path, method=method, data=raw, content_type=JSON)
    expect_problem(response, 400, "malformed_json")


def test_refused_checks_leave_nothing_behind(client: FlaskClient) -> None:
    for raw in MALFORMED.values():
        client.post("/check", data=raw, content_type=JSON)
    for body, _ in INVALID.values():
        client.post("/check", data=json.dumps(body), content_type=JSON)
    for text in EMPTY.values():
        client.post("/check", json={"id": "a", **text})
    assert client.get("/documents").get_json()["items"] == []
    assert client.get("/stats").get_json()["collections"]["default"]["checks"]["total"] == 0


def test_many_faults_are_cut_and_counted(client: FlaskClient, expect_problem: Expect) -> None:
    body = {**GOOD, **{f"field-{i}": 1 for i in range(500)}}
    problem = expect_problem(client.post("/check", json=body), 422, "invalid_request")
    assert len(problem["errors"]) == 20
    assert "and 499 more" in problem["detail"]


@pytest.mark.parametrize("pointer", ["", "/cleaning"])
def test_an_object_with_a_great_many_fields_is_refused_as_a_whole(
    client: FlaskClient, expect_problem: Expect, pointer: str
) -> None:
    many = {f"{i}": 1 for i in range(1001)}
    body = {"cleaning": many} if pointer else many
    problem = expect_problem(client.put("/collections/a", json=body), 422, "invalid_request")
    assert [error["pointer"] for error in problem["errors"]] == [pointer]


def test_a_long_field_name_is_cut(client: FlaskClient, expect_problem: Expect) -> None:
    response = client.post("/check", json={**GOOD, "x" * 5000: 1})
    problem = expect_problem(response, 422, "invalid_request")
    assert problem["errors"][0]["pointer"] == f"/{'x' * 64}…"


def test_a_sentence_in_the_place_of_a_name_is_not_repeated(
    client: FlaskClient, expect_problem: Expect
) -> None:
    response = client.post("/check", json={**GOOD, "zebras juggle quartz at midnight": 1})
    problem = expect_problem(response, 422, "invalid_request")
    assert problem["errors"][0]["pointer"] == "/(a name of many words)"


def test_control_characters_of_a_field_name_are_made_visible(
    client: FlaskClient, expect_problem: Expect
) -> None:
    response = client.post("/check", json={**GOOD, "a\x1b[31m\u202e\n": 1})
    problem = expect_problem(response, 422, "invalid_request")
    assert problem["errors"][0]["pointer"] == "/a\\u001b[31m\\u202e\\u000a"


def test_an_unknown_collection_is_not_found(client: FlaskClient, expect_problem: Expect) -> None:
    response = client.post("/check", json={**GOOD, "collection": "nowhere"})
    expect_problem(response, 404, "unknown_collection")


def test_what_is_allowed_to_its_limits_is_taken(client: FlaskClient) -> None:
    body = {
        "id": "\U0001f600" * 512,
        "text": "a text to check",
        "metadata": {
            **{f"k{i}": i for i in range(60)},
            "long": "x" * 4096,
            "largest": 2**64 - 1,
            "smallest": -(2**63),
            "authority": -0.5,
        },
    }
    assert client.post("/check", json=body).status_code == 200
