"""Every page, and how a person who has signed in gets there where all is filled as the demo is."""

from collections.abc import Callable

from playwright.sync_api import Page

from tests.browser.seen import Person

Place = Callable[[Person], Page]


def at(path: str) -> Place:
    return lambda dana: dana.go(path)


def conflict(address: str) -> Place:
    """The first conflict of a queue."""

    def first(dana: Person) -> Page:
        dana.go(address)
        dana.page.get_by_role("link", name="Conflict: ").first.click()
        dana.page.wait_for_url("**/review/conflicts/c-*")
        return dana.page

    return first


PLACES: dict[str, Place] = {
    "overview": at("/review"),
    "queue": at("/review/conflicts"),
    "queue, ruled on": at("/review/conflicts?order=resolved"),
    "queue, empty": at("/review/conflicts?order=void"),
    "conflict": conflict("/review/conflicts"),
    "conflict, ruled on": conflict("/review/conflicts?order=resolved"),
    "decisions": at("/review/decisions"),
    "thresholds": at("/review/thresholds"),
    "try it": at("/review/try"),
    "sign in": at("/review/sign-in"),
    "refused": at("/review/conflicts/none"),
}
