"""The pages for people: who may look, which forms are taken, and what is shown of posted text."""

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from service.app import create_app
from service.settings import Settings
from service.tokens import make
from service.web.review.guard import COOKIE
from service.web.review.showing import shown

SIGN_IN = "/review/sign-in"


def form_key(page: TestResponse) -> str:
    found = re.search(r'name="form_key" value="([0-9a-f]+)"', page.text)
    assert found
    return found[1]


@pytest.fixture
def secrets(tmp_path: Path) -> dict[str, str]:
    rows = {"owner": ["review"], "worker": ["check"]}
    made = {id: make(id, scopes, []) for id, scopes in rows.items()}
    (tmp_path / "tokens.toml").write_text("\n".join(row for _, row in made.values()))
    return {id: secret for id, (secret, _) in made.items()}


@pytest.fixture
def guarded(secrets: object, settings: Settings, tmp_path: Path, redis_client: object) -> Flask:
    tokens = tmp_path / "tokens.toml"
    return create_app(Settings(redis_url=settings.redis_url, tokens_file=tokens, deadline=20.0))


@pytest.fixture
def sign_in(guarded: Flask, secrets: dict[str, str]) -> Callable[..., FlaskClient]:
    """A browser that has signed in."""

    def signed_in(id: str = "owner", name: str = "", wanted: str = "") -> FlaskClient:
        browser = guarded.test_client()
        key = form_key(browser.get(SIGN_IN))
        form = {"form_key": key, "token": secrets[id], "name": name, "next": wanted}
        browser.last = browser.post(SIGN_IN, data=form)  # type: ignore[attr-defined]
        return browser

    return signed_in


def test_without_a_session_a_page_leads_to_signing_in_and_back(
    guarded: Flask, sign_in: Callable[..., FlaskClient]
) -> None:
    asked = guarded.test_client().get("/review/conflicts?collection=default")
    assert (asked.status_code, urlsplit(asked.location).path) == (303, SIGN_IN)
    browser = sign_in(wanted="/review/conflicts?collection=default")
    assert browser.last.location == "/review/conflicts?collection=default"  # type: ignore[attr-defined]
    assert browser.get("/review/conflicts?collection=default").status_code == 200


@pytest.mark.parametrize("wanted", ["https://elsewhere.example/review", "//e.example/review", "/x"])
def test_signing_in_leads_nowhere_but_to_these_pages(
    sign_in: Callable[..., FlaskClient], wanted: str
) -> None:
    assert sign_in(wanted=wanted).last.location == "/review"  # type: ignore[attr-defined]


def test_a_token_without_the_scope_review_opens_no_session(
    sign_in: Callable[..., FlaskClient],
) -> None:
    browser = sign_in("worker")
    assert browser.last.status_code == 403  # type: ignore[attr-defined]
    assert browser.get("/review").status_code == 303


def test_the_cookie_is_out_of_reach_of_scripts_and_of_other_sites(
    sign_in: Callable[..., FlaskClient],
) -> None:
    (cookie,) = sign_in().last.headers.getlist("Set-Cookie")  # type: ignore[attr-defined]
    assert {"HttpOnly", "SameSite=Strict", "Path=/review"} <= set(cookie.split("; "))


def test_a_session_ends_with_its_token(sign_in: Callable[..., FlaskClient], tmp_path: Path) -> None:
    browser = sign_in()
    (tmp_path / "tokens.toml").write_text(make("another", ["review"], [])[1])
    assert browser.get("/review").status_code == 303


def test_signing_out_ends_the_session_for_whoever_has_its_cookie(
    guarded: Flask, sign_in: Callable[..., FlaskClient]
) -> None:
    browser = sign_in()
    cookie = browser.get_cookie(COOKIE, path="/review")
    assert cookie
    browser.post("/review/sign-out", data={"form_key": form_key(browser.get("/review"))})
    thief = guarded.test_client()
    thief.set_cookie(COOKIE, cookie.value, path="/review")
    assert thief.get("/review").status_code == 303


@pytest.mark.parametrize(
    ("headers", "key"),
    [
        pytest.param({}, "0" * 64, id="another key"),
        pytest.param({}, "é", id="no key at all"),
        pytest.param({"Origin": "https://elsewhere.example"}, None, id="another site's form"),
        pytest.param({"Origin": "null"}, None, id="a form of nowhere"),
        pytest.param({"Sec-Fetch-Site": "cross-site"}, None, id="a site the browser tells of"),
    ],
)
def test_a_forged_form_is_refused(
    sign_in: Callable[..., FlaskClient], headers: dict[str, str], key: str | None
) -> None:
    browser = sign_in()
    sent = form_key(browser.get("/review")) if key is None else key
    answer = browser.post("/review/sign-out", data={"form_key": sent}, headers=headers)
    assert answer.status_code == 403
    assert browser.get("/review").status_code == 200


@pytest.mark.parametrize("address", ["/review", "/stats"])
def test_without_tokens_only_names_of_this_machine_are_answered(
    client: FlaskClient, address: str
) -> None:
    assert client.get(address, headers={"Host": "localhost:8000"}).status_code == 200
    assert client.get(address, headers={"Host": "[::1]:8000"}).status_code == 200
    assert client.get(address, headers={"Host": "rebound.example"}).status_code == 403


def test_an_address_that_no_page_has_is_told_as_a_page(client: FlaskClient) -> None:
    answer = client.get("/review/no/such/page")
    assert (answer.status_code, answer.mimetype) == (404, "text/html")


def test_a_page_allows_no_script_and_no_frame_of_others(client: FlaskClient) -> None:
    policy = client.get("/review").headers["Content-Security-Policy"]
    assert "script-src 'self';" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy


def test_posted_text_is_shown_as_text_with_what_cannot_be_seen_written_out() -> None:
    text = "<script>a</script> \u202egnp.exe\u200b & \x00\n"
    assert re.sub(r' title="[^"]*"', "", str(shown(text))) == (
        '&lt;script&gt;a&lt;/script&gt; <span class="unseen">U+202E</span>gnp.exe'
        '<span class="unseen">U+200B</span> &amp; <span class="unseen">U+0000</span>\n'
    )
