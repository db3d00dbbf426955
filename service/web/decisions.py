"""The log of decisions: follow it, take one back."""

from __future__ import annotations

from flask import Blueprint, Response

from service.dedup.decisions import DecisionFilter, DecisionKind
from service.errors import Fault
from service.tokens import Scope
from service.web import review_answers
from service.web.access import permit
from service.web.answers import dump
from service.web.fields import INVALID_VALUE
from service.web.loading import Loaded, refusal, takes
from service.web.parameters import DECISION_PATH, DECISIONS, DEFAULT_LIMIT
from service.web.schemas import REVERT
from service.web.wiring import wiring

blueprint = Blueprint("decisions", __name__)


@blueprint.get("/decisions")
@takes(scope=Scope.CHECK, query=DECISIONS)
def decisions(query: Loaded) -> Response:
    """List log entries, the oldest first."""
    if "after" in query and "cursor" in query:
        words = "must not be given together with after"
        raise refusal([Fault("/cursor", INVALID_VALUE, words)])
    permit(query.get("collection"))
    kind = query.get("kind")
    wanted = DecisionFilter(
        document=query.get("document"),
        kind=None if kind is None else DecisionKind(kind),
        min_score=query.get("min_score"),
        max_score=query.get("max_score"),
    )
    page = wiring().reviewer.decisions(
        query.get("collection"),
        wanted,
        query.get("limit", DEFAULT_LIMIT),
        query.get("after", query.get("cursor")),
    )
    return dump(review_answers.decisions(page))


@blueprint.post("/decisions/<id>/revert")
@takes(scope=Scope.REVIEW, path=DECISION_PATH, body=REVERT)
def revert(id: str, body: Loaded) -> Response:
    """Take one decision back."""
    permit(wiring().reviewer.collection_of(id))
    reverted = wiring().reviewer.revert(id, body.get("by"), body.get("note"))
    return dump(review_answers.reverted(reverted))
