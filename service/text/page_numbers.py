"""Page numbers by shape and place.

`Page 3 of 10` and `[Page 3]` alone on a line are page numbers wherever they stand. The other
shapes count at a page's edges only, and a bare number only where its neighbours count along:
a column of figures, a year and the number of an act stay.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from service.text.edge_lines import BOTTOM, EDGES, EdgeLines
from service.text.heading_words import is_heading_word
from service.text.line_log import LineLog
from service.text.page_number_shapes import (
    NumberedTitle,
    NumberReader,
    PageNumber,
    numbered_title,
    page_number,
)

RULE: Final = "page_numbers"
_ANYWHERE: Final = ("page_of", "bracketed")
_YEARS: Final = range(1900, 2101)


def holds_none(page: str) -> bool:
    """Whether a document of this one page surely has no page number: the quick way out."""
    if "\n" not in page:
        return True
    lines = page.split("\n")
    if numbered_title(lines[0]) or numbered_title(lines[-1]):
        return False
    if page_number(lines[0]) or page_number(lines[-1]):
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
        self._lines_in_all = sum(len(page.view) for page in pages)

    def drop_unmistakable(self) -> None:
        """Take away the shapes that are page numbers anywhere in a page. Once is enough."""
        for at, page in enumerate(self._pages):
            found = [i for i in page.view if self._goes_anywhere(page.lines[i])]
            if not found:
                continue
            for index in found:
                self._note(at, page.lines[index])
                page.gone.add(index)
            leaving = set(found)
            page.view = type(page.view)(i for i in page.view if i not in leaving)

    def _goes_anywhere(self, line: str) -> bool:
        return _goes_anywhere(self._read.number(line)) and not self._is_protected(line)

    def _is_protected(self, line: str) -> bool:
        return any(part in line for part in self._protect)

    def drop_at_edges(self) -> bool:
        """Take away the page numbers that stand first or last now; whether there were any."""
        shaped = self._drop_shaped()
        bare = self._drop_bare()
        return shaped or bare

    def _drop_shaped(self) -> bool:
        slashes = self._slashes_that_count()
        changed = False
        for at in range(len(self._pages)):
            for edge in EDGES:
                while (found := self._number_at(at, edge)) is not None:
                    index, number = found
                    slash_counts = (at, edge, number.value) in slashes
                    if number.kind == "bare" or (number.kind == "slash" and not slash_counts):
                        break
                    self._take(at, index, edge)
                    changed = True
        return changed

    def _slashes_that_count(self) -> set[tuple[int, int, int]]:
        """`3 / 10` is the number of a text of one page; on several it has to count along."""
        groups = defaultdict(set)
        for at, edge, number in self._numbers("slash"):
            groups[edge, number.total, number.value - at].add((at, edge, number.value))
        return {
            place
            for group in groups.values()
            if len(self._pages) == 1 or _count_along({at for at, _, _ in group})
            for place in group
        }

    def _drop_bare(self) -> bool:
        groups: defaultdict[tuple[int, int], dict[int, int]] = defaultdict(dict)
        for at, edge, number in self._numbers("bare"):
            if not self._stands_in_a_column(at, edge):
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
        for at, page in enumerate(self._pages):
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
        self._log.shortened(RULE, at, line[len(title) :].strip(), cut)

    def _numbers(self, kind: str) -> Iterator[tuple[int, int, PageNumber]]:
        for at in range(len(self._pages)):
            for edge in EDGES:
                found = self._number_at(at, edge)
                if found is not None and found[1].kind == kind:
                    yield at, edge, found[1]

    def _number_at(self, at: int, edge: int) -> tuple[int, PageNumber] | None:
        page = self._pages[at]
        index = page.at(edge)
        if index is None or self._is_protected(page.lines[index]):
            return None
        number = self._read.number(page.lines[index])
        return None if number is None else (index, number)

    def _take(self, at: int, index: int, edge: int) -> None:
        page = self._pages[at]
        self._note(at, page.lines[index])
        page.drop(index, edge)

    def _note(self, at: int, line: str) -> None:
        number = self._read.number(line)
        if number is not None and number.kind != "bare":
            self._counted[number.value - at].add(at)
        self._log.removed(RULE, at, line)


def _count_along(pages: set[int]) -> bool:
    """Whether numbers on these pages, all equally far ahead of them, are a page count."""
    return len(pages) >= 3 or any(at + 1 in pages for at in pages)
