"""Reading a stretch of text as atoms: words, and facts with their values.

Two atoms with equal keys say the same, in whatever notation. What a fact is, and what counts as
the same, is told in docs/changes.md.
"""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction
from typing import Final

from service.text import fact_numbers as numbers
from service.text import fact_units as units
from service.text.changes_kinds import ChangeKind
from service.text.fact_amounts import AMOUNT_WORDS, NUMBER_WORDS, AmountReader
from service.text.fact_atoms import Atom
from service.text.fact_calendar import CLOCK_WORDS, MONTHS, WEEKDAYS
from service.text.fact_dates import read_date, read_time
from service.text.fact_phrases import LABELS, OPPOSITE_WORDS, PHRASE_WORDS, PHRASES, Phrase
from service.text.fact_tokens import Shape, tokens_of

_COMPARING_SIGNS: Final = {
    "<": "less than", ">": "more than", "≤": "at most", "≥": "at least", "~": "about", "≈": "about"
}  # fmt: skip
# Signs that say something by themselves; all others are punctuation.
_TELLING_SIGNS: Final = frozenset("✓✔✗✘☑☒👍👎√×÷=≠±∞")
_MINUSES: Final = frozenset("-−–")
# A minus may follow one of these; after a full stop it is a dash.
_BEFORE_SIGNED: Final = frozenset("([{=<>≤≥~≈:|/\\\"'“‘*_`")
_ENDS: Final = frozenset(".;!?")
_VALUES_FOLLOW_WITHIN: Final = 4
_WHETHER_WITHIN: Final = 16
_KINDS_OF_VALUES: Final = frozenset({Shape.NUMBER, Shape.DATE, Shape.TIME})
_BEFORE_RATE: Final = frozenset({"per", "a", "an", "each", "every"})
_STARTS_SOMETHING: Final = frozenset(
    {*PHRASES, *MONTHS, *WEEKDAYS, *CLOCK_WORDS, *NUMBER_WORDS, *_BEFORE_RATE, *units.RATES}
    | units.CURRENCY_WORDS.keys()
)
_VALUE_WORDS: Final = frozenset(
    {*numbers.ONES, *numbers.TENS, *units.RATE_UNITS, *units.CURRENCY_WORDS, *CLOCK_WORDS}
    | {word for word in (*MONTHS, *WEEKDAYS) if len(word) > 4}
)
# Words that are part of a fact, or of what is told like one. Where none of them differs, nothing
# but the wording does.
_TELLING_WORDS: Final = (
    (_STARTS_SOMETHING | AMOUNT_WORDS | PHRASE_WORDS | OPPOSITE_WORDS)
    | {"am", "pm", "clock", "uhr", "past", "whether"}
) - {"a", "an", "the", "of", "is", "are"}
_NEGATING: Final = ("un", "non", "dis")


def read_atoms(text: str, start: int, end: int) -> list[Atom]:
    """The atoms of `text[start:end]`, in order; punctuation is none."""
    return _Reader(text, tokens_of(text, start, end)).atoms()


def is_plain(word: str) -> bool:
    """Whether a word in lower case tells nothing but itself, whatever stands around it."""
    return (
        word.isalpha()
        and word.islower()
        and word not in _TELLING_WORDS
        and not word.startswith(_NEGATING)
    )


class _Reader(AmountReader):
    """Goes through the tokens once; each method reads what starts at a token."""

    def atoms(self) -> list[Atom]:
        at = 0
        while at < len(self._tokens):
            at = self._read(at)
        return self._found

    def _read(self, at: int) -> int:
        token = self._tokens[at]
        if token.shape is Shape.WORD:
            return self._read_word(at)
        if token.shape is Shape.SIGN:
            return self._read_sign(at)
        if token.shape is Shape.CODE:
            return self._add(_code_key(token.text), ChangeKind.IDENTIFIER, at, at + 1)
        if found := read_date(self._text, self._tokens, at):
            return self._add(found.value, ChangeKind.DATE, at, found.after)
        if found := read_time(self._tokens, at):
            return self._add(found.value, ChangeKind.TIME, at, found.after)
        return self._read_amount(at, at, token.value, at + 1)

    def _read_word(self, at: int) -> int:
        word = self._tokens[at].text
        if word not in _STARTS_SOMETHING and self._word(at - 1) not in LABELS:
            return self._add(word, None, at, at + 1)
        if word in PHRASES and (phrase := self._phrase(at)):
            key = (phrase.kind, phrase.value) if phrase.kind else " ".join(phrase.words)
            return self._add(key, phrase.kind, at, at + len(phrase.words), phrase.weak)
        if found := read_date(self._text, self._tokens, at) or read_time(self._tokens, at):
            kind = ChangeKind.TIME if found.value[0] == "t" else ChangeKind.DATE
            return self._add(found.value, kind, at, found.after)
        if word in NUMBER_WORDS and (after := self._read_number_words(at)):
            return after
        if word in units.RATES:
            return self._add(("rate", units.RATES[word]), ChangeKind.QUANTITY, at, at + 1)
        if word in _BEFORE_RATE and (after := self._read_rate(at)):
            return after
        if word in units.CURRENCY_WORDS and self._is_number(at + 1):
            currency = units.CURRENCY_WORDS[word]
            after_sign = at + 2 if self._sign(at + 1) else at + 1
            return self._read_amount(
                at, after_sign, self._tokens[after_sign].value, after_sign + 1, currency
            )
        if (value := self._roman(at)) is not None:
            return self._add(("n", Fraction(value)), ChangeKind.IDENTIFIER, at, at + 1)
        return self._add(word, None, at, at + 1)

    def _phrase(self, at: int) -> Phrase | None:
        for phrase in PHRASES[self._tokens[at].text]:
            length = len(phrase.words)
            if length > 1 and not all(
                self._word(at + step) == phrase.words[step] for step in range(1, length)
            ):
                continue
            if phrase.needs_value and not self._value_follows(at + length):
                continue
            if self._is_other_word(at, phrase):
                continue
            return phrase
        return None

    def _is_other_word(self, at: int, phrase: Phrase) -> bool:
        """A phrase of one word that here is a month (4 May) or a short form (No. 5)."""
        if len(phrase.words) > 1:
            return False
        if phrase.words[0] == "may":
            return read_date(self._text, self._tokens, at) is not None
        if phrase.words[0] == "not":
            return self._word(at - 1) == "or" and any(
                atom.key in {"whether", "if"} for atom in self._found[-_WHETHER_WITHIN:]
            )
        if phrase.words[0] == "no":
            return self._is_number(at + (2 if self._sign(at + 1) == "." else 1))
        return False

    def _value_follows(self, at: int) -> bool:
        for token in self._tokens[at : at + _VALUES_FOLLOW_WITHIN]:
            if token.shape is Shape.SIGN and token.text in _ENDS:
                return False
            if token.shape in _KINDS_OF_VALUES or token.text in units.CURRENCY_SIGNS:
                return True
            if token.shape is Shape.WORD and token.text in _VALUE_WORDS:
                return True
        return False

    def _read_sign(self, at: int) -> int:
        token = self._tokens[at]
        sign = token.text
        if sign in units.CURRENCY_SIGNS:
            return self._read_currency(at)
        if sign in {"-", "−", "–", "+", "±"} and self._is_sign_of_number(at):
            number = self._tokens[at + 1]
            value = number.value if sign == "+" else numbers.times(number.value, -1)
            return self._read_amount(
                at, at + 1, ("±", number.value) if sign == "±" else value, at + 2
            )
        if sign in _COMPARING_SIGNS and self._value_follows(at + 1):
            after = at + 1
            value_name = _COMPARING_SIGNS[sign]
            if self._sign(after) == "=":
                value_name, after = {"<": "at most", ">": "at least"}.get(sign, sign), after + 1
            key = (ChangeKind.COMPARISON, value_name)
            return self._add(key, ChangeKind.COMPARISON, at, after, value_name == "about")
        if sign == "+" and at and self._tokens[at - 1].end == token.start:
            if self._tokens[at - 1].shape is Shape.NUMBER:
                key = (ChangeKind.COMPARISON, "at least")
                return self._add(key, ChangeKind.COMPARISON, at, at + 1)
            return self._add("+", ChangeKind.IDENTIFIER, at, at + 1)
        if sign == "§" and self._is_number(at + 1):
            value = self._tokens[at + 1].value
            return self._add(("n", value), ChangeKind.IDENTIFIER, at, at + 2)
        if sign == "(" and self._sign(at + 2) == ")" and self._is_item(at + 1):
            item = ("i", self._word(at + 1))  # Article 5(1)(a)
            return self._add(item, ChangeKind.IDENTIFIER, at + 1, at + 2) + 1
        if sign in _TELLING_SIGNS:
            return self._add(sign, None, at, at + 1)
        return at + 1

    def _is_sign_of_number(self, at: int) -> bool:
        """Whether a sign stands right before a number, and after nothing that it could join."""
        if at + 1 >= len(self._tokens) or self._tokens[at + 1].shape is not Shape.NUMBER:
            return False
        if self._tokens[at + 1].start != self._tokens[at].end:
            return False
        return (
            at == 0
            or self._tokens[at - 1].end < self._tokens[at].start
            or self._tokens[at - 1].text in _BEFORE_SIGNED
        )

    def _is_item(self, at: int) -> bool:
        """Whether the word in brackets is the letter of a part, not the end of `day(s)`."""
        word = self._word(at)
        if self._tokens[at].start - 1 == (self._tokens[at - 2].end if at > 1 else -1) and (
            self._word(at - 2)
        ):
            return False
        return len(word) == 1 or (len(word) <= 4 and word.strip("ivx") == "" != word)

    def _roman(self, at: int) -> int | None:
        token = self._tokens[at]
        if token.end - token.start > 6 or not self._text[token.start].isupper():
            return None
        value = numbers.roman_value(self._text[token.start : token.end])
        if value is None or (self._word(at - 1) not in LABELS if at else True):
            return None
        return value


def _code_key(code: str) -> Hashable:
    """Equal for v2.1.0 and 2.1.0, and for AAL-1 and AAL1."""
    if len(code) > 1 and code[0] == "v" and code[1].isdigit():
        code = code[1:]
        if (value := numbers.value_of(code)) is not None:
            return ("n", value)
    return ("i", code)
