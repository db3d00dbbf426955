"""Lines that are one line but for a number that grows by one a page."""

import re
from collections.abc import Iterator
from typing import Final

from service.text.heading_words import names_a_part
from service.text.page_number_shapes import MAX_WITH_TITLE, roman_value

_MOST_NUMBERS: Final = 8
# A whole number by itself: no decimal, date, time, version, fraction or identifier.
_WHOLE = re.compile(r"(?<![\w.,:/\-'’])\d{1,6}(?!\w|[.,:/\-'’]\d)")
_ROMAN_AT_EDGE = re.compile(r"^[ivxlc]{1,8}(?=\s)|(?<=\s)[ivxlc]{1,8}$")
_PLACE = "\x00"


def growing_forms(line: str) -> Iterator[tuple[str, int]]:
    """Each way to read the line as a text around one page number: that text, and the number."""
    if len(line) > MAX_WITH_TITLE or not any(map(str.isalpha, line)):
        return
    line = " ".join(line.split())
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
