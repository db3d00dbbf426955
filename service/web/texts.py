"""POST /clean and POST /compare: texts looked at without storing anything."""

from __future__ import annotations

from flask import Blueprint, Response

from service.dedup.scheme import DEFAULT_COLLECTION
from service.errors import Fault
from service.tokens import Scope
from service.web import answers
from service.web.access import permit
from service.web.fields import INVALID_VALUE
from service.web.loading import Loaded, refusal, takes
from service.web.posted import expect_size, posted
from service.web.schemas import CLEAN, COMPARE
from service.web.wiring import wiring

blueprint = Blueprint("texts", __name__)


@blueprint.post("/clean")
@takes(scope=Scope.CHECK, body=CLEAN)
def clean(body: Loaded) -> Response:
    """Clean a text by the rules of a collection, or by rules of its own."""
    if "collection" in body and "cleaning" in body:
        words = "must not be given together with collection"
        raise refusal([Fault("/cleaning", INVALID_VALUE, words)])
    collection = body.get("collection", DEFAULT_COLLECTION)
    if "cleaning" not in body:
        permit(collection)
    text = posted(body, wiring().settings.max_text)
    cleaned = wiring().checker.clean(text, collection, body.get("cleaning"))
    return answers.dump(answers.clean(cleaned, paged=text.pages is not None))


@blueprint.post("/compare")
@takes(scope=Scope.CHECK, body=COMPARE)
def compare(body: Loaded) -> Response:
    """Tell how alike two texts are, and what the second would be if the first were stored."""
    permit(body["collection"])
    for name in ("a", "b"):
        expect_size((body[name],), wiring().settings.max_text)
    comparison = wiring().checker.compare(body["a"], body["b"], body["collection"])
    return answers.dump(answers.compare(comparison))
