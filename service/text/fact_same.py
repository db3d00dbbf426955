"""Two values that are written so differently that their keys differ, and yet may be the same."""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction


def is_same(one: Hashable, other: Hashable) -> bool:
    """Whether two facts in one place may mean the same.

    03/04/2026 is 3 April or 4 March; £5 is 5 pounds; opening at 9 is opening at 9:00; within an
    hour is within 1 hour; on the 15th is on the 15.
    """
    if one == other:
        return True
    if not isinstance(one, tuple) or not isinstance(other, tuple):
        return False
    return _is_same(one, other) or _is_same(other, one)


def _is_same(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    match one, other:
        case ("d?", year, first, second), ("d" | "d?", *date):
            return date in ([year, first, second], [year, second, first])
        case ("m", value, "GBP"), ("q", value_other, "pound"):
            return value == value_other
        case ("q", value, "pound"), ("q", value_other, "lb"):
            return value == value_other
        case ("n", value), ("t", hour, 0, _):
            return value == hour
        case ("n", value), ("o", value_other):
            return value == value_other
        case ("n", value), ("i", code):
            return str(value) == code
        case ("rate", unit), ("q", value, base):
            return (value, base) in _ONE_OF.get(str(unit), ())
    return False


_ONE_OF = {
    "second": [(Fraction(1), "second")],
    "minute": [(Fraction(60), "second")],
    "hour": [(Fraction(3600), "second")],
    "day": [(Fraction(1), "day")],
    "week": [(Fraction(7), "day")],
    "fortnight": [(Fraction(14), "day")],
    "month": [(Fraction(1), "month")],
    "quarter": [(Fraction(3), "month")],
    "year": [(Fraction(12), "month")],
}
