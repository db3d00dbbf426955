"""Every page fits: a telephone's width, a slow line, a keyboard."""

import pytest

from demo.places import PLACES

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
def test_at_360_pixels_nothing_is_to_be_scrolled_sideways(dana, name):
    dana.look(360, "light")
    PLACES[name](dana.page)
    assert dana.page.evaluate("document.scrollingElement.scrollWidth") == 360


@pytest.mark.parametrize("name", PLACES)
def test_a_page_with_its_parts_weighs_at_most_100_kilobytes(dana, name):
    PLACES[name](dana.page)  # where that takes several pages, what counts is the last
    weights: list[float] = []
    session = dana.context.new_cdp_session(dana.page)
    session.on("Network.loadingFinished", lambda told: weights.append(told["encodedDataLength"]))
    session.send("Network.enable")
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    dana.page.reload(wait_until="networkidle")
    session.detach()
    assert len(weights) >= 4
    assert sum(weights) <= MOST_BYTES


@pytest.mark.parametrize("name", PLACES)
def test_the_tab_key_comes_to_everything_that_can_be_used(dana, name):
    page = dana.page
    PLACES[name](page)
    page.evaluate(MARK)
    misses = 0
    while misses < 5:
        dana.press("Tab")
        misses = 0 if page.evaluate(REACHED) else misses + 1
    assert page.evaluate(LEFT) == []
