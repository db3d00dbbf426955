"""GET /healthz and GET /readyz, and the contract itself at GET /openapi.json."""

from __future__ import annotations

from flask import Blueprint, Response

from service.web import answers
from service.web.loading import takes
from service.web.openapi import document
from service.web.wiring import wiring

blueprint = Blueprint("health", __name__)


@blueprint.get("/healthz")
@takes(scope=None)
def healthz() -> Response:
    """Tell that the process answers; nothing else is asked."""
    return answers.dump({"status": "ok"})


@blueprint.get("/readyz")
@takes(scope=None)
def readyz() -> Response:
    """Tell whether checks can be answered; a store that is out of reach is a 503 problem."""
    found = wiring().catalogue.readiness()
    topology = {
        "kind": found.kind,
        "primaries": found.primaries,
        "available": found.available,
        "replicas": found.replicas,
    }
    return answers.dump({"status": "ready", "store": found.store, "topology": topology})


@blueprint.get("/openapi.json")
@takes(scope=None)
def contract() -> Response:
    """Give the contract in its machine form."""
    return answers.dump(document())
