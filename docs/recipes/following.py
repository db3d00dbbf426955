"""What was decided after the check: rulings, reverts, deletions, expiry. For any store."""

from collections.abc import Callable
from pathlib import Path

from service.client import Document, Refused, Twinsift

Embed = Callable[[Document], None]
Remove = Callable[[str], None]


def catch_up(
    twinsift: Twinsift, kept: Path, *, embed: Embed, remove: Remove, collection: str | None = None
) -> None:
    """Does all that the log tells since the last time; `kept` is the file that remembers how far.

    Where this stops in the middle, the next time does some of it again, which does no harm.
    """
    after = kept.read_text("utf-8") if kept.exists() else None
    for page in twinsift.follow(after, collection=collection, every=None):
        for decision in page.items:
            for id in decision.ingest:
                document = _document(twinsift, id, decision.collection)
                if document is not None:
                    embed(document)
            for id in decision.retire:
                remove(id)
        kept.write_text(page.after, "utf-8")


def _document(twinsift: Twinsift, id: str, collection: str) -> Document | None:
    """The document, if it is active: what has become of it since stands further on in the log."""
    try:
        document = twinsift.document(id, collection=collection)
    except Refused as error:
        if error.code == "unknown_document":
            return None
        raise
    return document if document.state == "active" else None
