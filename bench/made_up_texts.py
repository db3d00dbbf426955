"""Made-up texts: the same on every machine, each from its number alone.

Words are drawn evenly from 20,000 made-up ones, so that two texts share a run of three words only
where one was made from the other. A text of `n` words has n - 2 such runs; two texts that begin
with the same `c` words and share nothing else have a similarity of (c - 2) / (2 (n - 2) - (c - 2)).
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache

SEED = 20261
WORDS = 100
RUN = 3
_VOCABULARY = 20_000
_CONSONANTS = "bcdfghjklmnprstvz"
_VOWELS = "aeiou"


@cache
def vocabulary() -> list[str]:
    """The made-up words: two to four syllables, all different."""
    source = random.Random(SEED)
    words: dict[str, None] = {}
    while len(words) < _VOCABULARY:
        syllables = source.choice((2, 3, 3, 4))
        words["".join(map(source.choice, (_CONSONANTS, _VOWELS) * syllables))] = None
    return list(words)


def words_of(number: int, count: int = WORDS) -> list[str]:
    """The words of the text with this number; texts of different numbers share nothing."""
    return random.Random(SEED * 1_000_000_007 + number).choices(vocabulary(), k=count)


def unique_text(number: int) -> str:
    """A text of 100 words that is like no other."""
    return written(words_of(number))


def written(words: list[str]) -> str:
    """Words as sentences of ten."""
    sentences = (" ".join(words[at : at + 10]) for at in range(0, len(words), 10))
    return ". ".join(sentence.capitalize() for sentence in sentences) + "."


def name_of(number: int) -> str:
    """The id that a numbered text is posted under: 14 characters."""
    return f"text-{number:09d}"


def similarity(common: int, count: int) -> float:
    """How alike two texts of `count` words are that begin with the same `common` ones."""
    shared, runs = max(common - RUN + 1, 0), count - RUN + 1
    return shared / (2 * runs - shared)


def common_words(wanted: float, count: int) -> int:
    """How many words two texts must begin with to be at least so alike."""
    return next(c for c in range(count + 1) if similarity(c, count) >= wanted - 1e-12)


def changed(words: list[str], common: int, number: int) -> list[str]:
    """A copy that keeps the first `common` words; what follows is new, made from `number`."""
    return words[:common] + words_of(number, len(words) - common)


FAMILY_COMMON = 67
FAMILY_NUMBERS = 500_000_000


def family_words(number: int) -> list[str]:
    """One of a family: two thirds of the words are those of all, any two are alike by 0.496."""
    return changed(words_of(FAMILY_NUMBERS), FAMILY_COMMON, FAMILY_NUMBERS + 1 + number)


def descriptions(count: int) -> Iterator[tuple[str, str]]:
    """Ids and texts of 20 to 100 words, half of them copies of an earlier one by 0.4 to 1."""
    source = random.Random(SEED)
    earlier: list[list[str]] = []
    for number in range(count):
        if earlier and source.random() < 0.5:
            model = source.choice(earlier)
            common = common_words(source.uniform(0.4, 1.0), len(model))
            words = changed(model, common, 700_000_000 + number)
        else:
            words = words_of(600_000_000 + number, source.randint(20, 100))
            earlier.append(words)
        yield name_of(number), written(words)
