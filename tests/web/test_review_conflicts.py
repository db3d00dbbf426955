"""The conflict pages: a queue is worked through, and nothing is ruled on that was not seen."""

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from service.app import create_app
from service.settings import Settings
from service.tokens import make
from service.web.review.blueprint import STATIC

Json = dict[str, Any]
Post = Callable[..., Json]

QUEUE = "/review/conflicts"
MOST_BYTES = 100_000
RENTAL = (
    "A rented bike is yours for {} hours from {}, with a helmet, a lamp and a lock, "
    "and it comes back to the same shop before closing time."
)
TRAM = "The first tram {} leaves the depot at ten past five on every working day of the year."
LOADED = sum((STATIC / name).stat().st_size for name in ("base.css", "conflicts.css", "keys.js"))


def words(page: TestResponse) -> str:
    """What a reader gets of a page, in one line."""
    return " ".join(unescape(re.sub(r"<[^>]*>", "", page.text)).split())


def fields(page: TestResponse, action: str) -> dict[str, str]:
    """The hidden fields of the form that goes to this address."""
    found = re.search(rf'<form[^>]*action="[^"]*{action}".*?</form>', page.text, re.DOTALL)
    assert found, f"no form goes to {action}"
    hidden = re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', found[0])
    return {name: unescape(value) for name, value in hidden}


def rows(page: TestResponse) -> list[str]:
    return re.findall(r'<h2><a href="/review/conflicts/([\w-]+)', page.text)


class Browser:
    """Follows forms as a person would, by the name that they gave."""

    def __init__(self, client: FlaskClient, by: str) -> None:
        self.client, self.by = client, by

    def get(self, path: str = "", **query: str) -> TestResponse:
        page = self.client.get(QUEUE + path, query_string=query)
        assert page.status_code == 200, page.text
        assert len(page.data) + LOADED <= MOST_BYTES
        return page

    def rule(self, page: TestResponse, keep: str, note: str = "", **more: str) -> TestResponse:
        return self.send(page, "/rule", keep=keep, note=note, **more)

    def send(self, page: TestResponse, action: str, **more: str) -> TestResponse:
        address = re.search(rf'action="([^"]*{action})"', page.text)
        assert address
        form = {"by": self.by, **fields(page, action), **more}
        return self.client.post(address[1], data=form)

    def follow(self, answer: TestResponse) -> TestResponse:
        assert answer.status_code == 303, answer.text
        return self.client.get(answer.location)


@pytest.fixture
def dana(client: FlaskClient) -> Browser:
    return Browser(client, "dana")


@pytest.fixture
def noa(app: Flask) -> Browser:
    return Browser(app.test_client(), "noa")


@pytest.fixture
def two(check: Post) -> list[str]:
    """Two open conflicts: the first has the lower score."""
    check("old", RENTAL.format(2, "Monday"), metadata={"source": "intranet", "authority": 10})
    first = check("new", RENTAL.format(3, "Monday"), metadata={"source": "wiki"})
    check("tram", TRAM.format("5") + RENTAL.format(9, "May"))
    second = check("tram 2", TRAM.format("6") + RENTAL.format(9, "May"))
    return [first["conflict"]["id"], second["conflict"]["id"]]


def test_a_queue_is_worked_through_with_rulings_that_can_be_undone(
    dana: Browser, client: FlaskClient, two: list[str]
) -> None:
    queue = dana.get()
    assert rows(queue) == two
    assert "2 wait for a ruling" in words(queue)
    assert "quantity 2 hours → changed to 3 hours" in words(queue)
    page = dana.get(f"/{two[0]}")
    for told in (
        "One fact differs",
        "intranet",
        "wiki",
        "authority",
        "held: waits for this ruling",
    ):
        assert told in words(page)
    following = dana.follow(dana.rule(page, "incoming", "the new rules\r\nsay 3"))
    assert following.request.path == f"{QUEUE}/{two[1]}"
    assert "Ruled by dana: the incoming text stays, new." in words(following)
    ruled = client.get(f"/conflicts/{two[0]}").get_json()
    resolution = ruled["resolution"]
    assert (resolution["keep"], resolution["by"]) == ("incoming", "dana")
    assert resolution["note"] == "the new rules\nsay 3"
    again = dana.follow(dana.send(following, f"{two[0]}/undo"))
    assert "The ruling was taken back" in words(again)
    assert client.get(f"/conflicts/{two[0]}").get_json()["status"] == "open"
    last = dana.follow(dana.rule(dana.get(f"/{two[1]}"), "both"))
    assert (last.request.path, rows(last)) == (QUEUE, [two[0]])
    assert "Ruled by dana: both stay" in words(last)


def test_next_and_previous_keep_the_order_and_the_filters(
    dana: Browser, check: Post, two: list[str]
) -> None:
    day = check("friday", RENTAL.format(2, "Friday"))["conflict"]["id"]
    assert rows(dana.get(order="highest")) == [two[1], two[0], day]
    assert rows(dana.get(kind="date")) == [day]
    assert rows(dana.get(collection="default", kind="negation")) == []
    page = dana.get(f"/{two[1]}", order="highest")
    ahead = re.search(r'data-key="j" href="([^"]+)"', page.text)
    assert ahead
    assert unescape(ahead[1]) == f"{QUEUE}/{two[0]}?order=highest"
    assert 'data-key="k"' not in page.text
    assert dana.rule(page, "existing").location == f"{QUEUE}/{two[0]}?order=highest&ruled={two[1]}"
    assert rows(dana.get(order="resolved")) == [two[1]]


def test_a_list_goes_on_behind_its_last_row(dana: Browser, check: Post) -> None:
    check("old", RENTAL.format(2, "Monday"))
    made = [
        check(f"new {hours}", RENTAL.format(hours, "Monday"))["conflict"]["id"]
        for hours in range(3, 33)
    ]
    first = dana.get()
    further = re.search(r'rel="next" href="[^"]*after=([\w-]+)"', first.text)
    assert further
    assert rows(first) + rows(dana.get(after=further[1])) == made


@pytest.mark.parametrize("keep", ["existing", "both"])
def test_what_another_ruled_in_the_meantime_is_shown_and_stands(
    dana: Browser, noa: Browser, client: FlaskClient, two: list[str], keep: str
) -> None:
    loaded = dana.get(f"/{two[0]}")
    noa.rule(noa.get(f"/{two[0]}"), "both", "asked the shop")
    late = dana.rule(loaded, keep, "mine")
    assert late.status_code == 409
    assert "Not ruled: somebody else ruled in the meantime." in words(late)
    assert "noa ruled less than a minute ago" in words(late)
    assert "asked the shop" in words(late)
    resolution = client.get(f"/conflicts/{two[0]}").get_json()["resolution"]
    assert (resolution["keep"], resolution["by"]) == ("both", "noa")


def test_a_form_that_is_sent_twice_rules_once(dana: Browser, two: list[str]) -> None:
    page = dana.get(f"/{two[0]}")
    first, second = (dana.rule(page, "existing", "note") for _ in range(2))
    assert (second.status_code, second.location) == (303, first.location)


def ruled_and_taken_back(noa: Browser, client: FlaskClient, id: str) -> None:
    noa.follow(noa.rule(noa.get(f"/{id}"), "existing"))
    assert noa.send(noa.get(f"/{id}"), "/undo").status_code == 303


def other_metadata(noa: Browser, client: FlaskClient, id: str) -> None:
    body = {"id": "new", "text": RENTAL.format(3, "Monday"), "metadata": {"source": "draft"}}
    assert client.post("/check", json=body).status_code == 200


@pytest.mark.parametrize("happens", [ruled_and_taken_back, other_metadata])
def test_what_changed_since_the_page_was_loaded_is_not_ruled_on(
    dana: Browser,
    noa: Browser,
    client: FlaskClient,
    two: list[str],
    happens: Callable[[Browser, FlaskClient, str], None],
) -> None:
    loaded = dana.get(f"/{two[0]}")
    happens(noa, client, two[0])
    late = dana.rule(loaded, "existing", "I saw it")
    assert late.status_code == 409
    assert "has changed since this page was loaded" in words(late)
    assert ">I saw it</textarea>" in late.text
    assert client.get(f"/conflicts/{two[0]}").get_json()["status"] == "open"
    assert dana.rule(late, "existing").status_code == 303


def test_an_earlier_conflict_is_linked_and_comes_first(
    dana: Browser, check: Post, two: list[str]
) -> None:
    longer = RENTAL.format(3, "Monday") + " It has gears."
    later = check("newer", longer.replace("3 hours", "3 days"))
    state = later["match"]["state"]
    page = dana.get(f"/{later['conflict']['id']}")
    assert state == "held"
    assert "Rule on that conflict first" in words(page)
    assert f'href="{QUEUE}/{two[0]}"' in page.text
    assert "can be ruled on only then" in words(dana.get(f"/{two[0]}"))


def test_a_held_update_says_that_the_old_text_goes_with_it(
    dana: Browser, check: Post, client: FlaskClient, two: list[str]
) -> None:
    check("page", "An entirely different sentence about the price of tickets in winter.")
    id = check("page", RENTAL.format(7, "Monday"))["conflict"]["id"]
    page = dana.get(f"/{id}")
    assert "loses its old text too" in words(page)
    assert "in place of the old one" in words(page)
    dana.rule(page, "existing")
    ruled = client.get(f"/conflicts/{id}").get_json()
    (entry,) = client.get("/decisions?kind=resolved").get_json()["items"]
    assert (ruled["status"], entry["retire"]) == ("resolved", ["page"])


def test_two_active_texts_say_what_a_ruling_takes_away(
    dana: Browser, check: Post, client: FlaskClient
) -> None:
    client.put("/collections/open", json={"on_conflict": "ingest"})
    check("old", RENTAL.format(2, "Monday"), collection="open")
    id = check("new", RENTAL.format(3, "Monday"), collection="open")["conflict"]["id"]
    page = dana.get(f"/{id}")
    assert "new is dropped and retired: downstream deletes it." in words(page)
    assert "new stays active, as it is." in words(page)
    dana.rule(page, "existing")
    (entry,) = client.get("/decisions?kind=resolved").get_json()["items"]
    assert (entry["ingest"], entry["retire"]) == ([], ["new"])


def test_a_full_store_is_told_on_the_page_and_the_note_stays(
    dana: Browser, redis_client: Any, two: list[str]
) -> None:
    loaded = dana.get(f"/{two[0]}")
    redis_client.config_set("maxmemory", 1)
    try:
        late = dana.rule(loaded, "existing", "my note")
    finally:
        redis_client.config_set("maxmemory", 0)
    assert (late.status_code, ">my note</textarea>" in late.text) == (503, True)
    assert "Nothing was done, and trying again later is safe" in words(late)
    assert dana.rule(late, "existing").status_code == 303


def test_a_void_conflict_says_so_and_an_open_page_of_it_rules_on_nothing(
    dana: Browser, client: FlaskClient, two: list[str]
) -> None:
    loaded = dana.get(f"/{two[0]}")
    client.delete("/documents", query_string={"id": "old", "erase": "true"})
    late = dana.rule(loaded, "incoming")
    assert (late.status_code, "one of the two texts left" in words(late)) == (409, True)
    assert "The text is no longer kept." in words(late)
    assert "What differed is no longer kept." in words(late)
    assert rows(dana.get(order="void")) == [two[0]]


def test_an_undo_that_comes_too_late_is_refused_in_words(
    dana: Browser, client: FlaskClient, two: list[str]
) -> None:
    dana.rule(dana.get(f"/{two[0]}"), "existing")
    loaded = dana.get(f"/{two[0]}")
    client.delete("/documents", query_string={"id": "old"})
    late = dana.send(loaded, "/undo")
    assert (late.status_code, "Nothing was done:" in words(late)) == (409, True)


def test_the_name_is_asked_for_where_nobody_signs_in_and_remembered(
    dana: Browser, client: FlaskClient, two: list[str]
) -> None:
    refused = dana.rule(dana.get(f"/{two[0]}"), "existing", by=" ")
    assert (refused.status_code, "write your name first" in words(refused)) == (422, True)
    answer = dana.rule(dana.get(f"/{two[0]}"), "existing", by=" Zoë  O'Neil ")
    (cookie,) = [one for one in answer.headers.getlist("Set-Cookie") if "twinsift_name" in one]
    assert {"HttpOnly", "SameSite=Strict", "Path=/review"} <= set(cookie.split("; "))
    assert client.get(f"/conflicts/{two[0]}").get_json()["resolution"]["by"] == "Zoë O'Neil"
    assert 'value="Zoë O&#39;Neil"' in dana.get(f"/{two[1]}").text


def test_marks_stand_at_their_words_and_lead_to_each_other(dana: Browser, check: Post) -> None:
    check("old", RENTAL.format(2, "Monday"))
    id = check("new", RENTAL.format(3, "Friday"))["conflict"]["id"]
    page = dana.get(f"/{id}")
    for side, other in (("before", "after"), ("after", "before")):
        for number in (1, 2):
            assert re.search(
                rf'<mark class="fact" id="{side}-{number}">.*?<a href="#{other}-{number}">',
                page.text,
            )
            assert f'href="#{side}-{number}"' in page.text.partition('class="sides"')[0]
    text = re.search(r'<p class="text" dir="auto">(.*?)</p>', page.text, re.DOTALL)
    assert text
    hidden = r'<span class="visually-hidden">.*?</span>|<sup.*?</sup>|<[^>]*>'
    assert unescape(re.sub(hidden, "", text[1])) == RENTAL.format(2, "Monday")
    assert "[change 1, quantity: 2 hours" in words(page)


def test_posted_words_stay_words(dana: Browser, client: FlaskClient) -> None:
    client.put("/collections/raw", json={"cleaning": {"control_characters": False,
                                                      "invisible_characters": False}})  # fmt: skip
    evil = '<script>alert("{}")</script>\u202e\x01'
    for id, hours in (("a" + evil, 2), ("b" + evil, 3)):
        text = evil.format("text") + RENTAL.format(hours, "Monday")
        body = {"id": id.replace("\x01", ""), "text": text, "collection": "raw",
                "metadata": {"<b>key\u202e": evil}}  # fmt: skip
        answer = client.post("/check", json=body)
        assert answer.status_code == 200, answer.text
    id = answer.get_json()["conflict"]["id"]
    for page in (dana.get(), dana.get(f"/{id}"), dana.get(f"/{id}/text")):
        shown = page.text.partition("<main")[2]
        assert "<script" not in shown
        assert not {"\u202e", "\x01"} & set(page.text)
        assert "U+202E" in shown
    assert "<b>key" not in dana.get(f"/{id}").text


@pytest.fixture
def roomy(settings: Settings, redis_client: object) -> FlaskClient:
    """A service that takes long texts."""
    return create_app(Settings(redis_url=settings.redis_url, deadline=20.0)).test_client()


def test_a_text_of_a_mebibyte_is_collapsed_and_can_be_read_part_by_part(
    roomy: FlaskClient,
) -> None:
    browser = Browser(roomy, "dana")
    lines = [f"Line {n} of the house says what is due on day {n}." for n in range(20_000)]
    text = "\n".join(lines)
    assert len(text) > 900_000
    for id, hours in (("a", 2), ("b", 3)):
        body = {"id": id, "text": text.replace("day 9000.", f"day 9000, at {hours} pm <&>.")}
        answer = roomy.post("/check", json=body).get_json()
    id = answer["conflict"]["id"]
    page = browser.get(f"/{id}")
    assert "Line 9000 of the house" in words(page)
    assert "Line 8000 of the house" not in words(page)
    gaps = re.findall(r"([\d,]+) characters left out", words(page))
    assert len(gaps) == 4
    read, at = "", "0"
    for _ in range(3):
        part = browser.get(f"/{id}/text", side="incoming", **{"from": at})
        found = re.search(r'<p class="text" dir="auto">(.*?)</p>', part.text, re.DOTALL)
        onward = re.search(r'rel="next"[^>]*href="[^"]*from=(\d+)"', part.text)
        assert found
        assert onward
        read, at = read + unescape(found[1]), onward[1]
    assert text.startswith(read)
    assert len(read) == int(at) > 60_000


def test_the_heaviest_conflict_fits_a_page(roomy: FlaskClient) -> None:
    browser = Browser(roomy, "dana")
    metadata = {f"<{n}>" * 9: "\u202e&" * 2000 for n in range(64)}
    for id, step in (("\u202e&<" * 160, 0), ("&\u202e<" * 160, 1)):
        text = " ".join(
            f"day<&{n} word{n} at {n * 3 + step * (n % 8 == 0)} EUR &&&" for n in range(3000)
        )
        body = {"id": id, "text": text, "metadata": metadata}
        answer = roomy.post("/check", json=body)
        assert answer.status_code == 200, answer.text
    id = answer.get_json()["conflict"]["id"]
    page = browser.get(f"/{id}")
    assert "part 1 of 5" in words(page)
    assert "part 5 of 5" in words(browser.get(f"/{id}", part="4"))
    browser.get()


@pytest.fixture
def limited(settings: Settings, tmp_path: Path, check: Post, two: list[str]) -> Browser:
    """Who has signed in with a token for the collection `docs` only."""
    secret, row = make("docs", ["review"], ["docs", "later"])
    (tmp_path / "tokens.toml").write_text(row)
    tokens = tmp_path / "tokens.toml"
    app = create_app(Settings(redis_url=settings.redis_url, tokens_file=tokens, deadline=20.0))
    client = app.test_client()
    form = {"token": secret, "name": "", "next": QUEUE}
    key = fields(client.get("/review/sign-in"), "/sign-in")
    assert client.post("/review/sign-in", data={**form, **key, "next": QUEUE}).status_code == 303
    return Browser(client, "somebody else")


def test_a_token_for_some_collections_sees_and_rules_on_these_only(
    limited: Browser, client: FlaskClient, check: Post, two: list[str]
) -> None:
    client.put("/collections/docs", json={})
    check("a", RENTAL.format(2, "Monday"), collection="docs")
    own = check("b", RENTAL.format(3, "Monday"), collection="docs")["conflict"]["id"]
    queue = limited.get()
    assert rows(queue) == [own]
    assert "1 waits for a ruling" in words(queue)
    assert "default" not in re.findall(r'<option value="(\w*)"', queue.text)
    assert limited.client.get(QUEUE, query_string={"collection": "default"}).status_code == 403
    for path in (f"/{two[0]}", f"/{two[0]}/text"):
        refused = limited.client.get(QUEUE + path)
        assert (refused.status_code, "rented" in refused.text) == (403, False)
    form = {**fields(limited.get(f"/{own}"), "/rule"), "keep": "existing"}
    assert limited.client.post(f"{QUEUE}/{two[0]}/rule", data=form).status_code == 403
    assert limited.client.get(QUEUE, query_string={"ruled": two[0]}).status_code == 200
    assert limited.rule(limited.get(f"/{own}"), "existing").status_code == 303
    assert client.get(f"/conflicts/{own}").get_json()["resolution"]["by"] == "docs"


@pytest.mark.parametrize("path", ["/c-1-99", "/nothing", "?collection=nowhere"])
def test_what_is_not_there_is_told_on_a_page(client: FlaskClient, path: str) -> None:
    page = client.get(QUEUE + path)
    assert (page.status_code, "<h1>Not Found</h1>" in page.text) == (404, True)
