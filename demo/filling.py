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
            "pages": [
                f"{written['header']}\n{page.strip()}\n{written['footer']}\nPage {next(numbers)}"
                for page in chapter["pages"]
            ],
            "collection": HANDBOOK,
            "metadata": {key: written[key] for key in ("source", "updated_at")},
        }
        for chapter in written["chapter"]
    ]


def _notices(edition: list[Item]) -> Iterator[Item]:
    """Notices, and copies of chapters as plain text, without header, footer and numbers."""
    chapters = {item["id"].partition("/")[2]: item for item in edition}
    for notice in _read("notices")["notice"]:
        if copied := notice.get("copy_of"):
            pages = (page.splitlines()[1:-2] for page in chapters[copied]["pages"])
            text = "\n\n".join(" ".join(page) for page in pages)
        else:
            text = notice["text"]
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
            "text": package["text"],
            "collection": PACKAGES,
            "metadata": {"source": written["source"], **known},
        }


def _read(name: str) -> Mapping[str, Any]:
    return tomllib.loads((_TEXTS / f"{name}.toml").read_text("utf-8"))
