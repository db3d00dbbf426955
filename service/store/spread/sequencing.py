"""Transactions: published at home in one order, applied at each partition, done; and what others
left behind is rolled forward. docs/partitions.md has the argument."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from service.errors import StoreError, StoreFull
from service.store.base import NO_SNAPSHOT, Collection, Snapshot
from service.store.connection import Connection
from service.store.spread.applying import Applier, Todo, carried
from service.store.spread.growing import GrowthOfParts
from service.store.spread.placement import HOME
from service.store.spread.planning import Transaction
from service.store.spread.reading import Carried, HomeState, Question, Reader, places_of
from service.store.spread.redo import Given, Write, packed_writes, pieces, read_writes

LEASE = 1000
"""How long a transaction may be unfinished before others finish it, in milliseconds."""

ROLLED_FORWARD_AT_ONCE = 8
CHANGES_WHAT_WAITS = (b"U", b"u")


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
        # What is confirmed must be on a replica of each partition: it is applied before.
        self._at_once = connection.is_replicated
        self._heard: dict[str, _Heard] = {}
        self._lock = threading.Lock()
        self._applier = Applier(reader)

    # Snapshots.

    def snapshot(self, collection: Collection) -> Snapshot:
        """The last snapshot that this process heard of: whatever is read from now on may rest on
        it."""
        known = self._heard.get(collection.uid)
        if known is not None:
            return known.snapshot
        return self.home(collection).snapshot

    @contextmanager
    def carrying(self, collection: Collection) -> Iterator[tuple[Snapshot, Carried]]:
        """For a visit to all partitions, which applies what waits before it reads: what it is to
        carry, and the snapshot under which it reads. It is applied at the end of the block."""
        todos = self._applier.take(collection)
        numbers = [todo.number for todo in todos]
        try:
            at = self.snapshot(collection)
            yield Snapshot(at.last, at.unfinished.difference(numbers)), carried(todos)
        except BaseException:
            self._applier.put_back(collection, todos)
            raise
        self._are_applied(collection, numbers)

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

    def _are_applied(self, collection: Collection, numbers: Sequence[int]) -> None:
        if numbers:
            self._applier.are_applied(collection, numbers)
            self._knows_applied(collection, numbers)

    def _knows_applied(self, collection: Collection, numbers: Sequence[int]) -> None:
        with self._lock:
            known = self._heard.get(collection.uid)
            if known is not None:
                known.applied.update(numbers)
                was = known.snapshot
                known.snapshot = Snapshot(was.last, was.unfinished.difference(numbers))

    def apply_at_once(self) -> None:
        """From here on what is published is applied before anything else: for who goes on from
        it."""
        self._at_once = True

    def settle(self) -> None:
        """Applies now what this process has published."""
        self._applier.settle()

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
        oldest = sorted(numbers)
        for start in range(0, len(oldest), ROLLED_FORWARD_AT_ONCE):
            self._finish(collection, oldest[start : start + ROLLED_FORWARD_AT_ONCE])
        return bool(oldest)

    def _finish(self, collection: Collection, numbers: Sequence[int]) -> None:
        home = places_of(collection).home
        asked = Question(HOME, home.redo, "f", tuple(numbers))
        (kept,) = self._reader.ask(collection, [asked]).answers
        todos = [
            self._todo(collection, number, *read_writes(written))
            for number, written in zip(numbers, kept, strict=True)
            if written is not None
        ]
        self._apply(collection, todos)
        self._applier.finish(collection, [todo.number for todo in todos])
        self._knows_applied(collection, numbers)

    def _todo(
        self, collection: Collection, number: int, given: Given, writes: Sequence[Write]
    ) -> Todo:
        known = self._heard.get(collection.uid)
        at = NO_SNAPSHOT if known is None else known.snapshot
        floor = min(at.unfinished, default=at.last + 1)
        return Todo(number, floor, pieces(places_of(collection), writes, given))

    def _apply(self, collection: Collection, todos: Sequence[Todo]) -> HomeState | None:
        """Applies transactions everywhere. Where replicas confirm, that of home has them before,
        and all have their pieces behind it: a failover takes nothing back at home that others have,
        nor there what home is told to be done."""
        self._connection.confirm(goes_on=True)
        home = self._applier.apply(collection, todos)
        self._connection.confirm(goes_on=True)
        return home

    # Transactions.

    def validate(self, collection: Collection, at: Snapshot, reads: set[bytes]) -> bool:
        """Whether nothing that was read since the snapshot was touched."""
        transaction = Transaction(at=at, reads=reads, only_validates=True)
        return self.run(collection, transaction, at_limit=True) is not None

    def run(
        self,
        collection: Collection,
        transaction: Transaction,
        *,
        at_limit: bool = False,
    ) -> Published | None:
        """Publishes a transaction, and sees to it that it is applied; None where what it read was
        touched since.

        Once it is published it happens, whatever is raised then."""
        reply = self._publish(collection, transaction, at_limit=at_limit)
        if reply is None:
            return None
        number, given, unsettled = reply
        if not transaction.writes:
            return Published(given, unsettled)
        todo = self._todo(collection, number, given, transaction.writes)
        changes_what_waits = any(write[0] in CHANGES_WHAT_WAITS for write in transaction.writes)
        if changes_what_waits or self._at_once or self._applier.is_full(collection):
            home = self._apply(collection, [todo])
            self._are_applied(collection, [number])
            unsettled = unsettled if home is None else home.unsettled
        else:
            self._applier.add(collection, todo)
        self._growth.grow_if_due(collection)
        return Published(given, unsettled)

    def _publish(
        self, collection: Collection, transaction: Transaction, *, at_limit: bool
    ) -> tuple[int, Given, int] | None:
        keys = places_of(collection).home
        names = [
            keys.settings,
            keys.counters,
            keys.redo,
            keys.unfinished,
            keys.unsettled,
            keys.history,
            keys.history_ends,
        ]
        done = self._applier.take_done(collection)
        arguments = _publishing(collection, transaction, done)
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


def _publishing(collection: Collection, transaction: Transaction, done: Sequence[int]) -> list[Any]:
    """The arguments of `publish`."""
    kept = packed_writes(transaction.writes) if transaction.writes else b""
    note = "v" if transaction.only_validates else "r" if transaction.rules else ""
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
    looked = (transaction.at_look, transaction.tags_at_look, transaction.reads_at_look)
    for snapshot, tags, read in (looked, (transaction.at, (), transaction.reads)):
        arguments += (snapshot.last, len(snapshot.unfinished), *snapshot.unfinished)
        arguments += (b"".join(tags), int(transaction.only_equal), b"".join(read))
    brings = transaction.brings
    arguments += (len(brings), b"".join(brings), b"".join(transaction.touches))
    arguments += (len(done), *done)
    for name, by in transaction.counters.items():
        arguments += (name, by)
    return arguments
