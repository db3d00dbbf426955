"""The queue of conflicts that a person works through, and what a ruling would do."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from service.dedup.decisions import Conflict, ConflictStatus, Resolution
from service.text.changes import ChangeKind, Changes


class Order(StrEnum):
    """A list of conflicts: open ones, the oldest or the most alike first; closed ones, the newest
    first."""

    OLDEST = "oldest"
    HIGHEST = "highest"
    RESOLVED = "resolved"
    VOID = "void"

    @property
    def is_open(self) -> bool:
        """Whether it lists what waits for a ruling."""
        return self in (Order.OLDEST, Order.HIGHEST)


@dataclass(frozen=True, slots=True)
class QueueFilter:
    """Which conflicts a queue has; `kind` None: with any change."""

    order: Order = Order.OLDEST
    kind: ChangeKind | None = None


@dataclass(frozen=True, slots=True)
class Queued:
    """A conflict as a queue shows it: without its texts."""

    id: str
    collection: str
    status: ConflictStatus
    score: float
    changes: Changes
    existing: str
    incoming: str
    opened_at: datetime
    resolution: Resolution | None


@dataclass(frozen=True, slots=True)
class QueuePage:
    """A part of a queue. `behind` is the id of the conflict to go on behind, None at the end."""

    items: tuple[Queued, ...]
    behind: str | None


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a ruling on an open conflict rests on, and whom else it concerns.

    `seen` stands for the two texts as they are now: a ruling that carries it is refused once they
    are not. `earlier` is the conflict that must be ruled on first. `is_active`: the incoming text
    is active already; `updates`: it is a held update of a document whose old text is active.
    Counts are of other open conflicts, `MOST_OTHERS` at most, that end as void where the text
    leaves: the incoming one, the existing one, the old text that an update stands beside.
    `is_updated`: the existing document has a held update that would take its place."""

    seen: str
    earlier: str | None = None
    is_active: bool = False
    updates: bool = False
    is_updated: bool = False
    with_incoming: int = 0
    with_existing: int = 0
    with_old: int = 0


MOST_OTHERS = 100


@dataclass(frozen=True, slots=True)
class Case:
    """A conflict with all that a person needs to rule on it; `outlook` None: it is closed."""

    conflict: Conflict
    outlook: Outlook | None
