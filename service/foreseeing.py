"""What each ruling on an open conflict would do, told before it is given."""

from __future__ import annotations

from service.dedup.decisions import ConflictStatus
from service.dedup.queue import MOST_OTHERS, Outlook
from service.dedup.verdict import State
from service.ruling import seen_mark
from service.store.base import Collection, Store
from service.store.step import StoredConflict


def outlook(store: Store, collection: Collection, conflict: StoredConflict) -> Outlook | None:
    """What a ruling rests on; None where the conflict is closed, or its texts are leaving."""
    if conflict.status is not ConflictStatus.OPEN:
        return None
    numbers = [conflict.existing, conflict.incoming]
    existing, incoming = store.records(collection, numbers)
    if existing is None or incoming is None:
        return None
    mark = seen_mark(existing, incoming)
    if existing.state is State.HELD:
        earlier = collection.conflict_name(existing.conflict) if existing.conflict else None
        return Outlook(mark, earlier)
    standing = store.standing(collection, incoming.id)
    pending = standing.pending
    is_update = pending is not None and pending.number == incoming.number
    old = standing.main if is_update else None
    if old is not None:
        numbers.append(old.number)
    others = store.open_with(collection, numbers, MOST_OTHERS + 1)
    with_existing, with_incoming = len(others[0]) - 1, len(others[1])
    return Outlook(
        mark,
        is_active=incoming.state is State.ACTIVE,
        updates=is_update,
        is_updated=store.standing(collection, existing.id).pending is not None,
        with_incoming=with_incoming,
        with_existing=with_existing,
        with_old=len(others[2]) if old is not None else 0,
    )
