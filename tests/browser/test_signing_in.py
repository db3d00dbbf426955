"""Signing in and out, as a person with a keyboard does it."""

import re

from playwright.sync_api import expect


def test_who_asks_for_a_page_signs_in_by_keyboard_and_is_led_to_it(anyone, site):
    dana = anyone()
    page = dana.go("/review/decisions")
    expect(page).to_have_url(re.compile("/review/sign-in"))
    expect(page.get_by_label("Token")).to_be_focused()
    page.keyboard.type(site.token)
    dana.press("Tab")
    page.keyboard.type("Dana")
    dana.press("Enter")
    page.wait_for_url("**/review/decisions")
    expect(page.get_by_role("banner")).to_contain_text("Dana")


def test_a_wrong_token_is_told_and_opens_nothing(anyone):
    page = anyone().go("/review")
    page.get_by_label("Token").fill("tw_wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_role("navigation")).to_have_count(0)


def test_who_signs_out_is_asked_again_and_back_shows_nothing(reviewer):
    dana = reviewer("Dana", "/review/conflicts")
    dana.page.get_by_role("button", name="Sign out").click()
    expect(dana.page).to_have_url(re.compile("/review/sign-in"))
    dana.page.go_back()
    expect(dana.page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_the_cookie_is_out_of_reach_of_scripts(reviewer):
    dana = reviewer()
    assert dana.page.evaluate("document.cookie") == ""
    [cookie] = dana.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Strict", "/review")
