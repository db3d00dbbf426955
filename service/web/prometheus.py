"""GET /metrics: what Prometheus reads."""

from __future__ import annotations

from flask import Blueprint, Response
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4

from service.tokens import Scope
from service.web.access import permit
from service.web.loading import takes
from service.web.metrics import exposition
from service.web.wiring import wiring

blueprint = Blueprint("prometheus", __name__)


@blueprint.get("/metrics")
@takes(scope=Scope.READ)
def metrics() -> Response:
    """Give all measures of all workers."""
    permit(None)
    return Response(exposition(wiring().catalogue), content_type=CONTENT_TYPE_PLAIN_0_0_4)
