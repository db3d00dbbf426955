"""What checks, cleaning and comparing answer: plain dictionaries, dumped in one place.

openapi.yaml describes them in `responses.py`; `stored_answers.py` and `review_answers.py` have the
rest.
"""

from __future__ import annotations

from collections.abc import Callable

import orjson
from flask import Response

from service.checker import Comparison
from service.dedup.verdict import Answer, ConflictRef, Match, Supersedes
from service.text.changes import Change, Changes
from service.text.cleaning import Cleaned
from service.text.cleaning_report import CleaningReport, Example, Removal
from service.web.wire_values import Json, both_hashes, hash_of, rounded


def dump(body: Json, status: int = 200) -> Response:
    """The answer of a view."""
    return Response(orjson.dumps(body), status, content_type="application/json")


def check(answer: Answer) -> Json:
    """The answer to a check."""
    leak = answer.leak
    return {
        "id": answer.id,
        "collection": answer.collection,
        "verdict": answer.verdict.value,
        "action": answer.action.value,
        "match": None if answer.match is None else _match(answer.match),
        "facts_differ": answer.changes.facts_differ,
        **changes(answer.changes),
        "conflict": None if answer.conflict is None else conflict_ref(answer.conflict),
        "survivor": answer.survivor,
        "reason": answer.reason,
        "retire": list(answer.retire),
        "family": answer.family,
        "leak": None if leak is None else {"split": leak[0], "match_split": leak[1]},
        "candidates": {"looked_at": answer.candidates.looked_at, "cut": answer.candidates.cut},
        **clean(answer.cleaned, paged=answer.paged),
        "hashes": both_hashes(answer.hashes),
        "decision": answer.decision,
        "replayed": answer.replayed,
        "supersedes": None if answer.supersedes is None else _supersedes(answer.supersedes),
    }


def clean(cleaned: Cleaned, *, paged: bool) -> Json:
    """The cleaned text, its pages where pages were posted, and what was removed."""
    return {
        "text": cleaned.text,
        "pages": list(cleaned.pages) if paged else None,
        "cleaning": _report(cleaned.report),
    }


def compare(comparison: Comparison) -> Json:
    """Two texts side by side."""
    return {
        "bytes_equal": comparison.bytes_equal,
        "normalized_equal": comparison.normalized_equal,
        "similarity": [
            {"unit": at.unit, "size": at.size, "score": rounded(at.score)}
            for at in comparison.similarity
        ],
        "score": rounded(comparison.score),
        "verdict": comparison.verdict.value,
        "facts_differ": comparison.changes.facts_differ,
        **changes(comparison.changes),
    }


def change(one: Change) -> Json:
    """One difference between two texts."""
    return {
        "kind": one.kind.value,
        "before": one.before,
        "after": one.after,
        "fact": one.fact,
    }


def changes(found: Changes, item: Callable[[Change], Json] = change) -> Json:
    """What differs between two texts, each told by `item`; says so where there is more."""
    told: Json = {"changes": [item(one) for one in found.items]}
    return told | {"changes_cut": True} if found.cut else told


def conflict_ref(conflict: ConflictRef) -> Json:
    """A conflict as other answers name it."""
    return {"id": conflict.id, "status": conflict.status}


def _match(match: Match) -> Json:
    return {
        "id": match.id,
        "kind": match.kind.value,
        "score": rounded(match.score),
        "score_kind": match.score_kind,
        "state": match.state.value,
    }


def _supersedes(old: Supersedes) -> Json:
    return {
        "normalized": hash_of(old.normalized),
        "score": rounded(old.score),
        **changes(old.changes),
    }


def _report(report: CleaningReport) -> Json:
    told: Json = {
        "chars_before": report.chars_before,
        "chars_after": report.chars_after,
        "removed": [_removal(removal) for removal in report.removed],
    }
    if report.kept:
        told["kept"] = [_example(example) for example in report.kept]
    return told


def _removal(removal: Removal) -> Json:
    told: Json = {"rule": removal.rule, "count": removal.count, "chars": removal.chars}
    if removal.examples:
        told["examples"] = [_example(example) for example in removal.examples]
    return told


def _example(example: Example) -> Json:
    told: Json = {"text": example.text, "pages": example.pages, "of": example.of}
    return told | {"kept": True} if example.kept else told
