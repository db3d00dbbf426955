"""What came of the items so far."""

from __future__ import annotations

from collections import Counter
from typing import Any

from service.bulk.journal import Record

MOST_NAMED = 20


class Tally:
    """Counts each item once, however often it was asked about."""

    def __init__(self) -> None:
        self.items = 0
        self.refused = 0
        self.replayed = 0
        self.resumed = 0
        self.verdicts: Counter[str] = Counter()
        self.actions: Counter[str] = Counter()
        self.named: list[str] = []
        """The first of the refused items: where they stand and why, never what they say."""

    def count(self, record: Record) -> None:
        """Counts an answer as the file keeps it."""
        self.items += 1
        problem = record.get("problem")
        if problem is not None:
            self.refused += 1
            if len(self.named) < MOST_NAMED:
                self.named.append(_named(record, problem))
            return
        self.verdicts[record["verdict"]] += 1
        self.actions[record["action"]] += 1
        self.replayed += bool(record["replayed"])

    def count_resumed(self, record: Record) -> None:
        """Counts an answer that was there already."""
        self.resumed += 1
        self.count(record)

    def as_json(self) -> dict[str, Any]:
        """The summary."""
        return {
            "items": self.items,
            "verdicts": dict(sorted(self.verdicts.items())),
            "actions": dict(sorted(self.actions.items())),
            "refused": self.refused,
            "replayed": self.replayed,
            "resumed": self.resumed,
        }


def _named(record: Record, problem: dict[str, Any]) -> str:
    faults = "".join(f"; {one['pointer'] or '/'}: {one['detail']}" for one in problem["errors"])
    return f"{record['file']}:{record['line']}: {problem['detail']}{faults} [{problem['code']}]"
