"""What a page number looks like: a line's shape, apart from where the line stands."""

import re
from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["page", "page_of", "bracketed", "dashed", "slash", "bare"]

# A longer line is no page number, and a longer header line is not looked into for one.
MAX_ALONE: Final = 40
MAX_WITH_TITLE: Final = 300

_WORD = (
    r"(?:page|pag\.|seite|página|pàgina|pagina|sida|strona|strana|stránka|oldal|sayfa|trang"
    r"|halaman|страница|стр\.|сторінка|σελίδα|صفحة|صفحه|עמוד|पृष्ठ|หน้า|페이지)"
)
_OF = r"(?:of|von|de|sur|di|av|van|z|ze|из|із|από|من|از|מתוך|का|/)"
_NUMBER = r"(?:\d{1,6}|[ivxlcdm]{1,9})"
_CJK = r"(?:第\s?\d{1,6}\s?[页頁]|\d{1,6}\s?(?:ページ|页|頁|쪽|페이지))"
_PAGE = rf"(?:{_WORD}\s?{_NUMBER}|{_CJK})"
_PAGE_OF = (
    rf"(?:{_WORD}\s?{_NUMBER}\s?{_OF}\s?{_NUMBER}"
    r"|第\s?\d{1,6}\s?[页頁]\s?[,、/]?\s?共\s?\d{1,6}\s?[页頁])"
)
_DASH = r"[-\u2010-\u2015\u2212]"
_SHAPES = (
    rf"(?P<page_of>{_PAGE_OF})"
    rf"|(?P<bracketed>[\[(]\s?(?:{_PAGE_OF}|{_PAGE})\s?[\])])"
    rf"|(?P<page>{_PAGE})"
    rf"|(?P<dashed>{_DASH}\s?{_NUMBER}\s?{_DASH})"
    r"|(?P<slash>\d{1,6}\s?/\s?\d{1,6})"
)
_ALONE = re.compile(rf"(?:{_SHAPES}|(?P<bare>{_NUMBER}))", re.IGNORECASE)
_AT_END = re.compile(rf"(?<=\s)(?:{_SHAPES})$", re.IGNORECASE)
_ROMAN = re.compile(r"m{0,3}(?:cm|cd|d?c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})", re.IGNORECASE)
_ROMAN_VALUES: Final = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
_JOINT = " \t,|\u00b7\u2022-\u2010\u2011\u2012\u2013\u2014"
# "as shown on Page 3": part of a sentence, not of a header.
_IN_A_SENTENCE = re.compile(
    r"(?:^|\s)(?:on|see|of|to|from|in|at|and|or|until|through|siehe|auf|voir|à|en|ver|the)$",
    re.IGNORECASE,
)


# What no page number ends in: all letters of the alphabet but those of roman numerals.
_NEVER_LAST: Final = frozenset("abefghjknopqrstuwyzABEFGHJKNOPQRSTUWYZ.,;:!?'\"")


@dataclass(frozen=True, slots=True)
class PageNumber:
    """A page number that was read: its shape, its value, the total where one is named."""

    kind: Kind
    value: int
    total: int | None


@dataclass(frozen=True, slots=True)
class NumberedTitle:
    """A header or footer line that ends in a page number."""

    title: str
    number: PageNumber


def page_number(line: str) -> PageNumber | None:
    """The page number that a line consists of, or None. Bounded time for any line."""
    if len(line) > MAX_ALONE or line[-1:] in _NEVER_LAST:
        return None
    found = _ALONE.fullmatch(" ".join(line.split()))
    return _read(found) if found else None


def numbered_title(line: str) -> NumberedTitle | None:
    """A title and the page number that ends its line, or None."""
    if len(line) > MAX_WITH_TITLE or line[-1:] in _NEVER_LAST:
        return None
    stripped = line.rstrip()
    found = _AT_END.search(stripped, max(0, len(stripped) - MAX_ALONE))
    if found is None:
        return None
    number = _read(found)
    title = stripped[: found.start()].rstrip(_JOINT)
    if number is None or not any(map(str.isalpha, title)) or _IN_A_SENTENCE.search(title):
        return None
    if page_number(title) or _AT_END.search(title):
        return None
    return NumberedTitle(title, number)


def breaks_off(line: str) -> bool:
    """Whether a line ends in a word that a reference to a page goes on from: "as shown on"."""
    return _IN_A_SENTENCE.search(line.rstrip()[-MAX_ALONE:]) is not None


class NumberReader:
    """`page_number` and `numbered_title` for the lines of one document, each read once.

    What it remembers goes with it: nothing of a text outlives its cleaning.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, PageNumber | None] = {}
        self._titles: dict[str, NumberedTitle | None] = {}

    def number(self, line: str) -> PageNumber | None:
        """The page number that a line consists of."""
        if len(line) > MAX_ALONE or line[-1:] in _NEVER_LAST:
            return None
        if line not in self._numbers:
            self._numbers[line] = page_number(line)
        return self._numbers[line]

    def title(self, line: str) -> NumberedTitle | None:
        """A title and the page number that ends its line."""
        if line not in self._titles:
            self._titles[line] = numbered_title(line)
        return self._titles[line]


def roman_value(numeral: str) -> int | None:
    """The value of a well-formed roman numeral (1 to 3,999), else None."""
    if not numeral or _ROMAN.fullmatch(numeral) is None:
        return None
    if not numeral.isascii() or not (numeral.islower() or numeral.isupper()):
        return None
    values = [_ROMAN_VALUES[letter] for letter in numeral.lower()]
    return sum(
        -value if value < following else value
        for value, following in zip(values, [*values[1:], 0], strict=True)
    )


def _read(found: re.Match[str]) -> PageNumber | None:
    kind: Kind = found.lastgroup  # type: ignore[assignment]  # the group names are the kinds
    text = found.group(kind)
    values = [_value(numeral) for numeral in _numerals(text, kind)]
    if not values or values[0] is None or values[0] < 1:
        return None
    if len(values) == 1:
        return PageNumber(kind, values[0], None)
    total = values[1]
    if total is None or total < values[0]:
        return None
    return PageNumber("page_of" if kind == "page" else kind, values[0], total)


def _numerals(text: str, kind: Kind) -> list[str]:
    if kind == "bare":
        return [text]
    digits = re.findall(r"\d+", text)
    if digits:
        return digits
    return [word for word in re.findall(r"[^\W\d_]+", text) if _ROMAN.fullmatch(word)]


def _value(numeral: str) -> int | None:
    return int(numeral) if numeral.isdecimal() else roman_value(numeral)
