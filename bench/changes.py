"""How well a change of fact is told from mere wording, on real revisions of published rules.

    python bench/changes.py revisions.jsonl

One pair a line: `id`, `before`, `after`, `label` (`fact_changed` or `no_fact_change`) and a rough
`kind`. Printed are the shares by kind, each miss, and how long one pair takes. Wanted: a fact
change in at least 95 % of the pairs where a fact changed, and in at most 5 % of the others.
"""

import argparse
import json
import statistics
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from service.text.changes import Changes, find_changes  # the path comes first

_WANTED = {"fact_changed": (0.95, 1.0), "no_fact_change": (0.0, 0.05)}


def main() -> None:
    """Read the path, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path, help="labelled pairs, one JSON object a line")
    parser.add_argument("--all", action="store_true", help="print every pair, not only the misses")
    arguments = parser.parse_args()
    with arguments.path.open(encoding="utf-8") as lines:
        measure([json.loads(line) for line in lines], show_all=arguments.all)


def measure(pairs: list[dict[str, Any]], *, show_all: bool) -> None:
    """Print each miss, then the share of pairs with a change of fact by label and kind."""
    flagged: dict[tuple[str, str], list[bool]] = defaultdict(list)
    seconds = []
    for pair in pairs:
        started = time.perf_counter()
        changes = find_changes(pair["before"], pair["after"])
        seconds.append(time.perf_counter() - started)
        flagged[pair["label"], pair["kind"]].append(changes.facts_differ)
        missed = changes.facts_differ != (pair["label"] == "fact_changed")
        if missed or show_all:
            print(f"{'MISS ' if missed else ''}{pair['id']} {pair['label']} / {pair['kind']}")
            print(shown(changes) or "    (no change)")
    for label, (least, most) in _WANTED.items():
        of_label = [value for (name, _), row in flagged.items() if name == label for value in row]
        if not of_label:
            continue
        share = statistics.mean(of_label)
        verdict = "met" if least <= share <= most else "NOT MET"
        print(f"{label}: {sum(of_label)} of {len(of_label)} = {share:.1%}, {verdict}")
        for (name, kind), row in sorted(flagged.items()):
            if name == label:
                print(f"    {kind:24} {sum(row):4} of {len(row):4}")
    print(f"one pair: median {statistics.median(seconds) * 1000:.3f} ms")


def shown(changes: Changes) -> str:
    """The changes, one a line."""
    return "\n".join(
        f"    {item.kind:11} {'fact ' if item.fact else '     '}{item.before!r} -> {item.after!r}"
        for item in changes.items
    )


if __name__ == "__main__":
    main()
