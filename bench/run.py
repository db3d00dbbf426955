"""Asks all questions in one run and writes the answers to bench/RESULTS.md.

    python -m bench.run [--data DIRECTORY] [--large]

`make bench` and `make bench-large` call this.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

from bench import (
    bulk,
    changes_cost,
    check_profile,
    family,
    http_ratio,
    machine,
    memory,
    recall,
    review_queue,
    scale,
)
from bench.figures import Row, keep, show, table

Question = tuple[str, Callable[[], list[Row]]]


def questions(data: Path | None, *, large: bool) -> list[Question]:
    """What is asked, in order."""
    if large:
        return [("a million documents", lambda: scale.measure(large=True))]
    return [
        ("HTTP", http_ratio.measure),
        ("bulk", lambda: bulk.measure(data)),
        ("changes", lambda: changes_cost.measure(data)),
        ("memory", memory.measure),
        ("recall", lambda: recall.measure(data)),
        ("scale", lambda: scale.measure(large=False)),
        ("review", review_queue.measure),
        ("family", family.measure),
    ]


def main() -> None:
    """Measure everything, print as it comes, and keep it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="directory with descriptions-5k.jsonl")
    parser.add_argument("--large", action="store_true", help="the questions at a million documents")
    options = parser.parse_args()
    started = time.monotonic()
    rows: list[Row] = []
    for name, ask in questions(options.data, large=options.large):
        print(f"{name}, after {time.monotonic() - started:.0f} s", flush=True)
        answered = ask()
        show(answered)
        rows += answered
    minutes = (time.monotonic() - started) / 60
    when = f"{time.strftime('%Y-%m-%d', time.gmtime())}, {minutes:.0f} minutes."
    parts = [when, machine.described(), table(rows)]
    keep("make bench-large" if options.large else "make bench", "\n\n".join(parts))
    if not options.large:
        keep("make profile", check_profile.described(check_profile.measure()))
    print(f"written to bench/RESULTS.md after {minutes:.1f} minutes")


if __name__ == "__main__":
    main()
