"""How far it is, on stderr: a bar at a terminal, elsewhere a line each ten seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from service.bulk.files import TextFile
from service.bulk.tally import Tally

if TYPE_CHECKING:
    from rich.progress import TaskID

LINE_EVERY = 10.0
BAR_EVERY = 0.1


class Progress:
    """Tells of a tally from time to time. Use it with `with`, once what was there is counted."""

    def __init__(self, files: Sequence[TextFile], tally: Tally) -> None:
        self._files = files
        self._tally = tally
        self._begun = self._told = time.monotonic()
        self._size = sum(file.size or 0 for file in files)
        self._is_known = all(file.size is not None for file in files)
        self._first = self._place()
        self._bar: Any = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            self._bar = _bar()
            self._task = self._bar.add_task("", total=self._size if self._is_known else None)
            self._bar.start()
        return self

    def __exit__(self, *_error: object) -> None:
        if self._bar is not None:
            self._show()
            self._bar.stop()

    def tell(self) -> None:
        """Called after each item; says something now and then."""
        now = time.monotonic()
        if now - self._told < (LINE_EVERY if self._bar is None else BAR_EVERY):
            return
        self._told = now
        if self._bar is None:
            sys.stderr.write(f"{self._words()}\n")
            sys.stderr.flush()
        else:
            self._show()

    def seconds(self) -> float:
        """How long it has been going."""
        return time.monotonic() - self._begun

    def rate(self) -> float:
        """Items a second, those that were there already apart."""
        return (self._tally.items - self._tally.resumed) / max(self.seconds(), 0.001)

    def _show(self) -> None:
        self._bar.update(self._task, completed=self._place(), description=self._words())
        self._bar.refresh()

    def _place(self) -> int:
        return sum(file.place() for file in self._files)

    def _words(self) -> str:
        tally = self._tally
        counted = {**dict(sorted(tally.verdicts.items())), "refused": tally.refused}
        told = ", ".join(f"{count:,} {name}" for name, count in counted.items() if count)
        left = self._seconds_left()
        ends = "" if left is None else f", {left:,.0f} s left"
        return f"{tally.items:,} texts, {self.rate():,.0f} a second{ends}: {told or 'none yet'}"

    def _seconds_left(self) -> float | None:
        read = self._place() - self._first
        if not self._is_known or read <= 0:
            return None
        return self.seconds() * (self._size - self._first - read) / read


def _bar() -> Any:
    # At a terminal only.
    from rich.console import Console  # noqa: PLC0415 - as above
    from rich.progress import (  # noqa: PLC0415 - as above
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
    )

    columns = (BarColumn(20), TaskProgressColumn(), TextColumn("{task.description}", markup=False))
    return Progress(*columns, console=Console(stderr=True), auto_refresh=False)
