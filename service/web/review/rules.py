"""What each rule of cleaning takes out, shown on a small text: made by cleaning it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from service.dedup.scheme import CollectionSettings
from service.text.cleaning import clean
from service.text.cleaning_report import RULES


@dataclass(frozen=True, slots=True)
class RuleExample:
    """A rule in words, and a small text before and after it."""

    rule: str
    words: str
    before: str
    after: str


_WORDS: Final = {
    "control_characters": "characters that no page shows, as a bell or a form's escape",
    "invisible_characters": "soft hyphens, joiners without width, byte order marks",
    "line_ends": "the carriage returns of line ends",
    "whitespace": "blanks at line ends, and more than one blank in a row",
    "empty_lines": "more than one empty line in a row",
    "repeated_lines": "running headers and footers",
    "page_numbers": "page numbers",
}
_PAGES: Final = {
    "control_characters": ["Returns take\x07 two days."],
    "invisible_characters": ["Re\u00adturns take\u200b two days."],
    "line_ends": ["Returns take\r\ntwo days."],
    "whitespace": ["Returns  take two days.  "],
    "empty_lines": ["Returns\n\n\n\ntake two days."],
    "repeated_lines": [
        "Lumen Bikes - Staff Handbook\nReturns take two days.",
        "Lumen Bikes - Staff Handbook\nRepairs take a week.",
        "Lumen Bikes - Staff Handbook\nKeys stay in the shop.",
    ],
    "page_numbers": [
        "Returns take two days.\nPage 1",
        "Repairs take a week.\nPage 2",
        "Keys stay in the shop.\nPage 3",
    ],
}


@cache
def examples() -> dict[str, RuleExample]:
    """An example of each rule."""
    return {rule: _example(rule) for rule in RULES}


def _example(rule: str) -> RuleExample:
    pages = _PAGES[rule]
    cleaned = clean(pages, CollectionSettings().cleaning)
    return RuleExample(rule, _WORDS[rule], "\n".join(pages), cleaned.text)
