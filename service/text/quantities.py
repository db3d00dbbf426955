"""Numbers with what belongs to them: thousands separators, currency, per cent, degrees, §.

Works on tokens, and looks at each token's neighbours as they were found, so that doing it twice
changes nothing.
"""

import re
from functools import lru_cache
from typing import Final

import regex

from service.text.folding import MINUS

_GROUPED: Final = re.compile(r"[1-9][0-9]{0,2}([,'])[0-9]{3}(?:\1[0-9]{3})*(?![0-9]|[,'][0-9])")
_OPENS_A_NUMBER: Final = regex.compile(r"(?:^|[ (])(?:[-+§#]|\p{Sc})*$|[0-9][-/:]$")
_LOOKED_BACK_AT = 8
_NUMBER: Final = re.compile(r"[-+]?[0-9](?:[0-9.,/:']*[0-9])?")
_STARTS_A_NUMBER: Final = regex.compile(r"[-+]?\p{Sc}?[-+]?[.,]?[0-9∞]")
_NUMBER_AFTER_CURRENCY: Final = re.compile(r"[-+]?[.,]?[0-9∞]")
_CURRENCY: Final = regex.compile(r"\p{Sc}")
_SECTION: Final = "§"
_UNITS: Final = frozenset({"%", "‰", "‱", "°", "°c", "°f"})
_LONGEST_SIGN: Final = 2
_LOOKED_AT_FOR_DIGITS: Final = 100
# Signs that are punctuation, decoration or bullets but where they stand between quantities.
_OFTEN_PUNCTUATION: Final = frozenset("-:*·")


def is_loose(token: str) -> bool:
    """Whether a token is a sign that may belong to a neighbour, or be punctuation."""
    return len(token) <= _LONGEST_SIGN and _kind(token) is not None


@lru_cache(maxsize=4096)
def _kind(token: str) -> str | None:
    """What kind of lone sign a short token is, None where it is none."""
    if token in _OFTEN_PUNCTUATION or token == MINUS:
        return "punctuation"
    if token in _UNITS:
        return "unit"
    if token == _SECTION:
        return "section"
    return "currency" if _CURRENCY.fullmatch(token) else None


def _is(kind: str, token: str) -> bool:
    return len(token) <= _LONGEST_SIGN and _kind(token) == kind


def without_thousands_separators(joined: str) -> str:
    """Commas and apostrophes between complete groups of three digits go: 12,500 is 12500.

    A point never does, nor does anything in a number that starts with 0, mixes separators or
    groups otherwise (12,34,567). `joined` are tokens joined by single spaces.
    """
    return _GROUPED.sub(_without_separators, joined)


def attach_signs(found: list[str]) -> list[str]:
    """Join lone signs to the number that they belong to.

    `40 %` is `40%`, `$ 40` is `$40`, `40 €` is `40€`, `§ 5` is `§5`. A currency sign between
    two numbers belongs to neither. A lone dash stays before a number, a lone colon between
    two, a lone dash, asterisk or dot between two operands; elsewhere they are punctuation.
    """
    found = _without_punctuation(found)
    attached: list[str] = []
    glue = False  # whether the next token belongs to the last one
    for at, token in enumerate(found):
        before = found[at - 1] if at else ""
        after = found[at + 1] if at + 1 < len(found) else ""
        backwards, forwards = _belongs(token, before, after)
        if attached and (glue or backwards):
            attached[-1] += token
        else:
            attached.append(token)
        glue = forwards
    return attached


def _without_separators(found: re.Match[str]) -> str:
    before = found.string[max(0, found.start() - _LOOKED_BACK_AT) : found.start()]
    if before and _OPENS_A_NUMBER.search(before) is None:
        return found.group()
    return found.group().replace(found.group(1), "")


def _belongs(token: str, before: str, after: str) -> tuple[bool, bool]:
    """Whether a lone sign belongs to the token before it, and to the one after it."""
    kind = _kind(token) if len(token) <= _LONGEST_SIGN else None
    if kind == "unit":
        return _NUMBER.fullmatch(before) is not None, False
    if kind == "section":
        return False, after[:1].isalnum()
    if kind != "currency" or (before[-1:].isdigit() and _STARTS_A_NUMBER.match(after)):
        return False, False
    return _NUMBER.fullmatch(before) is not None, _NUMBER.fullmatch(after) is not None


def _without_punctuation(found: list[str]) -> list[str]:
    """Without lone dashes, colons, asterisks and dots that say nothing about a quantity.

    A minus sign always stays: as a hyphen where a hyphen would stay, so that both are one.
    """
    left = [
        token
        for at, token in enumerate(found)
        if token not in _OFTEN_PUNCTUATION
        or _counts(token, found[at - 1] if at else "", found[at + 1 : at + 3])
    ]
    if MINUS not in left:
        return left
    return [
        "-"
        if token == MINUS and _counts("-", left[at - 1] if at else "", left[at + 1 : at + 3])
        else token
        for at, token in enumerate(left)
    ]


def _counts(sign: str, before: str, after: list[str]) -> bool:
    """Whether a lone sign says something about a number, or joins two operands."""
    if not after:
        return False
    if sign == ":":
        return before[-1:].isdigit() and after[0][0].isdigit()
    if sign == "-":
        if _STARTS_A_NUMBER.match(after[0]):
            return True
        if len(after) > 1 and _is("currency", after[0]) and _NUMBER_AFTER_CURRENCY.match(after[1]):
            return True
    return _is_operand(before) and _is_operand(after[0])


def _is_operand(token: str) -> bool:
    """Whether a token may stand in a formula: a number, a quantity, a letter such as x.

    Says the same of a token before and after signs were joined to it.
    """
    if len(token) == 1 and token.islower():
        return True
    if token.startswith(_SECTION) or _is("unit", token) or _is("currency", token):
        return True
    return any(map(str.isnumeric, token[:_LOOKED_AT_FOR_DIGITS]))
