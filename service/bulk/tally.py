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
        self.is_export = False
        self.refused = 0
        self.replayed = 0
        self.resumed = 0
        self.ruled = 0
        self.no_longer_active = 0
        """Documents of an export that were active and now are not."""
        self.verdicts: Counter[str] = Counter()
        self.actions: Counter[str] = Counter()
        self.left_out = 0
        self.named: list[str] = []
        """The first of the refused items: where they stand and why, never what they say."""

    def count(self, record: Record) -> None:
        """Counts an answer as the file keeps it."""
        self.items += 1
        self.is_export |= "was" in record
        problem = record.get("problem")
        if problem is not None:
            self.refused += 1
            if len(self.named) < MOST_NAMED:
                self.named.append(_named(record, problem))
            return
        self.verdicts[record["verdict"]] += 1
        self.actions[record["action"]] += 1
        self.replayed += bool(record["replayed"])
        self.ruled += "ruled" in record
        self.no_longer_active += record.get("was") == "active" and record["action"] == "skip"

    def count_resumed(self, record: Record) -> None:
        """Counts an answer that was there already."""
        self.resumed += 1
        self.count(record)

    def as_json(self) -> dict[str, Any]:
        """The summary."""
        told: dict[str, Any] = {
            "items": self.items,
            "verdicts": dict(sorted(self.verdicts.items())),
            "actions": dict(sorted(self.actions.items())),
            "refused": self.refused,
            "replayed": self.replayed,
            "resumed": self.resumed,
        }
        if self.is_export:
            told |= {"ruled": self.ruled, "no_longer_active": self.no_longer_active}
            told |= {"left_out": self.left_out}
        return told


def _named(record: Record, problem: dict[str, Any]) -> str:
    faults = "".join(f"; {one['pointer'] or '/'}: {one['detail']}" for one in problem["errors"])
    return f"{record['file']}:{record['line']}: {problem['detail']}{faults} [{problem['code']}]"
