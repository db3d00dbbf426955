"""What is published and not yet applied everywhere: the next look of this process takes it along to
all partitions, and the next transaction tells home that it is done. What nobody takes along for a
moment is applied by a thread of its own."""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from service.store.base import Collection, CollectionChanged
from service.store.spread.reading import Carried, HomeState, Reader
from service.store.spread.redo import Piece

PATIENCE = 0.01
"""How long a transaction waits to be taken along, in seconds."""
GIVEN_UP = 5.0
"""How long this process tries to apply one, in seconds. Others go on with it then."""
MOST_DONE = 64
MOST_TEXTS = 128
"""So many texts come or go in one script at most, but for those of one transaction."""


@dataclass(frozen=True, slots=True)
class Todo:
    """What is to be applied of a transaction, at each partition; all below `floor` are done."""

    number: int
    floor: int
    pieces: dict[int, Piece]
    since: float = field(default_factory=time.monotonic)

    @property
    def texts(self) -> int:
        """How many texts come or go, or 1."""
        return max((len(piece.texts) for piece in self.pieces.values()), default=0) or 1


def carried(todos: Iterable[Todo], done: Sequence[int] = ()) -> Carried:
    """Transactions as a visit takes them along, in their order."""
    pieces: dict[int, list[tuple[int, Piece]]] = {}
    floor = 0
    for todo in sorted(todos, key=lambda one: one.number):
        floor = max(floor, todo.floor)
        for place, piece in todo.pieces.items():
            pieces.setdefault(place, []).append((todo.number, piece))
    return Carried(pieces, done, floor)


@dataclass(slots=True)
class _Left:
    """What is left to do of one collection: transactions to be applied, and since when there are
    some that are applied everywhere, of which home has not been told."""

    collection: Collection
    waiting: dict[int, Todo] = field(default_factory=dict)
    done: dict[int, float] = field(default_factory=dict)


class Applier:
    """Applies the transactions of this process. Any of it may be done twice, by whomever."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._left: dict[str, _Left] = {}
        self._lock = threading.Lock()
        self._going_on = threading.Lock()
        self._is_due = threading.Event()
        self._thread: threading.Thread | None = None

    def apply(self, collection: Collection, todos: Sequence[Todo]) -> HomeState | None:
        """Applies transactions now; home's state where one of them writes there."""
        return self._reader.apply(collection, carried(todos))

    def finish(self, collection: Collection, numbers: Sequence[int]) -> None:
        """Tells home that transactions are applied everywhere."""
        if numbers:
            self._reader.apply(collection, Carried(done=numbers))

    def add(self, collection: Collection, todo: Todo) -> None:
        """One more that is to be applied soon."""
        with self._lock:
            self._of(collection).waiting[todo.number] = todo
        self._will_be_done()

    def is_full(self, collection: Collection) -> bool:
        """Whether more wait than should."""
        left = self._left.get(collection.uid)
        return (
            left is not None
            and sum(todo.texts for todo in list(left.waiting.values())) >= MOST_TEXTS
        )

    def take(self, collection: Collection, before: float | None = None) -> list[Todo]:
        """What waits, those that came before a time, as many as go at once; the caller applies them
        or puts them back."""
        with self._lock:
            left = self._left.get(collection.uid)
            if left is None:
                return []
            taken: list[Todo] = []
            for number in sorted(left.waiting):
                todo = left.waiting[number]
                if before is not None and todo.since >= before:
                    continue
                if taken and sum(one.texts for one in taken) + todo.texts > MOST_TEXTS:
                    break
                taken.append(left.waiting.pop(number))
            return taken

    def put_back(self, collection: Collection, todos: Sequence[Todo]) -> None:
        """They may not be applied everywhere."""
        with self._lock:
            waiting = self._of(collection).waiting
            for todo in todos:
                if time.monotonic() - todo.since < GIVEN_UP:
                    waiting[todo.number] = todo
        self._will_be_done()

    def are_applied(self, collection: Collection, numbers: Iterable[int]) -> None:
        """They are applied everywhere: home is to be told."""
        now = time.monotonic()
        with self._lock:
            self._of(collection).done.update(dict.fromkeys(numbers, now))
        self._will_be_done()

    def take_done(self, collection: Collection, before: float | None = None) -> list[int]:
        """Those of which home is to be told. Whoever fails to leaves it to others."""
        with self._lock:
            left = self._left.get(collection.uid)
            if left is None:
                return []
            since = left.done
            taken = [n for n, at in since.items() if before is None or at < before][:MOST_DONE]
            for number in taken:
                del since[number]
            return taken

    def settle(self) -> None:
        """Does now all that is left, and waits for what the thread does: for the end of a process,
        in which no call is under way."""
        for left in list(self._left.values()):
            while self._go_on(left.collection) and left.waiting:
                pass

    def _of(self, collection: Collection) -> _Left:
        left = self._left.get(collection.uid)
        if left is None:
            left = self._left[collection.uid] = _Left(collection)
        left.collection = collection
        return left

    def _will_be_done(self) -> None:
        """Sees to it that a thread looks after what nobody takes along."""
        if self._thread is None:
            with self._lock:
                if self._thread is None:
                    self._thread = threading.Thread(target=self._look_after, daemon=True)
                    self._thread.start()
                    atexit.register(self.settle)
        self._is_due.set()

    def _look_after(self) -> None:
        while True:
            self._is_due.wait()
            self._is_due.clear()
            while self._is_any_left():
                time.sleep(PATIENCE)
                for left in list(self._left.values()):
                    if not self._go_on(left.collection, time.monotonic() - PATIENCE):
                        time.sleep(PATIENCE * 10)

    def _is_any_left(self) -> bool:
        return any(left.waiting or left.done for left in list(self._left.values()))

    def _go_on(self, collection: Collection, before: float | None = None) -> bool:
        """Applies what waits, and tells home; only what has waited since before a time. Whether
        the store took it."""
        with self._going_on:
            self._reader.begin_call()
            todos = self.take(collection, before)
            try:
                if todos:
                    self.apply(collection, todos)
                    self.are_applied(collection, [todo.number for todo in todos])
                self.finish(collection, self.take_done(collection, before))
            except CollectionChanged:  # the collection is gone
                return True
            except Exception:  # noqa: BLE001 - a mistake of ours is told to the next look, which takes
                # them along: here it would end the thread, and none would be applied any more
                self.put_back(collection, todos)
                return False
            return True
