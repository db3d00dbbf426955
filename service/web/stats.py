"""GET /stats: what was checked and what is kept."""

from __future__ import annotations

from flask import Blueprint, Response

from service.tokens import Scope
from service.web import stored_answers
from service.web.access import permit
from service.web.answers import dump
from service.web.loading import Loaded, takes
from service.web.parameters import STATS
from service.web.wiring import wiring

blueprint = Blueprint("stats", __name__)


@blueprint.get("/stats")
@takes(scope=Scope.READ, query=STATS)
def stats(query: Loaded) -> Response:
    """Count, for one collection or for all."""
    permit(query.get("collection"))
    counted = wiring().catalogue.statistics(query.get("collection"))
    return dump(stored_answers.statistics(counted))
