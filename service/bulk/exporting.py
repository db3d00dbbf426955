"""A collection as lines: its log, its settings, its documents.

    {"kind": "decision", "decision": {…}}      the log, as GET /decisions tells it
    {"kind": "mark", "mark": {"after": …, "at": …}}   where the log ended then, and when that was
    {"kind": "collection", "collection": {…}}  as GET /collections/{name} tells it
    {"kind": "document", "document": {…}}      as GET /documents tells it: active, held, dropped

Documents come in the order in which they were registered, so that an import finds the older of two
copies first. What changes its state meanwhile comes once more, at the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from service.bulk.errors import BulkError
from service.bulk.files import TextFile
from service.client import Decision, Refused, Twinsift

KINDS = ("decision", "mark", "collection", "document")
STATES = ("active", "held", "dropped")
_CLOCKS_DIFFER_BY = timedelta(minutes=5)

Exported = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Mark:
    """Where an export stood in the log, and when it began."""

    after: str
    at: datetime


def exported(client: Twinsift, collection: str | None, since: Mark | None) -> Iterator[Exported]:
    """All lines; with `since` only what has changed after that export."""
    began = datetime.now(UTC)
    named: set[tuple[str, str]] = set()
    after = None if since is None else since.after
    for page in client.follow(after, collection=collection, every=None):
        after = page.after
        for decision in page.items:
            if since is not None:
                named |= _documents_of(decision)
            yield {"kind": "decision", "decision": decision.raw}
    yield {"kind": "mark", "mark": {"after": after, "at": began.isoformat()}}
    chosen = client.collections() if collection is None else [client.collection(collection)]
    for one in chosen:
        yield {"kind": "collection", "collection": one.raw}
        for state in STATES:
            for document in client.documents(collection=one.name, state=state):
                is_named = (one.name, document.id) in named
                if since is None or is_named or document.updated_at >= since.at - _CLOCKS_DIFFER_BY:
                    yield {"kind": "document", "document": document.raw}
    yield from _changed_since(client, collection, after)


def _changed_since(
    client: Twinsift, collection: str | None, after: str | None
) -> Iterator[Exported]:
    """The documents that the log has named since then, as they are now: while the lists were read
    one may have gone from a state that comes later to one that was listed already."""
    named: set[tuple[str, str]] = set()
    for decision in client.decisions(after=after, collection=collection):
        named |= _documents_of(decision)
    for name, id in sorted(named):
        try:
            document = client.document(id, collection=name)
        except Refused as error:
            if error.status != 404:
                raise
            continue  # deleted meanwhile
        yield {"kind": "document", "document": document.raw}


def _documents_of(decision: Decision) -> set[tuple[str, str]]:
    """All documents that an entry is about, with their collection."""
    ids = {decision.document, decision.twin, *decision.ingest, *decision.retire}
    return {(decision.collection, id) for id in ids if id is not None}


def mark_in(name: str) -> Mark:
    """The mark of an export that was written to a file. Raises BulkError where it has none."""
    file = TextFile(name)
    try:
        for line in file.lines():
            told = orjson.loads(line or b"null")
            if told["kind"] == "mark":
                mark = told["mark"]
                return Mark(mark["after"], datetime.fromisoformat(mark["at"]))
    except (ValueError, TypeError, KeyError):
        raise BulkError(f"{name}: is no export") from None
    finally:
        file.close()
    raise BulkError(f"{name}: is an export that broke off before its mark")


def part_of(fields: Mapping[str, Any]) -> tuple[str, Any] | None:
    """The kind of an exported line and what it tells; None for any other line."""
    kind = fields.get("kind")
    if not isinstance(kind, str) or kind not in KINDS or fields.keys() != {"kind", kind}:
        return None
    told = fields[kind]
    return (kind, told) if isinstance(told, Mapping) else None
