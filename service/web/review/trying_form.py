"""The form of the page Try it: what was typed, and the document that it tells of."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from service.dedup.scheme import DEFAULT_COLLECTION
from service.dedup.verdict import Document
from service.web import posted
from service.web.loading import load
from service.web.schemas import CHECK

PAGE_LINE: Final = "---"
_LONGEST: Final = 1000  # characters of any field but the text; a longer one is refused as it is


@dataclass(frozen=True, slots=True)
class Typed:
    """The fields as they were typed; `has_pages`: a line of three hyphens begins a new page."""

    text: str = ""
    collection: str = DEFAULT_COLLECTION
    id: str = ""
    has_pages: bool = False

    @classmethod
    def of(cls, form: Mapping[str, str]) -> Typed:
        """What a form says."""
        return cls(
            # Browsers send every line break of a field as CR LF.
            text=form.get("text", "").replace("\r\n", "\n"),
            collection=form.get("collection", "").strip()[:_LONGEST] or DEFAULT_COLLECTION,
            id=form.get("id", "")[:_LONGEST],
            has_pages="has_pages" in form,
        )

    def document(self, max_text: int) -> Document:
        """The document to check with nothing stored; one without an id gets one that nobody has.

        Raises InvalidRequest or TooLarge."""
        body = {
            "id": self.id or f"trying-{secrets.token_hex(16)}",
            "text": _with_page_ends(self.text) if self.has_pages else self.text,
            "collection": self.collection,
            "dry_run": True,
        }
        return posted.document(load(CHECK, body), max_text)


def _with_page_ends(text: str) -> str:
    """The text with a form feed, a page's end, for each line of three hyphens."""
    pages: list[list[str]] = [[]]
    for line in text.split("\n"):
        if line.rstrip() == PAGE_LINE:
            pages.append([])
        else:
            pages[-1].append(line)
    return "\f".join("\n".join(lines) for lines in pages)
