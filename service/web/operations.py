"""Every call in one table: what it takes, what it answers, how it fails.

openapi.yaml is made from this table, and a test holds it against the routes of the app.
"""

from __future__ import annotations

from service.web import parameters, schemas
from service.web.operation import STORE, WRITING, Operation

__all__ = ["OPERATIONS", "Operation"]

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
        path="/check/batch",
        summary="Check many texts, as if they came one after the other",
        body=schemas.BATCH,
        stream=True,
        answers={200: "BatchAnswer"},
        fails=STORE,
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
        query=parameters.DOCUMENTS,
        answers={200: "DocumentList or Document"},
        fails=(*_DOCUMENT_FAILS, *STORE),
    ),
    Operation(
        method="DELETE",
        path="/documents",
        summary="Delete the document that `id` names",
        query=parameters.DELETION,
        answers={200: "DeletedDocument"},
        fails=(*_DOCUMENT_FAILS, *WRITING),
    ),
    Operation(
        method="GET",
        path="/documents/{id}",
        summary="Show a document",
        path_schema=parameters.DOCUMENT_PATH,
        query=parameters.OF_COLLECTION,
        answers={200: "Document"},
        fails=(*_DOCUMENT_FAILS, *STORE),
    ),
    Operation(
        method="DELETE",
        path="/documents/{id}",
        summary="Delete a document",
        path_schema=parameters.DOCUMENT_PATH,
        query=parameters.DELETION_OF,
        answers={200: "DeletedDocument"},
        fails=(*_DOCUMENT_FAILS, *WRITING),
    ),
    Operation(
        method="GET",
        path="/collections",
        summary="List collections",
        query=parameters.LIST,
        answers={200: "CollectionList"},
        fails=STORE,
    ),
    Operation(
        method="GET",
        path="/collections/{name}",
        summary="Show a collection",
        path_schema=parameters.COLLECTION_PATH,
        answers={200: "Collection"},
        fails=("unknown_collection", *STORE),
    ),
    Operation(
        method="PUT",
        path="/collections/{name}",
        summary="Make a collection, or change the settings that the body names",
        path_schema=parameters.COLLECTION_PATH,
        body=schemas.COLLECTION,
        answers={200: "Collection", 201: "Collection"},
        fails=("frozen_setting", *WRITING),
    ),
    Operation(
        method="DELETE",
        path="/collections/{name}",
        summary="Remove a collection with all its documents",
        path_schema=parameters.COLLECTION_PATH,
        answers={200: "DeletedCollection"},
        fails=("unknown_collection", "default_collection", *WRITING),
    ),
    Operation(
        method="GET",
        path="/conflicts",
        summary="List conflicts, the newest first",
        query=parameters.CONFLICTS,
        answers={200: "ConflictList"},
        fails=("unknown_collection", *STORE),
    ),
    Operation(
        method="GET",
        path="/conflicts/{id}",
        summary="Show a conflict",
        path_schema=parameters.CONFLICT_PATH,
        answers={200: "Conflict"},
        fails=("unknown_conflict", *STORE),
    ),
    Operation(
        method="POST",
        path="/conflicts/{id}/resolve",
        summary="Rule on a conflict; the same ruling again is no error",
        path_schema=parameters.CONFLICT_PATH,
        body=schemas.RULING,
        answers={200: "Ruling"},
        fails=(
            "unknown_conflict",
            "already_resolved",
            "earlier_conflict",
            "conflict_void",
            *WRITING,
        ),
    ),
    Operation(
        method="GET",
        path="/decisions",
        summary="Follow the log of decisions, oldest first for each document",
        query=parameters.DECISIONS,
        answers={200: "DecisionList"},
        fails=("unknown_collection", *STORE),
    ),
    Operation(
        method="POST",
        path="/decisions/{id}/revert",
        summary="Take a decision back",
        path_schema=parameters.DECISION_PATH,
        body=schemas.REVERT,
        answers={200: "Reverted"},
        fails=("unknown_decision", "already_reverted", "not_revertible", *WRITING),
    ),
    Operation(
        method="GET",
        path="/near-misses",
        summary="List sampled pairs that fell just below the threshold",
        query=parameters.NEAR_MISSES,
        answers={200: "NearMissList"},
        fails=("unknown_collection", *STORE),
    ),
    Operation(
        method="GET",
        path="/stats",
        summary="Count what was checked and what is kept",
        query=parameters.STATS,
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
