"""One example of each request and of the answers worth showing; a test holds them to be true."""

from __future__ import annotations

from typing import Any

_BYTES_HASH = "sha256:4f1b8d1c7e0a0f3f8b2b9f8fd9f6a1f39c7a7e4ab9dc53b0fca4ab0a0c4f9e11"
_NORMALIZED_HASH = "sha256:09a2c3b5bd7ef00c1e9f6cbb3bb7a1d18e5f5f0e8a67f4fd0f4d3b7b6a5c2d10"

_CONFLICT_ID, _DECISION_ID, _RULED_ID = "c-5c1e-1", "d-5c1e-7", "d-5c1e-8"
_REASON = "facts differ: 2 hours -> 3 hours"
_CHANGE = {"kind": "quantity", "before": "2 hours", "after": "3 hours", "fact": True}
_EXISTING: dict[str, Any] = {
    "id": "handbook-2024-p12",
    "text": "A rented bike is yours for 2 hours, with a helmet and a lock, until closing time.",
    "metadata": {"source": "intranet"},
}
_INCOMING: dict[str, Any] = {
    "id": "handbook-p12",
    "text": "A rented bike is yours for 3 hours, with a helmet and a lock, until closing time.",
    "metadata": {"source": "intranet", "updated_at": "2026-03-01T00:00:00Z"},
}
_PAID = {
    "a": "The employer pays for certification training.",
    "b": "The employer covers certification training.",
}
_CONFLICT: dict[str, Any] = {
    "id": _CONFLICT_ID,
    "collection": "default",
    "status": "open",
    "score": 0.666667,
    "changes": [{**_CHANGE, "before_range": [27, 34], "after_range": [27, 34]}],
    "existing": _EXISTING,
    "incoming": _INCOMING,
    "opened_at": "2026-03-02T08:30:00Z",
    "resolution": None,
}
_TRAM = "The first tram {} leaves the depot at ten past five on every working day of the year."
_RULING = {"keep": "incoming", "by": "dana", "note": "The new house rules say 3."}

PROBLEM_EXAMPLE: dict[str, Any] = {
    "type": "urn:problem-type:twinsift:invalid_request",
    "title": "Unprocessable Content",
    "status": 422,
    "detail": "/id is required.",
    "code": "invalid_request",
    "errors": [{"pointer": "/id", "code": "missing", "detail": "is required"}],
}

EXAMPLES: dict[str, dict[str, Any]] = {
    "CheckRequest": {
        "id": "handbook-p12",
        "text": _INCOMING["text"],
        "metadata": _INCOMING["metadata"],
    },
    "CheckAnswer": {
        "id": "handbook-p12",
        "collection": "default",
        "verdict": "near_duplicate",
        "action": "review",
        "match": {
            "id": "handbook-2024-p12",
            "kind": "near",
            "score": 0.666667,
            "score_kind": "jaccard",
            "state": "active",
        },
        "facts_differ": True,
        "changes": [_CHANGE],
        "conflict": {"id": _CONFLICT_ID, "status": "open"},
        "survivor": None,
        "reason": _REASON,
        "retire": [],
        "family": "f-5c1e-2",
        "leak": None,
        "candidates": {"looked_at": 3, "cut": False},
        "text": _INCOMING["text"],
        "pages": None,
        "cleaning": {"chars_before": 81, "chars_after": 81, "removed": []},
        "hashes": {"bytes": _BYTES_HASH, "normalized": _NORMALIZED_HASH},
        "decision": _DECISION_ID,
        "replayed": False,
        "supersedes": None,
    },
    "CleanRequest": {"pages": ["Page 1\nOne.", "Page 2\nTwo."], "cleaning": {"whitespace": False}},
    "CompareRequest": {"a": "Open from nine to five.", "b": "Open from nine to six."},
    "CalibrationRequest": {
        "pairs": [
            {**_PAID, "duplicate": True},
            {**_PAID, "b": "The employer pays for certification exam.", "duplicate": False},
        ],
        "normalization": "squish",
        "shingles": [{"unit": "char", "size": 3}],
        "thresholds": [0.65, 0.7],
        "costs": {"missed": 1, "wrongly_joined": 5},
    },
    "Conflict": _CONFLICT,
    "RulingRequest": _RULING,
    "Ruling": {
        **_CONFLICT,
        "status": "resolved",
        "resolution": {
            **_RULING,
            "at": "2026-03-02T09:00:00Z",
            "decision": _RULED_ID,
        },
        "ingest": [_INCOMING["id"]],
        "retire": [_EXISTING["id"]],
    },
    "DecisionList": {
        "items": [
            {
                "id": _DECISION_ID,
                "kind": "held",
                "at": "2026-03-02T08:30:00Z",
                "collection": "default",
                "document": _INCOMING["id"],
                "twin": _EXISTING["id"],
                "score": 0.666667,
                "rule": "review",
                "reason": _REASON,
                "changes": [_CHANGE],
                "text": _INCOMING["text"],
                "metadata": _INCOMING["metadata"],
                "ingest": [],
                "retire": [],
                "by": None,
                "note": None,
            }
        ],
        "next": None,
        "after": "NWMxZTo3",
    },
    "RevertRequest": {"by": "dana", "note": "Both offices print their own."},
    "NearMissList": {
        "items": [
            {
                "a": {"id": "tram-north", "text": _TRAM.format("north")},
                "b": {"id": "tram-south", "text": _TRAM.format("south, by the river,")},
                "score": 0.590909,
                "at": "2026-03-02T08:30:00Z",
            }
        ],
        "next": None,
    },
    "CollectionSettings": {
        "normalization": "squish",
        "shingles": {"unit": "char", "size": 3},
        "threshold": 0.65,
        "cleaning": {"repeated_lines": None},
    },
}
