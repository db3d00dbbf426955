"""POST /check: is this text new?"""

from __future__ import annotations

from flask import Blueprint, Response

from service.web import answers, posted
from service.web.loading import Loaded, takes
from service.web.schemas import CHECK
from service.web.wiring import wiring

blueprint = Blueprint("check", __name__)


@blueprint.post("/check")
@takes(body=CHECK)
def check(body: Loaded) -> Response:
    """Register the text under its id and tell what it is."""
    document = posted.document(body, wiring().settings.max_text)
    return answers.dump(answers.check(wiring().checker.check(document)))
