import pytest

from service.text.cleaning import Cleaned, CleaningRules, clean

RULES = CleaningRules()


def removed(cleaned: Cleaned) -> dict[str, int]:
    return {removal.rule: removal.count for removal in cleaned.report.removed}


@pytest.mark.parametrize(
    "line",
    ["Page 7", "page 7 of 31", "- 7 -", "– 7 –", "[Page 7]", "Page vii", "Seite 7 von 31",
     "第7页", "Страница 7", "صفحة ٧"],
)  # fmt: skip
@pytest.mark.parametrize("place", ["{}\nThe kiln cools overnight", "The kiln cools overnight\n{}"])
def test_a_shaped_number_at_an_edge_goes(line: str, place: str) -> None:
    cleaned = clean([place.format(line)], RULES)
    assert cleaned.text == "The kiln cools overnight"
    assert removed(cleaned) == {"page_numbers": 1}


@pytest.mark.parametrize("line", ["Page 7 of 31", "[Page 7]"])
def test_an_unmistakable_number_goes_inside_a_text(line: str) -> None:
    assert clean([f"The kiln\n{line}\ncools"], RULES).text == "The kiln\ncools"


@pytest.mark.parametrize("line", ["Page 7", "7 / 31", "- 7 -", "7"])
def test_other_numbers_inside_a_text_stay(line: str) -> None:
    assert removed(clean([f"The kiln\n{line}\ncools"], RULES)) == {}


@pytest.mark.parametrize("numbers", [("1", "2", "3"), ("iv", "v", "vi"), ("VII", "VIII", "IX"),
                                     ("१", "२", "३"), ("٨", "٩", "١٠")])  # fmt: skip
@pytest.mark.parametrize("place", ["{}\ntext {}", "text {1}\n{0}"])
def test_bare_numbers_that_count_the_pages_go(numbers: tuple[str, ...], place: str) -> None:
    pages = [place.format(number, word) for number, word in zip(numbers, "abc", strict=True)]
    assert removed(clean(pages, RULES)) == {"page_numbers": 3}


@pytest.mark.parametrize(
    "pages",
    [
        ["4a Meals 120\nx", "5a Meals 130\ny", "6a Meals 140\nz"],
        ["3 quick tips\nx", "y", "z"],
        ["Report\n2019"],
        ["2019\nx", "2020\ny", "2021\nz"],
        ["x\nV", "y", "z"],
        ["x\nAct\nIV", "y\nAct\nV"],
        ["7\nx", "3\ny", "9\nz"],
        ["Rating\n7 / 10", "Rated\n4 / 10", "Graded\n9 / 10"],
        ["1\n14\n9", "2\n11\n8"],
        ["A dry but honest film\n7 / 10"],
        ["A dry film\n6 / 10", "A wet film\n7 / 10"],
        ["Glaze as shown on\nPage 4"],
    ],
)
def test_other_numbers_stay(pages: list[str]) -> None:
    assert removed(clean(pages, RULES)) == {}


@pytest.mark.parametrize(
    "pages",
    [["Mix\n1 / 2", "Fire\n2 / 2"], ["Mix\n4 / 9", "Fire\n5 / 9", "Cool\n6 / 9"]],
)
def test_a_number_of_a_total_that_counts_along_goes(pages: list[str]) -> None:
    assert removed(clean(pages, RULES)) == {"page_numbers": len(pages)}


def test_roman_front_matter_and_arabic_pages_go() -> None:
    pages = ["The Kiln", "i\nthanks", "ii\npreface", "1\nGlazes", "2\nFiring", "3\nCooling"]
    assert removed(clean(pages, RULES)) == {"page_numbers": 5}


def test_a_number_after_an_empty_line_goes_where_empty_lines_stay() -> None:
    assert clean(["\nPage 4\nGlazes"], CleaningRules(empty_lines=False)).text == "\nGlazes"


def test_a_number_at_the_end_of_a_title_goes() -> None:
    pages = ["Glazes  Page 4\nMix dry", "Firing  Page 5\nHeat slowly", "Cooling  Page 6\nWait"]
    cleaned = clean(pages, RULES)
    assert cleaned.pages == ("Glazes\nMix dry", "Firing\nHeat slowly", "Cooling\nWait")
    assert removed(cleaned)["page_numbers"] == 3


def test_a_reference_to_a_page_stays() -> None:
    pages = ["Glazes\nas shown on Page 4", "Firing\nas shown on Page 5"]
    assert removed(clean(pages, RULES)) == {}


def test_a_protected_number_stays() -> None:
    assert removed(clean(["text\nPage 4"], CleaningRules(protect=("Page 4",)))) == {}


def test_a_text_of_a_page_number_alone_stays() -> None:
    assert clean(["Page 4"], RULES).text == "Page 4"
