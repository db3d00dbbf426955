"""Every page, and how a person who has signed in gets there where all is filled as the demo is."""

from collections.abc import Callable

from playwright.sync_api import Page

from tests.browser.seen import Person

Place = Callable[[Person], Page]


def at(path: str) -> Place:
    return lambda dana: dana.go(path)


PLACES: dict[str, Place] = {
    "overview": at("/review"),
    "queue": at("/review/conflicts"),
    "decisions": at("/review/decisions"),
    "thresholds": at("/review/thresholds"),
    "try it": at("/review/try"),
    "sign in": at("/review/sign-in"),
    "refused": at("/review/conflicts/none"),
}
