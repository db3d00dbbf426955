"""The overview and the pages of decisions, as a browser gets them."""

import re
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from service.app import create_app
from service.settings import Settings
from service.tokens import make

WORDS = [f"word{n}" for n in range(30)]
COPY = " ".join([*WORDS, "more"])
NASTY = "<script>alert(1)</script>\u202e"


def form_key(page: str) -> str:
    found = re.search(r'name="form_key" value="([0-9a-f]+)"', page)
    assert found
    return found[1]


@pytest.fixture
def dropped(check: Any) -> dict[str, Any]:
    """The answer to a copy that was dropped for `first`."""
    check("first", " ".join(WORDS), metadata={"source": "wiki", "version": "1"})
    answer: dict[str, Any] = check("copy", COPY, metadata={"source": NASTY})
    assert answer["action"] == "skip"
    return answer


def test_an_empty_service_says_what_to_do_first(client: FlaskClient) -> None:
    page = client.get("/review").text
    assert "Nothing was checked yet" in page
    assert "No near copy was found yet" in page


def test_the_overview_tells_what_stats_tells(client: FlaskClient, check: Any, dropped: Any) -> None:
    check("changed", " ".join(["no", "7", *WORDS]))
    counted = client.get("/stats").get_json()["collections"]["default"]
    page = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", client.get("/review").text))
    assert f"{counted['checks']['total']} checks" in page
    assert f"{counted['embedding_calls_saved']} embedding calls saved" in page
    assert "2 duplicates found" in page
    assert "1 conflicts wait for a ruling , the oldest for less than a minute" in page
    for score in counted["scores"]:
        assert f"{score['from']:.2f} to {score['to']:.2f} {score['count']}" in page


def test_a_dropped_copy_is_found_beside_its_twin_and_taken_back(
    client: FlaskClient, dropped: dict[str, Any]
) -> None:
    assert f"/review/decisions/{dropped['decision']}" in client.get("/review/decisions").text
    found = client.get("/review/decisions?document=copy&kind=dropped").text
    [address] = re.findall(r'href="(/review/decisions/[^"?]+)"', found)
    page = client.get(address).text
    assert " ".join(WORDS) in page
    assert re.search(r"<mark><span[^>]*>\[[a-z]+: </span>\s*more", page)
    assert "wiki" in page
    assert "active document again" in page
    form = {"form_key": form_key(page), "by": "dana", "note": "wanted"}
    done = client.post(f"{address}/revert", data=form, follow_redirects=True).text
    assert "Taken back" in done
    assert "dana" in done
    assert client.get("/documents?id=copy").get_json()["state"] == "active"
    again = client.post(f"{address}/revert", data=form)
    assert "was taken back before" in again.text


def test_what_was_dropped_for_a_document_is_found_by_its_id(
    client: FlaskClient, dropped: dict[str, Any]
) -> None:
    found = client.get("/review/decisions?document=first").text
    assert f"/review/decisions/{dropped['decision']}" in found
    assert client.get("/decisions?document=first").get_json()["items"] == []


def test_the_newest_decision_comes_first_and_pages_go_on_to_the_oldest(
    client: FlaskClient, check: Any
) -> None:
    check("first", " ".join(WORDS))
    for number in range(60):
        check(f"copy-{number}", " ".join([*WORDS, f"end{number}"]))
    seen: list[str] = []
    address: str | None = "/review/decisions"
    while address:
        page = client.get(address).text
        seen += re.findall(r'class="id">copy-(\d+)<', page)
        onward = re.search(r'href="(\?[^"]*place=[^"]*)"', page)
        address = onward and "/review/decisions" + onward[1].replace("&amp;", "&")
    assert seen == [str(number) for number in reversed(range(60))]


def test_posted_words_are_inert_and_long_texts_are_cut(client: FlaskClient, check: Any) -> None:
    long = " ".join(f"w{n}" for n in range(1_800))
    check(NASTY + "a", long)
    answer = check(NASTY[:-1] + "b", long + " end", metadata={NASTY[:-1]: NASTY})
    for address in ("/review/decisions", f"/review/decisions/{answer['decision']}"):
        page = client.get(address)
        assert "<script>alert" not in page.text
        assert "\u202e" not in page.text
        assert len(page.data) < 60_000


def test_a_score_that_is_none_is_told(client: FlaskClient) -> None:
    assert "from 0 to 1" in client.get("/review/decisions?min_score=high").text


@pytest.mark.parametrize("address", ["/review?collection=b", "/review/decisions?collection=b"])
def test_a_visitor_sees_only_their_collections(
    settings: Settings, tmp_path: Path, check: Any, client: FlaskClient, address: str
) -> None:
    for name in ("a", "b"):
        client.put(f"/collections/{name}", json={})
        check(f"{name}-first", " ".join(WORDS), collection=name)
        check(f"{name}-copy", COPY, collection=name)
    secret, row = make("owner", ["review"], ["a"])
    (tmp_path / "tokens.toml").write_text(row)
    guarded: Flask = create_app(
        Settings(redis_url=settings.redis_url, tokens_file=tmp_path / "tokens.toml", deadline=20.0)
    )
    browser = guarded.test_client()
    key = form_key(browser.get("/review/sign-in").text)
    browser.post("/review/sign-in", data={"form_key": key, "token": secret})
    listed = browser.get("/review/decisions").text
    assert "a-copy" in listed
    assert "b-copy" not in listed
    assert browser.get(address).status_code == 403
