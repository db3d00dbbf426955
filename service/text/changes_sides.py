"""Two stretches of text side by side: their atoms, and what can be asked about them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Hashable
from functools import cached_property
from typing import Final

from service.text.alignment import Hunk, align
from service.text.changes_kinds import ChangeKind
from service.text.fact_atoms import Atom
from service.text.fact_names import is_name
from service.text.fact_phrases import are_opposites

Span = tuple[int, int]

OPERATORS: Final = frozenset({ChangeKind.NEGATION, ChangeKind.MODALITY, ChangeKind.COMPARISON})
JOINS: Final = frozenset({"and", "or", "but"})
_FUNCTION_WORDS = """
a an the of to in on at for and or is are be been do does did it its this that these those you we
they our your their by with as from if so than then will
"""
_PLAIN: Final = frozenset(_FUNCTION_WORDS.split())
_END: Final = re.compile(r"[.!?;:]\s|\n")
_CONTRARY_MODALITIES: Final = ({"allow", "forbid"}, {"must", "optional"}, {"may", "forbid"})


class Sides:
    """The atoms of two stretches, aligned; side 0 and side 1, places are indices of atoms."""

    def __init__(self, one: str, atoms: list[Atom], other: str, atoms_other: list[Atom]) -> None:
        self.texts = (one, other)
        self.atoms = (atoms, atoms_other)
        self.hunks = align([a.key for a in atoms], [a.key for a in atoms_other])

    def hunk_at(self, side: int, at: int) -> int:
        """The hunk that an atom of this place is in, counted from 1; or the one before it."""
        return bisect_right(self._hunk_starts[side], at)

    def hunk_from(self, side: int, start: int) -> int:
        """The same by the character that an atom starts at."""
        return self.hunk_at(side, bisect_right(self._starts[side], start) - 1)

    @cached_property
    def _hunk_starts(self) -> tuple[list[int], list[int]]:
        return [hunk[0] for hunk in self.hunks], [hunk[2] for hunk in self.hunks]

    @cached_property
    def _starts(self) -> tuple[list[int], list[int]]:
        one, other = self.atoms
        return [atom.start for atom in one], [atom.start for atom in other]

    def is_name(self, side: int, at: int) -> bool:
        """A word written as a name here, or, where it opens a sentence, elsewhere nearby."""
        atom = self.atoms[side][at]
        shown = self.texts[side][atom.start : atom.end]
        if shown.islower():
            return False
        if shown[0].isupper() and atom.key in self._named:
            return True
        # A plain word that is a name where it stands has its key among the named ones.
        return not (atom.kind is None and shown[0].isupper()) and is_name(
            self.texts[side], atom.start, atom.end
        )

    @cached_property
    def _named(self) -> set[Hashable]:
        """The words that are written as names somewhere in either stretch."""
        return {
            atom.key
            for text, atoms in zip(self.texts, self.atoms, strict=True)
            for atom in atoms
            if atom.kind is None
            and not text[atom.start : atom.end].islower()
            and is_name(text, atom.start, atom.end)
        }

    def shown(self, side: int, at: int) -> str:
        """How an atom is written, in lower case."""
        atom = self.atoms[side][at]
        return self.texts[side][atom.start : atom.end].lower()

    def contrary(self, at: int, at_other: int) -> ChangeKind | None:
        """The kind of change, where one word stands for its contrary (or `and` for `or`)."""
        one, other = self.atoms[0][at], self.atoms[1][at_other]
        if one.kind is other.kind is ChangeKind.MODALITY:
            values = {_operator(one), _operator(other)}
            return ChangeKind.MODALITY if values in _CONTRARY_MODALITIES else None
        if not all(atom.kind is None or atom.weak for atom in (one, other)):
            return None
        words = (self.shown(0, at), self.shown(1, at_other))
        if set(words) == {"and", "or"}:
            return ChangeKind.COMPARISON
        return ChangeKind.NEGATION if are_opposites(*words) else None

    def is_same_but_for_joints(self, hunk: Hunk) -> bool:
        """Web site and website, AAL 1 and AAL1: the same letters and digits in a row.

        Not where digits would join digits, or where a sign stands.
        """
        start, end, start_other, end_other = hunk
        if start == end or start_other == end_other:
            return False
        joined = []
        for side, first, after in ((0, start, end), (1, start_other, end_other)):
            atoms, text = self.atoms[side], self.texts[side]
            pieces: list[str] = []
            for atom in atoms[first:after]:
                shown = text[atom.start : atom.end].casefold()
                letters = "".join(character for character in shown if character.isalnum())
                if not letters or (pieces and pieces[-1][-1].isdigit() and letters[0].isdigit()):
                    return False
                if any(not c.isalnum() and c not in " .-'’‑/" for c in shown) or (
                    not shown[0].isalnum()
                ):
                    return False
                if any(
                    shown[at - 1].isdigit() and shown[at + 1].isdigit()
                    for at in range(1, len(shown) - 1)
                    if not shown[at].isalnum()
                ):
                    return False
                pieces.append(letters)
            joined.append("".join(pieces))
        return joined[0] == joined[1]

    def span(self, side: int, places: list[int]) -> Span:
        """The characters from the first of these places to the last."""
        atoms = self.atoms[side]
        return atoms[places[0]].start, atoms[places[-1]].end

    def forbids(self, side: int, at: int) -> bool:
        """Whether a modal word is negated right away: must not, may not and cannot are one."""
        atoms = self.atoms[side]
        after = atoms[at + 1] if at + 1 < len(atoms) else None
        before = atoms[at - 1] if at else None
        value = _operator(atoms[at])
        if value == "allow":
            return before is not None and before.kind is ChangeKind.NEGATION
        return value in {"must", "may", "can"} and (
            after is not None and after.kind is ChangeKind.NEGATION
        )

    def has_moved(self, kind: ChangeKind, at: int, at_other: int) -> bool:
        """Whether a fact only stands elsewhere, past no other fact of its kind.

        A word such as `not` moves only along with the word beside it; one such as `must` goes
        with the whole sentence.
        """
        one, other = self.atoms[0][at], self.atoms[1][at_other]
        if one.key != other.key:
            return False
        if kind in OPERATORS and kind is not ChangeKind.MODALITY:
            return any(
                (word := self.beside(0, at, step)) is not None
                and word == self.beside(1, at_other, step)
                for step in (-1, 1)
            )
        matched = self.matched
        # What it stands beside in the other text must be in the same sentence here.
        behind = max((place for place, twin in matched if twin < at_other), default=None)
        ahead = min((place for place, twin in matched if twin > at_other), default=None)
        if not any(
            place is not None and not _ends_between(self.texts[0], one, self.atoms[0][place])
            for place in (behind, ahead)
        ):
            return False
        return not any(
            (place < at) != (place_other < at_other)
            and self.kind_of(0, place) is kind
            and not (self.are_listed(0, at, place) and self.are_listed(1, at_other, place_other))
            for place, place_other in matched
        )

    def are_listed(self, side: int, at: int, place: int) -> bool:
        """Whether nothing but `and` or facts of the same kind stands between: a plain list."""
        low, high = sorted((at, place))
        kind = self.kind_of(side, at)
        atoms = self.atoms[side]
        if _ends_between(self.texts[side], atoms[low], atoms[high]):
            return False
        return all(
            atom.key in JOINS or self.kind_of(side, step) is kind
            for step, atom in enumerate(self.atoms[side][low:high], start=low)
        )

    def beside(self, side: int, at: int, step: int) -> Hashable | None:
        """The nearest telling word or value in a direction, past words of grammar and operators."""
        atoms = self.atoms[side]
        at += step
        while 0 <= at < len(atoms) and (atoms[at].kind in OPERATORS or atoms[at].key in _PLAIN):
            at += step
        return atoms[at].key if 0 <= at < len(atoms) else None

    def kind_of(self, side: int, at: int) -> ChangeKind | None:
        """The kind of fact at a place; None for a plain word."""
        atom = self.atoms[side][at]
        if atom.kind is None and self.is_name(side, at):
            return ChangeKind.NAME
        return atom.kind

    @cached_property
    def matched(self) -> list[tuple[int, int]]:
        """The places that stand in both texts."""
        pairs: list[tuple[int, int]] = []
        at = at_other = 0
        for hunk in [*self.hunks, (len(self.atoms[0]), 0, len(self.atoms[1]), 0)]:
            pairs += zip(range(at, hunk[0]), range(at_other, hunk[2]), strict=False)
            at, at_other = hunk[1], hunk[3]
        return pairs


def _ends_between(text: str, one: Atom, other: Atom) -> bool:
    """Whether a sentence or a part of one ends between two atoms."""
    low, high = sorted(((one.start, one.end), (other.start, other.end)))
    return _END.search(text, low[1], high[0]) is not None


def _operator(atom: Atom) -> str:
    return str(atom.key[1]) if isinstance(atom.key, tuple) else ""
