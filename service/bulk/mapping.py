"""Which fields of a row are the id, the text and the metadata of an item."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import PurePath
from typing import Any

from service.bulk.files import STDIN
from service.bulk.rows import INVALID, Row
from service.client import Problem


@dataclass(frozen=True, kw_only=True)
class Fields:
    """What stands where. `text` and `pages` None: `pages` where a row has it, else `text`.

    `metadata` gives each field that is taken the name that it gets; empty: all that the object
    under `metadata` has. `id_from` makes the ids of rows that have none: `line` or `hash`.
    """

    id: str = "id"
    text: str | None = None
    pages: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    collection: str | None = None
    collection_field: str | None = None
    id_from: str | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file, and the check that it asks for, or why it asks for none.

    `was` is the state of a document that was exported."""

    file: str
    line: int
    item: Mapping[str, Any] | Problem
    was: str | None = None

    @property
    def id(self) -> str | None:
        """The id of the item, where it has one."""
        return self.item.id if isinstance(self.item, Problem) else self.item["id"]

    @property
    def place(self) -> str:
        """`FILE:LINE`."""
        return f"{self.file}:{self.line}"


def line_of(row: Row, fields: Fields) -> Line:
    """The item of a row; what is wrong with it is told by the names of fields alone."""
    if row.code is not None:
        return refused(row, row.code, row.detail)
    text = _text(row, fields)
    if isinstance(text, str):
        return refused(row, INVALID, text, _id_as_it_is(row, fields))
    id = _id(row, fields, text)
    if id is None:
        return refused(row, INVALID, f"the field {fields.id!r}, the id, is missing")
    item: dict[str, Any] = {"id": id, **text}
    metadata = _metadata(row, fields)
    if isinstance(metadata, str):
        return refused(row, INVALID, metadata, id)
    if metadata:
        item["metadata"] = metadata
    collection = fields.collection
    if fields.collection_field is not None:
        collection = row.fields.get(fields.collection_field)
    if collection is not None:
        item["collection"] = collection
    return Line(row.file, row.line, item)


def refused(row: Row, code: str, detail: str, id: str | None = None) -> Line:
    """A row that is not asked about."""
    problem = Problem(index=0, id=id, code=code, status=400, detail=detail)
    return Line(row.file, row.line, problem)


def _text(row: Row, fields: Fields) -> dict[str, Any] | str:
    """`{"text": …}` or `{"pages": …}`, or in words what is missing."""
    if fields.pages is not None or (fields.text is None and row.fields.get("pages") is not None):
        name = fields.pages or "pages"
        value = row.fields.get(name)
        return f"the field {name!r}, the pages, is missing" if value is None else {"pages": value}
    name = fields.text or "text"
    value = row.fields.get(name)
    return f"the field {name!r}, the text, is missing" if value is None else {"text": value}


def _id(row: Row, fields: Fields, text: Mapping[str, Any]) -> str | None:
    id = _id_as_it_is(row, fields)
    if id is not None or fields.id_from is None:
        return id
    if fields.id_from == "line":
        name = "stdin" if row.file == STDIN else PurePath(row.file).name
        return f"{name}:{row.line}"
    posted = text.get("text") or "\f".join(map(str, text.get("pages") or ()))
    return "sha256:" + sha256(str(posted).encode("utf-8", "surrogatepass")).hexdigest()


def _id_as_it_is(row: Row, fields: Fields) -> str | None:
    """The id of the row; a whole number is one too."""
    id = row.fields.get(fields.id)
    if type(id) is int:
        return str(id)
    return id if isinstance(id, str) and id else None


def _metadata(row: Row, fields: Fields) -> dict[str, Any] | str:
    if not fields.metadata:
        given = row.fields.get("metadata")
        if given is None or given == "":
            return {}
        return given if isinstance(given, dict) else "the field 'metadata' is no object"
    taken = {name: row.fields.get(source) for source, name in fields.metadata.items()}
    taken = {name: value for name, value in taken.items() if value is not None and value != ""}
    authority = taken.get("authority")
    if isinstance(authority, str):  # as it is in CSV
        try:
            taken["authority"] = float(authority)
        except ValueError:
            return "the metadata 'authority' is no number"
    return taken
