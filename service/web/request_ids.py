"""Every request has an id: the caller's, if it is plain, else one made here."""

from __future__ import annotations

import re
from uuid import uuid4

from flask import g, request

HEADER = "X-Request-Id"

_plain = re.compile(r"[A-Za-z0-9._-]{1,128}").fullmatch


def request_id() -> str:
    """The id of the request at hand, the same however often it is asked for."""
    known: str | None = g.get("request_id")
    if known is None:
        sent = request.headers.get(HEADER, "")
        known = g.request_id = sent if _plain(sent) else uuid4().hex
    return known
