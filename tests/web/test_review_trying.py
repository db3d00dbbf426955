"""The page Try it."""

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from service.app import create_app
from service.settings import Settings
from service.tokens import make
from tests.guards.test_pages import MOST_BYTES
from tests.web.conftest import Post
from tests.web.test_review_access import SIGN_IN, form_key

PAGE = "/review/try"
RULE = "Employees may work from home {} a week after agreement with the lead of their team."


def attempt(client: FlaskClient, text: str, **fields: Any) -> TestResponse:
    key = form_key(client.get(PAGE))
    return client.post(PAGE, data={"text": text, **fields, "form_key": key})


def words(page: TestResponse) -> str:
    """What the page says, tags apart."""
    parted = re.sub("</?(d[td]|p|li|h[1-4]|t[dh])[ >]", r" \g<0>", page.text)
    return " ".join(unescape(re.sub("<[^>]*>", "", parted)).split())


def struck(page: TestResponse) -> list[tuple[str, str]]:
    """What is struck through, and by which rule."""
    return re.findall(r'<del title="([^"]*)">(.*?)</del>', page.text, re.DOTALL)


def test_a_near_copy_is_told_with_its_match_and_the_fact_that_differs(
    client: FlaskClient, check: Post
) -> None:
    check("handbook-p12", RULE.format("two days"))
    page = attempt(client, RULE.format("three days"))
    assert page.status_code == 200
    said = words(page)
    assert "Near duplicate The worker would hold it until a person has ruled." in said
    assert "Why: facts differ: two days -> three days" in said
    assert "matched with handbook-p12 active" in said
    assert RULE.format("two days") in said
    changed = re.search(r'<mark class="fact">(.*?)</mark>.*?<mark class="fact">(.*?)</mark>',
                        page.text)  # fmt: skip
    assert changed
    assert changed.groups() == ("two days", "three days")


def test_nothing_is_stored_and_the_page_says_so(client: FlaskClient) -> None:
    page = attempt(client, RULE.format("two days"), id="handbook-p12")
    assert "Nothing was stored." in words(page)
    assert client.get("/collections/default").get_json()["documents"]["active"] == 0
    assert client.get("/documents?id=handbook-p12").status_code == 404


def test_the_answer_is_that_of_a_check(client: FlaskClient, check: Post) -> None:
    text = "Guild\tof  Tailors\n"
    page = attempt(client, text)
    answer = check("x", text)
    assert answer["hashes"]["bytes"] in page.text
    assert answer["hashes"]["normalized"] in page.text


def test_what_cleaning_takes_away_is_struck_through_where_it_stood(client: FlaskClient) -> None:
    pages = [
        f"Guild\nOil the {part}.\tDaily\n{n}" for n, part in enumerate(("hinge", "lock", "key"), 1)
    ]
    page = attempt(client, "\x0c".join(pages))
    [first, *_] = re.findall(r'<p class="text traced">(.*?)</p>', page.text, re.DOTALL)
    assert first == (
        '<del title="running headers and footers">Guild↵\n</del>Oil the hinge.'
        '<del title="blanks">⇥</del><ins title="blanks">·</ins>Daily'
        '<del title="page numbers">↵\n1</del>'
    )


@pytest.mark.parametrize(("fields", "pages"), [({"has_pages": "on"}, 3), ({}, 0)])
def test_a_line_of_hyphens_begins_a_page_where_it_is_said_so(
    client: FlaskClient, fields: dict[str, str], pages: int
) -> None:
    page = attempt(client, "Guild\r\none\r\n---\r\nGuild\r\ntwo\r\n---\r\nGuild\r\nthree", **fields)
    assert len(re.findall(r"<h4>Page \d</h4>", page.text)) == pages
    assert len(struck(page)) == pages


def test_line_breaks_of_the_browser_are_not_taken_for_those_of_the_text(
    client: FlaskClient,
) -> None:
    assert struck(attempt(client, "one\r\ntwo")) == []


@pytest.mark.parametrize(
    ("text", "fields", "wanted"),
    [
        ("", {}, (422, "text", "Nothing visible is left of the text.")),
        ("a\n---\n", {"has_pages": "on", "collection": "none"}, (404, "collection",
         "There is no collection &#39;none&#39;.")),
        ("\u200b\n---\n\u200b", {"has_pages": "on"}, (422, "text",
         "Nothing visible is left of the text.")),
        ("x" * 10_001, {}, (413, "text", "The text is larger than 10000 bytes.")),
        ("x", {"collection": "No such"}, (422, "collection", "Must be 1 to 64 of a-z, 0-9,")),
        ("x", {"id": "x" * 513}, (422, "id", "Must have 1 to 512 characters, no control")),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_at_its_field_and_what_was_typed_stays(
    client: FlaskClient, text: str, fields: dict[str, str], wanted: tuple[int, str, str]
) -> None:
    page = attempt(client, text, **fields)
    [(named, said)] = re.findall(r'<p class="refusal" id="(\w+)-refusal">(.*?)</p>', page.text)
    assert (page.status_code, named, said[: len(wanted[2])]) == wanted
    typed = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", page.text, re.DOTALL)
    assert typed
    assert unescape(typed[1]) == text


def test_a_store_that_is_gone_is_told_and_the_text_stays() -> None:
    gone = create_app(Settings(redis_url="redis://127.0.0.1:1/0", deadline=0.5)).test_client()
    page = attempt(gone, "A text that is not lost.")
    assert page.status_code == 503
    assert "Nothing was stored: try again." in words(page)
    assert "A text that is not lost.</textarea>" in page.text


def test_a_visitor_sees_only_the_collections_of_their_token(
    settings: Settings, tmp_path: Path, redis_client: object
) -> None:
    secret, row = make("owner", ["review"], ["mine"])
    (tmp_path / "tokens.toml").write_text(row)
    guarded = create_app(
        Settings(redis_url=settings.redis_url, tokens_file=tmp_path / "tokens.toml", deadline=20.0)
    )
    browser = guarded.test_client()
    browser.post(SIGN_IN, data={"form_key": form_key(browser.get(SIGN_IN)), "token": secret})
    assert re.findall(r'<option value="(.*?)">', browser.get(PAGE).text) == ["mine"]
    page = attempt(browser, "x", collection="default")
    assert page.status_code == 403
    assert "The token is not for this collection." in words(page)


def test_hostile_texts_are_inert(client: FlaskClient, check: Post) -> None:
    text = "</textarea><script>x</script> {} \u202e reads from the right"
    check("<script>y</script>", text.format("two days"))
    page = attempt(client, text.format("three days") + "\x00\u200b", id="<script>z</script>")
    assert page.status_code == 200
    assert not re.search("<script>[xyz]", page.text)
    assert page.text.count("</textarea>") == 1
    assert ">U+202E</span>" in page.text
    assert ("control characters", '<span class="unseen" title="U+0000">U+0000</span>') in struck(
        page
    )


@pytest.mark.parametrize(
    ("unit", "times"),
    [
        ("a\tb ", 25_000),
        ("word \t two ", 9_000),
        ("\u200b", 100_000),
        ("<", 100_000),
        ("a\x0c", 10_000),  # each is a page, which costs more than its letter
        ("3 days ☂\n", 11_000),
    ],
)
def test_whatever_is_posted_the_page_stays_small(
    settings: Settings, redis_client: object, unit: str, times: int
) -> None:
    roomy = create_app(Settings(redis_url=settings.redis_url, deadline=20.0)).test_client()
    text = "Some words that stay. " + unit * times
    body = {"id": "\u200b" * 512, "text": text + " and a little more"}
    assert roomy.post("/check", json=body).status_code == 200
    page = attempt(roomy, text, id="\u200b" * 511)
    assert page.status_code == 200
    assert len(page.data) < MOST_BYTES
