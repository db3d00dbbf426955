"""Cursors of lists: opaque to callers, a name and a number to us."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping

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


def write_places(places: Mapping[str, int]) -> str:
    """The token for a place in each of several logs, by the uid of its collection."""
    written = ",".join(f"{uid}:{number:x}" for uid, number in sorted(places.items()) if number)
    return urlsafe_b64encode(f"after {written}".encode()).decode().rstrip("=")


def read_places(token: str) -> dict[str, int]:
    """The places that `write_places` wrote; raises InvalidRequest for anything else."""
    places: dict[str, int] = {}
    try:
        padded = token + "=" * (-len(token) % 4)
        kind, _, written = urlsafe_b64decode(padded.encode("ascii")).decode("ascii").partition(" ")
        for place in written.split(",") if written else ():
            uid, _, number = place.partition(":")
            places[uid] = int(number, 16)
    except ValueError:
        kind = ""
    if kind != "after" or write_places(places) != token:
        fault = Fault("/after", "invalid_cursor", "not a token that this list gave")
        raise InvalidRequest("the token is not one that this list gave", (fault,))
    return places
