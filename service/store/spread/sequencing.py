"""Transactions: published at home in one order, applied at each partition, done; and what others
left behind is rolled forward. docs/partitions.md has the argument."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from service.errors import StoreError, StoreFull
from service.store.base import Collection, Snapshot
from service.store.connection import Connection
from service.store.growth import Growth
from service.store.keys import PartitionKeys
from service.store.spread.growing import GrowthOfParts
from service.store.spread.placement import HOME
from service.store.spread.planning import Transaction
from service.store.spread.reading import HomeState, Question, Reader, places_of
from service.store.spread.redo import Given, Piece, Write, packed_writes, pieces, read_writes

LEASE = 1000
"""How long a transaction may be unfinished before others finish it, in milliseconds."""

ROLLED_FORWARD_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Published:
    """What a transaction was given, and how many held texts wait once it is applied."""

    given: Given
    unsettled: int


@dataclass(slots=True)
class _Heard:
    """What this process knows of one collection: the last snapshot, and which transactions it knows
    to be applied though home may still have them."""

    snapshot: Snapshot
    applied: set[int] = field(default_factory=set)


class Sequencer:
    """Publishes and applies the transactions of collections that have several partitions."""

    def __init__(self, connection: Connection, growth: GrowthOfParts, reader: Reader) -> None:
        self._connection = connection
        self._growth = growth
        self._reader = reader
        self._heard: dict[str, _Heard] = {}
        self._lock = threading.Lock()
        self._of_thread = threading.local()

    # Snapshots.

    def snapshot(self, collection: Collection) -> Snapshot:
        """The last snapshot that this process heard of: whatever is read from now on may rest on
        it."""
        known = self._heard.get(collection.uid)
        if known is not None:
            return known.snapshot
        return self.home(collection).snapshot

    def home(self, collection: Collection) -> HomeState:
        """Home as it is now; what has been unfinished for too long is finished first."""
        while True:
            state = self._reader.home_of(self._reader.ask(collection, [], home=True))
            self.heard(collection, state.snapshot)
            if not self.finish_overdue(collection, state):
                return state

    def heard(self, collection: Collection, snapshot: Snapshot) -> None:
        """Remembers a snapshot, unless a later one is known: threads hear out of turn."""
        with self._lock:
            known = self._heard.get(collection.uid)
            if known is None:
                self._heard[collection.uid] = _Heard(snapshot)
                return
            if snapshot.last < known.snapshot.last:
                return
            known.applied &= snapshot.unfinished
            known.snapshot = Snapshot(snapshot.last, snapshot.unfinished - known.applied)

    def _is_applied(self, collection: Collection, number: int) -> None:
        with self._lock:
            known = self._heard.get(collection.uid)
            if known is not None:
                known.applied.add(number)
                was = known.snapshot
                known.snapshot = Snapshot(was.last, was.unfinished - {number})

    # What others left.

    def finish_overdue(self, collection: Collection, state: HomeState) -> bool:
        """Finishes what has been unfinished for too long; whether there was anything."""
        if state.age < LEASE:
            return False
        return self.finish(collection, state.snapshot.unfinished)

    def catch_up(self, collection: Collection) -> None:
        """Finishes what is unfinished now: for whoever met it in the middle."""
        self.finish(collection, self.home(collection).snapshot.unfinished)

    def finish(self, collection: Collection, numbers: frozenset[int]) -> bool:
        """Rolls transactions forward, the oldest first; whether any had to be."""
        oldest = sorted(numbers)[:ROLLED_FORWARD_AT_ONCE]
        if not oldest:
            return False
        home = places_of(collection).home
        asked = Question(HOME, home.redo, "f", tuple(oldest))
        (kept,) = self._reader.ask(collection, [asked]).answers
        known = self._heard.get(collection.uid)
        applied = set() if known is None else set(known.applied)
        for number, written in zip(oldest, kept, strict=True):
            if written is not None and number not in applied:
                given, writes = read_writes(written)
                self._connection.confirm(goes_on=True)
                self._apply(collection, number, given, writes)
        self._connection.confirm(goes_on=True)
        (reply,) = self._connection.run_all([("finish", *_finishing(home, oldest))])
        if isinstance(reply, StoreError):
            raise reply
        for number in oldest:
            self._is_applied(collection, number)
        return True

    # Transactions.

    def validate(self, collection: Collection, at: Snapshot, reads: set[bytes]) -> bool:
        """Whether nothing that was read since the snapshot was touched."""
        transaction = Transaction(at=at, reads=reads)
        reply = self._publish(collection, transaction, b"", "v", at_limit=True)
        return reply is not None

    def run(
        self,
        collection: Collection,
        transaction: Transaction,
        *,
        at_limit: bool = False,
    ) -> Published | None:
        """Publishes a transaction and applies it; None where what it read was touched since.

        Once it is published it happens, whatever is raised then."""
        kept = packed_writes(transaction.writes) if transaction.writes else b""
        note = "r" if transaction.rules else ""
        reply = self._publish(collection, transaction, kept, note, at_limit=at_limit)
        if reply is None:
            return None
        number, given, unsettled = reply
        if not kept:
            return Published(given, unsettled)
        # A failover must not take back at home what others have, nor there what home forgets.
        self._connection.confirm(goes_on=True)
        told = self._apply(collection, number, given, transaction.writes)
        self._connection.confirm(goes_on=True)
        self._is_applied(collection, number)
        self._done(collection, number)
        self._growth.grow_if_due(collection)
        return Published(given, unsettled if told is None else told)

    def _publish(
        self,
        collection: Collection,
        transaction: Transaction,
        kept: bytes,
        note: str,
        *,
        at_limit: bool,
    ) -> tuple[int, Given, int] | None:
        keys = places_of(collection).home
        names = [
            keys.settings,
            keys.counters,
            keys.redo,
            keys.unfinished,
            keys.unsettled,
            keys.items_even,
            keys.items_odd,
        ]
        arguments = _publishing(collection, transaction, kept, note)
        verb = "publish_out" if at_limit else "publish"
        while True:
            (reply,) = self._connection.run_all([(verb, names, arguments)])
            if isinstance(reply, StoreError):
                raise reply
            if reply[0] == b"revision":
                raise self._reader.changed(collection)
            if reply[0] == b"exhausted":
                raise StoreFull("the collection has used up its numbers: make another one")
            last, unfinished, unsettled = reply[-1]
            snapshot = Snapshot(int(last), frozenset(unfinished))
            self.heard(collection, snapshot)
            if reply[0] == b"done":
                given = Given(int(reply[2]), int(reply[3]), int(reply[4]))
                return int(reply[1]), given, int(unsettled)
            in_the_way = snapshot.unfinished & {int(reply[1])}
            self.finish(collection, in_the_way)
            if reply[0] == b"touched":
                return None

    def _apply(
        self,
        collection: Collection,
        number: int,
        given: Given,
        writes: Sequence[Write],
    ) -> int | None:
        """Applies all pieces of a transaction; how many held texts wait then, None where it has
        nothing to write at home."""
        where, known = places_of(collection), self.snapshot(collection)
        floor = min(known.unfinished, default=known.last + 1)  # all below are applied everywhere
        todo = pieces(where, writes, given)
        unsettled: int | None = None
        while todo:
            calls = [
                ("piece", *_applying(where.keys[place], place, piece, number, floor, growth))
                for place, piece in todo.items()
                for growth in (self._growth.of(collection, place),)
            ]
            replies = self._connection.run_all(calls)
            failed = next((reply for reply in replies if isinstance(reply, StoreError)), None)
            again: dict[int, Piece] = {}
            for (place, piece), reply in zip(todo.items(), replies, strict=True):
                if isinstance(reply, StoreError):
                    continue
                if reply[0] == b"gone":
                    raise self._reader.changed(collection)
                if reply[0] == b"shards":
                    self._growth.corrected(collection, place, int(reply[1]), int(reply[2]))
                    again[place] = piece
                    continue
                self._growth.heard(collection, place, reply[1])
                if place == HOME:
                    unsettled = int(reply[2])
            if failed is not None:
                raise failed
            todo = again
        return unsettled

    def _done(self, collection: Collection, number: int) -> None:
        """Takes a transaction of this process out of the redo log. The reply is read when the next
        one is sent: nobody waits for it."""
        self.read_replies()
        with suppress(StoreError):  # then others finish it
            call = _finishing(places_of(collection).home, [number])
            self._of_thread.sent = call, self._connection.send("finish", [call])

    def read_replies(self) -> None:
        """Reads what this thread has not waited for."""
        sent = getattr(self._of_thread, "sent", None)
        self._of_thread.sent = None
        if sent is None:
            return
        call, receive = sent
        with suppress(StoreError):
            if isinstance(receive()[0], Exception):  # a server that has forgotten the script
                self._connection.run_all([("finish", *call)])


def _finishing(home: PartitionKeys, numbers: Sequence[int]) -> tuple[list[str], list[Any]]:
    return [home.redo, home.unfinished], list(numbers)


def _publishing(
    collection: Collection, transaction: Transaction, kept: bytes, note: str
) -> list[Any]:
    """The arguments of `publish`."""
    arguments: list[Any] = [
        collection.revision,
        transaction.seconds,
        transaction.new,
        transaction.opened,
        transaction.entries,
        "" if transaction.trimmed is None else transaction.trimmed,
        "" if transaction.oldest is None else transaction.oldest,
        kept,
        note,
    ]
    reads = ((transaction.at_look, transaction.reads_at_look), (transaction.at, transaction.reads))
    for snapshot, read in reads:
        unfinished = snapshot.unfinished
        arguments += (snapshot.last, len(unfinished), *unfinished, len(read), *read)
    arguments += (len(transaction.touches), *transaction.touches)
    for name, by in transaction.counters.items():
        arguments += (name, by)
    return arguments


def _applying(  # noqa: PLR0917 - a row of plain values
    keys: PartitionKeys, place: int, piece: Piece, number: int, floor: int, growth: Growth
) -> tuple[list[str], list[Any]]:
    """The keys and arguments of `piece`."""
    names = [keys.settings, keys.applied, keys.wide]
    where = {keys.wide: 3}
    unsettled = 0
    if place == HOME:
        names.append(keys.unsettled)
        unsettled = where[keys.unsettled] = len(names)
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
        number, floor, growth.level, growth.split, len(names), unsettled, len(piece.texts)
    ]  # fmt: skip
    for sign, text, tags in piece.texts:
        arguments += (sign, text, b"".join(tags))
        names += growth.shard_keys(keys, tags)
    return names, [*arguments, *writes]
