"""What the demo posts and what is ruled on it: two editions of a handbook, notices, packages.

All of it goes through the client, as a worker and a reviewer would send it. The texts are in
`texts/`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any, Final

from service.client import Twinsift

HANDBOOK: Final = "handbook"
PACKAGES: Final = "packages"
_TEXTS: Final = Path(__file__).with_name("texts")
_EDITIONS: Final = ("2025", "2026")

Item = dict[str, Any]


def fill(twinsift: Twinsift) -> None:
    """Fills an empty service; what is not `new` is told by its own pages afterwards."""
    twinsift.configure(HANDBOOK)
    twinsift.configure(PACKAGES, {"survivor": ["newest", "authority", "richest", "first"]})
    first, second = (_edition(year) for year in _EDITIONS)
    for items in (first, _notices(first), second, second[:1], _packages()):
        for item in items:
            twinsift.check(**item)
    twinsift.check(
        "notice/rota", (_TEXTS / "rota-update.txt").read_text("utf-8"), collection=HANDBOOK
    )
    twinsift.delete("notice/parking", collection=HANDBOOK)
    _review(twinsift)


def trial() -> str:
    """A chapter that was not posted so, with another figure; its pages are parted by lines of three
    hyphens, as the page Try it takes them."""
    [chapter] = [item for item in _edition("2026") if item["id"].endswith("/refunds")]
    return "\n---\n".join(chapter["pages"]).replace("48 hours", "72 hours")


def _review(twinsift: Twinsift) -> None:
    open_now = {conflict.incoming.id: conflict.id for conflict in twinsift.conflicts(status="open")}
    twinsift.resolve(
        open_now["handbook-2026/expenses"],
        "incoming",
        by="Dana",
        note="The new rate was agreed in December.",
    )
    twinsift.resolve(open_now["tidetable 2.5.0"], "both", by="Jonas", note="Both are in use.")
    kept = open_now["handbook-2026/remote-work"]
    twinsift.resolve(kept, "existing", by="Jonas")
    ruled = twinsift.conflict(kept).resolution
    [ruling] = [
        entry
        for entry in twinsift.decisions(collection=HANDBOOK, kind="resolved")
        if ruled is not None and entry.at == ruled.at
    ]
    twinsift.revert(ruling.id, by="Dana", note="Eight is right: the phones open earlier now.")


def _edition(year: str) -> list[Item]:
    written = _read(f"handbook-{year}")
    numbers = count(1)
    return [
        {
            "id": f"handbook-{year}/{chapter['id']}",
            "pages": [_page(written, page, next(numbers)) for page in chapter["pages"]],
            "collection": HANDBOOK,
            "metadata": {key: written[key] for key in ("source", "updated_at")},
        }
        for chapter in written["chapter"]
    ]


def _page(edition: Mapping[str, Any], page: str, number: int) -> str:
    """A heading and a paragraph, each on one line, between what the edition has on every page."""
    heading, *lines = page.strip().splitlines()
    parts = (edition["header"], heading, " ".join(lines), edition["footer"], f"Page {number}")
    return "\n".join(parts)


def _notices(edition: list[Item]) -> Iterator[Item]:
    """Notices, and copies of chapters as plain text, without header, footer and numbers."""
    chapters = {item["id"].partition("/")[2]: item for item in edition}
    for notice in _read("notices")["notice"]:
        if copied := notice.get("copy_of"):
            pages = (page.splitlines()[1:-2] for page in chapters[copied]["pages"])
            text = "\n\n".join(" ".join(page) for page in pages)
        else:
            text = " ".join(notice["text"].split())
        yield {
            "id": notice["id"],
            "text": text,
            "collection": HANDBOOK,
            "metadata": {"source": notice["source"]},
        }


def _packages() -> Iterator[Item]:
    written = _read("packages")
    for package in written["package"]:
        known = {key: package[key] for key in ("version", "split") if key in package}
        yield {
            "id": package["id"],
            "text": " ".join(package["text"].split()),
            "collection": PACKAGES,
            "metadata": {"source": written["source"], **known},
        }


def _read(name: str) -> Mapping[str, Any]:
    return tomllib.loads((_TEXTS / f"{name}.toml").read_text("utf-8"))
