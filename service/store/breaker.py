"""Answers at once while the store is known not to answer, so that no thread waits in vain.

Without it every thread of a worker would wait for a store that is frozen, call after call, and
`/healthz` behind them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

FAILURES = 2
PAUSE = 1.0


class Breaker:
    """Counts waits that ran out, in a row. After `FAILURES` of them it admits nobody, but for one
    every `PAUSE` seconds who finds out; any answer at all, or a refusal, admits all again.

    `longest` is how long one who was admitted may wait, in seconds; `clock` only moves forward.
    """

    def __init__(self, longest: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._longest = longest
        self._clock = clock
        self._in_a_row = 0
        self._next_try = 0.0
        self._lock = threading.Lock()

    def admits(self) -> bool:
        """Whether the caller may ask the store now."""
        if self._in_a_row < FAILURES:
            return True
        with self._lock:
            now = self._clock()
            if now < self._next_try:
                return False
            self._next_try = now + self._longest + PAUSE  # unless it is heard of before
            return True

    def heard(self, *, timed_out: bool) -> None:
        """How it went for one who was admitted."""
        if not timed_out:
            self._in_a_row = 0
            return
        with self._lock:
            self._in_a_row += 1
            self._next_try = self._clock() + PAUSE
