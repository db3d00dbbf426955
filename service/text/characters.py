"""Which characters are line ends, controls, blanks or invisible, and what may be dropped.

Character properties come from the Unicode tables of the `regex` module; the sets spelled out
here are the few that no property names.
"""

import re
import unicodedata
from typing import Final

import regex

ZWNJ: Final = "\u200c"
ZWJ: Final = "\u200d"
ZWSP: Final = "\u200b"
MONGOLIAN_VOWEL_SEPARATOR: Final = "\u180e"
BLACK_FLAG: Final = "\U0001f3f4"

NO_BREAK_SPACES: Final = "\xa0\u2007\u202f"
BLANKS: Final = " \t\xa0\u1680\u2000-\u200a\u202f\u205f\u3000"  # as a regex class
BLANK_CHARACTERS: Final = (
    " \t\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + ("\u202f\u205f\u3000")
)

LINE_END: Final = re.compile("\r\n?|[\x0b\x85\u2028\u2029]")
CONTROL: Final = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
FORM_FEEDS: Final = re.compile("\x0c+")

_TAGS = "\U000e0001\U000e0020-\U000e007f"
_INVISIBLE = "\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060\u2066-\u206f\ufeff" + _TAGS
INVISIBLE: Final = re.compile(f"[{_INVISIBLE}]+")
_LEADING_TAGS = re.compile(f"[{_TAGS}]+")

# Letters that a joiner between them really changes: not those of scripts that never join.
_JOINING = regex.compile(
    r"(?V1)[[\p{L}\p{M}]--[\p{Latin}\p{Greek}\p{Cyrillic}\p{Armenian}\p{Georgian}\p{Hebrew}"
    r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Bopomofo}\p{Thai}\p{Lao}"
    r"\p{Common}\p{Inherited}]]"
)
_PICTOGRAPH = regex.compile(r"\p{Extended_Pictographic}")
_COMPLEX_CONTEXT = regex.compile(r"\p{Line_Break=Complex_Context}")
_SKIN_TONES: Final = frozenset("\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")
_MARKS_LOOKED_THROUGH = 30


def without_invisible(text: str) -> str:
    """The text without invisible characters, save those that change what is read.

    Kept: one joiner or non-joiner where the script joins (Persian, Indic, Mongolian), a joiner
    between emoji, the tags of a flag, a zero-width space between letters of a script that is
    written without spaces (Thai, Khmer). Linear; applying it twice changes nothing more.
    """
    if INVISIBLE.search(text) is None:
        return text
    return INVISIBLE.sub(_what_stays, text)


def _what_stays(found: re.Match[str]) -> str:
    text, run = found.string, found.group()
    before = _base_before(text, found.start())
    after = text[found.end() : found.end() + 1]
    if before == BLACK_FLAG:
        tags = _LEADING_TAGS.match(run)
        return tags.group() if tags else ""
    for character in run:
        if character == ZWJ and _is_joined(before, after):
            return ZWJ
        if character == ZWNJ and _matches(_JOINING, before) and _matches(_JOINING, after):
            return ZWNJ
        if character == MONGOLIAN_VOWEL_SEPARATOR and "\u1820" <= before <= "\u18aa":
            return character
    if ZWSP in run and _matches(_COMPLEX_CONTEXT, before) and _matches(_COMPLEX_CONTEXT, after):
        return ZWSP
    return ""


def _is_joined(before: str, after: str) -> bool:
    if _matches(_JOINING, before):
        return True
    return _matches(_PICTOGRAPH, before) and _matches(_PICTOGRAPH, after)


def _base_before(text: str, end: int) -> str:
    """The character before `end` that marks and skin tones stand on; "" at the start."""
    start = max(0, end - _MARKS_LOOKED_THROUGH)
    for character in reversed(text[start:end]):
        if not (unicodedata.category(character)[0] == "M" or character in _SKIN_TONES):
            return character
    return ""


def _matches(pattern: "regex.Pattern[str]", character: str) -> bool:
    return bool(character) and pattern.match(character) is not None
