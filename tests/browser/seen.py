"""A browser of somebody's own, which tells all that it did beside showing pages."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, Page, Request

# The policy forbids pages to tell this themselves; a script of the driver is not bound by it.
_TELL = """
window.addEventListener('securitypolicyviolation', (event) =>
    console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI));
"""


@dataclass
class Seen:
    """What a page must not do: `unwanted` is empty where it did none of it."""

    unwanted: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def hold(self) -> None:
        """Fails where a page did what it must not."""
        unwanted, self.unwanted = self.unwanted, []
        assert unwanted == []

    def request(self, request: Request, home: str) -> None:
        parts = urlsplit(request.url)
        self.requests.append(request.url)
        if parts.netloc != home:
            self.unwanted.append(f"asked elsewhere: {request.url}")


class Person:
    """Somebody with a browser: its page, and the keys they press."""

    def __init__(self, context: BrowserContext, address: str) -> None:
        self.context, self.address, self.seen = context, address, Seen()
        self.page: Page = context.new_page()
        home = urlsplit(address).netloc
        self.page.on("request", lambda request: self.seen.request(request, home))
        self.page.on("console", lambda said: self._said(said.type, said.text))
        self.page.on("pageerror", lambda error: self.seen.unwanted.append(f"error: {error}"))
        self.page.on("dialog", self._dialog)
        self.page.add_init_script(_TELL)

    def go(self, path: str) -> Page:
        self.page.goto(path)
        return self.page

    def look(self, width: int, scheme: str) -> None:
        self.page.set_viewport_size({"width": width, "height": 800})
        self.page.emulate_media(color_scheme=scheme)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def sign_in(self, token: str, name: str = "", path: str = "/review") -> Page:
        self.go(path)
        self.page.get_by_label("Token").fill(token)
        self.page.get_by_label("Your name").fill(name)
        self.page.get_by_role("button", name="Sign in").click()
        self.page.wait_for_url(self.address + path)
        return self.page

    def _said(self, kind: str, text: str) -> None:
        # A page of status 403 or 409 is an answer like others; Chromium makes it an error.
        if kind in {"error", "warning"} and "the server responded with a status of" not in text:
            self.seen.unwanted.append(f"{kind}: {text}")

    def _dialog(self, dialog) -> None:
        self.seen.unwanted.append(f"dialog: {dialog.message}")
        dialog.dismiss()


@contextmanager
def person(chromium: Browser, address: str, **look) -> Iterator[Person]:
    """`look` is the width, the colours …, as a context of Playwright takes them."""
    context = chromium.new_context(base_url=address, reduced_motion="reduce", **look)
    context.set_default_timeout(10_000)
    try:
        someone = Person(context, address)
        yield someone
        someone.seen.hold()
    finally:
        context.close()
