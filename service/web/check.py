"""POST /check: is this text new?"""

from __future__ import annotations

from flask import Blueprint, Response

from service.tokens import Scope
from service.web import answers, posted
from service.web.access import permit
from service.web.loading import Loaded, takes
from service.web.schemas import CHECK
from service.web.wiring import wiring

blueprint = Blueprint("check", __name__)


@blueprint.post("/check")
@takes(scope=Scope.CHECK, body=CHECK)
def check(body: Loaded) -> Response:
    """Register the text under its id and tell what it is."""
    permit(body["collection"])
    document = posted.document(body, wiring().settings.max_text)
    return answers.dump(answers.check(wiring().checker.check(document)))
