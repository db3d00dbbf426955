"""Decide: what is stored of a checked text, and the answer that this stands for."""

from __future__ import annotations

from dataclasses import dataclass, replace

from service.dedup.shingles import jaccard
from service.dedup.verdict import (
    NO_CHANGES,
    Action,
    Answer,
    Candidates,
    Document,
    Match,
    MatchKind,
    State,
    Supersedes,
    Verdict,
)
from service.matching import Found
from service.preparing import Prepared, shingles_of
from service.store.base import Collection, Seen, StoredText
from service.text.changes import Changes
from service.text.cleaning import CleaningReport

SCORE_BINS = 20


@dataclass(slots=True)
class Case:
    """One text being checked: what was posted, where, what it is, and when (milliseconds)."""

    document: Document
    collection: Collection
    prepared: Prepared
    now: int


def kept_answer(case: Case, seen: Seen) -> StoredText | None:
    """The text under this id, where only its bytes differ and what its answer rests on is there."""
    old = seen.old
    if old is None or old.hashes.normalized != case.prepared.hashes.normalized:
        return None
    if old.state is State.DROPPED and seen.old_anchor is None:
        return None
    return old


def rewritten(old: StoredText, case: Case) -> StoredText:
    """The text under an id with other bytes: its answer stays."""
    return replace(
        old,
        hashes=case.prepared.hashes,
        updated_at=case.now,
        seen_at=case.now // 1000,
        superseded=(old.hashes.normalized, 1.0),
    )


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


def registered(case: Case, seen: Seen, found: Found | None, candidates: Candidates) -> StoredText:
    """What is to be stored of a text that was not checked before."""
    old = seen.old
    new = replace(
        new_text(case),
        registered_at=old.registered_at if old else case.now,
        candidates=candidates,
        retires=old is not None and old.state is State.ACTIVE,
        superseded=_superseded(case, seen),
    )
    if found is None:
        return new
    return replace(
        new,
        state=State.DROPPED,
        signature=b"",
        family=found.stored.family,
        survivor=found.stored.number,
        kind=found.kind,
        score=found.score,
        match_id=found.stored.id,
    )


def _superseded(case: Case, seen: Seen) -> tuple[bytes, float] | None:
    """The normalised hash of another text under this id, and how alike the two are."""
    old, prepared = seen.old, case.prepared
    if old is None or old.hashes == prepared.hashes:
        return None
    if old.hashes.normalized == prepared.hashes.normalized:
        return old.hashes.normalized, 1.0
    old_shingles = shingles_of(seen.old_text or "", case.collection.settings)
    return old.hashes.normalized, jaccard(prepared.shingles, old_shingles)


@dataclass(frozen=True, slots=True)
class Beside:
    """What an answer tells besides the registration: the text that it rests on now, what differs
    from that, a leak, and what differs from the text that it supersedes."""

    matched: StoredText | None = None
    changes: Changes = NO_CHANGES
    leak: tuple[str, str] | None = None
    superseded_changes: Changes = NO_CHANGES


ALONE = Beside()


def answer_for(case: Case, stored: StoredText, family: str, beside: Beside = ALONE) -> Answer:
    """The answer that a registration stands for: the same at the first time and ever after."""
    dropped = stored.state is State.DROPPED
    match = None
    if stored.kind is not None and stored.match_id is not None:
        state = beside.matched.state if beside.matched else State.ACTIVE
        match = Match(stored.match_id, stored.kind, stored.score, state)
    exact = stored.verdict is Verdict.EXACT_DUPLICATE
    return Answer(
        id=case.document.id,
        collection=case.collection.name,
        verdict=stored.verdict,
        action=Action.SKIP if dropped else Action.INGEST,
        match=match,
        family=family,
        leak=beside.leak,
        candidates=stored.candidates,
        cleaned=case.prepared.cleaned,
        paged=case.document.posted.pages is not None,
        hashes=case.prepared.hashes,
        changes=beside.changes,
        survivor="existing" if exact else None,
        reason="equal texts: the existing one stays" if exact else None,
        # An update that turned out a duplicate: downstream still has the old text of this id.
        retire=(case.document.id,) if dropped and stored.retires else (),
        supersedes=(
            Supersedes(*stored.superseded, beside.superseded_changes) if stored.superseded else None
        ),
    )


def counters_for(
    stored: StoredText, report: CleaningReport, leak: tuple[str, str] | None = None
) -> dict[str, int]:
    """What a first answer adds to the statistics, by the names that the store counts under."""
    action = Action.SKIP if stored.state is State.DROPPED else Action.INGEST
    counters = {
        stored.verdict.value: 1,
        action.value: 1,
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
