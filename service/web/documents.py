"""Stored documents: look, list, delete.

An id may stand in the path or as `?id=`; some ids (`.`, `..`) only fit the second.
"""

from __future__ import annotations

from flask import Blueprint, Response

from service.dedup.scheme import DEFAULT_COLLECTION
from service.dedup.stored import DocumentFilter
from service.dedup.verdict import State
from service.errors import Fault
from service.tokens import Scope
from service.web import stored_answers
from service.web.access import permit
from service.web.answers import dump
from service.web.fields import INVALID_VALUE
from service.web.loading import Loaded, refusal, takes
from service.web.parameters import (
    DEFAULT_LIMIT,
    DELETION,
    DELETION_OF,
    DOCUMENT_PATH,
    DOCUMENTS,
    OF_COLLECTION,
)
from service.web.wiring import wiring

blueprint = Blueprint("documents", __name__)


@blueprint.get("/documents/<anything:id>")
@takes(scope=Scope.CHECK, path=DOCUMENT_PATH, query=OF_COLLECTION)
def show(id: str, query: Loaded) -> Response:
    """Show one document."""
    return _show(query["collection"], id)


@blueprint.get("/documents")
@takes(scope=Scope.CHECK, query=DOCUMENTS)
def documents(query: Loaded) -> Response:
    """List documents; with `id`, show that one."""
    if "id" not in query:
        return _list(query)
    others = [name for name in query if name not in ("id", "collection")]
    if others:
        words = "must not be given together with id"
        raise refusal([Fault(f"/{name}", INVALID_VALUE, words) for name in others])
    return _show(query.get("collection", DEFAULT_COLLECTION), query["id"])


@blueprint.delete("/documents/<anything:id>")
@takes(scope=Scope.CHECK, path=DOCUMENT_PATH, query=DELETION_OF)
def delete(id: str, query: Loaded) -> Response:
    """Delete one document."""
    return _delete(id, query)


@blueprint.delete("/documents")
@takes(scope=Scope.CHECK, query=DELETION)
def delete_by_parameter(query: Loaded) -> Response:
    """Delete the document that `id` names."""
    return _delete(query["id"], query)


def _show(collection: str, document_id: str) -> Response:
    permit(collection)
    return dump(stored_answers.document(wiring().catalogue.document(collection, document_id)))


def _list(query: Loaded) -> Response:
    permit(query.get("collection"))
    state = query.get("state")
    wanted = DocumentFilter(
        state=None if state is None else State(state),
        family=query.get("family"),
        orphaned=query.get("orphaned"),
    )
    page = wiring().catalogue.documents(
        query.get("collection"), wanted, query.get("limit", DEFAULT_LIMIT), query.get("cursor")
    )
    return dump(stored_answers.page(page, stored_answers.document))


def _delete(document_id: str, query: Loaded) -> Response:
    permit(query["collection"])
    twins = wiring().catalogue.delete(query["collection"], document_id, erase=query["erase"])
    return dump(stored_answers.deleted(document_id, twins))
