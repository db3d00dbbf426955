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
    existing, incoming = store.records(collection, [conflict.existing, conflict.incoming])
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
    texts = [existing, incoming, *([] if old is None else [old])]
    with_existing, with_incoming, *with_old = _others(store, collection, texts, conflict)
    return Outlook(
        mark,
        is_active=incoming.state is State.ACTIVE,
        updates=is_update,
        is_updated=store.standing(collection, existing.id).pending is not None,
        with_incoming=with_incoming,
        with_existing=with_existing,
        with_old=sum(with_old),
    )


def _others(
    store: Store, collection: Collection, texts: Sequence[StoredText], ruled_on: StoredConflict
) -> list[int]:
    """For each text the other open conflicts that it is in, on whichever side."""
    counts = []
    found = store.open_with(collection, [text.number for text in texts], MOST_OTHERS + 1)
    for text, numbers in zip(texts, found, strict=True):
        others = {number for number in numbers if number != ruled_on.number}
        own = store.conflict(collection, text.conflict) if text.conflict else None
        is_in_own = own is not None and own.incoming == text.number
        if own is not None and is_in_own and own.status is ConflictStatus.OPEN:
            others.add(own.number)
        counts.append(len(others - {ruled_on.number}))
    return counts
