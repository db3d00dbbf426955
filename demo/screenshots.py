"""`make screenshots`: every page as the demo fills it, into docs/screenshots/."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from PIL import Image
from playwright.sync_api import Page

from demo.browsing import started
from demo.filling import fill
from demo.places import PLACES
from demo.serving import serving
from service.client import Twinsift
from service.tokens import make

FOLDER: Final = Path(__file__).parents[1] / "docs" / "screenshots"
# The height of the window by its width and, where the page goes on, the most that is shown of it.
_HEIGHTS: Final = {360: (740, 2400), 1280: (800, 1600)}
_COLOURS: Final = 128
_SHOWN: Final = (
    *("sign-in", "overview", "queue", "conflict", "conflict-ruled"),
    *("decisions", "decision", "thresholds-result", "try-result"),
)
_DARK: Final = ("overview", "conflict")


def main() -> None:
    """Writes each page anew: both widths in light, some in dark too."""
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.png"):
        old.unlink()
    with (
        _filled() as (address, token),
        started(os.environ.get("CHROMIUM", "/usr/bin/chromium")) as browser,
    ):
        for width, (height, _) in _HEIGHTS.items():
            for scheme in ("light", "dark"):
                shown = _SHOWN if scheme == "light" else _DARK
                look = {"viewport": {"width": width, "height": height}, "color_scheme": scheme}
                page = browser.new_page(base_url=address, reduced_motion="reduce", **look)
                _write(page, token, shown, f"{width}-{scheme}")
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


def _write(page: Page, token: str, shown: Sequence[str], look: str) -> None:
    page.goto("/review/sign-in")
    if "sign-in" in shown:
        _save(page, f"sign-in-{look}")
    page.get_by_label("Token").fill(token)
    page.get_by_label("Your name").fill("Dana")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/review")
    for name in shown:
        if name != "sign-in":
            PLACES[name](page)
            _save(page, f"{name}-{look}")
    page.context.close()


def _save(page: Page, name: str) -> None:
    tall = page.evaluate("document.documentElement.scrollHeight")
    size = page.viewport_size
    height = min(max(tall, size["height"]), _HEIGHTS[size["width"]][1])
    clip = {"x": 0, "y": 0, "width": size["width"], "height": height}
    picture = Image.open(io.BytesIO(page.screenshot(full_page=True, clip=clip, caret="hide")))
    small = picture.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
    small.save(FOLDER / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
