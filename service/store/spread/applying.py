"""The pieces of published transactions: applied at all partitions at once, and at home last, with
which a transaction is done."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from service.errors import StoreError
from service.store.base import Collection
from service.store.connection import Connection
from service.store.growth import Growth
from service.store.keys import PartitionKeys
from service.store.scripts import Call
from service.store.server import Receive
from service.store.spread.growing import GrowthOfParts
from service.store.spread.placement import HOME
from service.store.spread.reading import Reader, places_of
from service.store.spread.redo import Piece


@dataclass(frozen=True, slots=True)
class Todo:
    """What is to be applied of a transaction; all below `floor` are done."""

    collection: Collection
    number: int
    floor: int
    pieces: dict[int, Piece]


class Applier:
    """Applies the pieces of transactions."""

    def __init__(self, connection: Connection, growth: GrowthOfParts, reader: Reader) -> None:
        self._connection = connection
        self._growth = growth
        self._reader = reader
        self._of_thread = threading.local()

    def apply_elsewhere(self, todo: Todo) -> None:
        """Applies all pieces but that of home."""
        elsewhere = {at: piece for at, piece in todo.pieces.items() if at != HOME}
        self._apply(todo, elsewhere)

    def apply_at_home(self, todo: Todo) -> int:
        """Applies the piece of home, after all others; how many held texts wait then."""
        return self._apply(todo, {HOME: _of_home(todo)})

    def send_home(self, todo: Todo, then: Callable[[], None]) -> None:
        """Sends the piece of home, after all others. Nobody waits for it: until it is applied,
        whoever meets the transaction goes on with it. Its reply is read when this thread goes on
        with another one; `then` is called if it was applied."""
        self.read_reply()
        with suppress(StoreError):
            call = self._call(todo, HOME, _of_home(todo))
            receive = self._connection.send(call[0], [call[1:]])
            self._of_thread.sent = todo, receive, then

    def read_reply(self) -> None:
        """Reads what this thread has not waited for."""
        sent: tuple[Todo, Receive, Callable[[], None]] | None
        sent = getattr(self._of_thread, "sent", None)
        self._of_thread.sent = None
        if sent is None:
            return
        todo, receive, then = sent
        with suppress(StoreError):
            reply = receive()[0]
            if isinstance(reply, StoreError):
                return
            # A server that has forgotten the script, or shards that have been split since.
            if isinstance(reply, Exception) or reply[0] == b"shards":
                self.apply_at_home(todo)
            then()

    def _apply(self, todo: Todo, left: dict[int, Piece]) -> int:
        """Applies pieces; what the last one told of held texts that wait."""
        unsettled = 0
        while left:
            calls = [self._call(todo, place, piece) for place, piece in left.items()]
            replies = self._connection.run_all(calls)
            failed: Exception | None = None
            again: dict[int, Piece] = {}
            for (place, piece), reply in zip(left.items(), replies, strict=True):
                if isinstance(reply, Exception):
                    failed = failed or reply
                elif reply[0] == b"gone":
                    raise self._reader.changed(todo.collection)
                elif reply[0] == b"shards":
                    level, split = int(reply[1]), int(reply[2])
                    self._growth.corrected(todo.collection, place, level, split)
                    again[place] = piece
                else:
                    self._growth.heard(todo.collection, place, reply[1])
                    unsettled = int(reply[2])
            if failed is not None:
                raise failed
            left = again
        return unsettled

    def _call(self, todo: Todo, place: int, piece: Piece) -> Call:
        keys = places_of(todo.collection).keys[place]
        growth = self._growth.of(todo.collection, place)
        return ("piece", *_applying(keys, place, piece, todo, growth))


def _of_home(todo: Todo) -> Piece:
    """Where home has nothing to write it is told that all others have."""
    return todo.pieces.get(HOME) or Piece()


def _applying(
    keys: PartitionKeys, place: int, piece: Piece, todo: Todo, growth: Growth
) -> tuple[list[str], list[Any]]:
    """The keys and arguments of `piece`."""
    names = [keys.settings, keys.unfinished if place == HOME else keys.applied, keys.wide]
    where = {keys.wide: 3}
    unsettled = redo = 0
    if place == HOME:
        names += (keys.redo, keys.unsettled)
        redo, unsettled = 4, 5
        where[keys.unsettled] = unsettled
    writes: list[Any] = []
    for key, kind, first, second in piece.writes:
        at = where.get(key)
        if at is None:
            names.append(key)
            at = where[key] = len(names)
            if key == keys.conflicts:
                names.append(keys.conflict_lists)
        writes += (kind, at, first, second)
    arguments: list[Any] = [
        todo.number, todo.floor, growth.level, growth.split, len(names), unsettled, redo,
        len(piece.texts),
    ]  # fmt: skip
    for sign, text, tags in piece.texts:
        arguments += (sign, text, b"".join(tags))
        names += growth.shard_keys(keys, tags)
    return names, [*arguments, *writes]
