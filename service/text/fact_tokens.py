"""Cutting a stretch of text into the pieces that facts are read from."""

from __future__ import annotations

import re
from enum import Enum
from fractions import Fraction
from typing import Final, NamedTuple

from service.text import fact_numbers as numbers
from service.text.fact_phrases import CONTRACTED
from service.text.fact_units import UNITS


class Shape(Enum):
    """What a piece looks like."""

    WORD = "word"
    NUMBER = "number"
    DATE = "date"
    TIME = "time"
    CODE = "code"
    SIGN = "sign"


class Token(NamedTuple):
    """A piece: lower-case text (or the value of a number), and where it stands."""

    shape: Shape
    text: str
    start: int
    end: int
    value: object = None


# Scripts that are written without spaces, and Korean, where particles join the numbers.
UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3040-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_FRACTIONS = numbers.VULGAR_CHARACTERS
_W = rf"[^\W{UNSPACED}]"
# In the order tried: plain words, which is most of a text; addresses; telephone numbers; runs of
# word characters with what joins them inside; single characters.
_TOKEN: Final = re.compile(
    rf"(?P<word>[^\W\d_{UNSPACED}{_FRACTIONS}]+)(?=[\s,;)]|$)"
    r"|(?P<address>(?:https?|ftp)://[^\s<>\"'()\[\]]+|www\.[^\s<>\"'()\[\]]+"
    rf"|{_W}[\w.+-]{{0,80}}@\w[\w-]*(?:\.\w[\w-]*)+|(?<![\w&])[#@][^\W\d][\w-]*"
    r"|(?<![^\s`(\[\"'])(?:--[^\W\d_][\w-]+|-[^\W\d_](?![\w'-])))"
    r"|(?P<phone>\+\d{1,3}(?:[ ()/.-]{1,2}\d{2,9}){1,5}|\(?\b\d{3}\)?[ .-]\d{3}[ .-]\d{4}\b"
    r"|\b0\d{2,4}(?:[ /-]\d{2,8}){1,4}\b)"
    rf"|(?P<run>(?:(?<![\w.])\.(?=\d))?(?:{_W}|[{_FRACTIONS}])+"
    rf"(?:(?:[-./:_'’ʼ&+\\‐‑–]|(?<=\d),(?=\d)|(?<=\d)[\u00a0\u2009\u202f](?=\d{{3}})"
    rf"|(?<=\b\d) (?=\d{{3}}\b)|(?<=\b\d\d) (?=\d{{3}}\b)|(?<=\b\d\d\d) (?=\d{{3}}\b))"
    rf"(?:{_W}|[{_FRACTIONS}])+)*)"
    rf"|(?P<letter>[{UNSPACED}])"
    r"|(?P<sign>\S)"
)
_AMOUNT = rf"(?:\d+(?:[.,'’ \u00a0\u2009\u202f]\d+)*[{_FRACTIONS}]?|\.\d+|[{_FRACTIONS}])"
_SCHEME: Final = re.compile("^https?://")
_NUMBER: Final = re.compile(_AMOUNT)
_ISO_DATE: Final = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:T.*)?", re.IGNORECASE)
_NUMERIC_DATE: Final = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})")
_CLOCK: Final = re.compile(r"(\d{1,2})[:h](\d{2})(?::(\d{2}))?")
_CLOCKS: Final = re.compile(r"(\d{1,2}[:h]\d{2})[-–](\d{1,2}[:h]\d{2})")
_RANGE: Final = re.compile(rf"({_AMOUNT})[-‐‑–]({_AMOUNT})([^\W\d_]*)")
_SUFFIXES: Final = numbers.ORDINAL_ENDINGS | {"am", "pm", *numbers.SHORT_SCALES, *UNITS}
_UNIT = "|".join(map(re.escape, sorted(_SUFFIXES, key=len, reverse=True)))
_WITH_UNIT: Final = re.compile(rf"({_AMOUNT})(?:({_UNIT})|[-‐‑–]([^\W\d_]+))", re.IGNORECASE)
_WITH_WORDS: Final = re.compile(rf"({_AMOUNT})((?:[-‐‑][^\W\d_]+)+)")
_A_UNIT: Final = re.compile(rf"({_AMOUNT})([^\W\d_]*)/([^\W\d_]+)")
_FRACTION: Final = re.compile(r"(\d{1,2})/(\d{1,2})")
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_ONE_PART: Final = re.compile(r"[^-/‐‑–&+\\:]+")
_ABBREVIATION: Final = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}")
_DOMAIN: Final = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,10}(?:/.*)?")
_APOSTROPHES = "'’ʼ"


def tokens_of(text: str, start: int, end: int) -> list[Token]:
    """The pieces of `text[start:end]`, in order."""
    found: list[Token] = []
    for match in _TOKEN.finditer(text, start, end):
        piece, at, group = match.group(), match.start(), match.lastgroup
        if group in {"word", "letter"} or (group == "run" and piece.isalpha()):
            lower = piece.lower()
            if lower == "cannot":
                found.append(Token(Shape.WORD, "can", at, match.end()))
                lower = "not"
            found.append(Token(Shape.WORD, lower, at, match.end()))
        elif group == "run":
            _cut(piece, at, found)
        elif group == "sign":
            found.append(Token(Shape.SIGN, piece, at, match.end()))
        else:
            _add_code(match, found)
    return found


def _add_code(match: re.Match[str], found: list[Token]) -> None:
    piece = match.group()
    if match.lastgroup == "phone":
        digits = "".join(character for character in piece if character.isdigit())
        found.append(Token(Shape.CODE, digits, match.start(), match.end()))
        return
    stripped = piece.rstrip(".,;:!?*_/")
    address = _SCHEME.sub("", stripped.lower())
    found.append(Token(Shape.CODE, address, match.start(), match.start() + len(stripped)))


def _number(digits: str, start: int, found: list[Token]) -> bool:
    value = numbers.value_of(digits)
    if value is None:
        return False
    found.append(Token(Shape.NUMBER, digits, start, start + len(digits), value))
    return True


def _cut(run: str, start: int, found: list[Token]) -> None:
    """The pieces of a run that is not just letters."""
    end = start + len(run)
    if any(character.isdigit() or character in _FRACTIONS for character in run):
        if not _cut_digits(run, start, found):
            found.append(Token(Shape.CODE, run.lower(), start, end))
        return
    if "_" in run.strip("_"):
        found.append(Token(Shape.CODE, run.lower(), start, end))
        return
    if _ABBREVIATION.fullmatch(run):
        found.append(Token(Shape.WORD, run.replace(".", "").lower(), start, end))
        return
    if "." in run and _DOMAIN.fullmatch(run):
        found.append(Token(Shape.CODE, run.lower().rstrip("/"), start, end))
        return
    for part in re.finditer(r"[^-/‐‑–&+\\:._]+", run):
        _cut_word(part.group(), start + part.start(), found)


def _cut_word(word: str, start: int, found: list[Token]) -> None:
    """A word without its possessive; a contraction as the two words that it stands for."""
    end = start + len(word)
    lower = word.lower()
    at = max(lower.rfind(mark) for mark in _APOSTROPHES)
    if at < 0:
        found.append(Token(Shape.WORD, lower, start, end))
    elif lower[at + 1 :] == "t" and lower[at - 1 : at] == "n":
        verb = lower[: at - 1]
        # The whole contraction is shown for either of its words.
        found.append(Token(Shape.WORD, CONTRACTED.get(verb, verb), start, end))
        found.append(Token(Shape.WORD, "not", start, end))
    elif lower[at + 1 :] == "s":
        found.append(Token(Shape.WORD, lower[:at], start, start + at))
    elif lower[at + 1 :] == "ll":
        found.append(Token(Shape.WORD, lower[:at], start, start + at))
        found.append(Token(Shape.WORD, "will", start + at, end))
    else:
        found += [
            Token(Shape.WORD, part.group(), start + part.start(), start + part.end())
            for part in re.finditer(rf"[^{_APOSTROPHES}]+", lower)
        ]


def _cut_digits(run: str, start: int, found: list[Token]) -> bool:
    """The pieces of a run with digits that is a number, a date or a time; else False."""
    if _NUMBER.fullmatch(run) and _number(run, start, found):
        return True
    if _cut_date(run, start, found) or _cut_time(run, start, found):
        return True
    if match := _FRACTION.fullmatch(run):
        above, below = int(match.group(1)), int(match.group(2))
        if 0 < above < below:
            value = Fraction(above, below)
            found.append(Token(Shape.NUMBER, run, start, start + len(run), value))
            return True
    return any(
        (match := pattern.fullmatch(run)) and _cut_parts(match, start, found)
        for pattern in (_RANGE, _WITH_UNIT, _A_UNIT, _WITH_WORDS)
    )


def _cut_time(run: str, start: int, found: list[Token]) -> bool:
    if match := _CLOCKS.fullmatch(run):
        return all(
            _cut_time(match.group(part), start + match.start(part), found) for part in (1, 2)
        )
    match = _CLOCK.fullmatch(run)
    if match is None or int(match.group(1)) > 24 or int(match.group(2)) > 59:
        return False
    value = (int(match.group(1)), int(match.group(2)), match.group(3) or "")
    found.append(Token(Shape.TIME, run, start, start + len(run), value))
    return True


def _cut_parts(match: re.Match[str], start: int, found: list[Token]) -> bool:
    """Numbers and words, part by part; False, and nothing found, if a number is none."""
    before = len(found)
    for group in range(1, len(match.groups()) + 1):
        part, at = match.group(group), start + match.start(group)
        if not part:
            continue
        if part[-1].isdigit() or part[-1] in _FRACTIONS:
            if not _number(part, at, found):
                del found[before:]
                return False
            continue
        found += [
            Token(Shape.WORD, word.group().lower(), at + word.start(), at + word.end())
            for word in _LETTERS.finditer(part)
        ]
    return True


def _cut_date(run: str, start: int, found: list[Token]) -> bool:
    end = start + len(run)
    if match := _ISO_DATE.fullmatch(run):
        year, month, day = (int(match.group(part)) for part in (1, 2, 3))
        if month <= 12 and day <= 31:
            found.append(Token(Shape.DATE, run, start, end, ("d", year, month, day)))
            return True
    if match := _NUMERIC_DATE.fullmatch(run):
        one, other, year = int(match.group(1)), int(match.group(3)), int(match.group(4))
        year += 2000 if year < 70 else 1900 if year < 100 else 0
        if one > 31 or other > 31 or (one > 12 and other > 12):
            return False
        found.append(Token(Shape.DATE, run, start, end, _read_numeric(one, other, year, match)))
        return True
    return False


def _read_numeric(
    one: int, other: int, year: int, match: re.Match[str]
) -> tuple[str, int, int, int]:
    """Points part day and month; with slashes it is known only where one is above 12."""
    if match.group(2) == "." or one > 12:
        return ("d", year, other, one)
    if other > 12:
        return ("d", year, one, other)
    return ("d?", year, one, other)
