"""Checks that meet in one process go to the store as one (group commit): those that come while some
are under way wait for these, and then go together. So the busier a process is the fewer round trips
a check takes, and one that comes alone waits for nobody."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from service.errors import StoreUnavailable
from service.store.base import Collection, Look, Registration

LONG = 32 * 1024
"""A text of so many characters goes by itself: it would keep the others waiting."""


@dataclass(slots=True, eq=False)
class _Check:
    """A check that goes with others. When it `goes_on` it leads a group; or it has been told what
    came of it, or else is to go by itself."""

    entry: Registration
    goes_on: threading.Event = field(default_factory=threading.Event)
    leads: _Group | None = None
    look: Look = None
    error: StoreUnavailable | None = None


@dataclass(slots=True)
class _Group:
    """Checks that have nothing to do with one another, and those that came with them and go by
    themselves behind them, for they may."""

    checks: list[_Check]
    behind: list[_Check] = field(default_factory=list)


class Groups:
    """Has checks done in groups of up to `most`, one group of a collection at a time.

    `check` does those of a group; `wait` waits for an event as long as the call of this thread may,
    and says whether it came."""

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
        self._waiting: dict[tuple[str, str], list[_Check]] = {}

    def check(self, collection: Collection, entry: Registration) -> Look:
        """What came of a check; None where it is to go by itself. Raises what the store raises;
        after StoreUnavailable it may have been done."""
        if len(entry.text) >= LONG:
            return None
        of, mine = (collection.uid, collection.revision), _Check(entry)
        with self._lock:
            if of in self._waiting:
                self._waiting[of].append(mine)
            else:
                self._waiting[of] = []
                mine.leads = _Group([mine])
        if mine.leads is None and not self._wait(mine.goes_on):
            self._leave(of, mine)
        group, mine.leads = mine.leads, None
        if group is not None:
            self._lead(collection, of, group)
        if mine.error is not None:
            raise mine.error
        return mine.look

    def _leave(self, of: tuple[str, str], check: _Check) -> None:
        """It has no more time to wait, unless it goes on by now."""
        with self._lock:
            if check.goes_on.is_set():
                return
            if check in self._waiting.get(of, ()):
                self._waiting[of].remove(check)
        check.error = StoreUnavailable("the store did not answer in time", "timeout")

    def _lead(self, collection: Collection, of: tuple[str, str], group: _Group) -> None:
        """Does the checks of a group, and lets all others go on."""
        silent = None
        try:
            looks = self._check(collection, [one.entry for one in group.checks])
            for one, look in zip(group.checks, looks, strict=True):
                one.look = look
        except StoreUnavailable as error:
            silent = error if error.kind == "timeout" else None
            _all_fail(group.checks, error)
        except Exception:
            if len(group.checks) == 1:
                raise
            # Whose it is will be seen where each goes by itself.
        finally:
            for one in (*group.checks, *group.behind):
                one.goes_on.set()
            self._let_next_go(of, silent)

    def _let_next_go(self, of: tuple[str, str], silent: StoreUnavailable | None) -> None:
        """All that wait now are the next group, but for those that may have to do with an earlier
        one. `silent`: the store does not answer, and those have waited for it."""
        with self._lock:
            waiting = self._waiting.pop(of)
            if not waiting:
                return
            if silent is not None:
                _all_fail(waiting, silent)
                for one in waiting:
                    one.goes_on.set()
                return
            self._waiting[of] = []
            group, claims = _Group([]), set[str | bytes]()
            for one in waiting:
                own = one.entry.probe.claims
                if len(group.checks) < self._most and claims.isdisjoint(own):
                    group.checks.append(one)
                    claims.update(own)
                else:
                    group.behind.append(one)
            leader = group.checks[-1]  # who came last has the most time left
            leader.leads = group
            leader.goes_on.set()


def _all_fail(checks: Sequence[_Check], error: StoreUnavailable) -> None:
    for one in checks:
        one.error = StoreUnavailable(str(error), error.kind)
