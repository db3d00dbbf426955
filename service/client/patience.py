"""How long and how often a call is asked again."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass

FIRST_WAIT = 0.1
LONGEST_WAIT = 10.0
ASK_AGAIN = frozenset({429, 502, 503, 504})
"""Statuses after which asking again is safe and may help: 502 and 504 are a proxy's."""


@dataclass(frozen=True, slots=True)
class Patience:
    """At most so many `attempts`, the first one counted, and none that begins later than `seconds`
    after the first. `Patience(attempts=1)` asks once."""

    attempts: int = 8
    seconds: float = 60.0


class Asking:
    """The attempts of one call. Once `stop` is set there are no more."""

    def __init__(self, patience: Patience, stop: threading.Event | None = None) -> None:
        self._patience = patience
        self._stop = stop or threading.Event()
        self._gives_up = time.monotonic() + patience.seconds
        self.attempts = 1

    def waits(self, least: float | None) -> bool:
        """Waits for the next attempt, at least as long as the service said (seconds). False where
        there is none left, at once."""
        if self.attempts >= self._patience.attempts:
            return False
        wait = min(FIRST_WAIT * 2 ** (self.attempts - 1), LONGEST_WAIT)
        if least is not None:
            wait = max(wait, least)
        # Callers that were refused together do not come back together.
        wait *= 1 + random.random() / 2  # noqa: S311 - no secret
        if time.monotonic() + wait > self._gives_up:
            return False
        if self._stop.wait(wait):
            return False
        self.attempts += 1
        return True


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that an answer asks to wait; a date, which a proxy may send, is not read."""
    value = headers.get("Retry-After", "")
    return float(value) if value.isascii() and value.isdigit() else None
