"""What is due between checks: expired texts leave, the log is trimmed, and held copies whose
existing text left are checked anew.

Nothing here waits for a timer: whoever writes to a collection does what is due there.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace

from service.deciding import Outcome, decide
from service.dedup.decisions import ConflictStatus, DecisionKind
from service.dedup.minhash import text_tags
from service.dedup.verdict import NO_CHANGES, State
from service.drafting import Draft
from service.errors import StoreFull
from service.matching import Found, Matcher, Sought
from service.placing import Place, place, taking_its_place
from service.preparing import shingles_of
from service.store.base import (
    SECONDS_A_DAY,
    Collection,
    CollectionChanged,
    Probe,
    Seen,
    Standing,
    Store,
    StoredText,
)
from service.store.step import LogEntry, Move, Newcomers, StoredConflict

NO_BYTES = bytes(32)


class Settler:
    """Does what is due in a collection. Half of `deadline` (seconds) bounds how long one call
    settles, so that there is time left for its answer; what is left is done by the next. The time
    is the caller's."""

    def __init__(
        self,
        store: Store,
        *,
        deadline: float = 2.0,
        log_days: int = 90,
    ) -> None:
        self._store = store
        self._deadline = deadline
        self._log_seconds = log_days * SECONDS_A_DAY

    def is_due(self, collection: Collection, seen: Seen, now: int) -> bool:
        """Does what a look found to be due; True where one must look again for it. `now` is
        milliseconds since 1970."""
        self.trim(collection, seen.state.oldest, now)
        own = {text.number for text in seen.standing.texts}
        for text in seen.expired:
            self._expire(collection, text, now)
        if any(text.number in own for text in seen.expired):
            return True
        if seen.state.unsettled:
            return bool(self.settle(collection, now))
        return False

    def trim(self, collection: Collection, oldest: int | None, now: int) -> None:
        """Takes entries out of the log that are older than it keeps them."""
        before = now // 1000 - self._log_seconds
        if oldest is not None and oldest < before:
            self._store.trim(collection, before)

    def _expire(self, collection: Collection, text: StoredText, now: int) -> None:
        """A text that nobody posted or matched for long leaves, if that still holds."""
        standing = self._store.standing(collection, text.id)
        if standing.main is None or standing.main.number != text.number:
            return
        draft = Draft(now)
        draft.knows(standing)
        draft.leaves(text)
        draft.step.expired_before[text.number] = collection.expires_before(now // 1000)
        draft.binds(text.id, standing.pending)
        if text.state is State.ACTIVE:
            draft.logs(LogEntry(DecisionKind.EXPIRED, document=text.id, number=text.number))
        self._store.apply(collection, draft.finished(), at_limit=True)

    def withdraw(self, collection: Collection, standing: Standing, now: int) -> bool:
        """Takes a held update back; False where the document has changed."""
        draft = Draft(now)
        draft.knows(standing)
        self.withdraws(draft, standing)
        applied = self._store.apply(collection, draft.finished(), at_limit=True)
        if applied is not None and applied.unsettled:
            self.settle(collection, now)
        return applied is not None

    def withdraws(self, draft: Draft, standing: Standing) -> None:
        """Adds to a draft that a held update is taken back."""
        pending = standing.pending
        if pending is None:
            return
        draft.leaves(pending)
        draft.binds(standing.id, standing.main)
        draft.logs(
            LogEntry(
                DecisionKind.VOIDED,
                document=standing.id,
                number=pending.number,
                conflict=pending.conflict,
                reason="withdrawn: the active text was posted again",
            )
        )

    def settle(self, collection: Collection, now: int) -> list[LogEntry]:
        """Checks anew what waits for it, the oldest first, until nothing does or time is up; what
        was logged about it."""
        ends_at = time.monotonic() + self._deadline / 2
        logged: list[LogEntry] = []
        with suppress(StoreFull, CollectionChanged):  # what is left stays held until the next call
            while time.monotonic() < ends_at:
                waiting = self._store.unsettled(collection)
                if not waiting:
                    break
                logged += self._check_anew(collection, waiting, now)
        return logged

    def _check_anew(
        self, collection: Collection, waiting: list[tuple[int, int]], now: int
    ) -> list[LogEntry]:
        """Places the oldest held text that waits; what was logged. Where another caller did so
        first, nothing happens."""
        number, conflict_number = waiting[0]
        held = self._store.records(collection, [number])[0]
        text = self._store.texts(collection, [number])[0]
        conflict = self._store.conflict(collection, conflict_number)
        if held is None or text is None or conflict is None or held.state is not State.HELD:
            return []
        own = Place(held.id, held, text)
        standing = self._store.standing(collection, held.id)
        looked = self._look_anew(collection, own, {other for other, _ in waiting}, now)
        if looked is None:
            return []
        look, found = looked
        metadata = self._store.metadata(collection, [number])[0]
        outcome = decide(found, metadata, collection.settings)
        decided = taking_its_place(self._store, collection, held.id, outcome, found)
        if decided is None:
            return []
        outcome, opponent = decided
        draft = Draft(now)
        draft.knows(standing)
        if found is not None and outcome.wins:
            draft.knows(self._store.standing(collection, found.stored.id))
        draft.step.is_unsettled.append((number, conflict_number))
        draft.step.settled.append(number)
        voided = draft.logs(_voided(held, outcome, found, conflict))
        placed = place(draft, own, outcome, found, opponent).stored
        if placed.decision == held.decision:
            placed = replace(placed, decision=voided)
        _takes_its_place(draft, standing, held, placed)
        draft.step.newcomers = Newcomers(
            next_at_look=look.next,
            reindexed=look.state.reindexed,
            snapshot=look.state.snapshot,
            stored=held,
            tags=_tags(collection, held),
            only_equal=outcome.state is State.DROPPED,
        )
        step = draft.finished()
        return step.entries if self._store.apply(collection, step) is not None else []

    def _look_anew(
        self, collection: Collection, own: Place, waiting: set[int], now: int
    ) -> tuple[Seen, Found | None] | None:
        """What a fresh post of a held text would see, and its match. Among held ones it looks only
        at those that are older and wait neither themselves nor for it, so that no two wait for each
        other."""
        held = own.stored
        shingles = shingles_of(own.text, collection.settings)
        probe = Probe(
            id=held.id,
            bytes_hash=NO_BYTES,  # of no text: this is no replay
            normalized_hash=held.hashes.normalized,
            tags=_tags(collection, held),
            shingles=len(shingles),
            now=now // 1000,
        )
        look = self._store.look(collection, probe)
        if not isinstance(look, Seen):
            return None

        def eligible(stored: StoredText) -> bool:
            if stored.state is not State.HELD:
                return True
            older = stored.number < held.number and stored.number not in waiting
            return older and not self._waits_for(collection, stored, held.number)

        sought = Sought(probe, own.text, held.hashes, shingles, held.signature)
        return look, Matcher(self._store, collection, sought, eligible).find(look).found

    def _waits_for(self, collection: Collection, stored: StoredText, number: int) -> bool:
        """Whether a held text can be ruled on only after that of this number."""
        at: StoredText | None = stored
        while at is not None and at.state is State.HELD:
            conflict = self._store.conflict(collection, at.conflict)
            if conflict is None or conflict.status is not ConflictStatus.OPEN:
                return False
            if conflict.existing == number:
                return True
            at = self._store.records(collection, [conflict.existing])[0]
        return False


def _tags(collection: Collection, held: StoredText) -> list[bytes]:
    return text_tags(held.signature, held.hashes.normalized, collection.scheme.banding)


def _voided(
    held: StoredText, outcome: Outcome, found: Found | None, conflict: StoredConflict
) -> LogEntry:
    """What is told of a held text whose conflict is void."""
    return LogEntry(
        DecisionKind.VOIDED,
        document=held.id,
        number=held.number,
        twin=found.stored.id if found else conflict.existing_id,
        twin_number=found.stored.number if found else 0,
        conflict=conflict.number,
        score=found.score if found else None,
        rule=outcome.rule,
        reason=f"what it waited for left: now {outcome.state.value}",
        changes=found.changes if found else NO_CHANGES,
    )


def _takes_its_place(
    draft: Draft, standing: Standing, held: StoredText, placed: StoredText
) -> None:
    """A held update that is no longer held is the main text of its id; the old one leaves."""
    pending, main = standing.pending, standing.main
    is_pending = pending is not None and pending.number == held.number
    if is_pending and main is not None and placed.state is State.HELD:
        draft.binds(held.id, main, placed)
    elif is_pending and main is not None:
        placed = replace(placed, retires=placed.state is State.DROPPED)
        draft.leaves(main)
        draft.binds(held.id, placed)
    else:
        draft.binds(held.id, placed)
    draft.rests_on(held)
    draft.step.moves.append(Move(held, placed))
