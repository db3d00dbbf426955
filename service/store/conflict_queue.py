"""The queue of conflicts: read from the lists that `lua/records.lua` keeps (`places_of`).

A member of a list is its letter, the number of the kind of change (0: all), and a key that sorts as
the list goes.
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
from service.store.log import STATUS_LETTERS, kind_number, read_conflict
from service.store.spread.placement import Places, places
from service.store.step import StoredConflict

LETTERS: Final = {Order.OLDEST: b"a", Order.HIGHEST: b"s", Order.RESOLVED: b"r", Order.VOID: b"v"}
_NAME: Final = 2
_BEHIND: Final = b"\xff"


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
        # The first of all are among the first of each.
        merged = sorted(
            self._listed(collections, wanted, most + 1, start, back=back),
            key=lambda listed: listed.sorts_as,
            reverse=back,
        )
        found = merged[:most]
        last = found[-1] if found and len(merged) > most else None
        return QueuePart(
            self._read(found, wanted.order),
            None if last is None else (last.collection, last.number(wanted.order)),
        )

    def open_with(self, collection: Collection, texts: Sequence[int], most: int) -> list[list[int]]:
        """The open conflicts of existing texts."""
        where = _places(collection)
        pipeline = self._connection.client.pipeline(transaction=False)
        for text in texts:
            key = where.keys[where.of_number(text)].conflicts_by_existing
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
            pipeline.hmget(_places(collection).home.counters, names)
        replies = self._connection.call(pipeline.execute) if collections else []
        return {
            status: sum(int(counts[at] or 0) for counts in replies)
            for at, status in enumerate(STATUS_LETTERS)
        }

    def _listed(
        self,
        collections: Sequence[Collection],
        wanted: QueueFilter,
        many: int,
        start: tuple[Collection, StoredConflict] | None,
        *,
        back: bool,
    ) -> list[_Listed]:
        """The next members of each collection's list."""
        name = LETTERS[wanted.order] + bytes([kind_number(wanted.kind)])
        pipeline = self._connection.client.pipeline(transaction=False)
        asked: list[Collection] = []
        for collection in collections:
            low, high = b"[" + name, b"(" + name[:1] + bytes([name[1] + 1])
            if start is not None:
                # Of the same key, those stand before it whose uid does.
                uid, place = start[0].uid, name + queue_key(wanted.order, start[1])
                if back:
                    high = b"(" + place + (_BEHIND if collection.uid < uid else b"")
                else:
                    low = b"[" + place + (b"" if collection.uid > uid else _BEHIND)
            for keys in _places(collection).keys:
                asked.append(collection)
                if back:
                    pipeline.zrevrangebylex(keys.conflict_lists, high, low, start=0, num=many)
                else:
                    pipeline.zrangebylex(keys.conflict_lists, low, high, start=0, num=many)
        replies = self._connection.call(pipeline.execute) if asked else []
        return [
            _Listed(member[_NAME:], collection)
            for collection, members in zip(asked, replies, strict=True)
            for member in members
        ]

    def _read(
        self, found: Sequence[_Listed], order: Order
    ) -> list[tuple[Collection, StoredConflict]]:
        """The conflicts themselves; one that left since is passed over."""
        pipeline = self._connection.client.pipeline(transaction=False)
        for listed in found:
            number, where = listed.number(order), _places(listed.collection)
            keys = where.keys[where.of_number(number)]
            pipeline.hget(keys.conflicts, number.to_bytes(4, "big"))
        kept: list[Any] = self._connection.call(pipeline.execute) if found else []
        return [
            (listed.collection, read_conflict(listed.number(order), written))
            for listed, written in zip(found, kept, strict=True)
            if written is not None
        ]


def _places(collection: Collection) -> Places:
    return places(collection.uid, collection.settings.partitions)


def _inverted(key: bytes) -> bytes:
    return bytes(255 - byte for byte in key)
