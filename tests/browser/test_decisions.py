"""The log: found, understood and taken back."""

import re

from playwright.sync_api import expect

from demo.places import PLACES


def test_what_differs_is_named_for_the_text_that_it_stands_in(dana):
    for name in ("decision", "decision-dropped", "decision-held"):
        PLACES[name](dana.page)
        for heading in ("Twin", "Document"):
            text = dana.page.get_by_role("region", name=heading, exact=True).inner_text()
            for words in column(dana.page, f"In the {heading.lower()}"):
                assert words in text or words == "nothing"


def column(page, heading):
    """The cells of the table of changes under this heading; none where nothing differs."""
    headings = page.get_by_role("columnheader").all_inner_texts()
    if heading not in headings:
        return []
    at = headings.index(heading) + 1
    return page.locator(f"main table tbody td:nth-child({at})").all_inner_texts()


def test_a_dropped_copy_is_searched_for_and_taken_back_by_keyboard(site, reviewer):
    text = "Bikes are washed on the first day of each month by whoever has opened the shop."
    with site.worker() as worker:
        worker.check("rule", text)
        worker.check("copy", text)
        dana = reviewer("Dana", "/review/decisions")
        page = dana.page
        dana.press("/")
        expect(page.get_by_label("Document")).to_be_focused()
        page.keyboard.type("copy")
        dana.press("Enter")
        page.get_by_role("row").filter(has_text="dropped").get_by_role("link").focus()
        dana.press("Enter")
        expect(page).to_have_url(re.compile("/review/decisions/d-"))
        dana.press("u")
        expect(page.get_by_role("status")).to_contain_text("Workers are told to ingest copy")
        assert worker.document("copy").state == "active"
        assert [entry.by for entry in worker.decisions(kind="reverted")] == ["Dana"]
