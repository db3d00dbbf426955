"""Shingle sets and their similarity."""

from hypothesis import given
from hypothesis import strategies as st

from service.dedup.shingles import Shingles, jaccard, shingle_set

words = st.lists(st.sampled_from("abcdefgh"), max_size=12).map(" ".join)


def test_a_word_shingle_is_every_run_of_words():
    assert shingle_set("one two three four", Shingles("word", 3)) == {
        "one two three",
        "two three four",
    }


def test_a_character_shingle_is_every_run_of_characters_blanks_included():
    assert shingle_set("ab cd", Shingles("char", 3)) == {"ab ", "b c", " cd"}


def test_a_text_shorter_than_a_shingle_is_one_shingle():
    assert shingle_set("lift broken", Shingles("word", 3)) == {"lift broken"}
    assert shingle_set("ab", Shingles("char", 3)) == {"ab"}


def test_the_empty_text_has_no_shingles():
    assert shingle_set("", Shingles("word", 1)) == frozenset()
    assert shingle_set("", Shingles("char", 3)) == frozenset()


def test_two_texts_without_shingles_are_not_alike():
    assert jaccard(frozenset(), frozenset()) == 0.0


def test_eighteen_of_twenty_words_shared_are_0_818():
    shared = {f"w{i}" for i in range(18)}
    assert (
        round(jaccard(frozenset(shared | {"a", "b"}), frozenset(shared | {"c", "d"})), 3) == 0.818
    )


def test_fifteen_of_twenty_three_shingles_are_0_652():
    shared = {f"s{i}" for i in range(15)}
    one = frozenset(shared | {f"a{i}" for i in range(4)})
    other = frozenset(shared | {f"b{i}" for i in range(4)})
    assert round(jaccard(one, other), 3) == 0.652


@given(words, words)
def test_similarity_is_symmetric_and_within_its_bounds(one: str, other: str):
    a, b = (shingle_set(text, Shingles("word", 2)) for text in (one, other))
    assert jaccard(a, b) == jaccard(b, a)
    assert 0.0 <= jaccard(a, b) <= 1.0
