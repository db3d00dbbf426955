"""Collections and their settings."""

from __future__ import annotations

from flask import Blueprint, Response

from service.tokens import Scope
from service.web import stored_answers
from service.web.access import permit
from service.web.answers import dump
from service.web.loading import Loaded, takes
from service.web.parameters import COLLECTION_PATH, DEFAULT_LIMIT, LIST
from service.web.schemas import COLLECTION
from service.web.wiring import wiring

blueprint = Blueprint("collections", __name__)


@blueprint.get("/collections")
@takes(scope=Scope.READ, query=LIST)
def collections(query: Loaded) -> Response:
    """List collections."""
    permit(None)
    limit = query.get("limit", DEFAULT_LIMIT)
    page = wiring().catalogue.collections(limit, query.get("cursor"))
    return dump(stored_answers.page(page, stored_answers.collection))


@blueprint.get("/collections/<name>")
@takes(scope=Scope.READ, path=COLLECTION_PATH)
def show(name: str) -> Response:
    """Show one collection."""
    permit(name)
    return dump(stored_answers.collection(wiring().catalogue.collection(name)))


@blueprint.put("/collections/<name>")
@takes(scope=Scope.ADMIN, path=COLLECTION_PATH, body=COLLECTION)
def configure(name: str, body: Loaded) -> Response:
    """Make a collection, or change what the body names of one that is there."""
    permit(name)
    info, is_made = wiring().catalogue.configure(name, body)
    return dump(stored_answers.collection(info), 201 if is_made else 200)


@blueprint.delete("/collections/<name>")
@takes(scope=Scope.ADMIN, path=COLLECTION_PATH)
def drop(name: str) -> Response:
    """Remove a collection with all its documents."""
    permit(name)
    wiring().catalogue.drop(name)
    return dump(stored_answers.deleted(name))
