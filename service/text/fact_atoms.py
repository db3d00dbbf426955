"""Atoms, the smallest things that can differ, and the stream of tokens that they are read from."""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction
from typing import Final, NamedTuple

from service.text.changes_kinds import ChangeKind
from service.text.fact_numbers import times
from service.text.fact_tokens import Shape, Token


class Atom(NamedTuple):
    """The smallest thing that can differ: one word, or one fact with all its words.

    `weak` facts tell nothing by being there or not: only in the place of another one.
    """

    key: Hashable
    kind: ChangeKind | None
    start: int
    end: int
    weak: bool = False


RANGE_SIGNS: Final = frozenset({"-", "–", "—", "/"})
_TO: Final = (ChangeKind.COMPARISON, "to")
_BETWEEN: Final = (ChangeKind.COMPARISON, "between")


class TokenStream:
    """The tokens of a stretch of text, and the atoms that were read from them so far.

    Methods that read take the place of a token and give the place after what they read.
    """

    def __init__(self, text: str, tokens: list[Token]) -> None:
        self._text = text
        self._tokens = tokens
        self._found: list[Atom] = []

    def _add(
        self, key: Hashable, kind: ChangeKind | None, first: int, after: int, weak: bool = False
    ) -> int:
        start, end = self._tokens[first].start, self._tokens[after - 1].end
        self._found.append(Atom(key, kind, start, end, weak))
        return after

    def _share_in_range(
        self, kind: ChangeKind, first: int, unit: Hashable, factor: Fraction = Fraction(1)
    ) -> None:
        """What is written once for a range holds for both its ends: 5-10 %, 5 to 10 days."""
        found = self._found
        is_told = found[-1].key == _TO if found else False
        if len(found) > 2 and found[-1].key == "and":
            is_told = found[-3].key == _BETWEEN
        back = 2 if is_told else 1
        before = self._found[-back] if len(self._found) >= back else None
        if before is None or before.kind is not ChangeKind.NUMBER:
            return
        between = self._text[before.end : self._tokens[first].start].strip()
        if (back == 1 and between not in RANGE_SIGNS) or not isinstance(before.key, tuple):
            return
        key = (_LETTERS[kind], times(before.key[1], factor), unit)
        self._found[-back] = before._replace(key=key, kind=kind)

    def _word(self, at: int) -> str:
        if 0 <= at < len(self._tokens) and self._tokens[at].shape is Shape.WORD:
            return self._tokens[at].text
        return ""

    def _sign(self, at: int) -> str:
        if 0 <= at < len(self._tokens) and self._tokens[at].shape is Shape.SIGN:
            return self._tokens[at].text
        return ""

    def _is_number(self, at: int) -> bool:
        if self._sign(at) in {"-", "−", "–", "+"}:
            at += 1
        return at < len(self._tokens) and self._tokens[at].shape is Shape.NUMBER


# What keys of values begin with.
_LETTERS: Final = {
    ChangeKind.PERCENT: "%",
    ChangeKind.MONEY: "m",
    ChangeKind.QUANTITY: "q",
}
