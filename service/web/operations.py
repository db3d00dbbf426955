"""Every call in one table: what it takes, what it answers, how it fails.

openapi.yaml is made from this table, and a test holds it against the routes of the app.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from marshmallow import Schema

from service.web import schemas
from service.web.schemas import NO_PARAMETERS

STORE = ("store_unavailable",)
WRITING = ("store_unavailable", "store_full")
BODY = ("malformed_json", "malformed_body", "unsupported_media_type")
ALWAYS = ("too_large", "invalid_request", "internal_error")


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One call. `answers` names the component of each status, `fails` the codes of its own."""

    method: str
    path: str
    summary: str
    answers: Mapping[int, str]
    fails: tuple[str, ...] = ()
    path_schema: Schema | None = None
    query: Schema = NO_PARAMETERS
    body: Schema | None = None

    @property
    def codes(self) -> tuple[str, ...]:
        """Every code that the call can fail with."""
        return (*(BODY if self.body is not None else ()), *ALWAYS, *self.fails)


_DOCUMENT_FAILS = ("unknown_collection", "unknown_document")

OPERATIONS = (
    Operation(
        method="POST",
        path="/check",
        summary="Register a text under an id and tell whether it is new",
        body=schemas.CHECK,
        answers={200: "CheckAnswer"},
        fails=("unknown_collection", "empty_text", *WRITING),
    ),
    Operation(
        method="POST",
        path="/clean",
        summary="Clean a text without storing it",
        body=schemas.CLEAN,
        answers={200: "CleanAnswer"},
        fails=("unknown_collection", "empty_text", *STORE),
    ),
    Operation(
        method="POST",
        path="/compare",
        summary="Compare two texts without storing them",
        body=schemas.COMPARE,
        answers={200: "CompareAnswer"},
        fails=("unknown_collection", "empty_text", *STORE),
    ),
    Operation(
        method="GET",
        path="/documents",
        summary="List documents, or show the one that `id` names",
        query=schemas.DOCUMENTS,
        answers={200: "DocumentList or Document"},
        fails=(*_DOCUMENT_FAILS, *STORE),
    ),
    Operation(
        method="DELETE",
        path="/documents",
        summary="Delete the document that `id` names",
        query=schemas.DELETION,
        answers={200: "DeletedDocument"},
        fails=(*_DOCUMENT_FAILS, *WRITING),
    ),
    Operation(
        method="GET",
        path="/documents/{id}",
        summary="Show a document",
        path_schema=schemas.DOCUMENT_PATH,
        query=schemas.OF_COLLECTION,
        answers={200: "Document"},
        fails=(*_DOCUMENT_FAILS, *STORE),
    ),
    Operation(
        method="DELETE",
        path="/documents/{id}",
        summary="Delete a document",
        path_schema=schemas.DOCUMENT_PATH,
        query=schemas.DELETION_OF,
        answers={200: "DeletedDocument"},
        fails=(*_DOCUMENT_FAILS, *WRITING),
    ),
    Operation(
        method="GET",
        path="/collections",
        summary="List collections",
        query=schemas.LIST,
        answers={200: "CollectionList"},
        fails=STORE,
    ),
    Operation(
        method="GET",
        path="/collections/{name}",
        summary="Show a collection",
        path_schema=schemas.COLLECTION_PATH,
        answers={200: "Collection"},
        fails=("unknown_collection", *STORE),
    ),
    Operation(
        method="PUT",
        path="/collections/{name}",
        summary="Make a collection, or change the settings that the body names",
        path_schema=schemas.COLLECTION_PATH,
        body=schemas.COLLECTION,
        answers={200: "Collection", 201: "Collection"},
        fails=("frozen_setting", *WRITING),
    ),
    Operation(
        method="DELETE",
        path="/collections/{name}",
        summary="Remove a collection with all its documents",
        path_schema=schemas.COLLECTION_PATH,
        answers={200: "DeletedCollection"},
        fails=("unknown_collection", "default_collection", *WRITING),
    ),
    Operation(
        method="GET",
        path="/stats",
        summary="Count what was checked and what is kept",
        query=schemas.STATS,
        answers={200: "Stats"},
        fails=("unknown_collection", *STORE),
    ),
    Operation(
        method="GET",
        path="/healthz",
        summary="Tell that the process answers",
        answers={200: "Alive"},
    ),
    Operation(
        method="GET",
        path="/readyz",
        summary="Tell whether checks can be answered",
        answers={200: "Ready"},
        fails=STORE,
    ),
    Operation(
        method="GET",
        path="/openapi.json",
        summary="Give this document",
        answers={200: "Contract"},
    ),
)
