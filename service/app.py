"""The one file that knows every layer: it puts store, use cases and views together."""

from __future__ import annotations

from flask import Flask
from flask import Response as Answer

from service.batching import Batches
from service.catalogue import Catalogue
from service.checker import Checker
from service.limiting import Limiter
from service.reviewing import Reviewer
from service.settings import Settings
from service.store.any_store import connect
from service.store.base import Store
from service.tokens import Tokens
from service.web import (
    batch,
    calibrate,
    check,
    collections,
    conflicts,
    decisions,
    documents,
    errors,
    health,
    near_misses,
    paths,
    prometheus,
    request_log,
    stats,
    texts,
)
from service.web.body import refuse_oversized
from service.web.closing import closes_when_told
from service.web.request_ids import HEADER, request_id
from service.web.turns import Turns
from service.web.wiring import Wiring, attach

BLUEPRINTS = (
    check.blueprint,
    batch.blueprint,
    texts.blueprint,
    calibrate.blueprint,
    documents.blueprint,
    collections.blueprint,
    conflicts.blueprint,
    decisions.blueprint,
    near_misses.blueprint,
    stats.blueprint,
    health.blueprint,
    prometheus.blueprint,
)


def create_app(settings: Settings, store: Store | None = None) -> Flask:
    """The app over `store`, or over the store that the settings name."""
    if store is None:
        store = connect(settings)
    app = Flask("service", static_folder=None)
    # A second line of defence, for whatever does not read its body through `web/body.py`; one
    # more than the limit, so that a body of exactly the limit is never taken for a longer one.
    app.config["MAX_CONTENT_LENGTH"] = settings.max_body + 1
    request_log.watch(app)
    paths.prepare(app)
    errors.register(app)
    deadline = settings.deadline
    checker = Checker(store, deadline=deadline, log_days=settings.log_days)
    catalogue, reviewer = Catalogue(store, deadline=deadline), Reviewer(store, deadline=deadline)
    batches = Batches(store, checker)
    tokens = None if settings.tokens_file is None else Tokens(settings.tokens_file)
    limiter, turns = Limiter(store, settings.rate), Turns(settings.threads)
    attach(app, Wiring(settings, checker, batches, catalogue, reviewer, tokens, limiter, turns))
    app.before_request(store.begin_call)
    app.before_request(paths.refuse_other_than_utf8)
    app.before_request(lambda: refuse_oversized(settings.max_body))
    app.after_request(_sign)
    for blueprint in BLUEPRINTS:
        app.register_blueprint(blueprint)
    # The types of WSGI know no wrapping: a method becomes a function of the same call.
    app.wsgi_app = closes_when_told(app.wsgi_app)  # type: ignore[method-assign, assignment]
    return app


def _sign(answer: Answer) -> Answer:
    """What every answer carries, errors too."""
    answer.headers[HEADER] = request_id()
    answer.headers["X-Content-Type-Options"] = "nosniff"
    answer.headers["Cache-Control"] = "no-store"
    return answer
