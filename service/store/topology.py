"""Who has which slots of a cluster, as its nodes tell."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from redis.cluster import parse_cluster_slots
from redis.crc import key_slot

from service.store_address import Node

SLOTS = 16_384
UNKNOWN_HOST = "?"


def slot_of(key: str) -> int:
    """The slot that a key is in."""
    return key_slot(key.encode())


def hash_tag_of(key: str) -> str:
    """What of a key chooses its slot."""
    _, opened, rest = key.partition("{")
    tag, closed, _ = rest.partition("}")
    return tag if opened and closed and tag else key


class Topology:
    """The primaries by the slots that they have. It never changes: another one takes its place."""

    def __init__(self, ranges: Sequence[tuple[int, int, Node]]) -> None:
        self._ranges = sorted(ranges)
        self._starts = [start for start, _, _ in self._ranges]

    def primary_of(self, slot: int) -> Node | None:
        """The primary of a slot, or None where it has none."""
        at = bisect_right(self._starts, slot) - 1
        if at < 0:
            return None
        _, end, node = self._ranges[at]
        return node if slot <= end else None

    def primaries(self) -> list[Node]:
        """All primaries that have a slot, in the order of their first."""
        return list(dict.fromkeys(node for _, _, node in self._ranges))

    def is_whole(self) -> bool:
        """Whether each slot is at somebody's."""
        return sum(end - start + 1 for start, end, _ in self._ranges) == SLOTS

    def moved(self, slot: int, node: Node) -> Topology:
        """The same, with one slot at another node."""
        cut = [
            (start, end, old)
            for first, last, old in self._ranges
            for start, end in ((first, min(last, slot - 1)), (max(first, slot + 1), last))
            if start <= end
        ]
        return Topology([*cut, (slot, slot, node)])


def read_topology(reply: Sequence[Any], told_by: Node) -> Topology:
    """What `CLUSTER SLOTS` answers. A node that does not know its own name is where it was asked;
    one whose name nobody knows yet is left out."""
    told = parse_cluster_slots(reply, current_host=told_by.host)
    ranges = [
        (start, end, Node(*who["primary"]))
        for (start, end), who in told.items()
        if who["primary"][0] != UNKNOWN_HOST
    ]
    return Topology(ranges)
