"""`make demo`: what a newcomer finds, and that it leaves nothing behind."""

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from service.client import Twinsift


@contextmanager
def demo(directory: Path) -> Iterator[str]:
    """The address that it prints; stopped with the signal that Ctrl-C sends."""
    with subprocess.Popen(
        [sys.executable, "-m", "demo"],
        env={**os.environ, "TMPDIR": str(directory)},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout
        ready = next(line for line in process.stdout if "ready" in line)
        try:
            found = re.search(r"http://127\.0\.0\.1:\d+", ready)
            assert found
            yield found[0]
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(30)
    assert process.returncode == 0


@pytest.fixture(scope="module")
def filled() -> Iterator[Twinsift]:
    # A short path: the store's socket is in it.
    with tempfile.TemporaryDirectory() as directory:
        with demo(Path(directory)) as address, Twinsift(address) as twinsift:
            yield twinsift
            assert list(Path(directory).iterdir())
        assert not list(Path(directory).iterdir()), "the demo left its data behind"


def test_two_collections_have_conflicts_and_five_kinds_of_facts_differ(filled: Twinsift) -> None:
    waiting = list(filled.conflicts(status="open"))
    assert {conflict.collection for conflict in waiting} == {"handbook", "packages"}
    kinds = {change.kind for conflict in waiting for change in conflict.changes if change.fact}
    assert len(kinds) >= 5


def test_the_log_has_every_kind_of_entry_that_a_person_looks_at(filled: Twinsift) -> None:
    kinds = Counter(entry.kind for entry in filled.decisions())
    assert kinds["dropped"] >= 4
    assert kinds["resolved"] >= 3
    wanted = {"dropped", "replaced", "held", "updated", "resolved", "reverted", "deleted"}
    assert wanted <= kinds.keys()


def test_cleaning_took_headers_footers_and_page_numbers_away(filled: Twinsift) -> None:
    removed = filled.stats().collections["handbook"].cleaning["removed"]
    assert {"repeated_lines", "page_numbers"} <= removed.keys()


def test_a_pair_fell_just_below_the_threshold(filled: Twinsift) -> None:
    assert list(filled.near_misses())
