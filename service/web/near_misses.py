"""GET /near-misses: pairs that fell just below the threshold."""

from __future__ import annotations

from flask import Blueprint, Response

from service.tokens import Scope
from service.web import review_answers
from service.web.access import permit
from service.web.answers import dump
from service.web.loading import Loaded, takes
from service.web.parameters import DEFAULT_LIMIT, NEAR_MISSES
from service.web.stored_answers import page
from service.web.wiring import wiring

blueprint = Blueprint("near_misses", __name__)


@blueprint.get("/near-misses")
@takes(scope=Scope.READ, query=NEAR_MISSES)
def near_misses(query: Loaded) -> Response:
    """List near-misses, the newest first."""
    permit(query.get("collection"))
    part = wiring().reviewer.near_misses(
        query.get("collection"), query.get("limit", DEFAULT_LIMIT), query.get("cursor")
    )
    return dump(page(part, review_answers.near_miss))
