"""A text in pieces: marked where something differs, collapsed where nothing does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.web.review.marking import (
    Piece,
    Place,
    clipped,
    collapse,
    cut,
    place,
    reach,
    total,
    weight,
    within,
)
from service.web.review.showing import shown

TEXT = "keep the bike for 2 hours a day"
HOURS, DAY = Place(18, 25, fact=True), Place(26, 31, fact=False)


def told(pieces):
    return [(piece.text, piece.change) for piece in pieces]


def test_a_mark_stands_where_its_change_is():
    assert told(cut(TEXT, {1: HOURS, 2: DAY})) == [
        ("keep the bike for ", None),
        ("2 hours", 1),
        (" ", None),
        ("a day", 2),
    ]


def test_what_two_changes_cover_is_marked_for_the_fact_and_is_the_place_of_both():
    pieces = cut(TEXT, {1: Place(9, 25, fact=False), 2: HOURS, 3: Place(18, 31, fact=False)})
    assert told(pieces) == [
        ("keep the ", None),
        ("bike for ", 1),
        ("2 hours", 2),
        (" a day", 3),
    ]
    assert [piece.begins for piece in pieces] == [(), (1,), (2, 3), ()]


@pytest.mark.parametrize(
    ("words", "span"),
    [
        pytest.param(None, (18, 25), id="there is nothing on this side"),
        pytest.param("2 hours", None, id="no place was told"),
        pytest.param("3 hours", (18, 25), id="other words stand there by now"),
        pytest.param("day", (28, 99), id="it ends behind the text"),
        pytest.param("", (3, 3), id="it is empty"),
    ],
)
def test_a_change_without_its_words_at_its_place_has_none(words, span):
    assert place(TEXT, words, span, fact=True) is None


def test_what_is_the_same_keeps_some_lines_around_a_mark():
    lines = "\n".join(f"line {number}" for number in range(1, 100))
    start = lines.index("line 50")
    found = collapse(cut(lines, {1: Place(start, start + 7, fact=True)}), 400, 400)
    before, above, mark, below, after = found
    assert (before.left_out > 300, after.left_out > 300) == (True, True)
    assert mark == Piece(start, "line 50", 1, (1,))
    assert above.text == "\nline 48\nline 49\n"[1:]
    assert below.text == "\nline 51\nline 52"


def test_a_text_without_lines_is_cut_between_words():
    text = "word " * 400
    first, left_out, _ = collapse(cut(text, {1: Place(0, 4, fact=True)}), 50, 50)
    assert first.text == "word"
    assert left_out.text.endswith("word")
    assert len(left_out.text) <= 50


def test_a_mark_that_is_not_wanted_counts_as_the_same():
    places = {1: HOURS, 2: DAY}
    assert told(collapse(cut(TEXT, places), 400, 400, shown=[2])) == [
        ("keep the bike for 2 hours ", None),
        ("a day", 2),
    ]


def test_long_marks_lose_their_middle_and_stay_marked():
    found = collapse([Piece(0, "x" * 1000, 1, (1,))], 100, 50)
    assert [(piece.change, len(piece.text), piece.left_out) for piece in found] == [
        (1, 50, 0),
        (1, 0, 900),
        (1, 50, 0),
    ]
    assert [piece.begins for piece in found] == [(1,), (), ()]


SPANS = st.tuples(st.integers(0, 60), st.integers(1, 30), st.booleans())


@given(st.text(min_size=1, max_size=60), st.lists(SPANS, max_size=6), st.integers(0, 20))
def test_nothing_of_a_text_is_lost_or_told_twice(text, spans, context):
    places = {
        number: Place(start, min(start + length, len(text)), fact)
        for number, (start, length, fact) in enumerate(spans, 1)
        if start < len(text)
    }
    pieces = cut(text, places)
    assert "".join(piece.text for piece in pieces) == text
    assert sorted(n for piece in pieces for n in piece.begins) == sorted(places)
    for wanted in (None, [1]):
        kept = collapse(pieces, context, context, wanted)
        assert sum(len(piece.text) + piece.left_out for piece in kept) == len(text)
        for piece in kept:
            assert text.startswith(piece.text, piece.start)
        cut_off = within(kept, 30)
        assert sum(len(piece.text) + piece.left_out for piece in cut_off) == len(text)
        assert total(cut_off[:-1]) <= 30 or len(cut_off) <= 1


@given(st.text(max_size=50))
def test_a_text_is_never_heavier_on_the_page_than_it_is_said_to_be(text):
    assert len(str(shown(text)).encode()) <= weight(text)


@given(st.text(min_size=1, max_size=80), st.integers(1, 200))
def test_parts_of_a_weight_make_the_whole_text_from_either_end(text, most):
    at, parts = 0, []
    while at < len(text):
        end = reach(text, at, most)
        parts.append(text[at:end])
        at = end
    assert "".join(parts) == text
    assert all(weight(part) <= most or len(part) == 1 for part in parts)
    assert reach(text, len(text), most, back=True) < len(text)


def test_what_is_clipped_says_how_much_is_missing():
    assert clipped("a<b", 7) == ("a<", 1)
    assert clipped("", 7) == ("", 0)
