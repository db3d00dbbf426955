"""Page numbers by shape and place.

`Page 3 of 10` and `[Page 3]` alone on a line are page numbers wherever they stand. The other
shapes count at a page's edges only, and a bare number only where its neighbours count along:
a column of figures, a year and the number of an act stay.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from service.text.edge_lines import BOTTOM, EDGES, EdgeLines
from service.text.heading_words import is_heading_word
from service.text.line_log import LineLog
from service.text.page_number_shapes import (
    NumberedTitle,
    NumberReader,
    PageNumber,
    breaks_off,
    numbered_title,
    page_number,
)

RULE: Final = "page_numbers"
_ANYWHERE: Final = ("page_of", "bracketed")
_YEARS: Final = range(1900, 2101)


# A number as it stands: the page's index, the edge, the number.
_Placed = tuple[int, int, PageNumber]


def holds_none(page: str) -> bool:
    """Whether a document of this one page surely has no page number: the quick way out."""
    if "\n" not in page:
        return True
    lines = page.strip().split("\n")
    for line in (lines[0], lines[-1]):
        if page_number(line) or numbered_title(line):
            return False
    return not any(_goes_anywhere(page_number(line)) for line in lines)


def _goes_anywhere(number: PageNumber | None) -> bool:
    return number is not None and number.kind in _ANYWHERE


class PageNumbers:
    """The page numbers of one document."""

    def __init__(
        self,
        pages: Sequence[EdgeLines],
        log: LineLog,
        read: NumberReader,
        *,
        protect: Sequence[str],
    ) -> None:
        self._read = read
        self._pages = pages
        self._protect = [part for part in protect if part]
        self._log = log
        # Pages on which a shaped number stood, by what it is ahead of the page's own index.
        self._counted: defaultdict[int, set[int]] = defaultdict(set)
        self._filled = [at for at, page in enumerate(pages) if page.view]
        self._lines_in_all = sum(len(page.view) for page in pages)

    def drop_unmistakable(self) -> None:
        """Take away the shapes that are page numbers anywhere in a page. Once is enough."""
        for at in self._filled:
            page = self._pages[at]
            found = [i for i in page.view if self._goes_anywhere(page.lines[i])]
            if not found:
                continue
            for index in found:
                self._note(at, index)
                page.gone.add(index)
            leaving = set(found)
            page.view = type(page.view)(i for i in page.view if i not in leaving)

    def _goes_anywhere(self, line: str) -> bool:
        return _goes_anywhere(self._read.number(line)) and not self._is_protected(line)

    def _is_protected(self, line: str) -> bool:
        return any(part in line for part in self._protect)

    def drop_at_edges(self) -> bool:
        """Take away the page numbers that stand first or last now; whether there were any."""
        found = self._numbers()
        shaped = self._drop_shaped(found)
        bare = self._drop_bare(self._numbers() if shaped else found)
        return shaped or bare

    def _drop_shaped(self, numbers: Sequence[_Placed]) -> bool:
        slashes = self._slashes_that_count(numbers)
        changed = False
        for at, edge, first in numbers:
            if first.kind == "bare":
                continue
            while (found := self._number_at(at, edge)) is not None:
                index, number = found
                slash_counts = (at, edge, number) in slashes
                if number.kind == "bare" or (number.kind == "slash" and not slash_counts):
                    break
                if self._ends_a_reference(at, edge):
                    break
                self._take(at, index, edge)
                changed = True
        return changed

    def _slashes_that_count(self, numbers: Sequence[_Placed]) -> set[_Placed]:
        """`3 / 10` may be a mark out of ten, so it has to count along with the pages.

        On two pages it also has to be their own number, or the total that of the pages.
        """
        groups = defaultdict(set)
        for at, edge, number in numbers:
            if number.kind == "slash":
                groups[edge, number.total, number.value - at].add((at, edge, number))
        counting = set()
        for (_, total, ahead), places in groups.items():
            sure = len(places) > 2 or ahead == 1 or total == len(self._pages)
            if sure and _count_along({at for at, _, _ in places}):
                counting |= places
        return counting

    def _ends_a_reference(self, at: int, edge: int) -> bool:
        """Whether the last line of a text of one page goes on with a sentence: "see / Page 3"."""
        page = self._pages[at]
        inner = page.at(edge, 1) if len(self._pages) == 1 and edge == BOTTOM else None
        return inner is not None and breaks_off(page.lines[inner])

    def _drop_bare(self, numbers: Sequence[_Placed]) -> bool:
        groups: defaultdict[tuple[int, int], dict[int, int]] = defaultdict(dict)
        for at, edge, number in numbers:
            if number.kind == "bare" and not self._stands_in_a_column(at, edge):
                groups[edge, number.value - at][at] = number.value
        changed = False
        for (edge, ahead), members in groups.items():
            if not _count_along(set(members) | self._counted[ahead]):
                continue
            if all(value in _YEARS for value in members.values()):
                continue
            for at in members:
                found = self._number_at(at, edge)
                if found is not None:
                    self._take(at, found[0], edge)
                    changed = True
        return changed

    def _stands_in_a_column(self, at: int, edge: int) -> bool:
        """Whether the next line inwards is a number too, or the heading that it belongs to."""
        page = self._pages[at]
        inner = page.at(edge, 1)
        if inner is None:
            return False
        line = page.lines[inner]
        return self._read.number(line) is not None or (edge == BOTTOM and is_heading_word(line))

    def shorten_titles(self) -> bool:
        """Cut page numbers off the end of header and footer lines; whether there were any."""
        titles: dict[tuple[int, int, int], NumberedTitle] = {}
        groups: defaultdict[tuple[int, str, int], set[int]] = defaultdict(set)
        for at in self._filled:
            page = self._pages[at]
            for edge in EDGES:
                index = page.at(edge)
                title = None if index is None else self._read.title(page.lines[index])
                if index is None or title is None or self._is_protected(page.lines[index]):
                    continue
                titles[at, edge, index] = title
                groups[edge, title.number.kind, title.number.value - at].add(at)
        changed = False
        for (at, edge, index), title in titles.items():
            number = title.number
            alone = number.kind in _ANYWHERE and self._lines_in_all > 1
            if alone or _count_along(groups[edge, number.kind, number.value - at]):
                self._shorten(at, index, title.title)
                changed = True
        return changed

    def _shorten(self, at: int, index: int, title: str) -> None:
        page = self._pages[at]
        line = page.lines[index]
        if not line.startswith(title):  # the other edge of a page of one line was first
            return
        cut = len(line) - len(title)
        if cut == 0:
            return
        page.lines[index] = title
        self._log.shortened(RULE, at, index, line[len(title) :].strip(), cut)

    def _numbers(self) -> list[_Placed]:
        """The numbers that stand first or last on their pages now."""
        return [
            (at, edge, found[1])
            for at in self._filled
            for edge in EDGES
            if (found := self._number_at(at, edge)) is not None
        ]

    def _number_at(self, at: int, edge: int) -> tuple[int, PageNumber] | None:
        page = self._pages[at]
        index = page.at(edge)
        if index is None:
            return None
        number = self._read.number(page.lines[index])
        if number is None or self._is_protected(page.lines[index]):
            return None
        return index, number

    def _take(self, at: int, index: int, edge: int) -> None:
        page = self._pages[at]
        self._note(at, index)
        page.drop(index, edge)

    def _note(self, at: int, index: int) -> None:
        line = self._pages[at].lines[index]
        number = self._read.number(line)
        if number is not None and number.kind != "bare":
            self._counted[number.value - at].add(at)
        self._log.removed(RULE, at, index, line)


def _count_along(pages: set[int]) -> bool:
    """Whether numbers on these pages, all equally far ahead of them, are a page count."""
    return len(pages) >= 3 or any(at + 1 in pages for at in pages)
