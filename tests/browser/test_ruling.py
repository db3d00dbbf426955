"""From two workers' posts to a ruling and back, by keyboard; the API tells the same all along."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.posted import conflicts


def at_conflict(id):
    return re.compile(f"/review/conflicts/{id}([?#]|$)")


@pytest.fixture
def workers(site):
    with site.worker() as one, site.worker() as other:
        yield one, other


def chosen_key(page, keep):
    """The key that the page itself names for this ruling."""
    button = page.get_by_role("button", name=f"Keep {keep}")
    return button.get_attribute("data-key")


def test_a_conflict_is_found_ruled_on_and_opened_again_by_keyboard(workers, reviewer):
    worker, other = workers
    first, second, _ = conflicts(worker, other, count=3)
    dana = reviewer("Dana", "/review/conflicts")
    page = dana.page
    expect(page.get_by_role("link", name="Conflict: ")).to_have_count(3)

    dana.press("j")
    expect(page).to_have_url(at_conflict(first))
    expect(page.get_by_role("main")).to_contain_text("2 hours")
    expect(page.get_by_role("main")).to_contain_text("3 hours")
    dana.press("j")
    expect(page).to_have_url(at_conflict(second))
    dana.press("k")
    expect(page).to_have_url(at_conflict(first))
    assert worker.conflict(first).status == "open"

    dana.press(chosen_key(page, "incoming"))
    expect(page).to_have_url(at_conflict(second))
    expect(page.get_by_role("status")).to_contain_text("Ruled by Dana")
    resolution = worker.conflict(first).resolution
    assert resolution
    assert (resolution.keep, resolution.by) == ("incoming", "Dana")
    assert worker.document("new-rule-0").state == "active"

    dana.press("u")
    expect(page).to_have_url(at_conflict(first))
    expect(page.get_by_role("status")).to_contain_text("open again")
    assert worker.conflict(first).status == "open"
    assert worker.document("new-rule-0").state == "held"
    assert [entry.kind for entry in worker.decisions()] == [
        "held", "held", "held", "resolved", "reverted",
    ]  # fmt: skip


@pytest.mark.parametrize("keep", ["incoming", "existing", "both"])
def test_each_key_rules_as_its_button_says(workers, reviewer, keep):
    worker, other = workers
    [only] = conflicts(worker, other)
    page = reviewer("Dana", f"/review/conflicts/{only}").page
    page.keyboard.press(chosen_key(page, keep))
    expect(page.get_by_role("status")).to_contain_text("Ruled by Dana")
    resolution = worker.conflict(only).resolution
    assert resolution
    assert resolution.keep == keep


def test_keys_rule_on_nothing_while_a_note_is_written(workers, reviewer):
    worker, other = workers
    [only] = conflicts(worker, other)
    page = reviewer("Dana", f"/review/conflicts/{only}").page
    page.get_by_label("Note").click()
    page.keyboard.type("1, 2 or 3? jku")
    expect(page.get_by_label("Note")).to_have_value("1, 2 or 3? jku")
    assert worker.conflict(only).status == "open"


def test_of_two_people_the_second_sees_the_ruling_of_the_first(workers, reviewer):
    worker, other = workers
    [only] = conflicts(worker, other)
    path = f"/review/conflicts/{only}"
    dana, jonas = reviewer("Dana", path), reviewer("Jonas", path)
    dana.page.get_by_role("button", name="Keep existing").click()
    expect(dana.page.get_by_role("status")).to_contain_text("Ruled by Dana")

    jonas.page.get_by_role("button", name="Keep incoming").click()
    expect(jonas.page.get_by_role("alert")).to_contain_text("somebody else ruled")
    expect(jonas.page.get_by_role("main")).to_contain_text("Dana ruled")
    resolution = worker.conflict(only).resolution
    assert resolution
    assert (resolution.keep, resolution.by) == ("existing", "Dana")


def test_a_text_that_changed_since_the_page_was_loaded_is_shown_before_it_is_ruled_on(
    workers, reviewer
):
    worker, other = workers
    [only] = conflicts(worker, other)
    page = reviewer("Dana", f"/review/conflicts/{only}").page
    worker.delete("new-rule-0")
    page.get_by_role("button", name="Keep incoming").click()
    expect(page.get_by_role("alert")).to_contain_text("Not ruled")
    assert worker.conflict(only).status == "void"
