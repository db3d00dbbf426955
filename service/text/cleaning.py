"""Cleaning: what people and embeddings should read, and a report of what went.

Letters are never changed. Cleaning what was cleaned changes nothing and reports nothing. What a
document looks like depends on itself and the rules alone. Everything takes time linear in the
length of the text.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from service.text import page_numbers, page_tidying
from service.text.cleaning_report import CleaningReport, Example, Removal, Tally
from service.text.edge_lines import EdgeLines
from service.text.line_log import LineLog
from service.text.page_number_shapes import NumberReader
from service.text.page_numbers import PageNumbers
from service.text.running_lines import RunningLines

__all__ = [
    "Cleaned",
    "CleaningReport",
    "CleaningRules",
    "Example",
    "Removal",
    "RepeatedLines",
    "clean",
    "split_pages",
]

# Characters that some rule may touch: a text without them needs no look at its characters.
_SUSPECT: Final = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\xa0\xad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f"
    "\u205f-\u206f\u3000\ufeff\U000e0000-\U000e007f]"
)

TidyingStep = Callable[[str, Tally], str]

CLEANING_VERSION: Final = 1  # what is cleaned otherwise is shingled otherwise: part of the scheme


@dataclass(frozen=True, slots=True)
class RepeatedLines:
    """A line repeats where it stands on more than `share` of at least `min_pages` pages."""

    share: float = 0.5
    min_pages: int = 3


@dataclass(frozen=True, slots=True)
class CleaningRules:
    """Which rules are on; line ends are always unified. `protect`: parts of lines that stay."""

    control_characters: bool = True
    invisible_characters: bool = True
    whitespace: bool = True
    empty_lines: bool = True
    repeated_lines: RepeatedLines | None = RepeatedLines()
    page_numbers: bool = True
    protect: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cleaned:
    """The cleaned pages, each at its place; the text they make; the report."""

    pages: tuple[str, ...]
    text: str
    report: CleaningReport


def split_pages(text: str) -> tuple[str, ...]:
    """The pages of a text: form feeds are page ends, and one at the very end ends no new page."""
    if "\x0c" not in text:
        return (text,)
    pages = text.split("\x0c")
    if not pages[-1]:
        pages.pop()
    return tuple(pages)


def clean(pages: Sequence[str], rules: CleaningRules) -> Cleaned:
    """Clean a document's pages by the rules, and report what went."""
    tally = Tally()
    tidied = [page if _is_tidy(page) else _tidy(page, rules, tally) for page in pages]
    if has_no_furniture(tidied):
        return _without_furniture(pages[0], tidied[0], tally)

    log = LineLog()
    cleaned = drop_page_furniture(tidied, rules, log, tally)
    report = tally.report(
        before=sum(map(len, pages)),
        after=sum(map(len, cleaned)),
        examples=log.examples(len(pages)),
        kept=log.kept_examples(len(pages)),
    )
    return Cleaned(tuple(cleaned), "\n".join(filter(None, cleaned)), report)


def _without_furniture(page: str, tidied: str, tally: Tally) -> Cleaned:
    """The short way for most texts: one page, and no line of it is a header or page number."""
    report = tally.report(len(page), len(tidied), {}, ())
    return Cleaned((tidied,), tidied, report)


def _is_tidy(page: str) -> bool:
    """Whether no rule for characters and single lines has anything to do, whatever is on."""
    if "  " in page or "\n\n" in page or " \n" in page or "\n " in page:
        return False
    if page[:1] in (" ", "\n") or page[-1:] in (" ", "\n"):
        return not page
    return not _holds_suspects(page)


def _holds_suspects(page: str) -> bool:
    """Whether some rule may touch a character. No printable one is among them: a quick check."""
    return not page.replace("\n", "").isprintable() and _SUSPECT.search(page) is not None


def _tidy(page: str, rules: CleaningRules, tally: Tally) -> str:
    for _, step in tidying_steps(page, rules):
        page = step(page, tally)
    return page


def tidying_steps(page: str, rules: CleaningRules) -> list[tuple[str, TidyingStep]]:
    """The rules for characters and single lines that a page goes through, in order."""
    steps: list[tuple[str, TidyingStep]] = []
    if _holds_suspects(page):
        steps.append(("line_ends", page_tidying.unify_line_ends))
        if rules.control_characters:
            steps.append(("control_characters", page_tidying.drop_controls))
        if rules.invisible_characters:
            steps.append(("invisible_characters", page_tidying.drop_invisible))
    if rules.whitespace:
        steps.append(("whitespace", page_tidying.tidy_blanks))
    if rules.empty_lines:
        steps.append(("empty_lines", page_tidying.drop_empty_lines))
    return steps


def has_no_furniture(tidied: Sequence[str]) -> bool:
    """Whether it is plain that the rules for headers and page numbers have nothing to do."""
    return len(tidied) == 1 and page_numbers.holds_none(tidied[0])


def drop_page_furniture(
    pages: list[str], rules: CleaningRules, log: LineLog, tally: Tally
) -> list[str]:
    """Drop running headers, footers and page numbers, until nothing more goes.

    A document of nothing else is left as it is.
    """
    edges = [EdgeLines.of(page) for page in pages]
    read = NumberReader()
    numbers = running = None
    if rules.page_numbers:
        numbers = PageNumbers(edges, log, read, protect=rules.protect)
        numbers.drop_unmistakable()
    if rules.repeated_lines is not None:
        running = RunningLines(
            edges,
            log,
            read,
            share=rules.repeated_lines.share,
            min_pages=rules.repeated_lines.min_pages,
            protect=rules.protect,
            bare_numbers_stay=not rules.page_numbers,
        )
    changed = True
    while changed:
        changed = numbers is not None and numbers.drop_at_edges()
        if running is not None:
            changed = running.drop() or changed
        if not changed:
            changed = numbers is not None and numbers.shorten_titles()

    cleaned = [page.text() for page in edges]
    if not any(line.strip() for page in cleaned for line in page.split("\n")):
        log.entries.clear()
        return pages
    log.settle(tally, (at for at, page in enumerate(edges) if len(page.gone) == len(page.lines)))
    return cleaned
