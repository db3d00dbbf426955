"""The page Thresholds."""

import json
import re
from html import unescape
from io import BytesIO
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from service.app import create_app
from service.settings import Settings
from tests.guards.test_pages import MOST_BYTES
from tests.web.test_calibrate import WORKED
from tests.web.test_review_access import form_key

PAGE = "/review/thresholds"
WRITTEN = "\n".join(json.dumps(pair) for pair in WORKED["pairs"])
FORM = {"pairs": WRITTEN, "normalization": "squish", "word": "", "char": "3",
        "thresholds": "1 0.8 0.7 0.65 0.3 0.01"}  # fmt: skip


def sweep(client: FlaskClient, **changed: Any) -> TestResponse:
    form = {**FORM, **changed, "form_key": form_key(client.get(PAGE))}
    return client.post(PAGE, data=form, content_type="multipart/form-data")


def rows(page: TestResponse) -> list[list[str]]:
    """The rows of the last table, as words."""
    [*_, table] = re.findall(r"<table.*?</table>", page.text, re.DOTALL)
    found = re.findall(r"<tr.*?</tr>", table, re.DOTALL)[1:]
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in found]
    return [[re.sub("<[^>]*>", "", cell) for cell in row] for row in cells]


def test_the_worked_sweep_comes_out_as_it_was_worked_out(client: FlaskClient) -> None:
    page = sweep(client)
    assert [row[:3] for row in rows(page)] == [
        ["0.01", "6", "9"],
        ["0.3", "6", "4"],
        ["0.65", "6", "3"],
        ["0.7", "3", "3"],
        ["0.8", "3", "0"],
        ["1", "3", "0"],
    ]
    assert "No threshold separates these pairs: two distinct texts are alike by 0.7083" in page.text
    assert page.text.index(">0.7083</b>") < page.text.index(">0.6800</b>")


def test_the_cheapest_threshold_is_marked_and_is_what_is_to_be_copied(client: FlaskClient) -> None:
    page = sweep(client, missed="2")
    assert [row[0] for row in rows(page) if row[-1].endswith("least")] == ["0.65"]
    settings = re.search(r'<pre id="settings-1"[^>]*>(.*?)</pre>', page.text, re.DOTALL)
    assert settings
    assert json.loads(unescape(settings[1])) == {
        "normalization": "squish",
        "shingles": {"unit": "char", "size": 3},
        "threshold": 0.65,
    }


def test_the_worked_example_is_one_click_away(client: FlaskClient) -> None:
    address = f"{PAGE}?example=1"
    assert f'href="{address}"' in client.get(PAGE).text
    assert rows(client.get(address)) == rows(sweep(client))


def test_each_setting_has_its_sweep_and_the_cheapest_is_open(client: FlaskClient) -> None:
    page = sweep(client, word="1 2", char="3")
    opened = re.findall(r'<details class="card"( open)?>', page.text)
    assert (len(opened), opened.count(" open")) == (3, 1)
    assert page.text.count("<svg") == 3


def test_a_file_is_taken_instead_of_what_was_pasted(client: FlaskClient) -> None:
    rows_of_csv = ["a;b;duplicate", "one two;one two;TRUE", "one;two;no", "three;four;"]
    file = (BytesIO("\r\n".join(rows_of_csv).encode()), "pairs.csv")
    page = sweep(client, file=file, word="1", char="", thresholds="0.5")
    assert [row[:4] for row in rows(page)] == [["0.5", "1", "0", "0"]]
    assert "2 pairs, 1 more are not labelled and left out" in page.text


@pytest.mark.parametrize(
    ("changed", "field", "words"),
    [
        ({"pairs": ""}, "pairs", "There are no labelled pairs."),
        ({"pairs": f'{WRITTEN}\n{{"a": "secret'}, "pairs", "Line 16 is not JSON."),
        ({"pairs": "a,b,duplicate\r\nsecret,x,maybe"}, "pairs", "Line 2: duplicate must be"),
        ({"pairs": '\n{"a": "x", "b": "\u200b", "duplicate": true}'}, "pairs", "Line 2: nothing"),
        ({"pairs": json.dumps({"a": "x" * 6000, "b": "y" * 6000, "duplicate": True})}, "pairs",
         "The texts are larger than 10,000 bytes together."),
        ({"file": (BytesIO(b"\xff"), "pairs.csv")}, "file", "The file is not UTF-8."),
        ({"word": "0"}, "word", "Must be whole numbers from 1 to 100."),
        ({"word": "1 2 3 4", "char": "1 2 3"}, "word", "Must be 1 to 6 sizes"),
        ({"thresholds": "0.5 nan"}, "thresholds", "Must be numbers, apart by spaces."),
        ({"thresholds": "0"}, "thresholds", "Must be above 0 and at most 1."),
        ({"thresholds": " ".join(f"0.{n}" for n in range(10, 41))}, "thresholds",
         "Must be 1 to 30 thresholds here; POST /calibrate takes more."),
        ({"missed": "-1"}, "missed", "Must be a number from 0 to 1,000,000."),
        ({"normalization": "none"}, "normalization", "Must be words or squish."),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_at_its_field_and_what_was_typed_stays(
    client: FlaskClient, changed: dict[str, Any], field: str, words: str
) -> None:
    page = sweep(client, missed=changed.pop("missed", "1.5"), **changed)
    assert page.status_code in (413, 422)
    [told] = re.findall(r'<p class="refusal" id="(\w+)-refusal">(.*?)</p>', page.text)
    assert (told[0], told[1][: len(words)]) == (field, words)
    assert "secret" not in told[1]
    typed = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", page.text, re.DOTALL)
    assert typed
    assert unescape(typed[1]) == changed.get("pairs", WRITTEN).replace("\r\n", "\n")


def test_hostile_texts_are_inert(client: FlaskClient) -> None:
    a, b = "<script>x</script>\u202e\x00\u200b", "</textarea><script>x"
    page = sweep(client, pairs=json.dumps({"a": a, "b": b, "duplicate": True}, ensure_ascii=False))
    assert page.status_code == 200
    assert "<script>x" not in page.text
    assert page.text.count("</textarea>") == 1
    assert ">U+202E</span>" in page.text


def test_whatever_is_posted_the_page_stays_small(settings: Settings, redis_client: object) -> None:
    roomy = create_app(Settings(redis_url=settings.redis_url, deadline=20.0)).test_client()
    words = [" ".join(str(n + at) for at in range(n)) + "\u200b" * 200 for n in range(1, 150)]
    pairs = [
        {"a": f"{words[n]} a", "b": f"{words[n]} b {words[n // 2]}", "duplicate": n % 2 == 0}
        for n in range(149)
    ]
    most = {"word": "1 2 3", "char": "3 4 5"}
    thresholds = " ".join(f"0.{n}" for n in range(50, 80))
    written = "\n".join(json.dumps(pair, ensure_ascii=False) for pair in pairs)
    page = sweep(roomy, pairs=written, thresholds=thresholds, **most)
    assert page.status_code == 200
    assert "characters more" in page.text
    assert "too many to be shown here again" in page.text
    assert len(page.data) < MOST_BYTES
