"""What found no partner beside it: facts that moved, negations that undo each other, values."""

from __future__ import annotations

from typing import Final, NamedTuple

from service.text.changes_kinds import ChangeKind
from service.text.changes_sides import JOINS, Sides, Span
from service.text.fact_same import is_same


class Found(NamedTuple):
    """One change, by its ranges in the two texts."""

    kind: ChangeKind
    here: Span | None
    there: Span | None
    fact: bool


# A fact by its kind, and its place among the atoms of its side.
Lone = tuple[ChangeKind, int]

# Values of different kinds in one place are one change, of the kind that says more.
_VALUES: Final = (
    ChangeKind.NUMBER,
    ChangeKind.NAME,
    ChangeKind.IDENTIFIER,
    ChangeKind.QUANTITY,
    ChangeKind.PERCENT,
    ChangeKind.MONEY,
    ChangeKind.TIME,
    ChangeKind.DATE,
)
_NEGATED_WITHIN: Final = 3
_UNDONE_WITHIN: Final = 5
# Where more is lone, so much differs that nothing is said to have moved.
_MOST_LONE: Final = 40


class Changing:
    """Two stretches side by side, and the changes found between them so far."""

    def __init__(self, sides: Sides) -> None:
        self._sides = sides
        self._changes: list[Found] = []
        # Words that stand in the place of their contrary.
        self._contraries: list[tuple[int, int, ChangeKind]] = []
        # Facts that found no partner in their hunk.
        self._lone: tuple[list[Lone], list[Lone]] = ([], [])

    def _add(self, kind: ChangeKind, at: int, at_other: int) -> None:
        one, other = self._sides.atoms[0][at], self._sides.atoms[1][at_other]
        self._changes.append(Found(kind, (one.start, one.end), (other.start, other.end), fact=True))

    def _settle(self) -> None:
        """What is lone is paired, dropped, or told by itself."""
        for at, at_other, kind in self._contraries:
            if not self._is_negated_once(at, at_other):
                self._add(kind, at, at_other)
        for side in (0, 1):
            self._drop_double_negations(side)
        self._drop_moved()
        self._pair_values()
        for side, left in enumerate(self._lone):
            for kind in dict.fromkeys(kind for kind, _ in left):
                places = sorted(at for of, at in left if of is kind)
                # Names of several words are one; other facts are told one by one.
                rows = in_rows(places) if kind is ChangeKind.NAME else [[at] for at in places]
                for row in rows:
                    self._add_lone(kind, side, row)

    def _drop_moved(self) -> None:
        here, there = self._lone
        if max(len(here), len(there)) > _MOST_LONE:
            return
        for kind, at in list(here):
            for kind_other, at_other in list(there):
                if kind is kind_other and self._sides.has_moved(kind, at, at_other):
                    here.remove((kind, at))
                    there.remove((kind_other, at_other))
                    break

    def _pair_values(self) -> None:
        """Values of different kinds that stand in one hunk: 5 and 5 days."""
        by_hunk: list[dict[int, list[Lone]]] = [{}, {}]
        for side, lone in enumerate(self._lone):
            for item in sorted(lone, key=lambda item: item[1]):
                if item[0] in _VALUES:
                    by_hunk[side].setdefault(self._sides.hunk_at(side, item[1]), []).append(item)
        paired: tuple[set[Lone], set[Lone]] = (set(), set())
        for hunk, items in by_hunk[0].items():
            for one, other in zip(items, by_hunk[1].get(hunk, ()), strict=False):
                paired[0].add(one)
                paired[1].add(other)
                keys = self._sides.atoms[0][one[1]].key, self._sides.atoms[1][other[1]].key
                if not is_same(*keys):
                    self._add(max(one[0], other[0], key=_VALUES.index), one[1], other[1])
        for lone, gone in zip(self._lone, paired, strict=True):
            lone[:] = [item for item in lone if item not in gone]

    def _add_lone(self, kind: ChangeKind, side: int, row: list[int]) -> None:
        span = self._sides.span(side, row)
        weak = self._sides.atoms[side][row[0]].weak
        known = ChangeKind.WORDING if weak else kind
        pair = (span, None) if side == 0 else (None, span)
        self._changes.append(Found(known, pair[0], pair[1], fact=not weak))

    def _drop_double_negations(self, side: int) -> None:
        """Two negations that undo each other: it does not mean that there is no work."""
        atoms, lone = self._sides.atoms[side], self._lone[side]
        places = sorted(
            at for kind, at in lone if kind is ChangeKind.NEGATION and not atoms[at].weak
        )
        while len(places) > 1:
            at, at_other = places[0], places[1]
            between = self._sides.texts[side][atoms[at].end : atoms[at_other].start]
            if (
                at_other - at > _UNDONE_WITHIN
                or any(mark in between for mark in ",;.:\n")
                or any(atom.key in JOINS for atom in atoms[at:at_other])
            ):
                places = places[1:]
                continue
            lone.remove((ChangeKind.NEGATION, at))
            lone.remove((ChangeKind.NEGATION, at_other))
            places = places[2:]

    def _is_negated_once(self, at: int, at_other: int) -> bool:
        """Whether one of two contraries has a `not` that the other lacks; it is used up then."""
        for lone, place in zip(self._lone, (at, at_other), strict=True):
            for step in range(1, _NEGATED_WITHIN + 1):
                if (ChangeKind.NEGATION, place - step) in lone:
                    lone.remove((ChangeKind.NEGATION, place - step))
                    return True
        return False


def in_rows(places: list[int]) -> list[list[int]]:
    """Places that follow each other, as rows."""
    rows: list[list[int]] = []
    for at in places:
        if rows and rows[-1][-1] == at - 1:
            rows[-1].append(at)
        else:
            rows.append([at])
    return rows
