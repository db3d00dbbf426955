import pytest

from service.text.cleaning import Cleaned, CleaningRules, Example, RepeatedLines, clean

RULES = CleaningRules()
BODIES = ["Oil the hinge", "Sand the frame", "Paint the door", "Hang the bell", "Wax the step"]


def with_top(*tops: str) -> list[str]:
    return [f"{top}\n{body}" for top, body in zip(tops, BODIES, strict=False)]


def removed(cleaned: Cleaned) -> dict[str, int]:
    return {removal.rule: removal.count for removal in cleaned.report.removed}


def test_a_header_on_most_pages_goes() -> None:
    cleaned = clean(with_top("Joinery Notes", "Joinery Notes", "Joinery Notes"), RULES)
    assert cleaned.pages == tuple(BODIES[:3])
    assert cleaned.report.removed[0].examples == (Example("Joinery Notes", 3, 3),)


def test_a_copy_inside_the_body_stays() -> None:
    pages = with_top("Joinery Notes", "Joinery Notes", "Joinery Notes")
    pages[1] += "\nJoinery Notes\nwas the title of the course"
    assert clean(pages, RULES).text.count("Joinery Notes") == 1


def test_two_pages_lose_nothing() -> None:
    assert removed(clean(with_top("Joinery Notes", "Joinery Notes"), RULES)) == {}


def test_a_heading_that_stands_once_stays() -> None:
    pages = with_top("Joinery Notes", "Joinery Notes", "Glossary", "Joinery Notes")
    assert "Glossary" in clean(pages, RULES).text


def test_left_and_right_headers_go() -> None:
    pages = [
        f"{'Left' if n % 2 else 'Right'} title\nText number {w}" for n, w in enumerate("abcdef")
    ]
    assert removed(clean(pages, RULES)) == {"repeated_lines": 6}


@pytest.mark.parametrize("line", ["Joinery Notes {}", "{} Joinery Notes", "Notes, page {} of 9"])
def test_headers_that_count_the_pages_go(line: str) -> None:
    pages = with_top(*(line.format(n) for n in (4, 5, 6, 7)))
    assert removed(clean(pages, RULES)) == {"repeated_lines": 4}


@pytest.mark.parametrize(
    "line",
    ["Year Book {}", "Year Book ({}) Spring", "{} Year Book", "Oak Lane Site - {}", "Notes, p.{}",
     "Report 2021 {}", "Confidential | {}"],
)  # fmt: skip
def test_a_title_may_end_in_a_word_that_opens_headings(line: str) -> None:
    pages = with_top(*(line.format(n) for n in (2, 3, 4, 5)))
    assert removed(clean(pages, RULES)) == {"repeated_lines": 4}


def test_headers_that_count_in_roman_numerals_go() -> None:
    pages = with_top("Preface vi", "Preface vii", "Preface viii")
    assert removed(clean(pages, RULES)) == {"repeated_lines": 3}


@pytest.mark.parametrize(
    "line",
    ["Chapter {}", "Section {}", "PART {}", "Article {}.", "Step {}:", "Day {}", "{} May",
     "Book {}", "Recipe {}", "EUR {}", "{}. Kapitel", "الفصل {}", "अध्याय {}", "Welds, Part {}",
     "{} quick repairs", "{}. Plane the edge", "{}) Plane the edge", "Lamp {} 12 40", "Lamp {} 12"],
)  # fmt: skip
def test_headings_that_count_stay(line: str) -> None:
    pages = with_top(*(line.format(n) for n in (1, 2, 3, 4)))
    assert removed(clean(pages, RULES)) == {}


def test_table_rows_that_differ_in_numbers_stay() -> None:
    pages = with_top("Mon 3 | 7.1 | 55", "Tue 4 | 7.4 | 54", "Wed 5 | 7.2 | 59", "Thu 6 | 7.0 | 51")
    assert removed(clean(pages, RULES)) == {}


def test_three_lines_of_header_go() -> None:
    pages = [f"Guild\nHandbook\nFourth edition\n{body}" for body in BODIES]
    assert clean(pages, RULES).pages == tuple(BODIES)


def test_four_lines_that_repeat_stay_whole() -> None:
    pages = [f"Name:\nDate:\nPlace:\nSigned:\n{body}" for body in BODIES]
    assert removed(clean(pages, RULES)) == {}


def test_a_page_number_does_not_stop_a_run() -> None:
    pages = [f"Guild\nPage {n}\nHandbook\n{body}" for n, body in enumerate(BODIES, 1)]
    assert clean(pages, RULES).pages == tuple(BODIES)


def test_page_numbers_that_stay_do_not_hide_a_footer() -> None:
    pages = [f"{body}\nGuild\n{n}" for n, body in enumerate(BODIES, 1)]
    cleaned = clean(pages, CleaningRules(page_numbers=False))
    assert cleaned.pages[0] == "Oil the hinge\n1"


@pytest.mark.parametrize(
    "line",
    [
        "WARNING: hot surface",
        "Do not lift by the handle",
        "Helmets must be worn",
        "Achtung: Rutschgefahr",
        "Осторожно: высокое напряжение",
        "警告:高温",
        "Gloves are required here",
        "⚠ moving parts",
    ],
)
def test_a_caution_stays_once_and_is_named(line: str) -> None:
    cleaned = clean([f"{body}\n{line}" for body in BODIES], RULES)
    assert cleaned.text.count(line) == 1
    assert cleaned.report.kept == (Example(line, 5, 5, kept=True),)
    assert cleaned.report.removed[0].examples == (Example(line, 4, 5, kept=True),)


def test_protected_lines_stay_and_are_named() -> None:
    rules = CleaningRules(protect=("Joinery",))
    cleaned = clean(with_top("Joinery Notes", "Joinery Notes", "Joinery Notes"), rules)
    assert cleaned.report.removed == ()
    assert cleaned.report.kept == (Example("Joinery Notes", 3, 3, kept=True),)


def test_a_document_of_headers_only_is_left_as_it_is() -> None:
    pages = ["Guild\nPage 1", "Guild\nPage 2", "Guild\nPage 3"]
    assert clean(pages, RULES).pages == tuple(pages)


@pytest.mark.parametrize(("pages", "goes"), [(29, False), (30, True)])
def test_a_share_is_taken_exactly(pages: int, goes: bool) -> None:
    document = [f"Joinery Notes\nLine of {chr(0x4E00 + n)}" for n in range(pages)]
    document += [chr(0x5E00 + n) for n in range(100 - pages)]
    rules = CleaningRules(repeated_lines=RepeatedLines(share=0.29, min_pages=90))
    assert bool(removed(clean(document, rules))) is goes


def test_title_and_blank_pages_may_come_first() -> None:
    pages = ["The Joinery Notes", "", *with_top(*["Joinery Notes"] * 4)]
    assert clean(pages, RULES).pages == ("The Joinery Notes", "", *BODIES[:4])


def test_an_emptied_page_keeps_its_place() -> None:
    pages = ["Guild\nOil the hinge", "Guild", "Guild\nPaint the door"]
    assert clean(pages, RULES).pages == ("Oil the hinge", "", "Paint the door")


def test_one_document_does_not_depend_on_another() -> None:
    page = ["Joinery Notes\nOil the hinge"]
    before = clean(page, RULES)
    clean(with_top("Joinery Notes", "Joinery Notes", "Joinery Notes"), RULES)
    assert clean(page, RULES) == before
