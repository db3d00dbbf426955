"""The value of a number, in whatever notation: 1,500 and 1500, two and 2, ½ and 0.5."""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction
from typing import Final

# Values of absurd length are compared as they are written.
Value = Fraction | str
_LONGEST: Final = 40

_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
_ONES += " fifteen sixteen seventeen eighteen nineteen"
ONES: Final = {word: at for at, word in enumerate(_ONES.split())}
TENS: Final = {
    word: 10 * at
    for at, word in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], start=2
    )
}
SCALES: Final = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
SCALES_PLURAL: Final = {"hundreds", "thousands", "millions", "billions"}
SHORT_SCALES: Final = {
    "k": 10**3, "m": 10**6, "mn": 10**6, "mio": 10**6, "bn": 10**9, "b": 10**9
}  # fmt: skip
_ORDINAL_WORDS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_ORDINAL_WORDS += " thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"
ORDINALS: Final = {
    **{word: at for at, word in enumerate(_ORDINAL_WORDS.split(), start=1)},
    "twentieth": 20,
    "thirtieth": 30,
    "fortieth": 40,
    "fiftieth": 50,
    "hundredth": 100,
}
# Words that give a number but often stand for something else: alone they tell nothing.
OFTEN_NO_NUMBER: Final = frozenset(["one", "first", "second", "zero"])
TIMES: Final = {"once": 1, "twice": 2, "thrice": 3}
PARTS: Final = {
    "half": Fraction(1, 2), "halves": Fraction(1, 2), "third": Fraction(1, 3),
    "thirds": Fraction(1, 3), "quarter": Fraction(1, 4), "quarters": Fraction(1, 4),
    "fifths": Fraction(1, 5),
}  # fmt: skip
ORDINAL_ENDINGS: Final = frozenset(["st", "nd", "rd", "th"])

_GROUPED: Final = re.compile(r"\d{1,3}(?:([,'’ \u00a0\u2009\u202f])\d{3})(?:\1\d{3})*(?:\.\d+)?")
_INDIAN: Final = re.compile(r"\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?")
_GROUPED_BY_POINTS: Final = re.compile(r"\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}")
_DECIMAL_COMMA: Final = re.compile(r"\d+,\d+")
_DECIMAL: Final = re.compile(r"\d*\.?\d+")
_SEPARATORS: Final = re.compile(r"[,'’ \u00a0\u2009\u202f]")


def value_of(digits: str) -> Value | None:
    """The value of a number in digits; None where it is not written as a number.

    A comma before three digits parts thousands, else it is a decimal comma. A point is a decimal
    point, unless it parts several groups or a comma follows (1.250.000, 1.250,00).
    """
    if len(digits) > _LONGEST:
        return digits
    if not digits.isascii():
        digits = "".join(_plain(character) for character in digits)
    if digits.isdigit():
        # A number with leading zeros is a code or a part of one.
        return digits if digits[0] == "0" and len(digits) > 2 else Fraction(int(digits))
    if len(digits) > 1 and digits[-1] not in "0123456789.,":
        fraction = value_of(digits[:-1]) if digits[-1] in _VULGAR else None
        return fraction + _VULGAR[digits[-1]] if isinstance(fraction, Fraction) else None
    if digits in _VULGAR:
        return _VULGAR[digits]
    if _GROUPED.fullmatch(digits) or _INDIAN.fullmatch(digits):
        return Fraction(_SEPARATORS.sub("", digits))
    if _GROUPED_BY_POINTS.fullmatch(digits):
        return Fraction(digits.replace(".", "").replace(",", "."))
    if _DECIMAL_COMMA.fullmatch(digits):
        return Fraction(digits.replace(",", "."))
    return Fraction(digits) if _DECIMAL.fullmatch(digits) else None


def times(value: object, factor: int | Fraction) -> object:
    """The value multiplied, where it is one; else told with the factor."""
    if factor == 1:
        return value
    return value * factor if isinstance(value, Fraction) else f"{value}*{factor}"


def words_value(words: list[str]) -> tuple[Fraction, int] | None:
    """The value of a number in words at the start of a list, and how many words it takes.

    `two`, `twenty five`, `one hundred and fifty`, `two thousand`.
    """
    total = current = used = 0
    last = ""  # what kind of word came last: a tens takes one, not the other way round
    for at, word in enumerate(words):
        if word in ONES and (
            last in {"", "scale", "and"} or (last == "tens" and 0 < ONES[word] < 10)
        ):
            current += ONES[word]
            last = "ones"
        elif word in TENS and last in {"", "scale", "and"}:
            current += TENS[word]
            last = "tens"
        elif word in SCALES and last in {"ones", "tens", "scale"}:
            if word == "hundred":
                current *= 100
            else:
                total, current = total + current * SCALES[word], 0
            last = "scale"
        elif word == "and" and last == "scale":
            last = "and"
            continue
        else:
            break
        used = at + 1
    return (Fraction(total + current), used) if used else None


def roman_value(word: str) -> int | None:
    """The value of a roman numeral below 40 in capitals, of two letters and more, or I, V, X."""
    return _ROMAN.get(word)


def _plain(character: str) -> str:
    decimal = unicodedata.decimal(character, None)
    return character if decimal is None else str(decimal)


_VULGAR: Final = {
    character: Fraction(unicodedata.numeric(character)).limit_denominator(100)
    for character in "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
}
VULGAR_CHARACTERS: Final = "".join(_VULGAR)
_ROMAN: Final = {
    tens + ones: 10 * at_tens + at_ones
    for at_tens, tens in enumerate(["", "X", "XX", "XXX"])
    for at_ones, ones in enumerate("| I II III IV V VI VII VIII IX".replace("|", "").split(" "))
    if tens + ones
}
