"""JSON that every parser reads alike; anything else is refused.

orjson refuses what RFC 8259 does (NaN, bad UTF-8, lone surrogates, a byte order mark, absurd
nesting), but takes the last of two equal keys and turns large integers into floats. A second look
with the standard library's scanner finds those two.
"""

from __future__ import annotations

from json import JSONDecoder
from typing import Any

import orjson

from service.errors import MalformedJson

_SMALLEST_INTEGER, _LARGEST_INTEGER = -(2**63), 2**64 - 1


class _AmbiguousError(Exception):
    """Parsers differ about this JSON; the text says why."""


def _refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> None:
    if len({key for key, _ in pairs}) != len(pairs):
        raise _AmbiguousError("an object has the same key twice")


def _refuse_large(digits: str) -> int:
    # Past 20 characters no 64-bit integer is left; int() of thousands of digits is slow or refused.
    if len(digits) > 20 or not _SMALLEST_INTEGER <= int(digits) <= _LARGEST_INTEGER:
        raise _AmbiguousError("an integer does not fit in 64 bits")
    return 0


_SECOND_LOOK = JSONDecoder(object_pairs_hook=_refuse_repeated_keys, parse_int=_refuse_large)


def parse(raw: bytes) -> Any:
    """What `raw` says in JSON.

    Raises:
        MalformedJson: it is no JSON, or none that means one thing.
    """
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        # `error.doc` holds the body, its message only a reason and a place.
        raise MalformedJson(f"The body is not JSON: {error}.") from None
    try:
        _SECOND_LOOK.decode(raw.decode())
    except _AmbiguousError as error:
        raise MalformedJson(f"The body is not JSON that means one thing: {error}.") from None
    except RecursionError:
        raise MalformedJson("The body is not JSON: it is nested too deeply.") from None
    return value
