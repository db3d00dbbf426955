"""Every page against axe-core, in both looks, on a telephone and on a wide screen."""

from hashlib import sha256
from pathlib import Path

import pytest

from demo.places import PLACES

AXE = Path(__file__).with_name("axe.min.js")
SHA256 = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"
LOOKS = [(scheme, width) for scheme in ("light", "dark") for width in (360, 1920)]
RUN = "axe.run({resultTypes: ['violations']}).then(({violations}) => violations)"
GRAVE = {"serious", "critical"}


def test_axe_is_the_one_that_the_readme_names():
    assert sha256(AXE.read_bytes()).hexdigest() == SHA256


@pytest.mark.parametrize("name", PLACES)
def test_axe_finds_nothing_grave(dana, name):
    PLACES[name](dana.page)
    dana.page.evaluate(AXE.read_text("utf-8"))
    found = []
    for scheme, width in LOOKS:
        dana.look(width, scheme)
        for finding in dana.page.evaluate(RUN):
            if finding["impact"] in GRAVE:
                targets = [node["target"] for node in finding["nodes"]]
                found.append(f"{scheme}, {width}: {finding['id']}: {targets[:3]}")
    assert found == []
