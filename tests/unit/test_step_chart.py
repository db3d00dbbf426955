"""The picture of a sweep: that it is one, and that it can be had in each format."""

from pathlib import Path

import pytest

from service.dedup.calibration import Costs, Pair, sweep
from service.dedup.shingles import Shingles
from service.step_chart import FORMATS, draw

SIGNATURES = {".png": b"\x89PNG\r\n\x1a\n", ".svg": b"<?xml", ".pdf": b"%PDF-"}
PAIRS = [Pair("a b c d", "a b c e", duplicate=True), Pair("a b c", "a x", duplicate=False)]
SWEEPS = [sweep(PAIRS, str, Shingles("word", size), [0.2, 0.6], Costs()) for size in (1, 2)]


@pytest.mark.parametrize("ending", FORMATS)
def test_the_chart_is_written_in_the_format_that_the_name_ends_in(tmp_path: Path, ending: str):
    path = tmp_path / f"sweep{ending}"
    draw(SWEEPS, path)
    assert path.read_bytes().startswith(SIGNATURES[ending])


def test_both_counts_and_what_was_tried_are_told_in_words(tmp_path: Path):
    path = tmp_path / "sweep.svg"
    draw(SWEEPS, path)
    drawn = path.read_text("utf-8")
    for words in ("duplicates caught", "distinct pairs wrongly joined", "word shingles of 2"):
        assert f"<!-- {words}" in drawn or words in drawn
