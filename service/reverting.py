"""Taking a decision back, as a step: a text is active again, or a conflict open."""

from __future__ import annotations

from dataclasses import replace

from service.deciding import difference_in_words
from service.dedup.decisions import ConflictStatus, DecisionKind, Keep
from service.dedup.minhash import signature
from service.dedup.pairs import BOTH, texts_pair
from service.dedup.verdict import State
from service.drafting import Draft
from service.errors import AlreadyReverted, NotRevertible
from service.preparing import shingles_of
from service.store.base import Collection, Store, StoredText
from service.store.step import LogEntry, Step, StoredConflict, StoredResolution

OF_ONE_TEXT = (DecisionKind.DROPPED, DecisionKind.REPLACED, DecisionKind.DELETED)


def revert_step(
    store: Store,
    collection: Collection,
    entry: LogEntry,
    *,
    by: str | None,
    note: str | None,
    now: int,
) -> Step:
    """The step that takes a log entry back. Raises AlreadyReverted or NotRevertible."""
    if entry.is_reverted:
        raise AlreadyReverted("this was taken back before")
    reverter = _Reverter(store, collection, entry, now)
    if entry.kind in OF_ONE_TEXT:
        return reverter.of_text(by, note)
    if entry.kind is DecisionKind.RESOLVED:
        return reverter.of_ruling(by, note)
    raise NotRevertible(f"what was {entry.kind.value} cannot be taken back")


class _Reverter:
    """Drafts the step for one entry."""

    def __init__(self, store: Store, collection: Collection, entry: LogEntry, now: int) -> None:
        self._store = store
        self._collection = collection
        self._entry = entry
        self._draft = Draft(now)
        self._draft.step.is_entry.append(entry.number_in_log)
        self._draft.step.reverted.append(entry.number_in_log)

    def of_text(self, by: str | None, note: str | None) -> Step:
        """The text is an active document again, and the pair is not asked about again."""
        entry, draft = self._entry, self._draft
        text = self._store.records(self._collection, [entry.number])[0]
        if text is None or text.state.is_indexed:
            raise NotRevertible("the text is no longer kept, or stands again already")
        if text.decision != entry.number_in_log:
            raise NotRevertible("the text was decided on again since")
        standing = self._store.standing(self._collection, entry.document)
        others = [one for one in standing.texts if one.number != text.number]
        if others:
            raise NotRevertible("the id has another text now")
        draft.knows(standing)
        ref = self._logs(by, note, f"reverted: {entry.kind.value}")
        seen_at = draft.step.now // 1000  # as if it had just been posted: its days begin anew
        back = replace(self._indexed(text), state=State.ACTIVE, decision=ref, seen_at=seen_at)
        draft.becomes(text, back)
        draft.step.moves[-1].updated = True
        draft.binds(entry.document, back)
        if entry.pair:
            draft.step.rulings[entry.pair] = BOTH
        return draft.finished()

    def of_ruling(self, by: str | None, note: str | None) -> Step:
        """The conflict is open again, both texts as before, and the ruling forgotten."""
        entry, draft = self._entry, self._draft
        conflict = self._store.conflict(self._collection, entry.conflict)
        if conflict is None or conflict.decision != entry.number_in_log:
            raise NotRevertible("the conflict has changed since")
        resolution = conflict.resolution
        if resolution is None:
            raise NotRevertible("the conflict has changed since")
        existing, incoming = self._store.records(
            self._collection, [conflict.existing, conflict.incoming]
        )
        ref = self._logs(by, note, difference_in_words(conflict.changes))
        keep = resolution.keep
        existing_left = State.DROPPED if keep is Keep.INCOMING else State.ACTIVE
        incoming_left = State.DROPPED if keep is Keep.EXISTING else State.ACTIVE
        old_existing = self._as_left(existing, existing_left)
        old_incoming = self._as_left(incoming, incoming_left)
        if existing_left is State.DROPPED:
            back = replace(self._indexed(old_existing), state=State.ACTIVE, decision=0, wins=False)
            draft.becomes(old_existing, back)
        main = self._main_that_left(conflict)
        was_active = _was_active(conflict, resolution, main)
        if not was_active and self._draft.standing(old_incoming.id).pending is not None:
            raise NotRevertible("a side has changed since the ruling")
        waiting = replace(
            self._indexed(old_incoming),
            state=State.ACTIVE if was_active else State.HELD,
            decision=ref,
            wins=False,
            retires=False,
        )
        draft.becomes(old_incoming, waiting)
        if main is not None:
            again = replace(self._indexed(main), state=State.ACTIVE)
            draft.becomes(main, again)
            draft.binds(old_incoming.id, again, waiting)
        hashes = old_incoming.hashes.normalized, old_existing.hashes.normalized
        draft.step.rulings[texts_pair(*hashes)] = b""
        draft.closes(replace(conflict, decision=0, resolution=None), ConflictStatus.OPEN)
        return draft.finished()

    def _as_left(self, text: StoredText | None, state: State) -> StoredText:
        """A side of the conflict, if it still stands as the ruling left it."""
        changed = NotRevertible("a side has changed since the ruling")
        if text is None or text.state is not state:
            raise changed
        if state is State.DROPPED and text.decision != self._entry.number_in_log:
            raise changed
        standing = self._store.standing(self._collection, text.id)
        if standing.main is None or standing.main.number != text.number:
            raise changed
        self._draft.knows(standing)
        self._draft.rests_on(text)
        return text

    def _main_that_left(self, conflict: StoredConflict) -> StoredText | None:
        """The text that the incoming one stood beside before the ruling, as a held update."""
        sides = (conflict.existing, conflict.incoming)
        numbers = [number for number in self._entry.kept if number not in sides]
        if not numbers:
            return None
        main = self._store.records(self._collection, numbers)[0]
        if main is None or main.state is not State.GONE:
            raise NotRevertible("the text of the document before its update is no longer kept")
        return main

    def _indexed(self, text: StoredText) -> StoredText:
        """A text with the signature that it needs in the index, made anew from its kept words."""
        if text.signature:
            return text
        words = self._store.texts(self._collection, [text.number])[0]
        if words is None:
            raise NotRevertible("the text is no longer kept")
        shingles = shingles_of(words, self._collection.settings)
        signed = signature(shingles, self._collection.scheme.banding)
        return replace(text, signature=signed, survivor=0, drop_score=None, retires=False)

    def _logs(self, by: str | None, note: str | None, reason: str) -> int:
        entry = self._entry
        return self._draft.logs(
            LogEntry(
                DecisionKind.REVERTED,
                document=entry.document,
                number=entry.number,
                twin=entry.twin,
                twin_number=entry.twin_number,
                conflict=entry.conflict,
                score=entry.score,
                rule=entry.kind.value,
                reason=reason,
                changes=entry.changes,
                by=by,
                note=note,
            )
        )


def _was_active(
    conflict: StoredConflict, resolution: StoredResolution, main: StoredText | None
) -> bool:
    """Whether the incoming text was active before the ruling (`on_conflict` was `ingest`)."""
    if main is not None:
        return False
    if resolution.keep is Keep.EXISTING:
        return conflict.incoming_id in resolution.retire
    return conflict.incoming_id not in resolution.ingest
