"""Dates and times of day, in several notations: 4 March = Mar. 4, 5 pm = 17:00."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from service.text.fact_calendar import ALSO_WORDS, BEFORE_YEAR, CLOCK_WORDS, MONTHS, WEEKDAYS
from service.text.fact_numbers import ORDINAL_ENDINGS, ORDINALS
from service.text.fact_tokens import Shape, Token


class Found(NamedTuple):
    """What was read: a value, and the place after the last token that belongs to it."""

    value: tuple[object, ...]
    after: int


_ALSO_VERBS: Final = frozenset({"may", "march"})
_EASTERN: Final = {
    "年": "year", "月": "month", "日": "day", "号": "day", "년": "year", "월": "month", "일": "day"
}  # fmt: skip
_HALF_DAYS: Final = {"am": 0, "pm": 12}


def read_date(text: str, tokens: Sequence[Token], at: int) -> Found | None:
    """The date that starts at this token: with a month, or a weekday, or a plain year."""
    token = tokens[at]
    if token.shape is Shape.DATE:
        return Found(_as_tuple(token.value), at + 1)
    if token.shape is Shape.WORD:
        if token.text in MONTHS:
            return _from_month(text, tokens, at)
        if token.text in WEEKDAYS and _has_capital_if_needed(text, token):
            return Found(("wd", WEEKDAYS[token.text]), at + 1)
        if token.text in ORDINALS:
            return _from_day(text, tokens, ORDINALS[token.text], at + 1)
        return None
    if token.shape is not Shape.NUMBER:
        return None
    day = _whole(token)
    if day is None:
        return None
    if 1 <= day <= 31:
        found = _from_day(text, tokens, day, at + 1)
        if found:
            return found
    if _word(tokens, at + 1) in _EASTERN:
        return _from_signs(tokens, at)
    if len(token.text) == 4 and 1900 <= day <= 2199 and token.text.isdigit():
        return _from_year(text, tokens, at, day)
    return None


def read_time(tokens: Sequence[Token], at: int) -> Found | None:
    """The time of day that starts at this token: 17:00, 5 pm, 5.30 p.m., noon, 5 o'clock."""
    token = tokens[at]
    after = at + 1
    if token.shape is Shape.TIME:
        hour, minute, second = _as_tuple(token.value)
        half = _word(tokens, after)
        if half in _HALF_DAYS:
            return Found(("t", _hour(int(str(hour)), half), minute, second), after + 1)
        return Found(("t", hour, minute, second), after)
    if token.shape is Shape.WORD and token.text in CLOCK_WORDS:
        return Found(("t", *CLOCK_WORDS[token.text], ""), after)
    if token.shape is not Shape.NUMBER:
        return None
    half = _word(tokens, after)
    if half in CLOCK_WORDS and token.text == "12":
        return Found(("t", *CLOCK_WORDS[half], ""), after + 1)
    if half in _HALF_DAYS:
        hours, _, minutes = token.text.partition(".")
        if hours.isdigit() and int(hours[:4]) <= 12 and (minutes or "0").isdigit():
            minute = int((minutes or "0")[:2])
            return Found(("t", _hour(int(hours), half), minute, ""), after + 1)
    hour_value = _whole(token)
    if hour_value is not None and hour_value <= 24:
        if half == "uhr":
            return Found(("t", hour_value, 0, ""), after + 1)
        if half == "o" and _word(tokens, after + 1) == "clock":
            return Found(("t", hour_value, 0, ""), after + 2)
    return None


def is_year(tokens: Sequence[Token], at: int) -> bool:
    """Whether a plain number of four digits is a year by what stands before or after it."""
    token = tokens[at]
    if len(token.text) != 4 or not token.text.isdigit() or not "1900" <= token.text < "2100":
        return False
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    if after is None or (after.shape is Shape.SIGN and after.text in ".,;:)]!?|-–"):
        return True
    return at > 0 and (
        tokens[at - 1].text in BEFORE_YEAR
        or tokens[at - 1].text in MONTHS
        or tokens[at - 1].text in "([-–"
    )


def _hour(hour: int, half: str) -> int:
    return hour % 12 + _HALF_DAYS[half]


def _as_tuple(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else (value,)


def _whole(token: Token) -> int | None:
    value = token.value
    if isinstance(value, Fraction) and value.denominator == 1:
        return int(value)
    return int(token.text) if token.text.isdigit() and len(token.text) <= 2 else None


def _word(tokens: Sequence[Token], at: int) -> str:
    return tokens[at].text if at < len(tokens) and tokens[at].shape is Shape.WORD else ""


def _has_capital_if_needed(text: str, token: Token) -> bool:
    if token.text not in ALSO_WORDS:
        return True
    shown = text[token.start : token.end]
    return shown[0].isupper() and not shown.isupper()


def _skip(tokens: Sequence[Token], at: int, *signs: str) -> int:
    return at + 1 if at < len(tokens) and tokens[at].text in signs else at


def _from_day(text: str, tokens: Sequence[Token], day: int, after: int) -> Found | None:
    """`4 March 2031`, `4th of March`, `4. März`, `4 de marzo de 2031`."""
    if _word(tokens, after) in ORDINAL_ENDINGS:
        after += 1
    after = _skip(tokens, after, ".", "of", "de")
    month = _word(tokens, after)
    if month not in MONTHS:
        return None
    # Beside a day `4 MAY` and `4 may 2031` are dates, but `step 4 may be left out` is none.
    found = _with_year(tokens, after + 1, MONTHS[month], day)
    if month in _ALSO_VERBS and found.value[1] is None and text[tokens[after].start].islower():
        return None
    return found


def _from_month(text: str, tokens: Sequence[Token], at: int) -> Found | None:
    """`March 4, 2031`, `Mar. 4th`, `March 2031`, `March`."""
    token = tokens[at]
    month = MONTHS[token.text]
    after = _skip(tokens, at + 1, ".")
    day = _day(tokens, after)
    if day is not None:
        if token.text in ALSO_WORDS and not text[token.start].isupper():
            return None
        after += 1
        if _word(tokens, after) in ORDINAL_ENDINGS:
            after += 1
        return _with_year(tokens, after, month, day)
    if not _has_capital_if_needed(text, token):
        return None
    if token.text == "may" and not _stands_as_month(text, tokens, at):
        return None
    return _with_year(tokens, at + 1, month, None)


def _from_signs(tokens: Sequence[Token], at: int) -> Found | None:
    """`2031年3月4日`, or the part of it that there is; Korean has signs of its own."""
    parts: dict[str, int] = {}
    after = at
    while after + 1 < len(tokens) and tokens[after].shape is Shape.NUMBER:
        number, part = _whole(tokens[after]), _EASTERN.get(_word(tokens, after + 1))
        if number is None or part is None or part in parts:
            break
        parts[part] = number
        after += 2
    if not parts:
        return None
    return Found(("d", parts.get("year"), parts.get("month"), parts.get("day")), after)


def _stands_as_month(text: str, tokens: Sequence[Token], at: int) -> bool:
    """Whether a capital `May` is the month: not where a question or a heading starts with it."""
    if _year(tokens, at + 1) is not None:
        return True
    return (
        at > 0 and tokens[at - 1].shape is not Shape.SIGN and (text[tokens[at - 1].start].islower())
    )


def _from_year(text: str, tokens: Sequence[Token], at: int, year: int) -> Found | None:
    """`2031 March 4`; a year alone is no date by itself here."""
    month = _word(tokens, at + 1)
    if month not in MONTHS or not text[tokens[at + 1].start].isupper():
        return None
    after = _skip(tokens, at + 2, ".")
    day = _day(tokens, after)
    if day is None:
        return None
    return Found(("d", year, MONTHS[month], day), after + 1)


def _day(tokens: Sequence[Token], at: int) -> int | None:
    if at >= len(tokens) or tokens[at].shape is not Shape.NUMBER or len(tokens[at].text) > 2:
        return None
    day = _whole(tokens[at])
    return day if day is not None and 1 <= day <= 31 else None


def _year(tokens: Sequence[Token], at: int) -> int | None:
    if at >= len(tokens) or tokens[at].shape is not Shape.NUMBER:
        return None
    text = tokens[at].text
    return int(text) if len(text) == 4 and text.isascii() and text.isdigit() else None


def _with_year(tokens: Sequence[Token], after: int, month: int, day: int | None) -> Found:
    beyond = _skip(tokens, _skip(tokens, after, "."), ",", "de", "of")
    year = _year(tokens, beyond)
    if year is not None and year >= 1000:
        return Found(("d", year, month, day), beyond + 1)
    return Found(("d", None, month, day), after)
