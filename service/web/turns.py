"""Who works and who waits: slow clients wait for themselves, and nobody waits for them.

A process has many threads that may wait for a client (`http_worker.py`) and few turns: as many
requests work at once as the settings name threads, each from when its body is there until its
answer is made. A body of more than SMALL bytes needs room as well, from then on until its answer is
sent, and there is room for as many as there are turns: so slow large bodies keep each other waiting
but not the small ones, and what is held in memory stays bounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore
from typing import TypeVar

SMALL = 64 * 1024

Step = TypeVar("Step")


class Turns:
    """The turns of one process."""

    def __init__(self, count: int) -> None:
        self._turns = BoundedSemaphore(count)
        self._rooms = BoundedSemaphore(count)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Waits for a turn, and has it for as long as the block runs."""
        with self._turns:
            yield

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Lets others work, inside of a turn, for as long as the block waits for a client."""
        self._turns.release()
        try:
            yield
        finally:
            self._turns.acquire()

    def each_in_turn(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The same steps, each made in a turn; none is held while the caller sends one."""
        while True:
            with self.turn():
                try:
                    step = next(steps)
                except StopIteration:
                    return
            yield step

    def room(self) -> Room:
        """The room of one request, not taken yet."""
        return Room(self._rooms)


class Room:
    """Room for one large body; taking or leaving it twice is no error."""

    def __init__(self, rooms: BoundedSemaphore) -> None:
        self._rooms = rooms
        self._is_taken = False

    def take_for(self, size: int) -> None:
        """Waits for room where so many bytes need it. Not to be called inside of a turn."""
        if size > SMALL and not self._is_taken:
            self._rooms.acquire()
            self._is_taken = True

    def leave(self) -> None:
        """Gives the room to others."""
        if self._is_taken:
            self._is_taken = False
            self._rooms.release()
