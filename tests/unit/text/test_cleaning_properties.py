import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.text.cleaning import CleaningRules, RepeatedLines, clean
from service.text.normalization import normalize

LINES = st.sampled_from(
    ["Guild", "Guild 3", "Guild 4", "Page 1", "Page 2", "Page 2 of 9", "[Page 3]", "- 2 -", "- 3 -",
     "1", "2", "3", "ii", "iii", "3 / 10", "4 / 10", "WARNING: hot", "text", "", "  ", "Oil Page 3",
     "Oil Page 4", "Oil [Page 5]", "Chapter 1", "Act", "a\tb", "\u200b", "x\r\ny", "\x0c", "\x00"]
)  # fmt: skip
PAGES = st.one_of(
    st.lists(st.lists(LINES, max_size=6).map("\n".join), max_size=8),
    st.lists(st.text(max_size=20), max_size=4),
)
REPEATED = st.builds(RepeatedLines, st.sampled_from([0.1, 0.3, 0.5, 0.9]), st.integers(1, 4))
RULES = st.builds(
    CleaningRules,
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.none() | REPEATED,
    st.booleans(),
    st.sampled_from([(), ("Guild",), ("2",)]),
)


@given(pages=PAGES, rules=st.just(CleaningRules()) | RULES)
def test_cleaning_twice_changes_nothing(pages: list[str], rules: CleaningRules) -> None:
    once = clean(pages, rules)
    twice = clean(once.pages, rules)
    assert twice.pages == once.pages
    assert twice.report.removed == ()


@given(pages=PAGES, rules=RULES)
def test_the_report_adds_up(pages: list[str], rules: CleaningRules) -> None:
    cleaned = clean(pages, rules)
    report = cleaned.report
    assert report.chars_before == sum(map(len, pages))
    assert report.chars_after == sum(map(len, cleaned.pages))
    assert report.chars_before - report.chars_after == sum(r.chars for r in report.removed)


@given(pages=PAGES, rules=RULES)
def test_every_page_keeps_its_place(pages: list[str], rules: CleaningRules) -> None:
    cleaned = clean(pages, rules)
    assert len(cleaned.pages) == len(pages)
    assert cleaned.text == "\n".join(filter(None, cleaned.pages))


@given(text=st.text(max_size=40).filter(lambda text: "\n" not in text))
def test_letters_are_never_changed(text: str) -> None:
    letters = [char for char in text if char.isalnum()]
    assert [char for char in clean([text], CleaningRules()).text if char.isalnum()] == letters


@pytest.mark.parametrize(
    "unit",
    [" \t", "\n", "7", "a", "\u00e9", "-", ".", "1,", "((1", "\r\n", "\x0c", "\u200b", "م\u200d",
     "👍", "🇫", "図", "한", "e\u0301", "$ 5 ", "§", "#", "°", "Page 1\n",
     "1\n", "a.b-", "1\u00a0234", "a\t", "''", '"5" ', "!(", "*", "\u2212 ", "x * ", "図、", "（5"],
)  # fmt: skip
def test_time_is_linear_in_the_length_of_a_text(unit: str) -> None:
    """Four times the length may take eight times as long; quadratic time would take sixteen."""
    small, large = (unit * (length // len(unit)) for length in (20_000, 80_000))
    assert _is_done_in(0.1 + 8 * _seconds([small]), [large])


def _many_pages(size: int) -> list[str]:
    return [f"Guild\n{n}\ntext {n}\n- {n} -" for n in range(size)]


def _columns_of_numbers(size: int) -> list[str]:
    return ["\n".join(str(n + at) for n in range(5 * size)) for at in range(2)] + [""] * size


def _layers_of_headers(size: int) -> list[str]:
    layers = range(size // 2)
    return ["".join(f"L{n}\n{n + at}\n" for n in layers) + f"text {at}" for at in range(3)]


def _empty_pages(size: int) -> list[str]:
    return [""] * (5 * size)


def _short_pages(size: int) -> list[str]:
    return ["x\n1"] * size


@pytest.mark.parametrize(
    "document",
    [_many_pages, _columns_of_numbers, _layers_of_headers, _empty_pages, _short_pages],
)
def test_time_is_linear_in_the_number_of_pages(document: Callable[[int], list[str]]) -> None:
    """As above: the rounds in which the rules are repeated do not multiply the time."""
    assert _is_done_in(0.2 + 8 * _seconds(document(1000)), document(4000))


def _is_done_in(limit: float, pages: list[str]) -> bool:
    """Whether the better of two runs keeps the limit; no second one where the first does."""
    return any(_seconds_of_one_run(pages) < limit for _ in range(2))


def _seconds(pages: list[str]) -> float:
    """The better of two runs."""
    return min(_seconds_of_one_run(pages) for _ in range(2))


def _seconds_of_one_run(pages: list[str]) -> float:
    """Time of this process, which other processes hardly change."""
    started = time.process_time()
    cleaned = clean(pages, CleaningRules())
    normalize(cleaned.text, "words")
    normalize("\n".join(pages), "words")
    return time.process_time() - started
