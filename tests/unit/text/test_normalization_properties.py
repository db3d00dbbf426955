import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.text import folding, quantities, word_grammar
from service.text.cleaning import CleaningRules, clean
from service.text.normalization import Kind, _tokens, normalize, tokens

PIECES = st.sampled_from(
    [
        *"aAbßẞIiİıσςΣ0123459 \n\t.,:;-+−–—'’\"“()[]$€%§°#@&/\\<>=!?*_~²½₂١éCF",
        *"\u0301\u0338\u0307\xa0\u202f\u200b\u200c\u200d\xad\ufeff図ーก้می한글👍🏽❤\ufe0f🇫🇷ﬁ≤≠℃",
        *"′″†⅜∞·⌊、。「，（！・々ー가",
        " % ",
        " * ",
        " · ",
        " − ",
        " x ",
        "5'",
        '5"',
        "''",
        '"5"',
        "!(",
        "-(",
        ":)",
        "::",
        ":=",
        "-∞",
        "가나다라마바사아자차카타파",
        " $ ",
        " § ",
        " : ",
        " - ",
        "°C",
        "12,345",
        "1'000",
        "\r\n",
        "  ",
        "....",
        "====",
    ]
)
TEXTS = st.one_of(st.lists(PIECES, max_size=16).map("".join), st.text(max_size=30))
KINDS = pytest.mark.parametrize("kind", ["words", "squish"])


@KINDS
@given(text=TEXTS)
def test_normalising_twice_changes_nothing(kind: Kind, text: str) -> None:
    once = normalize(text, kind)
    assert normalize(once, kind) == once


@KINDS
@pytest.mark.parametrize("form", ["NFC", "NFD"])
@given(text=TEXTS)
def test_composition_does_not_count(kind: Kind, form: str, text: str) -> None:
    composed = unicodedata.normalize(form, text)  # type: ignore[arg-type]
    assert normalize(composed, kind) == normalize(text, kind)


@KINDS
@given(text=TEXTS)
def test_line_ends_do_not_count(kind: Kind, text: str) -> None:
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    assert normalize(plain.replace("\n", "\r\n"), kind) == normalize(plain, kind)


@given(text=TEXTS)
def test_tokens_are_joined_by_single_spaces(text: str) -> None:
    normalized = normalize(text, "words")
    assert " ".join(tokens(normalized)) == normalized
    assert "" not in tokens(normalized)


@given(text=TEXTS.filter(lambda text: not set(text) & set("\r\n\x0b\x0c\x85\u2028\u2029")))
def test_cleaning_a_line_does_not_change_what_it_is_compared_by(text: str) -> None:
    assert normalize(clean([text], CleaningRules()).text, "words") == normalize(text, "words")


@given(text=TEXTS)
def test_the_quick_ways_find_what_the_full_grammar_finds(text: str) -> None:
    folded = folding.fold_notation(folding.fold_case(text))
    spaced = word_grammar.EASTERN_STOPS.sub(" ", folded)
    spaced = word_grammar._LONG_HANGUL.sub(lambda run: f" {' '.join(run.group())} ", spaced)
    full = [word_grammar._OPERATORS.get(t, t) for t in word_grammar.FULL.findall(spaced) if t]
    if any(map(quantities.is_loose, full)):
        full = quantities.attach_signs(full)
    assert _tokens(folded) == full


def test_the_quick_way_for_chinese_and_japanese_knows_only_letters_of_one_token() -> None:
    quick = [c for c in map(chr, range(0x80, 0x10000)) if word_grammar.EASTERN_RUN.fullmatch(c)]
    assert word_grammar.FULL.findall("".join(quick)) == quick


def test_plain_words_of_all_letters_are_one_token() -> None:
    letters = [c for c in map(chr, range(0x80, 0xFFFF)) if word_grammar.PLAIN_WORD.fullmatch(c)]
    assert all(word_grammar.FULL.findall(f"a{letter}1") == [f"a{letter}1"] for letter in letters)


@given(text=st.text(alphabet=st.characters(max_codepoint=0x7E), max_size=60))
def test_the_simple_grammar_is_the_full_one_on_ascii(text: str) -> None:
    folded = folding.fold_case(text)
    assert word_grammar.SIMPLE.findall(folded) == word_grammar.FULL.findall(folded)


def test_the_table_of_case_variants_is_what_case_folding_adds_to_lower_case() -> None:
    apart = {chr(code) for code in range(0x13A0, 0x1400)}  # Cherokee folds to capitals
    missing = [
        char
        for char in map(chr, range(0x110000))
        if char.lower() == char
        and len(char.casefold()) == 1
        and char.casefold() != char
        and char.casefold().lower() == char.casefold()
        and char not in apart
        and folding.fold_case(char) != unicodedata.normalize("NFC", char.casefold())
    ]
    assert missing == []
