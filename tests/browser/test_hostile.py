"""What was posted stays words: in texts, ids, metadata, names and notes, on every page."""

import pytest
from playwright.sync_api import expect

SCRIPT = (
    "<script>window.touched = 1</script><img src=x onerror='window.touched = 1'>"
    '"\'><svg onload="window.touched = 1"><style>body{display:none}</style>'
    "<a href=\"javascript:window.touched=1\">here</a><iframe src='//elsewhere.example'></iframe>"
    "{{ 7 * 7 }}</textarea></title><base href='//elsewhere.example'>"
)
TURNED = "\u202eevitca\u202c \u2066a\u2069 \u200b"
RULE = f"Keep it for HOURS at most. {SCRIPT} {TURNED} Then bring it back, clean and dry."
# What the posted markup would have made of a page.
MADE = "main :is(script, iframe, img, base, style), [onerror], [onload], a[href^=javascript]"
PATHS = (
    "/review",
    "/review/conflicts",
    "/review/conflicts?order=highest&collection=" + "%3Cscript%3Ewindow.touched=1%3C/script%3E",
    "/review/decisions",
    "/review/decisions?document=%3Cimg%20src=x%20onerror=window.touched=1%3E",
    "/review/thresholds",
    "/review/try",
    "/review/sign-in?next=/review%22%3E%3Cscript%3Ewindow.touched=1%3C/script%3E",
    "/review/conflicts/%3Cimg%20src=x%20onerror=window.touched=1%3E",
)


@pytest.fixture
def hostile(site):
    """The id of a conflict of such texts."""
    with site.worker() as worker:
        data = {SCRIPT[:40]: SCRIPT, "turned": TURNED, "link": "javascript:window.touched=1"}
        worker.check(f"old {SCRIPT[:90]}", RULE.replace("HOURS", "2 hours"), metadata=data)
        worker.check(f"equal {TURNED}", RULE.replace("HOURS", "2 hours"), metadata=data)
        answer = worker.check(f"new {SCRIPT[:90]}", RULE.replace("HOURS", "3 hours"), metadata=data)
        assert answer.conflict
        yield answer.conflict.id


def test_markup_and_marks_of_direction_stay_inert_everywhere(hostile, reviewer, site):
    dana = reviewer(SCRIPT[:60])
    for path in (*PATHS, f"/review/conflicts/{hostile}"):
        page = dana.go(path)
        assert page.evaluate("window.touched") is None, path
        assert page.locator(MADE).count() == 0, path
        assert not set("\u202e\u202c\u2066\u2069\u200b") & set(page.locator("main").inner_text())
    expect(page.get_by_role("main")).to_contain_text("<script>window.touched = 1</script>")
    # `reviewer` holds each browser to no dialog, no request elsewhere, nothing on the console.


def test_a_ruling_with_such_a_note_is_shown_as_it_was_written(hostile, reviewer):
    page = reviewer(SCRIPT[:60], f"/review/conflicts/{hostile}").page
    page.get_by_label("Note").fill(SCRIPT)
    page.get_by_role("button", name="Keep both").click()
    expect(page.get_by_role("status")).to_be_visible()
    page.goto(page.url.partition("?")[0])
    page.get_by_role("link", name="Conflicts").first.click()
    page.get_by_label("Show").select_option("resolved")
    page.get_by_role("button", name="Show").click()
    page.get_by_role("link", name="Conflict: ").click()
    expect(page.get_by_role("main")).to_contain_text(SCRIPT[:60])
    assert page.evaluate("window.touched") is None
