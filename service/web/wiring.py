"""What the views work with: made once in `create_app`, kept with the app."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from flask import Flask, current_app

from service.batching import Batches
from service.catalogue import Catalogue
from service.checker import Checker
from service.limiting import Limiter
from service.reviewing import Reviewer
from service.sessions import Sessions
from service.settings import Settings
from service.tokens import Tokens
from service.web.turns import Turns

_NAME = "twinsift"


@dataclass(frozen=True, slots=True)
class Wiring:
    """The settings and the use cases of one app."""

    settings: Settings
    checker: Checker
    batches: Batches
    catalogue: Catalogue
    reviewer: Reviewer
    tokens: Tokens | None
    sessions: Sessions | None
    limiter: Limiter
    turns: Turns


def attach(app: Flask, wiring: Wiring) -> None:
    """Keep `wiring` with the app."""
    app.extensions[_NAME] = wiring


def wiring() -> Wiring:
    """The wiring of the app that answers this request."""
    return cast(Wiring, current_app.extensions[_NAME])
