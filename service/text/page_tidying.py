"""The rules that look at characters and single lines of one page.

Each step counts what it removes. A character that is replaced by another counts without
`chars`, so that the sums of the report hold.
"""

import re
from typing import Final

from service.text import characters
from service.text.characters import BLANKS, NO_BREAK_SPACES
from service.text.cleaning_report import Tally

_OTHER_BLANKS = BLANKS[1:]  # all but the space itself
_BREAKABLE_BLANKS = "".join(c for c in _OTHER_BLANKS if c not in "\xa0\u202f").replace(
    "\u2000-\u200a", "\u2000-\u2006\u2008-\u200a"
)
# A no-break space between digits may be a thousands separator: it is left to normalisation.
_TO_SPACE: Final = re.compile(
    f"[{_BREAKABLE_BLANKS}]|(?<!\\d)[{NO_BREAK_SPACES}]|[{NO_BREAK_SPACES}](?!\\d)"
)
_RUN_WITHOUT_SPACE: Final = re.compile(
    f"(?<=[^{BLANKS}\n])(?!(?<=\\d)[{NO_BREAK_SPACES}]\\d)[{_OTHER_BLANKS}]++(?=[^ \n])"
)
_BLANK: Final = characters.BLANK_CHARACTERS
_OTHER_BLANK: Final = re.compile(f"[{_OTHER_BLANKS}]")
_SPACES: Final = re.compile("  +")


def unify_line_ends(page: str, tally: Tally) -> str:
    """Every line end as a newline: CR LF, CR, VT, NEL, U+2028 and U+2029."""
    unified, count = characters.LINE_END.subn("\n", page)
    tally.add("line_ends", count, len(page) - len(unified))
    return unified


def drop_controls(page: str, tally: Tally) -> str:
    """No control characters but newline and tab.

    A form feed inside a page goes at a line's edge, and becomes a newline between two texts,
    where dropping it would run words together.
    """
    dropped, count = characters.CONTROL.subn("", page)
    if "\x0c" in dropped:
        count += dropped.count("\x0c")
        dropped = characters.FORM_FEEDS.sub(_page_end_inside, dropped)
    tally.add("control_characters", count, len(page) - len(dropped))
    return dropped


def _page_end_inside(found: re.Match[str]) -> str:
    text = found.string
    before = text[max(0, found.start() - 1) : found.start()]
    after = text[found.end() : found.end() + 1]
    return "\n" if before not in ("", "\n") and after not in ("", "\n") else ""


def drop_invisible(page: str, tally: Tally) -> str:
    """No soft hyphens, zero-width characters and marks of direction that change nothing."""
    visible = characters.without_invisible(page)
    removed = len(page) - len(visible)
    tally.add("invisible_characters", removed, removed)
    return visible


def tidy_blanks(page: str, tally: Tally) -> str:
    """Runs of blanks and tabs as one space, none at the edges of a line."""
    other_blanks = "\t" in page or (not page.isascii() and _OTHER_BLANK.search(page) is not None)
    tidied = _TO_SPACE.sub(" ", page) if other_blanks else page
    if "  " in tidied:
        tidied = _SPACES.sub(" ", tidied)
    if " \n" in tidied or "\n " in tidied:
        tidied = tidied.replace(" \n", "\n").replace("\n ", "\n")
    tidied = tidied.strip(" ")
    if tidied == page:
        return page
    removed = len(page) - len(tidied)
    replaced = 0
    if other_blanks:
        replaced = sum(1 for _ in _RUN_WITHOUT_SPACE.finditer(page))
    tally.add("whitespace", removed + replaced, removed)
    return tidied


def drop_empty_lines(page: str, tally: Tally) -> str:
    """No lines without a character that is not blank."""
    if not page:
        return page
    lines = page.split("\n")
    filled = [line for line in lines if line and (line[0] not in _BLANK or line.strip(_BLANK))]
    if len(filled) == len(lines):
        return page
    joined = "\n".join(filled)
    # Where no line is left, the last of n empty lines had no newline of its own.
    count = len(lines) - len(filled) if filled else max(1, len(lines) - 1)
    tally.add("empty_lines", count, len(page) - len(joined))
    return joined
