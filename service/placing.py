"""Puts a decided text in its place: what that changes for it, for its match, and in the log.

Both a posted text and a held one that is checked anew are placed so; `docs/life.md` has the rules.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from service.deciding import Outcome, difference_in_words
from service.dedup.decisions import ConflictStatus, DecisionKind
from service.dedup.pairs import documents_pair
from service.dedup.verdict import NO_CHANGES, State
from service.drafting import Draft
from service.matching import Found
from service.store.base import Collection, Standing, Store, StoredText
from service.store.step import OPENED, LogEntry, StoredConflict
from service.text.changes import Changes, find_changes


@dataclass(frozen=True, slots=True)
class Opponent:
    """The active text that a held match is in conflict with: whoever takes the match's place is
    held by it too. `text` is what is kept of it."""

    conflict: StoredConflict
    stored: StoredText
    text: str


@dataclass(frozen=True, slots=True)
class Placed:
    """What became of a text: the registration, its place in the step's log (None: no entry), what
    differs from the text that it is told beside, and how alike they are."""

    stored: StoredText
    decision: int | None
    changes: Changes


def opponent_of(store: Store, collection: Collection, match: StoredText) -> Opponent | None:
    """What a held text is held by; None where that is on its way out: look again."""
    conflict = store.conflict(collection, match.conflict)
    if conflict is None or conflict.status is not ConflictStatus.OPEN:
        return None
    stored = store.records(collection, [conflict.existing])[0]
    text = store.texts(collection, [conflict.existing])[0]
    if stored is None or text is None or not stored.state.is_indexed:
        return None
    return Opponent(conflict, stored, text)


def taking_its_place(
    store: Store, collection: Collection, id: str, outcome: Outcome, found: Found | None
) -> tuple[Outcome, Opponent | None] | None:
    """The outcome with whom a winner against a held text is then in conflict with; None where that
    is on its way out: look again. A text is never in conflict with the text it updates."""
    if found is None or not outcome.wins or outcome.state is not State.HELD:
        return outcome, None
    opponent = opponent_of(store, collection, found.stored)
    if opponent is None:
        return None
    if opponent.stored.id == id:
        return replace(outcome, state=State.ACTIVE), None
    return outcome, opponent


@dataclass(slots=True)
class Place:
    """A text about to be placed under `id`: `stored` as it is so far (its number may be `NEW`),
    with its cleaned `text`."""

    id: str
    stored: StoredText
    text: str


def place(
    draft: Draft, own: Place, outcome: Outcome, found: Found | None, opponent: Opponent | None
) -> Placed:
    """Adds to the draft what the outcome changes for the text, its match and the log.

    `opponent` is needed where the text wins against a held one. Who leaves under the own id, and
    the move of a text that has a number already, are the caller's.
    """
    if found is None:
        return Placed(replace(own.stored, state=State.ACTIVE), None, NO_CHANGES)
    match = found.stored
    draft.rests_on(match)
    draft.step.is_ruled.update(found.is_ruled)
    stored = replace(own.stored, state=outcome.state, family=match.family)
    decision: int | None = None
    changes = found.changes
    if outcome.wins:
        decision = _displaces(draft, own, outcome, found)
        stored = replace(stored, wins=True)
    else:
        draft.step.seen.append(match.number)
    if outcome.state is State.DROPPED:
        stored, decision = _dropped(draft, own, stored, outcome, found)
    if outcome.opens:
        _opens(draft, own, match, found.score, changes)
        stored = replace(stored, conflict=OPENED)
    if outcome.wins and opponent is not None:
        changes = find_changes(opponent.text, own.text)
        draft.rests_on(opponent.stored)
        draft.step.is_conflict[opponent.conflict.number] = ConflictStatus.OPEN
        _opens(draft, own, opponent.stored, opponent.conflict.score, changes)
        stored = replace(stored, conflict=OPENED)
    if outcome.state is State.HELD:
        beside = opponent.stored if outcome.wins and opponent is not None else match
        held = draft.logs(
            LogEntry(
                DecisionKind.HELD,
                document=own.id,
                number=own.stored.number,
                twin=beside.id,
                twin_number=beside.number,
                conflict=OPENED,
                score=found.score,
                rule="review",
                reason=difference_in_words(changes),
                changes=changes,
            )
        )
        decision = decision or held
    stored = replace(stored, decision=decision or stored.decision)
    return Placed(stored, decision, found.changes)


def _displaces(draft: Draft, own: Place, outcome: Outcome, found: Found) -> int:
    """The match is dropped for the text; what else stands under its id follows."""
    match = found.stored
    entry = draft.logs(
        LogEntry(
            DecisionKind.REPLACED,
            document=match.id,
            number=match.number,
            twin=own.id,
            twin_number=own.stored.number,
            kept=(match.number,),
            pair=_pair(own, match),
            score=found.score,
            rule=outcome.rule,
            reason=outcome.reason,
            changes=found.changes,
        )
    )
    drop_under_its_id(draft, match, own.stored.number, found.score, entry)
    return entry


def drop_under_its_id(
    draft: Draft, text: StoredText, survivor: int, score: float, entry: int
) -> StoredText:
    """Drops a text that others may stand beside: of an update that loses, the main text leaves too;
    beside a main text that loses, a pending one takes its place."""
    dropped = draft.drops(text, survivor, score, entry)
    standing = draft.standing(text.id)
    if standing.pending is not None and standing.pending.number == text.number:
        dropped = replace(dropped, retires=True)
        draft.step.moves[-1].now = dropped
        if standing.main is not None:
            draft.leaves(standing.main)
        draft.binds(text.id, dropped)
    elif standing.pending is not None:
        draft.binds(text.id, standing.pending)
    return dropped


def _dropped(
    draft: Draft, own: Place, stored: StoredText, outcome: Outcome, found: Found
) -> tuple[StoredText, int]:
    match = found.stored
    entry = draft.logs(
        LogEntry(
            DecisionKind.DROPPED,
            document=own.id,
            number=own.stored.number,
            twin=match.id,
            twin_number=match.number,
            kept=(own.stored.number,),
            pair=_pair(own, match),
            score=found.score,
            rule=outcome.rule,
            reason=outcome.reason,
            changes=found.changes,
        )
    )
    own_score = stored.kind is not None and stored.score == found.score
    return replace(
        stored,
        signature=b"",
        survivor=match.number,
        drop_score=None if own_score else found.score,
    ), entry


def _pair(own: Place, match: StoredText) -> bytes:
    return documents_pair(own.id, own.stored.hashes.normalized, match.id, match.hashes.normalized)


def _opens(draft: Draft, own: Place, existing: StoredText, score: float, changes: Changes) -> None:
    draft.step.opened = StoredConflict(
        number=0,
        status=ConflictStatus.OPEN,
        existing=existing.number,
        incoming=own.stored.number,
        existing_id=existing.id,
        incoming_id=own.id,
        score=score,
        changes=changes,
        opened_at=draft.step.now,
    )


def makes_room(draft: Draft, standing: Standing, state: State) -> bool:
    """Has what stands under an id leave for a text that comes in this state; True where the main
    text stays, as an active one does beside a held update."""
    if standing.pending is not None:
        draft.leaves(standing.pending)
    main = standing.main
    if main is None:
        return False
    if state is State.HELD and main.state is State.ACTIVE:
        draft.rests_on(main)
        return True
    draft.leaves(main)
    return False
