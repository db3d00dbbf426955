"""The app with a bare `POST /check`: it loads the body by the same schema and echoes it.

Everything else is the app's own: the hooks before and after, the reading of JSON, the errors, and
gunicorn's settings. No store is touched. Started by `http_ratio`.
"""

from __future__ import annotations

import os
from typing import Any, cast

from flask import Flask, Response
from gunicorn.app.base import BaseApplication

from service import settings
from service.app import create_app
from service.serving import gunicorn_config
from service.settings import Settings
from service.store.base import Store
from service.web import answers
from service.web.loading import Loaded, takes
from service.web.schemas import CHECK


@takes(body=CHECK)
def echo(body: Loaded) -> Response:
    """Answer with what was posted."""
    return answers.dump(body)


def bare_app(chosen: Settings) -> Flask:
    """The app, its check replaced, over no store at all."""
    app = create_app(chosen, cast(Store, object()))
    app.view_functions["check.check"] = echo
    return app


class BareServer(BaseApplication):
    """Gunicorn as `twinsift serve` configures it."""

    def __init__(self, chosen: Settings) -> None:
        self._settings = chosen
        super().__init__()

    def load_config(self) -> None:
        """The service's own configuration."""
        for name, value in gunicorn_config(self._settings).items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        """The app, made in the worker."""
        return bare_app(self._settings)


def main() -> None:
    """Serve."""
    BareServer(settings.load(os.environ)).run()


if __name__ == "__main__":
    main()
