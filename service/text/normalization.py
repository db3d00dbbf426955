"""Normalisation: folding a text for comparison only.

Two texts are exact duplicates where this gives the same string, so a rule may drop formatting
and notation, and never a difference of meaning. Whatever changes here changes what stored
signatures mean: raise `NORMALIZATION_VERSION` with it.
"""

from typing import Final, Literal

from service.text import word_grammar
from service.text.folding import fold_case, fold_notation
from service.text.quantities import attach_signs, is_loose, without_thousands_separators

NORMALIZATION_VERSION: Final = 1

Kind = Literal["words", "squish"]

# Formatting around a word. Only what the grammar drops in these places may stand here.
_OPENING = "\"'([{"
_CLOSING = "\"')]}.,;:!?"


def normalize(text: str, kind: Kind) -> str:
    """The text folded for comparison; "" only where nothing visible is there. Idempotent.

    `words` gives tokens joined by single spaces: words, numbers with what belongs to them, and
    symbols. `squish` gives the text in lower case with single spaces, punctuation kept.
    """
    folded = fold_case(text)
    if kind == "squish":
        squished = " ".join(folded.split())
        return squished if squished.isascii() or word_grammar.is_visible(squished) else ""
    folded = fold_notation(folded)
    found = _tokens(folded)
    joined = " ".join(found)
    if "," in joined or "'" in joined:
        joined = without_thousands_separators(joined)
    if joined[:1].isalnum() or word_grammar.HAS_WORD.search(joined):
        return joined
    return " ".join(word_grammar.visible_graphemes(folded))


def tokens(normalized: str) -> list[str]:
    """The tokens of a normalised text; none of an empty one."""
    return normalized.split(" ") if normalized else []


def _tokens(folded: str) -> list[str]:
    """The tokens of a folded text.

    No token crosses white space, so each chunk is cut by itself. Plain words, nearly all there
    is, are told without the grammar; a property test says that it would find the same.
    """
    found: list[str] = []
    loose = False
    if not folded.isascii():
        folded = word_grammar.EASTERN_STOPS.sub(" ", folded)
    for chunk in folded.split():
        if chunk.isalnum() and chunk.isascii():
            found.append(chunk)
        elif (word := _plain_word(chunk)) is not None:
            found.append(word)
        elif word_grammar.EASTERN_RUN.fullmatch(chunk):
            found += word_grammar.EASTERN_TOKEN.findall(chunk)
        elif word_grammar.LONG_HANGUL_ALONE.fullmatch(chunk):
            found += chunk
        else:
            cut = word_grammar.cut(chunk)
            found += cut
            loose = loose or any(map(is_loose, cut))
    return attach_signs(found) if loose else found


def _plain_word(chunk: str) -> str | None:
    """The one word in a chunk with nothing but formatting around it, or None to have it cut."""
    word = chunk.rstrip(_CLOSING)
    if not word.isalnum():
        word = word.lstrip(_OPENING)
        if not word.isalpha():
            return None
    elif len(word) < len(chunk) and not word.isalpha() and ("'" in chunk or '"' in chunk):
        return None  # 5" is five inches
    if word.isascii() or word_grammar.PLAIN_WORD.fullmatch(word):
        return word
    return None
