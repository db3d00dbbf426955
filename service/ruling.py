"""A person's ruling on a conflict, as a step: who stays, who is dropped, who leaves with it."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

from service.dedup.decisions import ConflictStatus, DecisionKind, Keep
from service.dedup.pairs import ruled, texts_pair
from service.dedup.verdict import State
from service.drafting import Draft
from service.errors import AlreadyResolved, EarlierConflict
from service.placing import drop_under_its_id
from service.store.base import Collection, Store, StoredText
from service.store.step import LogEntry, StoredConflict, StoredResolution

REASONS = {
    Keep.INCOMING: "ruled: the incoming text stays",
    Keep.EXISTING: "ruled: the existing text stays",
    Keep.BOTH: "ruled: both stay",
}


def seen_mark(existing: StoredText, incoming: StoredText) -> str:
    """Stands for what a person is shown of an open conflict: another one, once a text was written
    anew, got other metadata or was decided on, so after a ruling that was taken back too."""
    told = [
        (text.number, text.state.value, text.decision, text.hashes.bytes.hex(), text.updated_at)
        for text in (existing, incoming)
    ]
    return sha256(repr(told).encode()).hexdigest()[:16]


def ruling_draft(
    store: Store,
    collection: Collection,
    conflict: StoredConflict,
    *,
    keep: Keep,
    by: str,
    note: str | None,
    now: int,
    seen: str | None = None,
) -> Draft | None:
    """The draft of a ruling on an open conflict; None where its texts have changed: look again.

    Raises EarlierConflict where the existing text waits for a ruling of its own, and
    AlreadyResolved where the texts are not as they were when `seen` stood for them."""
    existing, incoming = store.records(collection, [conflict.existing, conflict.incoming])
    if existing is None or incoming is None:
        return None
    if seen is not None and seen != seen_mark(existing, incoming):
        raise AlreadyResolved("the texts have changed since they were looked at")
    if existing.state is State.HELD:
        raise EarlierConflict("the existing text waits for a ruling of its own: rule on that first")
    if existing.state is not State.ACTIVE or not incoming.state.is_indexed:
        return None
    draft = Draft(now)
    for text in (existing, incoming):
        draft.knows(store.standing(collection, text.id))
        draft.rests_on(text)
    entry = LogEntry(
        DecisionKind.RESOLVED,
        document=incoming.id,
        number=incoming.number,
        twin=existing.id,
        twin_number=existing.number,
        conflict=conflict.number,
        score=conflict.score,
        rule=keep.value,
        reason=REASONS[keep],
        changes=conflict.changes,
        by=by,
        note=note,
    )
    ref = draft.logs(entry)
    kept = _apply(draft, existing, incoming, keep=keep, score=conflict.score, ref=ref)
    entry.kept = tuple(kept)
    hashes = incoming.hashes.normalized, existing.hashes.normalized
    draft.step.rulings[texts_pair(*hashes)] = ruled(keep, *hashes)
    resolution = StoredResolution(
        keep, by, note, now, tuple(draft.ingested()), tuple(draft.retired())
    )
    draft.closes(replace(conflict, decision=ref, resolution=resolution), ConflictStatus.RESOLVED)
    return draft


def _apply(
    draft: Draft,
    existing: StoredText,
    incoming: StoredText,
    *,
    keep: Keep,
    score: float,
    ref: int,
) -> list[int]:
    """Moves the texts; which of them only the log entry keeps from now on."""
    standing = draft.standing(incoming.id)
    pending = standing.pending
    beside = standing.main if pending and pending.number == incoming.number else None
    kept = []
    if keep is Keep.EXISTING:
        dropped = draft.drops(incoming, existing.number, score, ref)
        kept.append(incoming.number)
        if beside is not None:
            dropped = replace(dropped, retires=True)
            draft.step.moves[-1].now = dropped
        stays = dropped
    else:
        stays = replace(incoming, state=State.ACTIVE, decision=ref, wins=keep is Keep.INCOMING)
        draft.becomes(incoming, stays)
    if keep is Keep.INCOMING:
        drop_under_its_id(draft, existing, incoming.number, score, ref)
        kept.append(existing.number)
    if beside is not None:
        draft.leaves(beside, kept_by=ref)
        draft.binds(incoming.id, stays)
        kept.append(beside.number)
    return kept
