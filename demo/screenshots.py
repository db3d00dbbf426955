"""`make screenshots`: every page as the demo fills it, into docs/screenshots/."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from PIL import Image
from playwright.sync_api import Browser, Page

from demo.browsing import started
from demo.filling import fill
from demo.serving import serving
from service.client import Twinsift
from service.tokens import make

FOLDER: Final = Path(__file__).parents[1] / "docs" / "screenshots"
_WIDTHS: Final = {360: 740, 1280: 800}
_COLOURS: Final = 128
# A page may be longer than a window; what is below this is not shown.
_TALLEST: Final = 1600
_DARK: Final = {"overview", "conflict"}


def main() -> None:
    """Writes each page anew: both widths in light, some in dark too."""
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.png"):
        old.unlink()
    with (
        _filled() as (address, token),
        started(os.environ.get("CHROMIUM", "/usr/bin/chromium")) as browser,
    ):
        for width, height in _WIDTHS.items():
            for scheme in ("light", "dark"):
                shown = PAGES if scheme == "light" else {name: PAGES[name] for name in _DARK}
                _write(browser, address, token, shown, size=(width, height), scheme=scheme)
    for path in sorted(FOLDER.glob("*.png")):
        print(f"{path.stat().st_size / 1000:6.0f} kB  {path.name}")


@contextmanager
def _filled() -> Iterator[tuple[str, str]]:
    token, row = make("review-desk", ["check", "read", "review", "admin"], [])
    with tempfile.TemporaryDirectory(prefix="twinsift-") as directory:
        tokens = Path(directory) / "tokens.toml"
        tokens.write_text(row)
        data = Path(directory) / "data"
        with serving(data, TWINSIFT_TOKENS_FILE=str(tokens)) as address:
            with Twinsift(address, token=token) as twinsift:
                fill(twinsift)
            yield address, token


def _write(
    browser: Browser,
    address: str,
    token: str,
    shown: dict[str, Callable[[Page], None]],
    *,
    size: tuple[int, int],
    scheme: str,
) -> None:
    width, height = size
    page = browser.new_page(
        base_url=address,
        viewport={"width": width, "height": height},
        color_scheme=scheme,
        reduced_motion="reduce",
    )
    page.goto("/review/sign-in")
    if "sign-in" in shown:
        _save(page, f"sign-in-{width}-{scheme}")
    page.get_by_label("Token").fill(token)
    page.get_by_label("Your name").fill("Dana")
    page.get_by_role("button", name="Sign in").click()
    for name, go in shown.items():
        go(page)
        if name != "sign-in":
            _save(page, f"{name}-{width}-{scheme}")
    page.context.close()


def _save(page: Page, name: str) -> None:
    tall = page.evaluate("document.documentElement.scrollHeight")
    size = page.viewport_size
    height = min(max(tall, size["height"]), _TALLEST)
    clip = {"x": 0, "y": 0, "width": size["width"], "height": height}
    picture = Image.open(io.BytesIO(page.screenshot(full_page=True, clip=clip, caret="hide")))
    small = picture.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
    small.save(FOLDER / f"{name}.png", optimize=True)


def _at(path: str) -> Callable[[Page], None]:
    return lambda page: (page.goto(path), None)[1]


def _conflict(order: str, words: str) -> Callable[[Page], None]:
    def go(page: Page) -> None:
        page.goto(f"/review/conflicts?order={order}")
        page.get_by_role("link", name="Conflict: ").filter(has_text=words).first.click()
        page.wait_for_url("**/review/conflicts/c-*")

    return go


PAGES: Final[dict[str, Callable[[Page], None]]] = {
    "sign-in": _at("/review"),
    "overview": _at("/review"),
    "queue": _at("/review/conflicts"),
    "conflict": _conflict("oldest", "handbook-2026/keys"),
    "conflict-ruled": _conflict("resolved", "handbook-2026/expenses"),
    "decisions": _at("/review/decisions"),
    "thresholds": _at("/review/thresholds"),
    "try": _at("/review/try"),
}


if __name__ == "__main__":
    main()
