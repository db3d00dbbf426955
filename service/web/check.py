"""POST /check: is this text new?"""

from __future__ import annotations

from flask import Blueprint, Response

from service.tokens import Scope
from service.web import answers, metrics, posted
from service.web.access import permit
from service.web.loading import Loaded, takes
from service.web.request_log import note
from service.web.schemas import CHECK
from service.web.wiring import wiring

blueprint = Blueprint("check", __name__)


@blueprint.post("/check")
@takes(scope=Scope.CHECK, body=CHECK)
def check(body: Loaded) -> Response:
    """Register the text under its id and tell what it is."""
    permit(body["collection"])
    document = posted.document(body, wiring().settings.max_text)
    answer = wiring().checker.check(document)
    if not document.dry_run:
        metrics.check(answer)
    note(
        verdict=answer.verdict.value,
        action=answer.action.value,
        replayed=answer.replayed,
        dry_run=document.dry_run,
    )
    return answers.dump(answers.check(answer))
