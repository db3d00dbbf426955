"""Cursors of lists: opaque to callers, a name and a number to us."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode

from service.errors import Fault, InvalidRequest


def write_cursor(name: str, number: int) -> str:
    """The cursor for a place in a list."""
    return urlsafe_b64encode(f"{name}:{number}".encode()).decode().rstrip("=")


def read_cursor(cursor: str) -> tuple[str, int]:
    """The place that `write_cursor` wrote; raises InvalidRequest for anything else."""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        name, _, digits = urlsafe_b64decode(padded.encode("ascii")).decode("ascii").partition(":")
        number = int(digits)
    except ValueError:
        name, number = "", -1
    if number < 0 or write_cursor(name, number) != cursor:
        fault = Fault("/cursor", "invalid_cursor", "not a cursor that a list gave")
        raise InvalidRequest("the cursor is not one that a list gave", (fault,))
    return name, number
