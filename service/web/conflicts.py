"""Conflicts: look, list, rule on one."""

from __future__ import annotations

from flask import Blueprint, Response

from service.dedup.decisions import ConflictFilter, ConflictStatus, Keep
from service.tokens import Scope
from service.web import review_answers
from service.web.access import permit
from service.web.answers import dump
from service.web.loading import Loaded, takes
from service.web.parameters import CONFLICT_PATH, CONFLICTS, DEFAULT_LIMIT
from service.web.schemas import RULING
from service.web.stored_answers import page
from service.web.wiring import wiring

blueprint = Blueprint("conflicts", __name__)


@blueprint.get("/conflicts")
@takes(scope=Scope.READ, query=CONFLICTS)
def conflicts(query: Loaded) -> Response:
    """List conflicts, the newest first."""
    permit(query.get("collection"))
    status = query.get("status")
    wanted = ConflictFilter(
        status=None if status is None else ConflictStatus(status), kind=query.get("kind")
    )
    part = wiring().reviewer.conflicts(
        query.get("collection"), wanted, query.get("limit", DEFAULT_LIMIT), query.get("cursor")
    )
    return dump(page(part, review_answers.conflict))


@blueprint.get("/conflicts/<id>")
@takes(scope=Scope.READ, path=CONFLICT_PATH)
def show(id: str) -> Response:
    """Show one conflict."""
    found = wiring().reviewer.conflict(id)
    permit(found.collection)
    return dump(review_answers.conflict(found))


@blueprint.post("/conflicts/<id>/resolve")
@takes(scope=Scope.REVIEW, path=CONFLICT_PATH, body=RULING)
def resolve(id: str, body: Loaded) -> Response:
    """Rule on one conflict."""
    permit(wiring().reviewer.conflict(id).collection)
    ruling = wiring().reviewer.resolve(id, Keep(body["keep"]), body["by"], body.get("note"))
    return dump(review_answers.ruling(ruling))
