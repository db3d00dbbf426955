"""How paths are read: an id in a path may hold slashes, and comes as it was sent."""

from __future__ import annotations

from flask import Flask, request
from werkzeug.exceptions import NotFound
from werkzeug.routing import BaseConverter


class AnythingConverter(BaseConverter):
    """Whatever is left of the path, slashes and line breaks included."""

    regex = r"(?s:.+)"
    part_isolating = False
    weight = 200


def prepare(app: Flask) -> None:
    """Have the app's routes leave ids as they are."""
    app.url_map.converters["anything"] = AnythingConverter
    app.url_map.merge_slashes = False


def refuse_other_than_utf8() -> None:
    """Answer 404 for a path that is not UTF-8.

    Werkzeug replaces such bytes, and then a request for one id would be answered for another.
    """
    path: str = request.environ.get("PATH_INFO", "")
    try:
        path.encode("latin-1").decode()  # WSGI hands bytes over as Latin-1
    except UnicodeError:
        raise NotFound from None
