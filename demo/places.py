"""Every page with something on it, and how somebody who has signed in gets there by clicking.

The browser tests and the screenshots both go there; a page is one whose base address is known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from playwright.sync_api import Page, expect

from demo.filling import trial

Way = Callable[[Page], None]


def _at(path: str) -> Way:
    def go(page: Page) -> None:
        page.goto(path)

    return go


def _conflict(order: str, words: str) -> Way:
    def go(page: Page) -> None:
        page.goto(f"/review/conflicts?order={order}")
        page.get_by_role("link", name="Conflict: ").filter(has_text=words).first.click()
        page.wait_for_url("**/review/conflicts/c-*")

    return go


def _decision(words: str) -> Way:
    def go(page: Page) -> None:
        page.goto("/review/decisions")
        page.get_by_role("row").filter(has_text=words).get_by_role("link").first.click()
        page.wait_for_url("**/review/decisions/d-*")

    return go


def _threshold_result(page: Page) -> None:
    page.goto("/review/thresholds")
    page.get_by_role("link", name="worked example").click()
    page.get_by_role("button", name="Try them").click()
    expect(page.get_by_role("heading", name="What was found")).to_be_visible()


def _trial(page: Page) -> None:
    page.goto("/review/try")
    page.get_by_label("Text", exact=True).fill(trial())
    page.get_by_label("begins a new page").check()
    page.get_by_label("Collection").fill("handbook")
    page.get_by_role("button", name="Try it").click()
    expect(page.get_by_role("heading", name="What a check would answer")).to_be_visible()


PLACES: Final[dict[str, Way]] = {
    "sign-in": _at("/review/sign-in"),
    "overview": _at("/review"),
    "queue": _at("/review/conflicts"),
    "queue-ruled": _at("/review/conflicts?order=resolved"),
    "queue-empty": _at("/review/conflicts?order=void"),
    "conflict": _conflict("oldest", "handbook-2026/keys"),
    "conflict-ruled": _conflict("resolved", "handbook-2026/expenses"),
    "decisions": _at("/review/decisions"),
    "decisions-of-one": _at("/review/decisions?document=handbook-2026/remote-work"),
    "decision": _decision("handbook-2025/welcome"),
    "decision-held": _decision("quietlog-fork"),
    "decision-dropped": _decision("wiki/refunds"),
    "thresholds": _at("/review/thresholds"),
    "thresholds-result": _threshold_result,
    "try": _at("/review/try"),
    "try-result": _trial,
    "refused": _at("/review/conflicts/none"),
}
