"""The service with something taken out, to measure what that costs.

    python -m bench.altered_app bare-check | without-changes

`bare-check`: `POST /check` loads the body by its schema and echoes it; no store is touched.
`without-changes`: `find_changes` finds none. Everything else is the app's own: the hooks before and
after, the reading of JSON, the errors, and gunicorn's settings.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, cast

from flask import Flask, Response
from gunicorn.app.base import BaseApplication

from service import settings
from service.app import create_app
from service.dedup.verdict import NO_CHANGES
from service.serving import SHARED_MEMORY, gunicorn_config
from service.settings import Settings
from service.store.base import Store
from service.text.changes import Changes
from service.tokens import Scope
from service.web import answers
from service.web.loading import Loaded, takes
from service.web.schemas import CHECK

REPLACED = "find_changes"


class NoStore:
    """In the place of the store of an app that asks none."""

    def begin_call(self) -> None:
        """As a call begins."""


@takes(scope=Scope.CHECK, body=CHECK)
def echo(body: Loaded) -> Response:
    """Answer with what was posted."""
    return answers.dump(body)


def bare_check(chosen: Settings) -> Flask:
    """The app, its check replaced, over no store at all."""
    app = create_app(chosen, cast(Store, NoStore()))
    app.view_functions["check.check"] = echo
    return app


def no_changes(_before: str, _after: str) -> Changes:
    """In the place of `find_changes`."""
    return NO_CHANGES


def without_changes(chosen: Settings) -> Flask:
    """The app, `find_changes` replaced wherever the service has it under that name."""
    app = create_app(chosen)
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "service" and hasattr(module, REPLACED):
            setattr(module, REPLACED, no_changes)
    return app


APPS: dict[str, Callable[[Settings], Flask]] = {
    "bare-check": bare_check,
    "without-changes": without_changes,
}


class AlteredServer(BaseApplication):
    """Gunicorn as `twinsift serve` configures it."""

    def __init__(self, chosen: Settings, make_app: Callable[[Settings], Flask]) -> None:
        self._settings = chosen
        self._make_app = make_app
        super().__init__()

    def load_config(self) -> None:
        """The service's own configuration."""
        measures = Path(mkdtemp(prefix="twinsift-metrics-", dir=SHARED_MEMORY))
        for name, value in gunicorn_config(self._settings, measures).items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        """The app, made in the worker."""
        return self._make_app(self._settings)


def main() -> None:
    """Serve."""
    AlteredServer(settings.load(os.environ), APPS[sys.argv[1]]).run()


if __name__ == "__main__":
    main()
