"""Every page against axe-core, in both looks, on a telephone and on a wide screen."""

from hashlib import sha256
from pathlib import Path

import pytest

from tests.browser.places import PLACES

AXE = Path(__file__).with_name("axe.min.js")
SHA256 = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"
LOOKS = [(scheme, width) for scheme in ("light", "dark") for width in (360, 1920)]
GRAVE = {"serious", "critical"}


def test_axe_is_the_one_that_the_readme_names():
    assert sha256(AXE.read_bytes()).hexdigest() == SHA256


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_axe_finds_nothing_grave_on_any_page(looking, scheme, width):
    found = []
    look = {"color_scheme": scheme, "viewport": {"width": width, "height": 900}}
    with looking(**look) as dana:
        for name, place in PLACES.items():
            page = place(dana)
            page.evaluate(AXE.read_text("utf-8"))
            for finding in page.evaluate("axe.run().then(({violations}) => violations)"):
                if finding["impact"] in GRAVE:
                    targets = [node["target"] for node in finding["nodes"]]
                    found.append(f"{name}: {finding['id']}: {targets[:3]}")
    assert found == []
