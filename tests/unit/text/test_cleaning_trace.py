"""What cleaning took away, shown where it stood."""

from hypothesis import given
from hypothesis import strategies as st

from service.text.cleaning import CleaningRules, clean
from service.text.cleaning_trace import Piece, trace
from tests.unit.text.test_cleaning_properties import LINES, PAGES, RULES

# Dense in what the rules for characters touch, one beside the other.
TOUCHED = st.text("a1 \t\n\r\x0b\x0c\x00\x1f\x85\xa0\u2003\u2028\u200b\u200d\ufeffب👍", max_size=25)
MIXED = (
    PAGES
    | st.lists(TOUCHED, max_size=5)
    | st.lists(st.lists(LINES | TOUCHED, max_size=5).map("\n".join), max_size=6)
)
OF_LINES = ("repeated_lines", "page_numbers")


def pieces(*pages: str) -> list[list[tuple[str, str]]]:
    """Each piece as its text and what became of it."""
    return [
        [(piece.text, piece.kind if piece.rule is None else f"{piece.kind}: {piece.rule}")
         for piece in page]
        for page in trace(pages, CleaningRules())
    ]  # fmt: skip


@given(pages=MIXED, rules=st.just(CleaningRules()) | RULES)
def test_what_stays_is_the_cleaned_text_and_all_was_posted(
    pages: list[str], rules: CleaningRules
) -> None:
    traced = trace(pages, rules)
    assert tuple(_without("removed", page) for page in traced) == clean(pages, rules).pages
    assert [_without("added", page) for page in traced] == pages


@given(pages=MIXED, rules=RULES, most=st.integers(0, 60))
def test_of_a_long_text_the_beginning_is_told(
    pages: list[str], rules: CleaningRules, most: int
) -> None:
    traced = trace(pages, rules, most)
    assert "".join(_without("added", page) for page in traced) == "".join(pages)[:most]
    cleaned = clean(pages, rules).pages
    assert all(
        whole.startswith(_without("removed", page))
        for whole, page in zip(cleaned, traced, strict=False)
    )


@given(pages=PAGES, rules=RULES)
def test_the_lines_that_went_are_those_that_the_report_counts(
    pages: list[str], rules: CleaningRules
) -> None:
    gone = dict.fromkeys(OF_LINES, 0)
    for piece in (piece for page in trace(pages, rules) for piece in page):
        if piece.rule in OF_LINES:
            gone[piece.rule] += len(piece.text)
    told = {one.rule: one.chars for one in clean(pages, rules).report.removed}
    assert gone == {rule: told.get(rule, 0) for rule in OF_LINES}


def test_of_two_equal_lines_the_header_is_struck_and_the_one_inside_stays() -> None:
    page = "Guild\ntext {}\nGuild\nmore {}"
    traced = pieces(*(page.format(word, word) for word in ("one", "two", "three")))
    assert traced[0] == [
        ("Guild\n", "removed: repeated_lines"),
        ("text one\nGuild\nmore one", "kept"),
    ]


def test_a_page_number_at_the_end_goes_with_the_newline_before_it() -> None:
    [page] = pieces("text\nPage 3 of 9")
    assert page == [("text", "kept"), ("\nPage 3 of 9", "removed: page_numbers")]


def test_a_page_number_is_cut_off_a_line_that_stays() -> None:
    [page] = pieces("Oil the hinge\nOil [Page 5]")
    assert page == [("Oil the hinge\nOil", "kept"), (" [Page 5]", "removed: page_numbers")]


def test_what_is_put_in_place_of_something_is_told_apart_from_what_was_posted() -> None:
    [page] = pieces("a\tb\x0cc\r\nd")
    assert page == [
        ("a", "kept"),
        ("\t", "removed: whitespace"),
        (" ", "added: whitespace"),
        ("b", "kept"),
        ("\x0c", "removed: control_characters"),
        ("\n", "added: control_characters"),
        ("c", "kept"),
        ("\r", "removed: line_ends"),
        ("\nd", "kept"),
    ]


def test_a_text_that_nothing_goes_from_is_one_piece() -> None:
    assert pieces("Oil the hinge.") == [[("Oil the hinge.", "kept")]]


def _without(kind: str, page: tuple[Piece, ...]) -> str:
    return "".join(piece.text for piece in page if piece.kind != kind)
