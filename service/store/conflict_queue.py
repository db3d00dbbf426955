"""The queue of conflicts: read from the lists that `lua/records.lua` keeps (`places_of`).

A member of a list is its letter, a key that sorts as the list goes, and two bytes with the kinds of
the conflict's changes: so a part that shows one kind reads no conflict of another.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from service.dedup.decisions import ConflictStatus
from service.dedup.queue import Order, QueueFilter
from service.store.base import Collection, QueuePart
from service.store.connection import Connection
from service.store.keys import partition
from service.store.log import STATUS_LETTERS, kinds_mask, read_conflict
from service.store.step import StoredConflict

LETTERS: Final = {Order.OLDEST: b"a", Order.HIGHEST: b"s", Order.RESOLVED: b"r", Order.VOID: b"v"}
# Members that one part looks at to find a kind, in all collections together and in each at least.
LOOKED_AT: Final = 2000
LOOKED_AT_EACH: Final = 50
_KINDS: Final = 2
_BEHIND_ANY: Final = b"\xff" * (_KINDS + 1)


def queue_key(order: Order, conflict: StoredConflict) -> bytes:
    """What a conflict stands under in the list of this order."""
    age = conflict.opened_at.to_bytes(6, "big") + conflict.number.to_bytes(4, "big")
    if order is Order.OLDEST:
        return age
    if order is Order.HIGHEST:
        return _inverted(struct.pack(">d", conflict.score)) + age
    return _inverted(age)


@dataclass(frozen=True, slots=True)
class _Listed:
    """One member of one collection's list; sorts as the queue does."""

    key: bytes
    collection: Collection
    kinds: int

    @property
    def sorts_as(self) -> tuple[bytes, str]:
        return self.key, self.collection.uid

    def number(self, order: Order) -> int:
        last = self.key[-4:]
        return int.from_bytes(last if order.is_open else _inverted(last), "big")


class ConflictQueue:
    """Reads parts of queues in two round trips, whatever is in them."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def part(
        self,
        collections: Sequence[Collection],
        wanted: QueueFilter,
        most: int,
        start: tuple[Collection, StoredConflict] | None,
        *,
        back: bool,
    ) -> QueuePart:
        """A part of the queue that the collections make together."""
        many = most + 1
        if wanted.kind is not None:
            many = max(many, LOOKED_AT_EACH, LOOKED_AT // max(1, len(collections)))
        lists = self._lists(collections, wanted.order, many, start, back=back)
        # Of a list that goes on, nothing is known behind its last member: neither may others go on.
        cut = [members[-1].sorts_as for members in lists if len(members) == many]
        until = (max if back else min)(cut, default=None)
        merged = sorted(
            (listed for members in lists for listed in members),
            key=lambda listed: listed.sorts_as,
            reverse=back,
        )
        asked = None if wanted.kind is None else kinds_mask([wanted.kind])
        found: list[_Listed] = []
        looked_at: _Listed | None = None
        ends = until is None
        for listed in merged:
            if asked is None or listed.kinds & asked:
                if len(found) == most:
                    ends = False
                    break
                found.append(listed)
            looked_at = listed
            if listed.sorts_as == until:
                break
        end = None if ends or looked_at is None else looked_at
        return QueuePart(
            self._read(found, wanted.order),
            None if end is None else (end.collection, end.number(wanted.order)),
        )

    def open_with(self, collection: Collection, texts: Sequence[int], most: int) -> list[list[int]]:
        """The open conflicts of existing texts."""
        key = partition(collection.uid).conflicts_by_existing
        pipeline = self._connection.client.pipeline(transaction=False)
        for text in texts:
            first = text.to_bytes(4, "big")
            low, high = b"[" + first, b"[" + first + b"\xff" * 4
            pipeline.zrangebylex(key, low, high, start=0, num=most)
        edges = self._connection.call(pipeline.execute) if texts else []
        return [[int.from_bytes(edge[4:], "big") for edge in found] for found in edges]

    def counts(self, collections: Sequence[Collection]) -> dict[ConflictStatus, int]:
        """How many conflicts there are, by status."""
        names = [f"conflicts:{letter.decode()}" for letter in STATUS_LETTERS.values()]
        pipeline = self._connection.client.pipeline(transaction=False)
        for collection in collections:
            pipeline.hmget(partition(collection.uid).counters, names)
        replies = self._connection.call(pipeline.execute) if collections else []
        return {
            status: sum(int(counts[at] or 0) for counts in replies)
            for at, status in enumerate(STATUS_LETTERS)
        }

    def _lists(
        self,
        collections: Sequence[Collection],
        order: Order,
        many: int,
        start: tuple[Collection, StoredConflict] | None,
        *,
        back: bool,
    ) -> list[list[_Listed]]:
        """The next members of each collection's list."""
        letter = LETTERS[order]
        first, last = b"[" + letter, b"(" + bytes([letter[0] + 1])
        pipeline = self._connection.client.pipeline(transaction=False)
        for collection in collections:
            key, low, high = partition(collection.uid).conflict_lists, first, last
            if start is not None:
                # Of the same key, those stand before it whose uid does.
                uid, place = start[0].uid, letter + queue_key(order, start[1])
                if back:
                    high = b"(" + place + (_BEHIND_ANY if collection.uid < uid else b"")
                else:
                    low = b"[" + place + (b"" if collection.uid > uid else _BEHIND_ANY)
            if back:
                pipeline.zrevrangebylex(key, high, low, start=0, num=many)
            else:
                pipeline.zrangebylex(key, low, high, start=0, num=many)
        replies = self._connection.call(pipeline.execute) if collections else []
        return [
            [_listed(member, collection) for member in members]
            for collection, members in zip(collections, replies, strict=True)
        ]

    def _read(
        self, found: Sequence[_Listed], order: Order
    ) -> list[tuple[Collection, StoredConflict]]:
        """The conflicts themselves; one that left since is passed over."""
        pipeline = self._connection.client.pipeline(transaction=False)
        for listed in found:
            field = listed.number(order).to_bytes(4, "big")
            pipeline.hget(partition(listed.collection.uid).conflicts, field)
        kept: list[Any] = self._connection.call(pipeline.execute) if found else []
        return [
            (listed.collection, read_conflict(listed.number(order), written))
            for listed, written in zip(found, kept, strict=True)
            if written is not None
        ]


def _listed(member: bytes, collection: Collection) -> _Listed:
    return _Listed(member[1:-_KINDS], collection, int.from_bytes(member[-_KINDS:], "big"))


def _inverted(key: bytes) -> bytes:
    return bytes(255 - byte for byte in key)
