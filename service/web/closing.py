"""Closing the connection after an answer that says `Connection: close`.

An application cannot do that by itself: gunicorn drops the header, as WSGI asks, and would go on
to read what is left of a refused body as if it were welcome. But it lets its response be told.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

CLOSE = ("Connection", "close")


def closes_when_told(app: WSGIApplication) -> WSGIApplication:
    """`app`, with the header made true under gunicorn; another server sees it as it is."""

    def closing(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        def start(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            if CLOSE in headers:
                response = getattr(start_response, "__self__", None)
                force_close = getattr(response, "force_close", None)
                if force_close is not None:
                    force_close()
            return start_response(status, headers, *rest)

        return app(environ, start)

    return closing
