"""How long a request spends on what: a stopwatch for each thread.

    with HASHING:
        prepared = prepare(…)

Time counts for the innermost stage alone: what `VERIFYING` waits for the store is `STORING`.
"""

from __future__ import annotations

import threading
from contextlib import ContextDecorator
from time import perf_counter
from typing import Final


class _Stopwatch(threading.local):
    """Seconds by stage since it was set to zero, in this thread."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.running: list[str] = []
        self.since = 0.0

    def charge(self) -> None:
        """Adds what has passed to the stage that is running."""
        now = perf_counter()
        if self.running:
            stage = self.running[-1]
            self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self.since
        self.since = now


_stopwatch = _Stopwatch()


class Stage(ContextDecorator):
    """A part of the work: what runs within it, or in a function that it decorates, counts for it.
    One object serves all threads."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        _stopwatch.charge()
        _stopwatch.running.append(self.name)

    def __exit__(self, *_: object) -> None:
        _stopwatch.charge()
        _stopwatch.running.pop()


PARSING: Final = Stage("parse")
HASHING: Final = Stage("hash")
STORING: Final = Stage("redis")
VERIFYING: Final = Stage("verify")
STAGES: Final = (PARSING, HASHING, STORING, VERIFYING)


def begin() -> None:
    """Sets this thread's stopwatch to zero."""
    _stopwatch.seconds = {}
    _stopwatch.running = []


def spent() -> dict[str, float]:
    """Seconds by stage since `begin` in this thread; stages that were not entered are left out."""
    return dict(_stopwatch.seconds)
