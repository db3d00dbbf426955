"""Running headers and footers, found by their place at the edges of pages.

A line is one where it stands in the run from a page's edge inwards on more than a share of the
pages (or of the odd, or of the even pages). A run ends at the first line that is none, and one
of more than three lines is no header and stays whole.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Final

from service.text.cautions import reads_like_a_caution
from service.text.edge_lines import EDGES, EdgeLines
from service.text.growing_numbers import growing_forms
from service.text.line_log import LineLog
from service.text.page_number_shapes import NumberReader

RULE: Final = "repeated_lines"
LONGEST_RUN: Final = 3
_NUMBERS_SKIPPED: Final = 3
# Below this share of the pages a line never counts as repeated; it bounds the rounds.
_LEAST_SHARE: Final = 0.01

# What the copies of a line share: its text, or its text around a number and how far that number
# is ahead of the page's index.
_Key = str | tuple[str, int]


@dataclass(slots=True)
class _Run:
    """The outer lines of a page's edge: their places, their keys, how many are in the run.

    `sets` are the sets of pages that the page counts in: all, and the odd or the even ones.
    """

    sets: tuple[str, ...]
    places: list[int]
    keys: list[tuple[_Key, ...]]
    length: int = 0
    counted: int = 0
    waits_at: int = -1


class RunningLines:
    """The running headers and footers of one document."""

    def __init__(
        self,
        pages: Sequence[EdgeLines],
        log: LineLog,
        read: NumberReader,
        *,
        share: float,
        min_pages: int,
        protect: Sequence[str],
        bare_numbers_stay: bool,
    ) -> None:
        self._pages = pages
        self._log = log
        self._read = read
        self._protect = [part for part in protect if part]
        # Where no rule takes bare page numbers away first, they are looked past too.
        self._bare_numbers_stay = bare_numbers_stay
        counts = {"all": len(pages), "odd": (len(pages) + 1) // 2, "even": len(pages) // 2}
        exactly = Fraction(str(share))  # 0.29 of 100 pages are 29, which floats get wrong
        self._needed = {
            which: max(2, floor(exactly * count) + 1, ceil(_LEAST_SHARE * count))
            for which, count in counts.items()
            if count >= min_pages
        }
        self._filled = [at for at, page in enumerate(pages) if page.view]
        self._odd = tuple(which for which in ("all", "odd") if which in self._needed)
        self._even = tuple(which for which in ("all", "even") if which in self._needed)
        # A line's text, and each way to read it as a text around one number.
        self._lines_read: dict[str, tuple[str, *tuple[tuple[str, int], ...]]] = {}

    def drop(self) -> bool:
        """Take away the headers and footers that stand at the edges now; whether any went."""
        if not self._needed:
            return False
        went = [self._drop_at(edge) for edge in EDGES]
        return any(went)

    def _drop_at(self, edge: int) -> bool:
        if not self._may_run(edge):
            return False
        runs = [self._outer_lines(at, edge) for at in self._filled]
        frequent = self._grow(runs)
        if not frequent:
            return False
        repeated = self._cut_back(runs, frequent)
        groups: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for at, run in zip(self._filled, runs, strict=True):
            for depth in range(run.length):
                groups[_name(run.keys[depth], repeated)].append((at, run.places[depth]))
        removed = [self._drop_group(name, members, edge) for name, members in groups.items()]
        return any(removed)

    def _drop_group(self, name: str, members: list[tuple[int, int]], edge: int) -> bool:
        first_at, first_index = members[0]
        line = self._pages[first_at].lines[first_index]
        if any(part in line for part in self._protect):
            self._log.stays(line, (at for at, _ in members), once=False)
            return False
        if reads_like_a_caution(line):
            self._log.stays(line, (at for at, _ in members), once=True)
            members = [member for member in members if member[0] != first_at]
        for at, index in members:
            page = self._pages[at]
            if index in page.gone:  # a page so short that both edges reach this line
                continue
            self._log.removed(RULE, at, index, page.lines[index], named=name)
            page.drop(index, edge)
        return bool(members)

    def _may_run(self, edge: int) -> bool:
        """Whether some outermost line stands on as many pages as a header has to: a quick look."""
        counts: dict[_Key, int] = {}
        for at in self._filled:
            for index in self._text_lines(at, edge, 1):
                for key in self._keys(at, self._pages[at].lines[index]):
                    counts[key] = counts.get(key, 0) + 1
        return max(counts.values(), default=0) >= min(self._needed.values())

    def _outer_lines(self, at: int, edge: int) -> _Run:
        page = self._pages[at]
        places = self._text_lines(at, edge, LONGEST_RUN + 1)
        sets = self._even if at % 2 else self._odd
        return _Run(sets, places, [self._keys(at, page.lines[index]) for index in places])

    def _text_lines(self, at: int, edge: int, most: int) -> list[int]:
        """The places of the outermost lines of a page, page numbers apart."""
        page = self._pages[at]
        places: list[int] = []
        skipped = 0
        for index in page.inwards(edge):
            number = self._read.number(page.lines[index])
            if number is not None and (number.kind != "bare" or self._bare_numbers_stay):
                skipped += 1
                if skipped <= _NUMBERS_SKIPPED:
                    continue
            places.append(index)
            if len(places) == most:
                break
        return places

    def _keys(self, at: int, line: str) -> tuple[_Key, ...]:
        read = self._lines_read.get(line)
        if read is None:
            read = self._lines_read[line] = (" ".join(line.split()), *growing_forms(line))
        if len(read) == 1:
            return read
        return (read[0], *((form, value - at) for form, value in read[1:]))

    def _grow(self, runs: list[_Run]) -> set[_Key]:
        """Let every run reach inwards as far as its lines repeat; the keys that do.

        A line is counted once the run has reached it. When a key becomes frequent, the pages
        that waited at it go on. Every page moves four times at most, so this is linear.
        """
        counts: Counter[tuple[str, _Key]] = Counter()
        frequent: set[_Key] = set()
        waiting: defaultdict[_Key, list[_Run]] = defaultdict(list)
        moving = list(reversed(runs))
        while moving:
            run = moving.pop()
            while run.length < len(run.places):
                keys = run.keys[run.length]
                if run.counted == run.length:
                    run.counted += 1
                    outer = {key for line in run.keys[: run.length] for key in line}
                    counted = [(which, key) for key in set(keys) - outer for which in run.sets]
                    counts.update(counted)
                    for which, key in counted:
                        if counts[which, key] >= self._needed[which] and key not in frequent:
                            frequent.add(key)
                            moving += waiting.pop(key, [])
                if frequent.isdisjoint(keys):
                    if run.waits_at != run.length:
                        run.waits_at = run.length
                        for key in keys:
                            waiting[key].append(run)
                    break
                run.length += 1
        return frequent

    def _cut_back(self, runs: list[_Run], frequent: set[_Key]) -> set[_Key]:
        """Shorten the runs to what still repeats when those of more than three lines stay."""
        for run in runs:
            if run.length > LONGEST_RUN:
                run.length = 0
        while True:
            counts: Counter[tuple[str, _Key]] = Counter()
            for run in runs:
                reached = {key for line in run.keys[: run.length] for key in line}
                counts.update((which, key) for key in reached & frequent for which in run.sets)
            frequent = {
                key for (which, key), count in counts.items() if count >= self._needed[which]
            }
            shortened = False
            for run in runs:
                for depth in range(run.length):
                    if frequent.isdisjoint(run.keys[depth]):
                        run.length = depth
                        shortened = True
                        break
            if not shortened:
                return frequent


def _name(keys: Sequence[_Key], repeated: set[_Key]) -> str:
    """What the copies of a line have in common: its text, else its text around the number."""
    return next((key if isinstance(key, str) else key[0] for key in keys if key in repeated), "")
