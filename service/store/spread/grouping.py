"""Checks that meet in one process go to the store as one (group commit): those that come while some
are under way wait for these, and then go together. So the busier a process is the fewer round trips
a check takes, and one that comes alone waits for nobody."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from service.errors import StoreError, StoreUnavailable
from service.store.base import Collection, CollectionChanged, Registered, Registration, Replay, Seen

LONG = 32 * 1024
"""A text of so many characters goes by itself: it would keep the others waiting."""

Look = Registered | Replay | Seen | None


@dataclass(slots=True, eq=False)
class _Waiting:
    """A check that waits for those under way; then it leads its group, or has been told."""

    entry: Registration
    goes_on: threading.Event = field(default_factory=threading.Event)
    leads: list[_Waiting] | None = None
    look: Look = None
    error: StoreUnavailable | None = None


class Groups:
    """Has checks done in groups of up to `most`, one group of a collection at a time.

    `check` does those of a group, which have nothing to do with one another; `wait` waits for an
    event as long as the call of this thread may, and says whether it came."""

    def __init__(
        self,
        check: Callable[[Collection, Sequence[Registration]], Sequence[Look]],
        wait: Callable[[threading.Event], bool],
        most: int,
    ) -> None:
        self._check = check
        self._wait = wait
        self._most = most
        self._lock = threading.Lock()
        # Of each collection that a group is under way for, those that came since.
        self._waiting: dict[tuple[str, str], list[_Waiting]] = {}

    def check(self, collection: Collection, entry: Registration) -> Look:
        """What came of a check; None where it must be asked by itself. Raises StoreUnavailable,
        after which it may have been done."""
        if len(entry.text) >= LONG:
            return None
        of, mine = (collection.uid, collection.revision), _Waiting(entry)
        with self._lock:
            if of in self._waiting:
                self._waiting[of].append(mine)
            else:
                self._waiting[of] = []
                mine.leads = [mine]
        if mine.leads is None and not self._wait(mine.goes_on):
            self._leave(of, mine)
        if mine.leads is not None:
            try:
                self._lead(collection, mine.leads)
            finally:
                self._let_next_go(of)
        if mine.error is not None:
            raise mine.error
        return mine.look

    def _leave(self, of: tuple[str, str], waiting: _Waiting) -> None:
        """It has no more time to wait, unless it is its turn by now."""
        with self._lock:
            if waiting.goes_on.is_set():
                return
            if waiting in self._waiting.get(of, ()):
                self._waiting[of].remove(waiting)
        waiting.error = StoreUnavailable("the store did not answer those before it in time")

    def _lead(self, collection: Collection, group: Sequence[_Waiting]) -> None:
        """Does the checks of a group, and tells the others of it."""
        try:
            looks = self._check(collection, [one.entry for one in group])
            for one, look in zip(group, looks, strict=True):
                one.look = look
        except StoreUnavailable as error:
            for one in group:
                one.error = StoreUnavailable(str(error), kind=error.kind)
        except (StoreError, CollectionChanged):
            pass  # each is told why by itself
        finally:
            for one in group[1:]:
                one.goes_on.set()

    def _let_next_go(self, of: tuple[str, str]) -> None:
        """All that wait now go: those that have nothing to do with one another as the next group,
        and the others each by itself. So nobody waits for more than one group."""
        with self._lock:
            waiting = self._waiting.pop(of)
            if not waiting:
                return
            self._waiting[of] = []
            group: list[_Waiting] = []
            claims: set[str | bytes] = set()
            for one in waiting:
                own = one.entry.probe.claims
                if len(group) < self._most and claims.isdisjoint(own):
                    group.append(one)
                    claims.update(own)
                else:
                    one.goes_on.set()
            group[0].leads = group
            group[0].goes_on.set()
