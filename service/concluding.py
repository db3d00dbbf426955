"""From a look to an answer: a replay, other bytes of the same words, or a decision and its step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from secrets import token_hex

from service.deciding import decide
from service.dedup.decisions import DecisionKind
from service.dedup.shingles import jaccard
from service.dedup.verdict import (
    NO_CHANGES,
    Answer,
    ConflictRef,
    Metadata,
    State,
    Verdict,
)
from service.drafting import Draft, downstream
from service.matching import Found, Matcher, Matching, Sought
from service.placing import Place, Placed, makes_room, place, taking_its_place
from service.preparing import shingles_of
from service.registering import (
    ACTIONS,
    Beside,
    Case,
    answer_for,
    beside_replay,
    counters_for,
    kept_answer,
    new_text,
    rewritten,
)
from service.settling import Settler
from service.stages import VERIFYING
from service.store.base import (
    Applied,
    Probe,
    Recalled,
    Replay,
    Seen,
    Standing,
    Store,
    StoredText,
)
from service.store.step import NEW, LogEntry, Move, Newcomers, NewText, place_of
from service.text.changes import Changes, find_changes

NOTHING = frozenset[int]()


@dataclass(frozen=True, slots=True)
class Concluded:
    """What came of a look. `answer` is None where the store has changed since: look again.
    `changes` are the numbers of the texts that were changed beside the new one, None where they
    are not known."""

    answer: Answer | None
    changes: frozenset[int] | None


@dataclass(slots=True)
class _Drafted:
    """A decided text whose step is not applied yet. `updated` is the entry of the update that it
    is (0: none)."""

    case: Case
    draft: Draft
    placed: Placed
    beside: Beside
    updated: int


class Concluder:
    """What follows from looks. An answer alone is None where one must look again, too."""

    def __init__(self, store: Store, settler: Settler) -> None:
        self._store = store
        self._settler = settler

    def replay(self, case: Case, look: Replay) -> Answer | None:
        """The answer to a text that was checked before, counted; None where it has changed.

        The active text posted again withdraws an update that waits for a ruling."""
        pending = look.standing.pending
        if (
            pending is not None
            and pending.number != look.stored.number
            and not self._settler.withdraw(case.collection, look.standing, case.now)
        ):
            return None
        recalled = self._store.touch(case.collection, look, case.document.metadata, case.now)
        if recalled is None:
            return None
        beside = beside_replay(case, look, recalled)
        return self._told_again(case, look, beside, recalled)

    def dry_replay(self, case: Case, look: Replay) -> Answer | None:
        """What `replay` answers, with nothing written."""
        recalled = self._store.recall(case.collection, look.stored)
        if recalled is None:
            return None
        beside = beside_replay(case, look, recalled)
        beside.decision = beside.conflict = None
        return self._told_again(case, look, beside, recalled)

    def _told_again(self, case: Case, look: Replay, beside: Beside, recalled: Recalled) -> Answer:
        beside.leak = self._leak_again(case, look, recalled)
        return answer_for(
            case, look.stored, case.collection.family_name(look.stored.family), beside
        )

    @VERIFYING
    def decide(self, case: Case, probe: Probe, seen: Seen) -> Concluded:
        """The answer to a text that was not checked before, once all that follows is applied."""
        kept = kept_answer(case, seen)
        if kept is not None:
            return Concluded(self._rewrite(case, seen, kept), None)
        drafted = self._draft(case, probe, seen)
        if drafted is None:
            return Concluded(None, NOTHING)
        if case.document.dry_run:
            return Concluded(self._first_answer(drafted, None), NOTHING)
        applied = self._apply(case, drafted.draft)
        if applied is None:
            return Concluded(None, NOTHING)
        changes = frozenset(move.was.number for move in drafted.draft.step.moves)
        drafted.beside.retire = self._settled(case, drafted.draft, applied)
        if applied.unsettled:
            drafted.placed = self._as_settled(case, drafted.placed, applied)
        answer = self._first_answer(drafted, applied)
        return Concluded(answer, None if applied.unsettled else changes)

    def _draft(self, case: Case, probe: Probe, seen: Seen) -> _Drafted | None:
        """The decision about a text that was not checked before, with nothing written yet; None
        where the store has changed since the look."""
        prepared, collection = case.prepared, case.collection
        text = prepared.cleaned.text
        sought = Sought(probe, text, prepared.hashes, prepared.shingles, prepared.signature)
        matching = Matcher(self._store, collection, sought).find(seen)
        found = matching.found
        decided = taking_its_place(
            self._store,
            collection,
            probe.id,
            decide(found, case.document.metadata, collection.settings),
            found,
        )
        if decided is None:
            return None
        outcome, opponent = decided
        superseded, changes = self._superseded(case, seen)
        draft = Draft(case.now)
        standing = _unexpired(seen)
        draft.knows(standing)
        if found is not None and outcome.wins:
            draft.knows(self._store.standing(collection, found.stored.id))
        beside_main = makes_room(draft, standing, outcome.state)
        updated = 0
        if superseded is not None and not beside_main:
            updated = draft.logs(
                LogEntry(
                    DecisionKind.UPDATED,
                    document=case.document.id,
                    number=NEW,
                    score=superseded[1],
                    changes=changes,
                )
            )
        stored = self._stored(case, seen, matching, (superseded, updated))
        placed = place(draft, Place(case.document.id, stored, text), outcome, found, opponent)
        stored = placed.stored
        draft.binds(case.document.id, *((seen.old, stored) if beside_main else (stored,)))
        beside = Beside(
            match_state=found.stored.state if found else State.ACTIVE,
            changes=placed.changes,
            superseded_changes=changes,
            survivor=outcome.survivor,
            reason=outcome.reason,
            leak=self._leak_beside(case, found),
        )
        if case.document.dry_run:
            beside.retire = tuple(draft.retired())
        else:
            self._registers(
                draft,
                case,
                probe=probe,
                seen=seen,
                matching=matching,
                placed=placed,
                beside=beside,
            )
        return _Drafted(case, draft, placed, beside, updated)

    def _stored(
        self,
        case: Case,
        seen: Seen,
        matching: Matching,
        superseded: tuple[tuple[bytes, float] | None, int],
    ) -> StoredText:
        """What is to be stored of a text that was not checked before, so far."""
        old, found = seen.old, matching.found
        (was, updated) = superseded
        return replace(
            new_text(case),
            number=NEW,
            registered_at=old.registered_at if old else case.now,
            candidates=matching.candidates,
            retires=old is not None and old.state is State.ACTIVE,
            superseded=None if was is None else (was[0], was[1], updated),
            kind=found.kind if found else None,
            score=found.score if found else 0.0,
            match_id=found.stored.id if found else None,
        )

    def _registers(
        self,
        draft: Draft,
        case: Case,
        *,
        probe: Probe,
        seen: Seen,
        matching: Matching,
        placed: Placed,
        beside: Beside,
    ) -> None:
        """Adds the registration itself, and that nothing like it came since the look."""
        step, stored = draft.step, placed.stored
        step.new = NewText(stored, case.prepared.cleaned.text, case.document.metadata)
        step.newcomers = Newcomers(
            next_at_look=seen.next,
            reindexed=seen.state.reindexed,
            snapshot=seen.state.snapshot,
            stored=stored,
            tags=probe.tags,
            only_equal=stored.state is State.DROPPED,
        )
        if matching.near_miss is not None:
            step.near_miss = (matching.near_miss.stored.number, matching.near_miss.score)
        counted = counters_for(stored, case.prepared.cleaned.report, beside.leak)
        for name, by in counted.items():
            step.counters[name] = step.counters.get(name, 0) + by

    def _first_answer(self, drafted: _Drafted, applied: Applied | None) -> Answer:
        """The answer to a text that is registered now; a dry run has nothing to name."""
        case, placed, beside = drafted.case, drafted.placed, drafted.beside
        stored, collection = placed.stored, case.collection
        if applied is None:
            # A family is made once; that of a dry run is not made: its name must never come again.
            name = (
                collection.family_name(stored.family)
                if stored.family
                else f"f-dry-run-{token_hex(8)}"
            )
            return answer_for(case, stored, name, beside)
        if stored.conflict:
            beside.conflict = ConflictRef(collection.conflict_name(applied.conflict), "open")
        entry = placed.decision or (drafted.updated if stored.verdict is not Verdict.NEW else 0)
        if entry:
            number = applied.first_entry + place_of(entry)
            beside.decision = collection.decision_name(number)
        family = collection.family_name(stored.family or applied.number)
        return answer_for(case, stored, family, beside)

    def _superseded(self, case: Case, seen: Seen) -> tuple[tuple[bytes, float] | None, Changes]:
        """The normalised hash of another text under this id with how alike the two are, and what
        differs."""
        old, prepared = seen.old, case.prepared
        if old is None or old.hashes.normalized == prepared.hashes.normalized:
            same = old is not None and old.hashes.bytes != prepared.hashes.bytes
            return ((old.hashes.normalized, 1.0) if old and same else None), NO_CHANGES
        old_text = seen.old_text or ""
        score = jaccard(prepared.shingles, shingles_of(old_text, case.collection.settings))
        changes = find_changes(old_text, prepared.cleaned.text)
        return (old.hashes.normalized, score), changes

    def _rewrite(self, case: Case, seen: Seen, kept: StoredText) -> Answer | None:
        """Other bytes with the same normalised text: an update that keeps its answer."""
        collection, draft = case.collection, Draft(case.now)
        draft.knows(seen.standing)
        pending = seen.standing.pending
        if pending is not None and pending.number != kept.number:
            self._settler.withdraws(draft, seen.standing)
        entry = draft.logs(
            LogEntry(DecisionKind.UPDATED, document=kept.id, number=kept.number, score=1.0)
        )
        stored = rewritten(kept, case, entry)
        metadata = case.document.metadata or self._store.metadata(collection, [kept.number])[0]
        draft.rests_on(kept)
        draft.step.moves.append(Move(kept, stored, updated=True))
        draft.refreshes(kept)
        draft.step.rewritten.append((kept.number, case.prepared.cleaned.text, metadata))
        anchor = seen.old_anchor if kept.state is State.DROPPED else None
        if anchor is not None:
            draft.rests_on(anchor)
            draft.step.seen.append(anchor.number)
        replay = Replay(stored, metadata, anchor, seen.standing)
        recalled = self._store.recall(collection, kept)
        if recalled is None:
            return None
        leak = self._leak_again(case, replay, recalled)
        draft.step.counters.update(counters_for(stored, case.prepared.cleaned.report, leak))
        recalled.updated = None
        beside = replace(beside_replay(case, replay, recalled), replayed=False)
        if case.document.dry_run:
            beside.decision = beside.conflict = None
        else:
            applied = self._apply(case, draft)
            if applied is None:
                return None
            beside.retire = self._settled(case, draft, applied)
        return self._told_again(case, replay, beside, recalled)

    def _apply(self, case: Case, draft: Draft) -> Applied | None:
        return self._store.apply(case.collection, draft.finished())

    def _settled(self, case: Case, draft: Draft, applied: Applied) -> tuple[str, ...]:
        """Checks anew what the step left waiting; which ids are to be retired in the end."""
        entries = list(draft.step.entries)
        if applied.unsettled:
            entries += self._settler.settle(case.collection, case.now)
        return downstream(entries, draft.was_active())[1]

    def _as_settled(self, case: Case, placed: Placed, applied: Applied) -> Placed:
        """The registration after what waited was checked anew: that may have won against it, and
        a worker is not to ingest what is retired already."""
        now = self._store.records(case.collection, [applied.number])[0]
        if now is None or now.state not in ACTIONS:
            return placed
        stored = replace(placed.stored, state=now.state, family=now.family)
        return replace(placed, stored=stored)

    def _leak_beside(self, case: Case, found: Found | None) -> tuple[str, str] | None:
        """The splits of a text and its match, where both have one and they differ."""
        split = case.document.metadata.get("split")
        if found is None or not isinstance(split, str):
            return None
        other = found.metadata or self._store.metadata(case.collection, [found.stored.number])[0]
        return _differing(split, other)

    def _leak_again(self, case: Case, look: Replay, recalled: Recalled) -> tuple[str, str] | None:
        """The same beside what a text rests on now, or is matched with."""
        split = (case.document.metadata or look.metadata).get("split")
        if look.stored.verdict is Verdict.NEW or not isinstance(split, str):
            return None
        other = recalled.match_metadata
        if look.anchor is not None:
            other = self._store.metadata(case.collection, [look.anchor.number])[0]
        return _differing(split, other)


def _unexpired(seen: Seen) -> Standing:
    """What stands under the id: not what has expired, though it may not have been taken out."""
    standing = seen.standing
    if standing.main is None or seen.old is not None:
        return standing
    return Standing(standing.id, standing.pending)


def _differing(split: str, other: Metadata) -> tuple[str, str] | None:
    match_split = other.get("split")
    if not isinstance(match_split, str) or match_split == split:
        return None
    return split, match_split
