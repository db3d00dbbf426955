"""What is stored of a checked text, and the answer that this stands for."""

from __future__ import annotations

from dataclasses import dataclass, replace

from service.deciding import difference_in_words
from service.dedup.decisions import DecisionKind
from service.dedup.verdict import (
    NO_CHANGES,
    Action,
    Answer,
    ConflictRef,
    Document,
    Match,
    MatchKind,
    State,
    Supersedes,
    Verdict,
)
from service.preparing import Prepared
from service.store.base import Collection, Recalled, Replay, Seen, StoredText
from service.text.changes import Changes
from service.text.cleaning import CleaningReport

SCORE_BINS = 20
ACTIONS = {State.ACTIVE: Action.INGEST, State.HELD: Action.REVIEW, State.DROPPED: Action.SKIP}


@dataclass(slots=True)
class Case:
    """One text being checked: what was posted, where, what it is, and when (milliseconds)."""

    document: Document
    collection: Collection
    prepared: Prepared
    now: int


def kept_answer(case: Case, seen: Seen) -> StoredText | None:
    """The text under this id, where only its bytes differ and what its answer rests on is there."""
    normalized = case.prepared.hashes.normalized
    pending, old = seen.standing.pending, seen.old
    if pending is not None and pending.hashes.normalized == normalized:
        return pending
    if old is None or old.hashes.normalized != normalized:
        return None
    if old.state is State.DROPPED and seen.old_anchor is None:
        return None
    return old


def new_text(case: Case) -> StoredText:
    """What is to be stored of a text that nothing stored is like."""
    prepared = case.prepared
    return StoredText(
        id=case.document.id,
        state=State.ACTIVE,
        shingles=len(prepared.shingles),
        hashes=prepared.hashes,
        signature=prepared.signature,
        registered_at=case.now,
        updated_at=case.now,
        seen_at=case.now // 1000,
    )


@dataclass(slots=True)
class Beside:
    """What an answer tells besides the registration. `match_state` is that of the text it is
    matched with, now; `conflict` that in which it is the incoming text."""

    match_state: State = State.ACTIVE
    changes: Changes = NO_CHANGES
    superseded_changes: Changes = NO_CHANGES
    survivor: str | None = None
    reason: str | None = None
    retire: tuple[str, ...] = ()
    leak: tuple[str, str] | None = None
    conflict: ConflictRef | None = None
    decision: str | None = None
    replayed: bool = False


ALONE = Beside()


def answer_for(case: Case, stored: StoredText, family: str, beside: Beside = ALONE) -> Answer:
    """The answer that a registration stands for."""
    match = None
    if stored.kind is not None and stored.match_id is not None:
        match = Match(stored.match_id, stored.kind, stored.score, beside.match_state)
    superseded = stored.superseded
    return Answer(
        id=case.document.id,
        collection=case.collection.name,
        verdict=stored.verdict,
        action=ACTIONS[stored.state],
        match=match,
        family=family,
        leak=beside.leak,
        candidates=stored.candidates,
        cleaned=case.prepared.cleaned,
        paged=case.document.posted.pages is not None,
        hashes=case.prepared.hashes,
        changes=beside.changes,
        survivor=beside.survivor,
        reason=beside.reason,
        retire=beside.retire,
        supersedes=None
        if superseded is None
        else Supersedes(superseded[0], superseded[1], beside.superseded_changes),
        conflict=beside.conflict,
        decision=beside.decision,
        replayed=beside.replayed,
    )


def beside_replay(case: Case, replay: Replay, recalled: Recalled) -> Beside:
    """What a replayed answer tells of the present, and of the past while its log entry lasts."""
    stored, collection = replay.stored, case.collection
    beside = Beside(replayed=True)
    matched = replay.anchor.state if replay.anchor else recalled.match_state
    if matched is not None and matched.is_indexed:
        beside.match_state = matched
    conflict = recalled.conflict
    if conflict is not None:
        name = collection.conflict_name(conflict.number)
        beside.conflict = ConflictRef(name, conflict.status.value)
        if stored.state is State.ACTIVE and not stored.decision:
            # Both are active (`on_conflict` is `ingest`): only the conflict tells why.
            beside.changes = conflict.changes
            beside.reason = difference_in_words(conflict.changes)
    if recalled.updated is not None:
        beside.superseded_changes = recalled.updated.changes
    beside.retire = _retired(stored, recalled)
    entry = recalled.decision
    if entry is None or stored.verdict is Verdict.NEW:
        return beside
    beside.decision = collection.decision_name(stored.decision)
    beside.reason = entry.reason
    if stored.kind is MatchKind.NEAR:
        beside.changes = entry.changes
    if stored.wins and stored.state is not State.DROPPED:
        beside.survivor = "incoming"
    elif stored.state is State.DROPPED:
        beside.survivor = "existing"
    elif entry.kind is DecisionKind.RESOLVED:
        beside.survivor = "incoming"
    return beside


def _retired(stored: StoredText, recalled: Recalled) -> tuple[str, ...]:
    """Ids that this text had downstream delete, unless they are active by now."""
    if stored.state is State.DROPPED:
        return (stored.id,) if stored.retires else ()
    loser = stored.match_id if stored.wins and stored.state is State.ACTIVE else None
    return (loser,) if loser is not None and recalled.match_state is not State.ACTIVE else ()


def rewritten(old: StoredText, case: Case, updated: int) -> StoredText:
    """The text under an id with other bytes: its answer stays. `updated` is its log entry."""
    return replace(
        old,
        hashes=case.prepared.hashes,
        updated_at=case.now,
        seen_at=case.now // 1000,
        superseded=(old.hashes.normalized, 1.0, updated),
    )


def counters_for(
    stored: StoredText, report: CleaningReport, leak: tuple[str, str] | None = None
) -> dict[str, int]:
    """What a first answer adds to the statistics, by the names that the store counts under."""
    counters = {
        stored.verdict.value: 1,
        ACTIONS[stored.state].value: 1,
        "chars_before": report.chars_before,
        "chars_after": report.chars_after,
    }
    for removal in report.removed:
        if removal.chars:
            counters[f"removed:{removal.rule}"] = removal.chars
    if stored.kind is MatchKind.NEAR:
        low = min(int(stored.score * SCORE_BINS), SCORE_BINS - 1) / SCORE_BINS
        counters[f"score:{low:.2f}"] = 1
    if leak is not None:
        counters["leaks"] = 1
    return counters
