"""Lines that are one line but for a number that grows by one a page."""

import re
from collections.abc import Iterator
from typing import Final

from service.text.heading_words import names_a_part
from service.text.page_number_shapes import MAX_WITH_TITLE, roman_value

_MOST_NUMBERS: Final = 8
# A whole number by itself: no decimal, date, time, version, fraction or identifier.
_WHOLE = re.compile(
    r"(?:(?<![\w.,:/\-'’])|(?<=\bp\.)|(?<=\bpg\.)|(?<=\bs\.))\d{1,6}(?!\w|[.,:/\-'’]\d)",
    re.IGNORECASE,
)
_ROMAN_AT_EDGE = re.compile(r"^[ivxlc]{1,8}(?=\s)|(?<=\s)[ivxlc]{1,8}$")
_DIGIT = re.compile(r"\d")
_PLACE = "\x00"
_CELL = re.compile(r"[^\s|;]+")
_AMOUNT = re.compile(r"[-+−(]?\d[\d.,:/%)-]*")
_OF_A_TOTAL = re.compile(r"\d\s?(?:of|von|de|di|sur|van|z|из|/)\s?\d")
_YEAR = re.compile(r"(?:19|20)\d\d")


def growing_forms(line: str) -> Iterator[tuple[str, int]]:
    """Each way to read the line as a text around one page number: that text, and the number."""
    if len(line) > MAX_WITH_TITLE:
        return
    line = " ".join(line.split())
    if _DIGIT.search(line) is None and _ROMAN_AT_EDGE.search(line) is None:
        return
    if not any(map(str.isalpha, line)) or _is_a_row(line):
        return
    for count, found in enumerate(_WHOLE.finditer(line)):
        if count == _MOST_NUMBERS:
            break
        before, after = line[: found.start()], line[found.end() :]
        if not names_a_part(before, after):
            yield before + _PLACE + after, int(found.group())
    for found in _ROMAN_AT_EDGE.finditer(line):
        value = roman_value(found.group())
        before, after = line[: found.start()], line[found.end() :]
        if value is not None and not names_a_part(before, after):
            yield before + _PLACE + after, value


def _is_a_row(line: str) -> bool:
    """Whether more than half of a line is amounts, at least two: a row of a table."""
    cells = [cell for cell in _CELL.findall(line) if _YEAR.fullmatch(cell) is None]
    amounts = sum(1 for cell in cells if _AMOUNT.fullmatch(cell))
    return amounts > 1 and amounts * 2 > len(cells) and _OF_A_TOTAL.search(line) is None
