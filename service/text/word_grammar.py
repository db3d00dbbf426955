"""What a token is under `words`: one grammar, compiled twice.

`SIMPLE` is for text of Latin, Greek and Cyrillic letters without combining marks, and uses the
standard `re`; `FULL` is for everything, with the properties of the `regex` module. On text that
`is_simple` both find the same tokens (a property test holds them together).
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import regex

# Digits and fractions that a unit may stand on, as a regex class.
DIGITS: Final = "0-9¼-¾⅐-⅞"
# `\w` for `re` and for `regex`, which differ on superscripts and fractions.
_WORDLIKE: Final = r"\w²³¹¼½¾"


def _grammar(word: str, currency: str, symbol: str, extra: str, joint: str) -> str:
    """The pattern of one token; decoration matches without filling the group."""
    amount = rf"[-+]?(?:{currency})?\.?[0-9](?:[0-9.,']*[0-9])?(?:[%‰]|{currency})?"
    # Between two word characters, with nothing else around.
    connector = (
        rf"(?:['./:@&*^|\\#-]|{joint}|,(?<=[0-9],)(?=[0-9])|::|:?//|:\\|\.\.(?=[0-9])"
        rf"|--(?<=[0-9]--)(?=[0-9])|\"(?<=[{DIGITS}]\"))"
    )
    degree = rf"°(?:[cf](?!{word}))?"
    # Feet and inches, minutes and seconds, stars: marks directly after a digit.
    mark = rf"(?<=[{DIGITS}])(?:''?|\"|\*{{1,3}}|[†‡])(?!{word})"
    suffix = (
        rf"(?:\+{{1,2}}(?!{word}|\+)|#(?!{word})|%|[‰‱]|{degree}"
        rf"|(?<=[0-9]){currency}(?![0-9])|/(?!{word}|/)|-(?!{word}|[->])|[′″]|{mark})"
    )
    name = rf"{word}++(?:{connector}{word}++)*+"
    core = rf"{name}{suffix}?"
    prefix = (
        rf"(?:(?:[-+]{currency}?|§{{0,2}}{currency}[-+]?)?(?<!\w\.)[.]?(?=[0-9])"
        rf"|(?<!\S),(?=[0-9])|(?<![^\s(\[{{,=])--?|(?<![.\w])\*?\.|[#@]|//?|\.\.?/|§{{1,2}}"
        rf"|\\\\?|~/|(?<![^\s(])::|(?<![{_WORDLIKE}!?.])!!?)"
    )
    # Between two equal marks these are quotes or emphasis: the second one is no unit.
    quoted = "|".join(
        rf"(?<={around}){prefix}?{name}(?<=[{DIGITS}])(?={around})" for around in ("'", '"', r"\*")
    )
    operator = r"<->|<=>|--?>|=>|<-(?![0-9])|[=!]==?|[-+*/%:&|^]=|[<>]=|<<|>>|[<>=]"
    # A minus or a negation before a bracket.
    before_bracket = rf"(?<!\S)-\(|(?<![{_WORDLIKE}!?.])!!?\("
    smiley = r"(?<!\S)[:;]-?[()](?!\S)"
    decoration = rf"[-+=|~^<>/\\*_&@%#.:!?]{{4,}}(?!{word})|_++(?!{word})"
    return (
        rf"{decoration}"
        rf"|((?<=['\"*])(?:{quoted})|{core}|\({amount}\)|{prefix}{core}"
        rf"|{extra}{operator}|{before_bracket}|{smiley}"
        rf"|(?<![^\s(])[-:*·](?!\S)|{degree}|{symbol})"
    )


# Characters of simple text: ASCII, Latin, Greek and Cyrillic letters, and the signs named here.
# Whatever is not among them sends a text to the full grammar.
_NOT_SIMPLE: Final = re.compile(
    "[^\t\n -~\xa0¢£¤¥§©«¬®°±²³¶·¹»¼½¾¿×÷À-ÖØ-öø-ʯΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ϿЀ-ҁҊ-ԯ‹›†‡•…—―€′″‰‱]"
)

SIMPLE: Final = re.compile(
    _grammar(
        word=r"\w",
        currency="[$¢£¤¥€]",
        symbol=r"[+&@/\\~^%$¢£¤¥€¬±×÷§¶©®‰‱]",
        extra="",
        joint="·",
    )
)

_UNSPACED = (
    r"\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}\p{Yi}\p{Line_Break=Complex_Context}"
    r"\p{Javanese}\p{Balinese}ー"
)
_LETTERS = r"\p{L}\p{M}\p{N}_\u200c\u200d\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2⁺⁻⁼₊₋₌"
_SYMBOLS = (
    r"[[\p{Sm}\p{Sc}\p{So}\p{Sk}\p{Co}\p{Cn}&@/\\%‰‱§¶‖⌈⌉⌊⌋⟦⟧⟨⟩]"
    r"--[|`´¨¯¸˜\u2500-\u259f◦▪●\p{Default_Ignorable_Code_Point}]]"
)
# A pair of regional indicators; left to \X, a long run of them would take quadratic time.
_FLAG = r"[\U0001F1E6-\U0001F1FF]{2}[\p{M}\u200d]*+"
FULL: Final = regex.compile(
    "(?V1)"
    + _grammar(
        word=rf"[[{_LETTERS}]--[{_UNSPACED}]]",
        currency=r"\p{Sc}",
        symbol=rf"{_FLAG}|-∞|(?={_SYMBOLS})\X",
        extra=rf"[[{_LETTERS}]&&[{_UNSPACED}]][\p{{M}}\u200c\u200d]*+|",
        joint=r'·|‧|"(?<=\p{Hebrew}")(?=\p{Hebrew})',
    )
)

# Words that are one token whatever the grammar: letters without marks of scripts with spaces,
# and Korean as long as `_LONG_HANGUL` leaves it whole.
PLAIN_WORD: Final = re.compile("[0-9a-zß-öø-ʯΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ϿЀ-ҁҊ-ԯא-תء-غف-يٱ-ۓ]++|[가-힣]{1,12}")
# Chinese and Japanese: a token for each character, and none for punctuation.
_EASTERN: Final = "\u3005\u3007ぁ-ゖゝ-ゟァ-ヺー-ヿ㐀-䶿一-鿿"
EASTERN_RUN: Final = re.compile(f"[{_EASTERN}0-9a-z]+")
EASTERN_TOKEN: Final = re.compile(f"[{_EASTERN}]|[0-9a-z]+")
EASTERN_STOPS: Final = re.compile(
    f"[、。「」『』【】〔〕《》〈〉]+|(?<=[{_EASTERN}])[,;:!?()・…]+(?![^{_EASTERN}\\s])"
)

HAS_WORD: Final = regex.compile(r"[\p{L}\p{N}]")
# Two ways to type one comparison.
_OPERATORS: Final = {"<=": "≤", ">=": "≥", "!=": "≠"}
_GRAPHEME: Final = regex.compile(rf"{_FLAG}|\X")
_UNSEEN: Final = regex.compile(r"[\p{White_Space}\p{Cc}\p{Default_Ignorable_Code_Point}]+")
# Korean parts words by spaces; a longer run than any word was written without them.
_LONG_HANGUL: Final = regex.compile(r"\p{Hangul}{13,}")
LONG_HANGUL_ALONE: Final = re.compile("[가-힣]{13,}")


def cut(chunk: str) -> Sequence[str]:
    """The tokens of folded text, decoration and punctuation left out."""
    return _cut_character(chunk) if len(chunk) == 1 else _cut(chunk)


@lru_cache(maxsize=4096)
def _cut_character(character: str) -> Sequence[str]:
    """Signs between blanks are many and alike."""
    return tuple(_cut(character))


def _cut(chunk: str) -> list[str]:
    if is_simple(chunk):
        found = SIMPLE.findall(chunk)
    else:
        chunk = _LONG_HANGUL.sub(lambda run: " " + " ".join(run.group()) + " ", chunk)
        found = FULL.findall(chunk)
    return [_OPERATORS.get(token, token) for token in found if token]


def is_simple(folded: str) -> bool:
    """Whether the simple grammar finds in this text what the full one does."""
    return folded.isascii() or _NOT_SIMPLE.search(folded) is None


def is_visible(text: str) -> bool:
    """Whether anything in the text can be seen."""
    return _UNSEEN.fullmatch(text) is None and text != ""


def visible_graphemes(text: str) -> list[str]:
    """The characters of a text as they are seen, emoji whole, without what is not."""
    if text.isascii():
        return list("".join(text.split()))
    graphemes = (found.strip() for found in _GRAPHEME.findall(text))
    return [grapheme for grapheme in graphemes if is_visible(grapheme)]
