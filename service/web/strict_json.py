"""JSON that every parser reads alike; anything else is refused.

orjson refuses what RFC 8259 does (NaN, bad UTF-8, lone surrogates, a byte order mark, absurd
nesting), but takes the last of two equal keys, turns large integers into floats, and makes an
object of some hundred bytes of every two or three that a hostile body has. So the body is looked
at before and after: at what it has outside of its strings.
"""

from __future__ import annotations

import re
from typing import Any

import orjson

from service.errors import MalformedJson, TooLarge

MOST_VALUES = 250_000
"""Of one body, lists and objects counted too: a batch of 1,000 checks that have all the metadata
they may have and 170 pages each, or one check of 100,000 pages twice over."""

_SMALLEST_INTEGER, _LARGEST_INTEGER = -(2**63), 2**64 - 1
_ANY_OTHER = 64 * 1024  # bytes; no string that is not a text may be as large
_LONG_INTEGER = re.compile(rb"(?<![-+.0-9eE])-?[0-9]{19,}+(?![.eE])")


def parse(raw: bytes, longest: int) -> Any:
    """What `raw` says in JSON.

    Raises:
        MalformedJson: it is no JSON, or none that means one thing.
        TooLarge: it is of more than MOST_VALUES values, or one of its strings is certainly of more
            than `longest` bytes.
    """
    outside = _outside_of_strings(raw, longest)
    # One, and one more for each comma and for each list and object with something in it.
    if outside.count(b"[") + outside.count(b"{") + outside.count(b",") >= MOST_VALUES:
        raise _too_many()
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        # `error.doc` holds the body, its message only a reason and a place.
        raise MalformedJson(f"The body is not JSON: {error}.") from None
    if outside.count(b":") != _keys(value):
        raise _ambiguous("an object has the same key twice")
    if any(map(_is_large, _LONG_INTEGER.findall(outside))):
        raise _ambiguous("an integer does not fit in 64 bits")
    return value


def _outside_of_strings(raw: bytes, longest: int) -> bytes:
    """`raw` without its strings.

    Right for JSON; of anything else, for as much as comes before the first thing that is none.
    """
    bare = raw
    if b'\\"' in raw:  # a quote that does not end its string, or one after a backslash that does
        bare = raw.replace(b"\\\\", b"").replace(b'\\"', b"")
    # Every string is a value or a key, and every key has a value.
    if bare.count(b'"') > 4 * MOST_VALUES:
        raise _too_many()
    parts = bare.split(b'"')
    longest = max(longest, _ANY_OTHER)
    if len(raw) > longest and any(_certain_size(part) > longest for part in parts[1::2]):
        raise TooLarge(f"A string is larger than {longest} bytes.")
    return b"".join(parts[::2])


def _certain_size(written: bytes) -> int:
    """So many bytes at least a string has that is written thus: an escape of six may be one."""
    return len(written) - 5 * written.count(b"\\")


def _keys(value: Any) -> int:
    """How many keys all objects in `value` have together; of equal ones orjson has kept one."""
    found, left = 0, [value]
    while left:
        inner = left.pop()
        if type(inner) is dict:
            found += len(inner)
            left += [one for one in inner.values() if type(one) is dict or type(one) is list]
        elif type(inner) is list:
            left += [one for one in inner if type(one) is dict or type(one) is list]
    return found


def _is_large(digits: bytes) -> bool:
    # Past 20 characters no 64-bit integer is left; int() of thousands of digits is slow or refused.
    return len(digits) > 20 or not _SMALLEST_INTEGER <= int(digits) <= _LARGEST_INTEGER


def _too_many() -> TooLarge:
    return TooLarge(f"The body has more than {MOST_VALUES} values.")


def _ambiguous(why: str) -> MalformedJson:
    return MalformedJson(f"The body is not JSON that means one thing: {why}.")
