"""An export on its way into a service: which lines ask for a check, and what else they ask for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from service.bulk.errors import BulkError
from service.bulk.mapping import Line, refused
from service.bulk.rows import INVALID, Row
from service.client import Answer, Refused, Twinsift

BY = "import"
_LEFT = ("deleted", "expired")
_KEEP = {"active": "both", "dropped": "existing"}


class Restoring:
    """Makes the collections of an export, under another name and with other settings if asked to,
    and gives its documents.

    The settings decide anew. But nobody is asked again what was decided: where a check holds a text
    that was active, both stay; where it holds one that was dropped, it is dropped.
    """

    def __init__(
        self,
        client: Twinsift,
        *,
        into: str | None,
        settings: Mapping[str, Any],
        is_dry: bool,
    ) -> None:
        self._client = client
        self._into = into
        self._settings = settings
        self._is_dry = is_dry
        self._first: str | None = None
        self._updates: list[Line] = []
        self.left_out = 0
        """Documents whose text is no longer kept, dropped ones whose twin is gone or waits."""

    def lines(self, row: Row, kind: str, told: Mapping[str, Any]) -> Iterator[Line]:
        """The checks that a line asks for, as soon as it is their turn."""
        try:
            if kind == "collection":
                yield from self.waiting()
                self._make(told["name"], told["settings"])
            elif kind == "decision":
                self._leaves(told)
            elif kind == "document":
                yield from self._document(row, told)
        except (KeyError, TypeError):
            yield refused(row, INVALID, "the line is of no export that can be read")

    def waiting(self) -> Iterator[Line]:
        """Updates that wait for a ruling; what they are in conflict with comes before them."""
        yield from self._updates
        self._updates = []

    def rule(self, line: Line, answer: Answer) -> str | None:
        """Rules as it was before on what the check holds; what was kept, None for no ruling. A
        dropped text that cannot be ruled on, as what it is held for waits itself, is left out."""
        keep = _KEEP.get(line.was or "")
        if keep is None or answer.action != "review" or answer.conflict is None or self._is_dry:
            return None
        try:
            self._client.resolve(answer.conflict.id, keep, by=BY)
        except Refused as error:
            if error.status != 409:
                raise
            if line.was == "dropped":
                self._delete(answer.id, answer.collection)
                self.left_out += 1
            return None
        return keep

    def _make(self, name: str, settings: Mapping[str, Any]) -> None:
        if self._into is not None and self._first not in (None, name):
            raise BulkError("the export has several collections, and --into names one")
        self._first = name
        if not self._is_dry:
            self._client.configure(self._into or name, {**settings, **self._settings})

    def _leaves(self, decision: Mapping[str, Any]) -> None:
        """A document that was there at the last export may have been deleted since."""
        if decision["kind"] not in _LEFT or self._is_dry:
            return
        self._delete(decision["document"], self._into or decision["collection"])

    def _delete(self, id: str, collection: str) -> None:
        try:
            self._client.delete(id, collection=collection)
        except Refused as error:
            if error.status != 404:
                raise

    def _document(self, row: Row, document: Mapping[str, Any]) -> Iterator[Line]:
        state, pending = document["state"], document["pending"]
        if state != "active":
            yield from self.waiting()
        if document["text"] is None or document["orphaned"]:
            self.left_out += 1
            return
        yield self._line(row, document, document, state)
        if pending is not None:
            self._updates.append(self._line(row, document, pending, "held"))

    def _line(
        self, row: Row, document: Mapping[str, Any], text: Mapping[str, Any], state: str
    ) -> Line:
        item = {
            "id": document["id"],
            "text": text["text"],
            "collection": self._into or document["collection"],
            "metadata": text["metadata"],
        }
        return Line(row.file, row.line, item, was=state)
