"""Numbers with what belongs to them: thousands separators, currency, per cent, degrees, §.

Works on tokens, and looks at each token's neighbours as they were found, so that doing it twice
changes nothing.
"""

import re
from typing import Final

import regex

_GROUPED: Final = re.compile(r"[1-9][0-9]{0,2}([,'])[0-9]{3}(?:\1[0-9]{3})*(?![0-9]|[,'][0-9])")
_OPENS_A_NUMBER: Final = regex.compile(r"(?:^|[ (])(?:[-+§#]|\p{Sc})*$|[0-9][-/:]$")
_LOOKED_BACK_AT = 8

_NUMBER: Final = re.compile(r"[-+]?[0-9](?:[0-9.,/:']*[0-9])?")
_STARTS_A_NUMBER: Final = regex.compile(r"[-+]?\p{Sc}?[.,]?[0-9]")
_IS_LOOSE: Final = regex.compile(r"[-:%‰‱]|°[cf]?|§+|\p{Sc}")
_IS_CURRENCY: Final = regex.compile(r"\p{Sc}")
_IS_UNIT: Final = re.compile(r"[%‰‱]|°[cf]?")
_IS_SECTION: Final = re.compile(r"§+")


def is_loose(token: str) -> bool:
    """Whether a token is a sign that may belong to a neighbour, or be punctuation."""
    return _IS_LOOSE.fullmatch(token) is not None


def without_thousands_separators(joined: str) -> str:
    """Commas and apostrophes between complete groups of three digits go: 12,500 is 12500.

    A point never does, nor does anything in a number that starts with 0, mixes separators or
    groups otherwise (12,34,567). `joined` are tokens joined by single spaces.
    """
    return _GROUPED.sub(_without_separators, joined)


def attach_signs(found: list[str]) -> list[str]:
    """Join lone signs to the number that they belong to.

    `40 %` is `40%`, `$ 40` is `$40`, `40 €` is `40€`, `§ 5` is `§5`. A currency sign between
    two numbers belongs to neither. A lone dash stays before a number and a lone colon between
    two; elsewhere they are punctuation.
    """
    found = [
        token
        for at, token in enumerate(found)
        if token not in ("-", ":")
        or _counts(token, found[max(0, at - 1) : at], found[at + 1 : at + 3])
    ]
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
    if not is_loose(token):
        return False, False
    if _IS_UNIT.fullmatch(token):
        return _NUMBER.fullmatch(before) is not None, False
    if _IS_SECTION.fullmatch(token):
        return False, after[:1].isalnum()
    if _IS_CURRENCY.fullmatch(token) is None:
        return False, False
    if before[-1:].isdigit() and _STARTS_A_NUMBER.match(after):
        return False, False
    return _NUMBER.fullmatch(before) is not None, _NUMBER.fullmatch(after) is not None


def _counts(sign: str, before: list[str], after: list[str]) -> bool:
    """Whether a lone dash or colon says something about a number."""
    if not after:
        return False
    if sign == ":":
        return bool(before) and before[0][-1].isdigit() and after[0][0].isdigit()
    if len(after) > 1 and _IS_CURRENCY.fullmatch(after[0]):
        return _STARTS_A_NUMBER.match(after[1]) is not None
    return _STARTS_A_NUMBER.match(after[0]) is not None
