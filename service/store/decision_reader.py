"""Conflicts, log entries and near misses as they are kept, and how their words are erased."""

from __future__ import annotations

import time
from hashlib import sha1
from typing import Any

from service.dedup.decisions import ConflictFilter, ConflictStatus, DecisionFilter
from service.store.base import Collection
from service.store.connection import Connection
from service.store.keys import PartitionKeys, partition
from service.store.log import (
    read_conflict,
    read_entry,
    read_near_miss,
)
from service.store.step import LogEntry, StoredConflict, StoredNearMiss

ENTRIES_A_CALL = 500
SECONDS_A_PAGE = 0.5
NAME_CUT = 12
OF_CONFLICTS = b"x"
SCORE_DIGITS = 6


class DecisionReader:
    """Reads what was decided. Numbers of entries and conflicts rise by one, without gaps; entries
    leave at the old end of the log only."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def conflict(self, collection: Collection, number: int) -> StoredConflict | None:
        """A conflict by its number, or None."""
        found = self._conflicts(collection, [number])
        return found[0] if found else None

    def conflicts(
        self, collection: Collection, wanted: ConflictFilter, most: int, below: int | None
    ) -> tuple[list[StoredConflict], int | None]:
        """At most `most` conflicts under number `below`, the newest first, and where to go on.

        Those that are open are found by themselves, so that what was ruled on costs nothing."""
        keys = partition(collection.uid)
        if below is None:
            last = self._call("hget", keys.settings, "conflicts")
            below = int(last or 0) + 1
        found: list[StoredConflict] = []
        ends_at = time.monotonic() + SECONDS_A_PAGE
        while below > 1 and len(found) < most and time.monotonic() < ends_at:
            numbers, below = self._numbers_below(keys, wanted, below)
            for conflict in self._conflicts(collection, numbers):
                if not _fits(conflict, wanted):
                    continue
                found.append(conflict)
                if len(found) == most:
                    below = conflict.number
                    break
        return found, below if below > 1 else None

    def _numbers_below(
        self, keys: PartitionKeys, wanted: ConflictFilter, below: int
    ) -> tuple[list[int], int]:
        """The next numbers to read, and where to go on behind them; 1 at the end."""
        if wanted.status is not ConflictStatus.OPEN:
            first = max(1, below - ENTRIES_A_CALL)
            return list(range(below - 1, first - 1, -1)), first
        client = self._connection.client
        listed = self._connection.call(
            lambda: client.zrevrangebyscore(
                keys.conflicts_by_age, below - 1, 1, start=0, num=ENTRIES_A_CALL
            )
        )
        numbers = [int.from_bytes(number, "big") for number in listed]
        return numbers, numbers[-1] if len(numbers) == ENTRIES_A_CALL else 1

    def _conflicts(self, collection: Collection, numbers: list[int]) -> list[StoredConflict]:
        kept = self._kept(collection, "conflicts", numbers)
        return [
            read_conflict(number, written)
            for number, written in zip(numbers, kept, strict=True)
            if written is not None
        ]

    def entry(self, collection: Collection, number: int) -> LogEntry | None:
        """A log entry by its number, or None."""
        written = self._kept(collection, "log", [number])[0]
        return None if written is None else read_entry(number, written)

    def entries(
        self, collection: Collection, wanted: DecisionFilter, most: int, after: int
    ) -> tuple[list[LogEntry], int, bool]:
        """At most `most` entries above `after`, the last number that was looked at, and whether
        there are more."""
        logged, trimmed = self._ends(collection)
        after = max(after, trimmed)
        found: list[LogEntry] = []
        ends_at = time.monotonic() + SECONDS_A_PAGE
        while after < logged and len(found) < most and time.monotonic() < ends_at:
            numbers = self._numbers_above(collection, wanted, after, logged)
            if not numbers:
                after = logged
                break
            after = self._gather(collection, wanted, numbers, most, found)
        return found, after, after < logged

    def entries_below(
        self, collection: Collection, wanted: DecisionFilter, most: int, below: int | None
    ) -> tuple[list[LogEntry], int | None]:
        """At most `most` entries under number `below` (None: all), the newest first, and where to
        go on."""
        logged, trimmed = self._ends(collection)
        below = logged + 1 if below is None else min(below, logged + 1)
        found: list[LogEntry] = []
        ends_at = time.monotonic() + SECONDS_A_PAGE
        while below > trimmed + 1 and len(found) < most and time.monotonic() < ends_at:
            at_once = ENTRIES_A_CALL if _is_narrow(wanted) else most - len(found)
            numbers = list(range(below - 1, max(trimmed, below - 1 - at_once), -1))
            below = self._gather(collection, wanted, numbers, most, found)
        return found, below if below > trimmed + 1 else None

    def _gather(
        self,
        collection: Collection,
        wanted: DecisionFilter,
        numbers: list[int],
        most: int,
        found: list[LogEntry],
    ) -> int:
        """Adds those that are wanted, up to `most` in all; the last number that was looked at."""
        for number, written in zip(numbers, self._kept(collection, "log", numbers), strict=True):
            entry = None if written is None else read_entry(number, written)
            if entry is not None and _is_wanted(entry, wanted):
                found.append(entry)
                if len(found) == most:
                    return number
        return numbers[-1]

    def _numbers_above(
        self, collection: Collection, wanted: DecisionFilter, after: int, logged: int
    ) -> list[int]:
        if wanted.document is None:
            return list(range(after + 1, min(logged, after + ENTRIES_A_CALL) + 1))
        numbers = self._numbers_naming(collection, wanted.document, after)
        return [number for number in numbers if number <= logged]

    def _numbers_naming(
        self, collection: Collection, id: str, after: int, prefix: bytes = b""
    ) -> list[int]:
        """The next entries (with the prefix of conflicts: conflicts) that name an id or, once in
        2^48, another one."""
        name = prefix + sha1(id.encode(), usedforsecurity=False).hexdigest()[:NAME_CUT].encode()
        low, high = b"(" + name + after.to_bytes(4, "big"), b"[" + name + b"\xff" * 5
        members = self._naming(collection, id, low, high)
        return [int.from_bytes(member[-4:], "big") for member in members]

    def _naming(
        self,
        collection: Collection,
        id: str,  # noqa: ARG002 - it tells where they lie, where there are several partitions
        low: bytes,
        high: bytes,
    ) -> list[bytes]:
        key, client = partition(collection.uid).log_index, self._connection.client
        return list(
            self._connection.call(
                lambda: client.zrangebylex(key, low, high, start=0, num=ENTRIES_A_CALL)
            )
        )

    def _ends(self, collection: Collection) -> tuple[int, int]:
        """The last entry, and the last one that has left."""
        key = partition(collection.uid).settings
        logged, trimmed = self._call("hmget", key, "logged", "trimmed")
        return int(logged or 0), int(trimmed or 0)

    def near_misses(self, collection: Collection) -> list[StoredNearMiss]:
        """The pairs that are kept, the newest first."""
        kept = self._call("hgetall", partition(collection.uid).near_misses)
        misses = [read_near_miss(written) for written in kept.values()]
        return sorted(misses, key=lambda miss: (-miss.at, -miss.incoming))

    def erase(self, collection: Collection, id: str, until: int | None) -> int:
        """Erases every word of a document's texts: in entries and conflicts that name it, and what
        they kept of them (`erase.lua`, some entries at a time). Entries and their numbers stay; how
        many named it."""
        keys, named = partition(collection.uid), 0
        entry = conflict = 0
        while True:
            named_in = self._numbers_naming(collection, id, entry)
            entries = [number for number in named_in if until is None or number <= until]
            conflicts = self._numbers_naming(collection, id, conflict, OF_CONFLICTS)
            if not entries and not conflicts:
                return named
            numbers = [number.to_bytes(4, "big") for number in (*entries, *conflicts)]
            arguments = [id, len(entries), *numbers]
            named += int(self._connection.run("erase", keys.whole(), arguments))
            entry, conflict = entries[-1] if entries else entry, (conflicts or [conflict])[-1]

    def _kept(self, collection: Collection, name: str, numbers: list[int]) -> list[Any]:
        """What the log or the conflicts have by number."""
        if not numbers:
            return []
        key = getattr(partition(collection.uid), name)
        return list(self._call("hmget", key, [number.to_bytes(4, "big") for number in numbers]))

    def _call(self, command: str, *arguments: Any) -> Any:
        return self._connection.call(getattr(self._connection.client, command), *arguments)


def _fits(conflict: StoredConflict, wanted: ConflictFilter) -> bool:
    if wanted.status is not None and conflict.status is not wanted.status:
        return False
    return wanted.kind is None or any(c.kind == wanted.kind for c in conflict.changes.items)


def _is_narrow(wanted: DecisionFilter) -> bool:
    """Whether many entries may have to be read for one that is wanted."""
    return wanted != DecisionFilter()


def _is_wanted(entry: LogEntry, wanted: DecisionFilter) -> bool:
    sides = (entry.document, entry.twin) if wanted.or_twin else (entry.document,)
    if wanted.document is not None and wanted.document not in sides:
        return False
    if wanted.kind is not None and entry.kind is not wanted.kind:
        return False
    if wanted.min_score is None and wanted.max_score is None:
        return True
    if entry.score is None:
        return False
    low = 0.0 if wanted.min_score is None else wanted.min_score
    high = 1.0 if wanted.max_score is None else wanted.max_score
    # Compared as it is told, so that a score from an answer finds its own entry.
    return low <= round(entry.score, SCORE_DIGITS) <= high
