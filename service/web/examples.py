"""One example of each request and of the answers worth showing; a test holds them to be true."""

from __future__ import annotations

from typing import Any

_BYTES_HASH = "sha256:4f1b8d1c7e0a0f3f8b2b9f8fd9f6a1f39c7a7e4ab9dc53b0fca4ab0a0c4f9e11"
_NORMALIZED_HASH = "sha256:09a2c3b5bd7ef00c1e9f6cbb3bb7a1d18e5f5f0e8a67f4fd0f4d3b7b6a5c2d10"

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
        "text": "Submit leave requests two weeks in advance.",
        "metadata": {"source": "intranet", "updated_at": "2026-03-01T00:00:00Z"},
    },
    "CheckAnswer": {
        "id": "handbook-p12",
        "collection": "default",
        "verdict": "near_duplicate",
        "action": "skip",
        "match": {
            "id": "handbook-2024-p12",
            "kind": "near",
            "score": 0.652174,
            "score_kind": "jaccard",
            "state": "active",
        },
        "facts_differ": False,
        "changes": [],
        "conflict": None,
        "survivor": None,
        "reason": None,
        "retire": [],
        "family": "f-5c1e-2",
        "leak": None,
        "candidates": {"looked_at": 3, "cut": False},
        "text": "Submit leave requests two weeks in advance.",
        "pages": None,
        "cleaning": {"chars_before": 43, "chars_after": 43, "removed": []},
        "hashes": {"bytes": _BYTES_HASH, "normalized": _NORMALIZED_HASH},
        "decision": None,
        "replayed": False,
        "supersedes": None,
    },
    "CleanRequest": {"pages": ["Page 1\nOne.", "Page 2\nTwo."], "cleaning": {"whitespace": False}},
    "CompareRequest": {"a": "Open from nine to five.", "b": "Open from nine to six."},
    "CollectionSettings": {
        "normalization": "squish",
        "shingles": {"unit": "char", "size": 3},
        "threshold": 0.65,
        "cleaning": {"repeated_lines": None},
    },
}
