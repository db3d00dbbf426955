"""What calls about stored documents, collections and counters answer: plain dictionaries."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from service.dedup.decisions import ConflictStatus
from service.dedup.stored import (
    CollectionInfo,
    CollectionStatistics,
    DocumentCounts,
    Page,
    Pending,
    Statistics,
    StoredDocument,
    Twin,
)
from service.dedup.verdict import Action, Verdict
from service.web.answers import conflict_ref
from service.web.wire_values import Json, both_hashes, rounded, time

T = TypeVar("T")

_SCORE_STEP = 0.05


def document(stored: StoredDocument) -> Json:
    """One stored document."""
    return {
        "id": stored.id,
        "collection": stored.collection,
        "state": stored.state.value,
        "orphaned": stored.orphaned,
        "family": stored.family,
        "hashes": both_hashes(stored.hashes),
        "metadata": dict(stored.metadata),
        "text": stored.text,
        "pending": None if stored.pending is None else _pending(stored.pending),
        "conflict": None if stored.conflict is None else conflict_ref(stored.conflict),
        "registered_at": time(stored.registered_at),
        "updated_at": time(stored.updated_at),
        "twins": [_twin(twin) for twin in stored.twins],
        "twins_cut": stored.twins_cut,
        "twin_of": None if stored.twin_of is None else _twin(stored.twin_of),
    }


def deleted(name: str, twins: tuple[Twin, ...] | None = None) -> Json:
    """What was deleted, with the copies once dropped for it where it was a document."""
    if twins is None:
        return {"deleted": name}
    return {"deleted": name, "twins": [_twin(twin) for twin in twins]}


def collection(info: CollectionInfo) -> Json:
    """One collection."""
    return {
        "name": info.name,
        "settings": info.settings.as_json(),
        "scheme": info.scheme.as_json(),
        "documents": _counts(info.documents),
    }


def page(part: Page[T], item: Callable[[T], Json]) -> Json:
    """A part of a list."""
    return {"items": [item(one) for one in part.items], "next": part.next}


def statistics(counted: Statistics) -> Json:
    """Counters by collection, and the server's own figures."""
    store = counted.store
    return {
        "collections": {name: _collection(one) for name, one in counted.collections.items()},
        "store": None
        if store is None
        else {
            "memory_bytes": store.memory_bytes,
            "maxmemory_bytes": store.maxmemory_bytes,
            "version": store.version,
            "policy": store.policy,
        },
    }


def _collection(counted: CollectionStatistics) -> Json:
    verdicts = {verdict.value: counted.verdicts.get(verdict.value, 0) for verdict in Verdict}
    actions = {action.value: counted.actions.get(action.value, 0) for action in Action}
    return {
        "documents": _counts(counted.documents),
        "checks": {
            "total": sum(verdicts.values()) + counted.replayed,
            "replayed": counted.replayed,
            "verdicts": verdicts,
            "actions": actions,
        },
        "conflicts": {status.value: counted.conflicts.get(status, 0) for status in ConflictStatus},
        "cleaning": {
            "chars_before": counted.chars_before,
            "chars_after": counted.chars_after,
            "removed": dict(counted.removed),
        },
        "scores": [
            {"from": low, "to": round(low + _SCORE_STEP, 2), "count": count}
            for low, count in sorted(counted.scores.items())
        ],
        "leaks": counted.leaks,
        "embedding_calls_saved": actions["skip"],
        "bytes_per_document": counted.bytes_per_document,
        "log_trimmed": counted.log_trimmed,
    }


def _counts(counts: DocumentCounts) -> Json:
    return {"active": counts.active, "held": counts.held, "dropped": counts.dropped}


def _pending(pending: Pending) -> Json:
    return {
        "text": pending.text,
        "hashes": both_hashes(pending.hashes),
        "metadata": dict(pending.metadata),
        "posted_at": time(pending.posted_at),
        "conflict": pending.conflict,
    }


def _twin(twin: Twin) -> Json:
    return {
        "id": twin.id,
        "score": rounded(twin.score),
        "kind": twin.kind.value,
        "decision": twin.decision,
    }
