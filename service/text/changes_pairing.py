"""What differs within one stretch: facts of both sides paired, the rest told as wording."""

from __future__ import annotations

from typing import Final, NamedTuple

from service.text.alignment import Hunk, align
from service.text.changes_kinds import ChangeKind
from service.text.changes_settling import Changing, Found, in_rows
from service.text.changes_sides import Sides, Span
from service.text.fact_atoms import Atom
from service.text.fact_names import are_spellings_of_one, is_name
from service.text.fact_same import is_same
from service.text.facts import read_atoms

_READ_AT_A_TIME: Final = 2_000
_READ_AT_MOST: Final = 100_000
_MOST_OPPOSITES: Final = 6


def carries_fact(text: str, span: Span | None) -> bool:
    """Whether a passage holds a fact that counts by being there."""
    if span is None:
        return False
    start, end = span
    latest = start + _READ_AT_MOST
    while start < end:
        if start >= latest:
            return True  # so long a passage is taken to hold one, rather than read on
        # Piece by piece: the first fact settles it, and passages may be long.
        after = min(end, start + _READ_AT_A_TIME)
        while after < end and not text[after].isspace() and after - start < 2 * _READ_AT_A_TIME:
            after += 1
        for atom in read_atoms(text, start, after):
            if not atom.weak and (atom.kind is not None or is_name(text, atom.start, atom.end)):
                return True
        start = after
    return False


def changes_between(one: str, here: Span, other: str, there: Span) -> list[Found]:
    """The changes within a stretch of either text, in order."""
    sides = Sides(one, read_atoms(one, *here), other, read_atoms(other, *there))
    return _Pairing(sides).found()


class _Side(NamedTuple):
    """What one text has in one hunk."""

    facts: list[tuple[int, Atom, ChangeKind]]
    words: list[tuple[int, Atom]]


class _Pairing(Changing):
    """Pairs the facts of either side, hunk by hunk; then settles what found no partner."""

    def found(self) -> list[Found]:
        for hunk in self._sides.hunks:
            self._pair(hunk)
        self._settle()
        self._changes.sort(key=self._place)
        return self._changes

    def _place(self, found: Found) -> tuple[int, bool, int]:
        """Hunk by hunk, since what stands in one text only has no place in the other."""
        side = 0 if found.here else 1
        start = (found.here or found.there or (0, 0))[0]
        return self._sides.hunk_from(side, start), side == 1, start

    def _pair(self, hunk: Hunk) -> None:
        sides = (self._side(0, *hunk[:2]), self._side(1, *hunk[2:]))
        if self._sides.is_same_but_for_joints(hunk):
            self._add_wording(hunk)
            return
        for kind in dict.fromkeys(of for _, _, of in sides[0].facts + sides[1].facts):
            self._pair_kind(
                kind,
                [at for at, _, of in sides[0].facts if of is kind],
                [at for at, _, of in sides[1].facts if of is kind],
            )
        self._pair_opposites(hunk)
        if sides[0].words or sides[1].words:
            self._add_words(sides)

    def _pair_opposites(self, hunk: Hunk) -> None:
        start, end, start_other, end_other = hunk
        if end - start > _MOST_OPPOSITES or end_other - start_other > _MOST_OPPOSITES:
            return
        for at in range(start, end):
            for at_other in range(start_other, end_other):
                kind = self._sides.contrary(at, at_other)
                if kind is not None:
                    self._contraries.append((at, at_other, kind))

    def _side(self, side: int, first: int, after: int) -> _Side:
        atoms = self._sides.atoms[side]
        facts: list[tuple[int, Atom, ChangeKind]] = []
        words: list[tuple[int, Atom]] = []
        for at in range(first, after):
            atom = atoms[at]
            if atom.kind is not None:
                facts.append((at, atom, atom.kind))
            elif self._sides.is_name(side, at):
                facts.append((at, atom, ChangeKind.NAME))
            else:
                words.append((at, atom))
        return _Side(facts, words)

    def _pair_kind(self, kind: ChangeKind, here: list[int], there: list[int]) -> None:
        keys = [self._sides.atoms[0][at].key for at in here]
        keys_other = [self._sides.atoms[1][at].key for at in there]
        if keys == keys_other:
            return
        if len(keys) == len(keys_other) and sorted(map(repr, keys)) == sorted(
            map(repr, keys_other)
        ):
            for at, at_other in zip(here, there, strict=True):
                if self._sides.atoms[0][at].key != self._sides.atoms[1][at_other].key:
                    self._add(kind, at, at_other)
            return
        if kind is ChangeKind.NAME:
            self._pair_names(here, there)
            return
        for start, end, start_other, end_other in align(keys, keys_other):
            paired = min(end - start, end_other - start_other)
            for step in range(paired):
                self._compare(kind, here[start + step], there[start_other + step])
            self._lone[0].extend((kind, at) for at in here[start + paired : end])
            self._lone[1].extend((kind, at) for at in there[start_other + paired : end_other])

    def _pair_names(self, here: list[int], there: list[int]) -> None:
        """Names of several words are paired as a whole: Anna Smith and Ben Jones."""
        groups, groups_other = in_rows(here), in_rows(there)
        for at in range(max(len(groups), len(groups_other))):
            group = groups[at] if at < len(groups) else []
            other = groups_other[at] if at < len(groups_other) else []
            if not group or not other:
                self._lone[0].extend((ChangeKind.NAME, place) for place in group)
                self._lone[1].extend((ChangeKind.NAME, place) for place in other)
                continue
            words = [str(self._sides.atoms[0][place].key) for place in group]
            words_other = [str(self._sides.atoms[1][place].key) for place in other]
            if "".join(words) == "".join(words_other):
                continue
            if len(words) == len(words_other) and all(
                one == two or are_spellings_of_one(one, two)
                for one, two in zip(words, words_other, strict=True)
            ):
                continue
            self._changes.append(
                Found(
                    ChangeKind.NAME,
                    self._sides.span(0, group),
                    self._sides.span(1, other),
                    fact=True,
                )
            )

    def _compare(self, kind: ChangeKind, at: int, at_other: int) -> None:
        one, other = self._sides.atoms[0][at], self._sides.atoms[1][at_other]
        if is_same(one.key, other.key) or (
            kind is ChangeKind.MODALITY and self._sides.contrary(at, at_other)
        ):
            return
        if (
            kind is ChangeKind.MODALITY
            and self._sides.forbids(0, at)
            and self._sides.forbids(1, at_other)
        ):
            return
        self._add(kind, at, at_other)

    def _add_wording(self, hunk: Hunk) -> None:
        here = list(range(*hunk[:2]))
        there = list(range(*hunk[2:]))
        self._changes.append(
            Found(
                ChangeKind.WORDING,
                self._sides.span(0, here) if here else None,
                self._sides.span(1, there) if there else None,
                fact=False,
            )
        )

    def _add_words(self, sides: tuple[_Side, _Side]) -> None:
        here = [at for at, _ in sides[0].words]
        there = [at for at, _ in sides[1].words]
        rows, rows_other = in_rows(here), in_rows(there)
        for at in range(max(len(rows), len(rows_other))):
            self._changes.append(
                Found(
                    ChangeKind.WORDING,
                    self._sides.span(0, rows[at]) if at < len(rows) else None,
                    self._sides.span(1, rows_other[at]) if at < len(rows_other) else None,
                    fact=False,
                )
            )
