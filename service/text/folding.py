"""Folding: one form for what is only written differently. Never depends on the locale.

`fold_case` is what both kinds of normalisation share; `fold_notation` goes further for `words`.
"""

import re
import unicodedata
from typing import Final

from service.text import characters
from service.text.word_grammar import DIGITS

# Separators become spaces, other controls go; a tab or a newline separates words anyway.
_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SEPARATING_CONTROLS = "\x0b\x0c\x85"
# Presentation selectors say how a sign is drawn, not which sign it is.
_PRESENTATION: Final = re.compile("[\ufe0e\ufe0f]")

# Lower-case letters that share their capital with another lower-case letter, and that one
# (the simple case foldings that `str.lower` leaves alone). A test holds it against `casefold`.
_CASE_VARIANTS: Final = dict(
    zip(
        "ςſµͅϐϑϕϖϰϱϵẛιᲀᲁᲂᲃᲄᲅᲆᲇᲈᲊ",
        "σsμιβθφπκρεṡιвдосттъѣꙋᲊ",
        strict=True,
    )
)
_VARIANT: Final = re.compile("[" + "".join(_CASE_VARIANTS) + "]")

MINUS: Final = "\u2212"
# Signs with one meaning and several code points, after canonical composition.
_NOTATION: Final = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u02bc\u02b9\xb4\u05f3", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u05f4", '"'),
    **dict.fromkeys(f"\u2010\u2011\u2012\u2013{MINUS}\u05be\ufe58", "-"),
    **dict.fromkeys("\u2044\u2215", "/"),
    **dict.fromkeys("\u301c\u223c", "~"),
    "\u2236": ":",
    "\u2217": "*",
    "\u066a": "%",
    "\u066b": ".",
    "\u066c": ",",
    **dict.fromkeys("\u2266\u2a7d", "\u2264"),
    **dict.fromkeys("\u2267\u2a7e", "\u2265"),
    "\u2103": "°c",
    "\u2109": "°f",
    "\u2800": " ",  # the blank among the Braille patterns
    **dict.fromkeys("\u115f\u1160\u3164\uffa0", " "),  # Hangul fillers: letters without a look
    **dict.fromkeys("\u2061\u2062\u2063\u2064", " "),
    characters.ZWSP: " ",  # where it stayed it parts words of a script without spaces
}


def _presentation_forms() -> dict[str, str]:
    """Full-width and half-width forms, ligatures and Arabic presentation forms, with the letters
    that they show."""
    blocks = ((0xFB00, 0xFE00), (0xFE50, 0xFE6C), (0xFE70, 0xFEFD), (0xFF01, 0xFFEF))
    forms = {}
    for start, end in blocks:
        for code in range(start, end):
            shown = unicodedata.normalize("NFKC", chr(code))
            if shown != chr(code) and " " not in shown:
                forms[chr(code)] = shown
    return forms


_FORMS: Final = _presentation_forms()
_FORM: Final = re.compile("[\ufb00-\ufdff\ufe50-\ufe6b\ufe70-\ufefc\uff01-\uffee]")
# A minus sign that stands alone is told from a dash, and waits for its neighbours to be known.
_SIGN: Final = re.compile(
    "[" + "".join(map(re.escape, _NOTATION.keys() - {MINUS})) + f"]|{MINUS}(?=\\S)|(?<=\\S){MINUS}"
)
_PRIME: Final = re.compile(f"(?<=[{DIGITS}])[\u2032\u2033]")
_PRIMES: Final = {"\u2032": "'", "\u2033": '"'}
_OTHER_DIGIT: Final = re.compile(r"[^\D0-9]")
_NO_BREAK_GROUPS: Final = re.compile(
    f"(?<![\\w.,'])[1-9][0-9]{{0,2}}([{characters.NO_BREAK_SPACES}])[0-9]{{3}}(?:\\1[0-9]{{3}})*"
    f"(?![0-9]|[{characters.NO_BREAK_SPACES}][0-9])"
)


def fold_case(text: str) -> str:
    """NFC, lower case, no controls and nothing invisible.

    ß stays apart from ss, ı and İ from i; ς is σ. Idempotent.
    """
    if _CONTROL.search(text) is not None:
        text = _CONTROL.sub(_space_or_nothing, text.replace("\r", "\n"))
    if text.isascii():
        return text.lower()
    text = _PRESENTATION.sub("", characters.without_invisible(text))
    text = unicodedata.normalize("NFC", text).lower()
    text = _VARIANT.sub(lambda found: _CASE_VARIANTS[found.group()], text)
    return unicodedata.normalize("NFC", text)


def fold_notation(text: str) -> str:
    """After `fold_case`: one apostrophe, one hyphen and minus, ASCII digits, plain letter forms.

    A no-break space between complete groups of three digits goes; it is notation.
    """
    if text.isascii():
        return text
    if _FORM.search(text) is not None:
        text = _FORM.sub(lambda found: _FORMS.get(found.group(), found.group()), text)
        text = unicodedata.normalize("NFC", text).lower()
    text = _OTHER_DIGIT.sub(lambda found: str(unicodedata.digit(found.group())), text)
    if "\u2032" in text or "\u2033" in text:
        text = _PRIME.sub(lambda found: _PRIMES[found.group()], text)
    text = _SIGN.sub(lambda found: _NOTATION[found.group()], text)
    if any(space in text for space in characters.NO_BREAK_SPACES):
        text = _NO_BREAK_GROUPS.sub(lambda found: found.group().replace(found.group(1), ""), text)
    return unicodedata.normalize("NFC", text)


def _space_or_nothing(found: re.Match[str]) -> str:
    return " " if found.group() in _SEPARATING_CONTROLS else ""
