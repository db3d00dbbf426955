"""From a loaded request to the words of the core: a `Posted` text, a `Document`."""

from __future__ import annotations

from collections.abc import Sequence

from service.dedup.verdict import Document, Posted
from service.errors import Fault, TooLarge
from service.text.cleaning import split_pages
from service.web.fields import INVALID_VALUE, MISSING
from service.web.loading import Loaded, refusal
from service.web.schemas import MOST_PAGES

_FORM_FEED = "\f"
_MOST_BYTES_A_CHARACTER = 4


def document(body: Loaded, max_text: int) -> Document:
    """The document that the body of a check tells of."""
    return Document(
        id=body["id"],
        posted=posted(body, max_text),
        collection=body["collection"],
        metadata=body.get("metadata", {}),
        dry_run=body["dry_run"],
    )


def posted(body: Loaded, max_text: int) -> Posted:
    """The one of `text` and `pages` that is there; a text with form feeds is its pages.

    Raises:
        InvalidRequest: both are there, or neither.
        TooLarge: the text is larger than `max_text` bytes.
    """
    text, pages = body.get("text"), body.get("pages")
    if text is not None and pages is not None:
        raise refusal([Fault("/pages", INVALID_VALUE, "must not be given together with text")])
    if text is not None and _FORM_FEED in text:
        pages = split_pages(text)
        if len(pages) > MOST_PAGES:
            words = f"must have at most {MOST_PAGES} pages"
            raise refusal([Fault("/text", INVALID_VALUE, words)])
    if pages is not None:
        expect_size(pages, max_text)
        return Posted(text=text, pages=tuple(pages))
    if text is None:
        raise refusal([Fault("/text", MISSING, "or pages is required")])
    expect_size((text,), max_text)
    return Posted(text=text, pages=None)


def expect_size(parts: Sequence[str], max_text: int) -> None:
    """Refuse a text whose parts have more than `max_text` bytes as UTF-8."""
    if sum(map(len, parts)) * _MOST_BYTES_A_CHARACTER <= max_text:
        return
    if sum(len(part.encode()) for part in parts) > max_text:
        raise TooLarge(f"The text is larger than {max_text} bytes.")
