"""The tables of `fact_words.py`, ready to be looked up."""

from __future__ import annotations

from typing import Final, NamedTuple

from service.text import fact_words
from service.text.changes_kinds import ChangeKind


class Phrase(NamedTuple):
    """A phrase of a table: its words, what it says; no kind where it is no fact."""

    words: tuple[str, ...]
    kind: ChangeKind | None
    value: str
    weak: bool
    needs_value: bool


def _phrases(table: str, kind: ChangeKind, needs_value: bool = False) -> list[Phrase]:
    found = []
    for line in table.strip().splitlines():
        value, _, phrases = line.partition(": ")
        weak = value.startswith("~")
        is_fact = not value.startswith("(")
        found += [
            Phrase(
                tuple(phrase.replace("'", " ").split()),
                kind if is_fact else None,
                value.lstrip("~"),
                weak,
                needs_value,
            )
            for phrase in phrases.split(", ")
        ]
    return found


def _by_first_word() -> dict[str, list[Phrase]]:
    phrases = [
        *_phrases(fact_words.NEGATION, ChangeKind.NEGATION),
        *_phrases(fact_words.NEGATION_ELSEWHERE, ChangeKind.NEGATION),
        *_phrases(fact_words.MODALITY, ChangeKind.MODALITY),
        *_phrases(fact_words.COMPARISON, ChangeKind.COMPARISON),
        *_phrases(fact_words.COMPARISON_BEFORE_A_VALUE, ChangeKind.COMPARISON, needs_value=True),
    ]
    found: dict[str, list[Phrase]] = {}
    for phrase in sorted(phrases, key=lambda phrase: -len(phrase.words)):
        found.setdefault(phrase.words[0], []).append(phrase)
    return found


# First word -> phrases, the longest first.
PHRASES: Final = _by_first_word()
PHRASE_WORDS: Final = frozenset(
    word for phrases in PHRASES.values() for phrase in phrases for word in phrase.words
)
LABELS: Final = frozenset(fact_words.LABELS.split())

# Before n't: can't is can + not.
CONTRACTED: Final = {"ca": "can", "wo": "will", "sha": "shall", "ai": "is"}

_NEGATING_PREFIXES = ("un", "non", "dis")


def _opposites() -> frozenset[tuple[str, str]]:
    pairs = fact_words.OPPOSITES.strip().replace("\n", ", ").split(", ")
    both = [tuple(pair.split()) for pair in pairs]
    return frozenset((one, other) for one, other in both + [pair[::-1] for pair in both])


_PAIRS: Final = _opposites()
OPPOSITE_WORDS: Final = frozenset(word for pair in _PAIRS for word in pair) | {"and", "or"}


def are_opposites(one: str, other: str) -> bool:
    """Whether one word says the contrary of the other: a pair of the table, or paid and unpaid."""
    if (one, other) in _PAIRS:
        return True
    short, long = sorted((one, other), key=len)
    return len(short) >= 4 and any(long == prefix + short for prefix in _NEGATING_PREFIXES)
