"""What each ruling on an open conflict would do, told before it is given."""

from __future__ import annotations

from collections.abc import Sequence

from service.dedup.decisions import ConflictStatus
from service.dedup.queue import MOST_OTHERS, Outlook
from service.dedup.verdict import State
from service.ruling import seen_mark
from service.store.base import Collection, Store, StoredText
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
    others = [
        len(found) + own
        for found, own in zip(
            store.open_with(collection, numbers, MOST_OTHERS + 1),
            _own_conflicts(store, collection, [existing, incoming, old], conflict),
            strict=False,
        )
    ]
    with_existing, with_incoming = others[0] - 1, others[1]
    return Outlook(
        mark,
        is_active=incoming.state is State.ACTIVE,
        updates=is_update,
        is_updated=store.standing(collection, existing.id).pending is not None,
        with_incoming=with_incoming,
        with_existing=with_existing,
        with_old=others[2] if old is not None else 0,
    )


def _own_conflicts(
    store: Store,
    collection: Collection,
    texts: Sequence[StoredText | None],
    ruled_on: StoredConflict,
) -> list[int]:
    """For each text 1 where it is open as the incoming one of another conflict than this."""
    counts = []
    for text in texts:
        number = text.conflict if text is not None else 0
        own = store.conflict(collection, number) if number not in (0, ruled_on.number) else None
        is_open = own is not None and text is not None and own.incoming == text.number
        counts.append(int(is_open and own is not None and own.status is ConflictStatus.OPEN))
    return counts
