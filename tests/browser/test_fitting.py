"""Every page fits: a telephone's width, a slow line, a keyboard."""

import pytest

from tests.browser.places import PLACES

MOST_BYTES = 100_000
# Each control that is shown, and whether the Tab key comes to it from the top of the page.
MARK = """
for (const found of document.querySelectorAll(
        'a[href], button, input:not([type=hidden]), select, textarea, summary')) {
    if (found.checkVisibility() && !found.disabled) found.dataset.unreached = '';
}
document.activeElement.blur();
window.getSelection().removeAllRanges();
"""
REACHED = """() => {
    const here = document.activeElement;
    if (!here || here === document.body || !('unreached' in here.dataset)) return false;
    delete here.dataset.unreached;
    if (here.type === 'radio') for (const other of document.getElementsByName(here.name)) {
        if (other.form === here.form) delete other.dataset.unreached;  // the arrow keys go there
    }
    return true;
}"""
LEFT = "Array.from(document.querySelectorAll('[data-unreached]'), (e) => e.outerHTML.slice(0, 120))"


@pytest.mark.parametrize("name", PLACES)
def test_at_360_pixels_nothing_is_to_be_scrolled_sideways(looking, name):
    with looking(viewport={"width": 360, "height": 740}) as dana:
        width = PLACES[name](dana).evaluate("document.scrollingElement.scrollWidth")
    assert width == 360


@pytest.mark.parametrize("name", PLACES)
def test_a_page_with_its_parts_weighs_at_most_100_kilobytes(looking, name):
    with looking() as dana:
        weights: list[float] = []
        session = dana.context.new_cdp_session(dana.page)
        session.on("Network.loadingFinished", lambda it: weights.append(it["encodedDataLength"]))
        page = PLACES[name](dana)  # where that takes several pages, this is the last one
        session.send("Network.enable")
        session.send("Network.setCacheDisabled", {"cacheDisabled": True})
        page.reload(wait_until="networkidle")
    assert len(weights) >= 4
    assert sum(weights) <= MOST_BYTES


@pytest.mark.parametrize("name", PLACES)
def test_the_tab_key_comes_to_everything_that_can_be_used(looking, name):
    with looking() as dana:
        page = PLACES[name](dana)
        page.evaluate(MARK)
        misses = 0
        while misses < 5:
            dana.press("Tab")
            misses = 0 if page.evaluate(REACHED) else misses + 1
        left = page.evaluate(LEFT)
    assert left == []
