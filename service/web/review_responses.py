"""What answers about conflicts, decisions and near-misses look like, as JSON schemas."""

from __future__ import annotations

from service.dedup.decisions import ConflictStatus, DecisionKind, Keep
from service.web.json_schemas import (
    CHANGE,
    CHANGES,
    CHANGES_CUT,
    COUNT,
    IDS,
    SCORE,
    TEXT,
    TIME,
    Json,
    about,
    an_object,
    list_of,
    one_of,
    or_null,
    part_of,
    ref,
    with_optional,
)
from service.web.metadata import Metadata

_KEPT_TEXT = about(or_null(TEXT), "the cleaned text; null where it is no longer kept")
_RANGE: Json = {"type": "array", "items": COUNT, "minItems": 2, "maxItems": 2}
_LOCATED_CHANGE = an_object(
    **CHANGE["properties"],
    before_range=about(
        or_null(_RANGE), "where `before` begins and ends in `existing.text`, in code points"
    ),
    after_range=about(
        or_null(_RANGE), "where `after` begins and ends in `incoming.text`, in code points"
    ),
)
_SIDE = an_object(id=TEXT, text=_KEPT_TEXT, metadata=Metadata().json_schema())
_RESOLUTION = an_object(
    keep=one_of(*Keep),
    by=TEXT,
    note=or_null(TEXT),
    at=TIME,
    decision=about(TEXT, "the entry of the log, which can be taken back"),
)
_CONFLICT: dict[str, Json] = {
    "id": TEXT,
    "collection": TEXT,
    "status": one_of(*ConflictStatus),
    "score": SCORE,
    "changes": list_of(_LOCATED_CHANGE),
    "existing": _SIDE,
    "incoming": _SIDE,
    "opened_at": TIME,
    "resolution": or_null(_RESOLUTION),
}
_DOWNSTREAM: dict[str, Json] = {
    "ingest": about(IDS, "ids that now are active with a text they had not"),
    "retire": about(IDS, "ids that were active and now are not"),
}
_PAIRED = an_object(id=TEXT, text=_KEPT_TEXT)

REVIEW_RESPONSES: dict[str, Json] = {
    "Conflict": with_optional(an_object(**_CONFLICT), changes_cut=CHANGES_CUT),
    "ConflictList": part_of(ref("Conflict")),
    "Ruling": with_optional(an_object(**_CONFLICT, **_DOWNSTREAM), changes_cut=CHANGES_CUT),
    "Decision": with_optional(
        an_object(
            id=TEXT,
            kind=one_of(*DecisionKind),
            at=TIME,
            collection=TEXT,
            document=about(TEXT, "the incoming or leaving one"),
            twin=about(or_null(TEXT), "the other one"),
            score=or_null(SCORE),
            rule=or_null(TEXT),
            reason=or_null(TEXT),
            changes=CHANGES,
            text=_KEPT_TEXT,
            metadata=or_null(Metadata().json_schema()),
            **_DOWNSTREAM,
            by=or_null(TEXT),
            note=or_null(TEXT),
        ),
        changes_cut=CHANGES_CUT,
    ),
    "DecisionList": an_object(
        items=list_of(ref("Decision")),
        next=about(or_null(TEXT), "the same as `after` where there is more already"),
        after=about(TEXT, "where to ask on, now or later: nothing is missed or given twice"),
    ),
    "Reverted": an_object(
        decision=ref("Decision"), document=or_null(ref("Document")), **_DOWNSTREAM
    ),
    "NearMiss": an_object(a=_PAIRED, b=_PAIRED, score=SCORE, at=TIME),
    "NearMissList": part_of(ref("NearMiss")),
}
"""Every answer of review by the name of its component."""
