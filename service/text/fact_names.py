"""Which words are names: a capital inside a sentence, or capitals within the word."""

from __future__ import annotations

import re
from typing import Final

_ENDS_A_SENTENCE: Final = frozenset('.!?:;\n•·|–—-*#>"“”„«»(=/')
_TWO_CAPITALS: Final = re.compile(r"[A-Z]\w+ [A-Z]")
_LOOKED_AT: Final = 160
_WORD: Final = re.compile(r"[^\W\d_]+")
# A point after one of these ends no sentence.
_TITLE_WORDS = "dr mr mrs ms prof st ste sr jr no vs inc ltd co gen gov rev"
_TITLES: Final = frozenset(_TITLE_WORDS.split())
_GERMAN_WORDS = "der die das und ist nicht ein eine zu den mit für von auf dem"
_GERMAN: Final = frozenset(_GERMAN_WORDS.split())
# Capitals that are no names: the pronoun, and what headings and forms shout.
_NEVER: Final = frozenset({"i", "a", "ok"})
_MOST_CAPITALS: Final = 0.6


def is_name(text: str, start: int, end: int) -> bool:
    """Whether the word at this place is written as a name is.

    Mixed case (iPhone, GitHub) and an acronym among other words always are. A capital alone
    only inside a sentence that is no heading in capitals, and not in German, where every noun
    has one.
    """
    word = text[start:end]
    if word.lower() in _NEVER or word.islower():
        return False
    if not (word[0].isupper() or word[1:].lower() != word[1:]):
        return False
    if word.isupper() and len(word) > 1:
        around = _words_around(text, start, end)
        return sum(map(str.isupper, around)) <= len(around) * _MOST_CAPITALS
    if word[1:].lower() != word[1:]:
        return True
    if opens_sentence(text, start):
        return False
    if sum(map(_GERMAN.__contains__, _words_around(text, start, end))) >= 3:
        return False
    return not _in_heading(text, start, end)


def _words_around(text: str, start: int, end: int) -> list[str]:
    return _WORD.findall(text, max(0, start - _LOOKED_AT), end + _LOOKED_AT)


def opens_sentence(text: str, start: int) -> bool:
    """Whether a word at this place has its capital from the start of a sentence."""
    at = start
    while at and text[at - 1] in " \t\"'“”‘’„«([*_`":
        at -= 1
    if not at or text[at - 1] == "\n":
        return True
    if text[at - 1] not in _ENDS_A_SENTENCE:
        return False
    if text[at - 1] == ".":
        before = _WORD.findall(text, max(0, at - 12), at - 1)
        return not (before and (before[-1].lower() in _TITLES or len(before[-1]) == 1))
    if text[at - 1] == ":":
        return _TWO_CAPITALS.match(text, start) is None  # Contact: Anna Smith
    return not (text[at - 1] in "-/" and at == start)


def _in_heading(text: str, start: int, end: int) -> bool:
    """Whether most longer words of the line have a capital, and it ends like no sentence."""
    low = max(0, start - _LOOKED_AT)
    line_start = text.rfind("\n", low, start) + 1 or low
    line_end = text.find("\n", end, end + _LOOKED_AT)
    if line_end < 0:
        line_end = min(len(text), end + _LOOKED_AT)
    line = text[line_start:line_end]
    words: list[str] = [word for word in _WORD.findall(line) if len(word) > 3]
    if len(words) < 3 or line.rstrip().endswith((".", ";", ",")):
        return False
    capitals = sum(word[0].isupper() for word in words)
    return capitals > len(words) * _MOST_CAPITALS


def are_spellings_of_one(one: str, other: str) -> bool:
    """Whether two names in lower case differ as a slip of the pen does.

    A plural, or one letter left out, doubled or exchanged with its neighbour well inside a long
    word. Martin and Martina, Iran and Iraq are two names.
    """
    short, long = sorted((one, other), key=len)
    if long in {short + "s", short + "es"}:
        return True
    if len(short) < 7 or short[0] != long[0] or short[-1] != long[-1]:
        return False
    at = next((at for at, letter in enumerate(short) if letter != long[at]), len(short))
    if len(long) == len(short) + 1:
        return short[at:] == long[at + 1 :]
    return bool(
        len(long) == len(short)
        and short[at] == long[at + 1]
        and short[at + 1] == long[at]
        and short[at + 2 :] == long[at + 2 :]
    )
