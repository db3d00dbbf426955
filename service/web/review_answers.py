"""What calls about conflicts, decisions and near-misses answer: plain dictionaries.

openapi.yaml describes them in `review_responses.py`.
"""

from __future__ import annotations

from service.dedup.decisions import (
    Conflict,
    Decision,
    DecisionPage,
    NearMiss,
    Resolution,
    Reverted,
    Ruling,
    Side,
)
from service.text.changes import Change
from service.web import stored_answers
from service.web.answers import change, changes
from service.web.wire_values import Json, rounded, time


def conflict(one: Conflict) -> Json:
    """One conflict, with where in both texts each change is."""
    resolution = one.resolution
    return {
        "id": one.id,
        "collection": one.collection,
        "status": one.status.value,
        "score": rounded(one.score),
        **changes(one.changes, _located),
        "existing": _side(one.existing),
        "incoming": _side(one.incoming),
        "opened_at": time(one.opened_at),
        "resolution": None if resolution is None else _resolution(resolution),
    }


def ruling(given: Ruling) -> Json:
    """A conflict that was ruled on, and what downstream does about it."""
    return {
        **conflict(given.conflict),
        "ingest": list(given.ingest),
        "retire": list(given.retire),
    }


def decision(entry: Decision) -> Json:
    """One entry of the log."""
    return {
        "id": entry.id,
        "kind": entry.kind.value,
        "at": time(entry.at),
        "collection": entry.collection,
        "document": entry.document,
        "twin": entry.twin,
        "score": None if entry.score is None else rounded(entry.score),
        "rule": entry.rule,
        "reason": entry.reason,
        **changes(entry.changes),
        "text": entry.text,
        "metadata": None if entry.metadata is None else dict(entry.metadata),
        "ingest": list(entry.ingest),
        "retire": list(entry.retire),
        "by": entry.by,
        "note": entry.note,
    }


def decisions(page: DecisionPage) -> Json:
    """A part of the log, and where to ask on."""
    return {
        "items": [decision(entry) for entry in page.items],
        "next": page.next,
        "after": page.after,
    }


def reverted(taken_back: Reverted) -> Json:
    """A decision that was taken back, and what downstream does about it."""
    document = taken_back.document
    return {
        "decision": decision(taken_back.decision),
        "document": None if document is None else stored_answers.document(document),
        "ingest": list(taken_back.ingest),
        "retire": list(taken_back.retire),
    }


def near_miss(pair: NearMiss) -> Json:
    """A pair that fell just below the threshold."""
    return {
        "a": {"id": pair.a.id, "text": pair.a.text},
        "b": {"id": pair.b.id, "text": pair.b.text},
        "score": rounded(pair.score),
        "at": time(pair.at),
    }


def _located(one: Change) -> Json:
    """A change, and the characters of both texts that it is about."""
    before, after = one.before_span, one.after_span
    return {
        **change(one),
        "before_range": None if before is None else list(before),
        "after_range": None if after is None else list(after),
    }


def _side(side: Side) -> Json:
    return {"id": side.id, "text": side.text, "metadata": dict(side.metadata)}


def _resolution(resolution: Resolution) -> Json:
    return {
        "keep": resolution.keep.value,
        "by": resolution.by,
        "note": resolution.note,
        "at": time(resolution.at),
        "decision": resolution.decision,
    }
