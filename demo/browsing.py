"""A Chromium without a window and without a network but this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

_FLAGS = (
    "--no-sandbox",  # it shows pages of our own only, and root may not have one
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)


@contextmanager
def started(executable: str) -> Iterator[Browser]:
    """The browser at this path, with a fresh profile, until it is left."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=[*_FLAGS])
        try:
            yield browser
        finally:
            browser.close()
