import pytest

from service.text.cleaning import Cleaned, CleaningRules, RepeatedLines, clean, split_pages

RULES = CleaningRules()


def removed(cleaned: Cleaned) -> dict[str, tuple[int, int]]:
    return {removal.rule: (removal.count, removal.chars) for removal in cleaned.report.removed}


def test_a_tidy_text_is_left_alone() -> None:
    text = "The reading room opens at nine.\nBring a pencil."
    cleaned = clean([text], RULES)
    assert cleaned.pages == (text,)
    assert cleaned.report.removed == ()
    assert cleaned.report.chars_before == cleaned.report.chars_after == len(text)


@pytest.mark.parametrize(
    ("text", "expected", "report"),
    [
        ("a\x00b\x07", "ab", {"control_characters": (2, 2)}),
        ("a\r\nb\rc", "a\nb\nc", {"line_ends": (2, 1)}),
        ("a\u2028b\x0bc\x85d", "a\nb\nc\nd", {"line_ends": (3, 0)}),
        ("co\u00adop\ufeff", "coop", {"invisible_characters": (2, 2)}),
        ("a \t b\tc", "a b c", {"whitespace": (3, 2)}),
        ("  a \n b", "a\nb", {"whitespace": (4, 4)}),
        ("a\u3000b", "a b", {"whitespace": (1, 0)}),
        ("a\n\n\nb\n", "a\nb", {"empty_lines": (3, 3)}),
        ("\n\n", "", {"empty_lines": (2, 2)}),
        ("one\x0ctwo", "one\ntwo", {"control_characters": (1, 0)}),
        ("one\x0c\ntwo\x0c", "one\ntwo", {"control_characters": (2, 2)}),
    ],
)
def test_what_goes_is_counted(text: str, expected: str, report: dict[str, tuple[int, int]]) -> None:
    cleaned = clean([text], RULES)
    assert cleaned.pages == (expected,)
    assert removed(cleaned) == report


@pytest.mark.parametrize(
    "text",
    [
        "می‌شود",
        "क्‍ष",
        "👩‍🌾 and ❤️",
        "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "12\u00a0500",
        "ภาษา\u200bไทย",
        "Ⅷ ﬁ ß e\u0301",
    ],
)
def test_characters_that_mean_something_stay(text: str) -> None:
    assert clean([text], RULES).text == text


@pytest.mark.parametrize("joiner", ["\u200b", "\u200c", "\u200d", "\u2060"])
def test_a_zero_width_character_inside_a_latin_word_goes(joiner: str) -> None:
    assert clean([f"har{joiner}bour"], RULES).text == "harbour"


def test_a_hyphen_at_a_line_end_is_not_joined() -> None:
    assert clean(["a well-\nknown path"], RULES).text == "a well-\nknown path"


def test_form_feeds_are_page_ends() -> None:
    assert split_pages("one\x0ctwo\x0c") == ("one", "two")
    assert split_pages("one\x0c\x0ctwo") == ("one", "", "two")
    assert split_pages("one") == ("one",)
    assert split_pages("") == ("",)


def test_the_text_is_the_filled_pages_joined_by_newlines() -> None:
    cleaned = clean(["first", " ", "third"], RULES)
    assert cleaned.pages == ("first", "", "third")
    assert cleaned.text == "first\nthird"


def test_each_rule_can_be_turned_off() -> None:
    off = CleaningRules(
        control_characters=False,
        invisible_characters=False,
        whitespace=False,
        empty_lines=False,
        repeated_lines=None,
        page_numbers=False,
    )
    pages = ["Top\n\n a\x00  \u200b b\nPage 1", "Top\nc\nPage 2", "Top\nd\nPage 3"]
    assert clean(pages, off).pages == tuple(pages)


def test_rules_are_reported_in_their_documented_order() -> None:
    pages = [f"Top\r\n\r\nbody  {word}\u200b\x00\nPage {n}" for n, word in enumerate("abc", 1)]
    assert list(removed(clean(pages, RULES))) == [
        "control_characters",
        "invisible_characters",
        "line_ends",
        "whitespace",
        "empty_lines",
        "repeated_lines",
        "page_numbers",
    ]


def test_a_share_of_one_half_needs_more_than_half() -> None:
    pages = ["Top\na", "Top\nb", "c", "d"]
    assert removed(clean(pages, RULES)) == {}
    more = CleaningRules(repeated_lines=RepeatedLines(share=0.4))
    assert removed(clean(pages, more)) == {"repeated_lines": (2, 8)}
