"""POST /check/batch with a JSON body: order, limits, and an error in the place of each bad item."""

import pytest

KINDS_OF_BAD_ITEMS = [
    ({"id": "x"}, "x", "invalid_request"),
    ({"text": "no id"}, None, "invalid_request"),
    ({"id": 5, "text": "a number for an id"}, None, "invalid_request"),
    ({"id": "x", "text": ""}, "x", "empty_text"),
    ({"id": "x", "text": "a", "pages": ["b"]}, "x", "invalid_request"),
    ({"id": "x", "text": "a", "extra": 1}, "x", "invalid_request"),
    ({"id": "x", "text": "a", "collection": "none"}, "x", "unknown_collection"),
    ({"id": "x", "text": "a" * 10_001}, "x", "too_large"),
    ("no object", None, "invalid_request"),
    (None, None, "invalid_request"),
    ([], None, "invalid_request"),
]


def results(client, items):
    response = client.post("/check/batch", json={"items": items})
    assert response.status_code == 200, response.text
    return response.get_json()["results"]


def test_results_come_in_the_order_of_the_items(client):
    items = [{"id": f"d{n}", "text": f"text {n} with words of its own {n}"} for n in range(70)]
    told = results(client, items)
    assert [(one["index"], one["id"]) for one in told] == [(n, f"d{n}") for n in range(70)]


def test_a_copy_inside_the_batch_is_found(client):
    told = results(client, [{"id": "a", "text": "one text"}, {"id": "b", "text": "One  text"}])
    assert (told[1]["verdict"], told[1]["match"]["id"]) == ("exact_duplicate", "a")


@pytest.mark.parametrize(("item", "id", "code"), KINDS_OF_BAD_ITEMS)
def test_a_bad_item_gets_its_problem_and_spoils_no_other(client, item, id, code, expect_documented):
    told = results(client, [{"id": "a", "text": "one"}, item, {"id": "b", "text": "two"}])
    assert [told[0]["verdict"], told[2]["verdict"]] == ["new", "new"]
    assert (told[1]["index"], told[1]["id"], told[1]["problem"]["code"]) == (1, id, code)
    expect_documented({"results": told}, "BatchAnswer")


@pytest.mark.parametrize("items", [[], [{}] * 1001, {}, None])
def test_a_batch_of_none_or_of_too_many_is_refused(client, items, expect_problem):
    response = client.post("/check/batch", json={"items": items})
    problem = expect_problem(response, 422, "invalid_request")
    assert problem["errors"][0]["pointer"] == "/items"


def test_an_item_is_answered_as_a_check_is(client):
    (one,) = results(client, [{"id": "a", "text": "one text", "metadata": {"source": "web"}}])
    again = client.post("/check", json={"id": "a", "text": "one text"}).get_json()
    assert {**again, "index": 0, "replayed": False} == one
