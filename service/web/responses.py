"""What the answers look like, as JSON schemas: the other half of openapi.yaml.

Answers are plain dictionaries (see answers.py); a test holds real ones against these.
"""

from __future__ import annotations

from typing import Any

from service.text.changes import ChangeKind
from service.web.metadata import Metadata
from service.web.schemas import STATES

Json = dict[str, Any]


def ref(name: str) -> Json:
    """A reference to a component."""
    return {"$ref": f"#/components/schemas/{name}"}


def _object(**properties: Json) -> Json:
    return {"type": "object", "required": list(properties), "properties": properties}


def _list(item: Json) -> Json:
    return {"type": "array", "items": item}


def _or_null(schema: Json) -> Json:
    if isinstance(schema.get("type"), str) and "enum" not in schema:
        return {**schema, "type": [schema["type"], "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


def _one_of(*words: str) -> Json:
    return {"type": "string", "enum": list(words)}


def _about(schema: Json, description: str) -> Json:
    return {**schema, "description": description}


_TEXT: Json = {"type": "string"}
_FLAG: Json = {"type": "boolean"}
_COUNT: Json = {"type": "integer", "minimum": 0}
_SCORE: Json = {"type": "number", "minimum": 0, "maximum": 1}
_TIME: Json = {"type": "string", "format": "date-time"}
_HASH: Json = {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}
_HASHES = _object(bytes=_HASH, normalized=_HASH)
_VERDICTS = ("new", "exact_duplicate", "near_duplicate")
_ACTIONS = ("ingest", "skip", "review")
_COUNTS = _object(active=_COUNT, held=_COUNT, dropped=_COUNT)
_CHANGES = _list(
    _object(
        kind=_one_of(*(kind.value for kind in ChangeKind)),
        before=_about(_or_null(_TEXT), "in the matched text; null where there is nothing"),
        after=_about(_or_null(_TEXT), "in the posted text; null where there is nothing"),
        fact=_about(_FLAG, "whether a fact differs, and not the wording alone"),
    )
)
_CHANGES_CUT = _about(_FLAG, "true where there are more changes than are told")
_SUPERSEDES = _object(normalized=_HASH, score=_SCORE, changes=_CHANGES)
_SUPERSEDES["properties"]["changes_cut"] = _CHANGES_CUT

_EXAMPLE = _object(text=_TEXT, pages=_COUNT, of=_COUNT)
_EXAMPLE["properties"]["kept"] = _about(_FLAG, "true where a copy of the line stays")
_REMOVAL = _object(rule=_TEXT, count=_COUNT, chars=_COUNT)
_REMOVAL["properties"]["examples"] = _list(_EXAMPLE)

_REPORT = _object(chars_before=_COUNT, chars_after=_COUNT, removed=_list(_REMOVAL))
_REPORT["properties"]["kept"] = _about(
    _list(_EXAMPLE), "lines that repeat as headers do, and stay: warnings, and protected ones"
)

_CLEANED: dict[str, Json] = {
    "text": _about(_TEXT, "the cleaned text to embed"),
    "pages": _about(_or_null(_list(_TEXT)), "the cleaned pages, where pages were posted"),
    "cleaning": ref("CleaningReport"),
}

_TWIN = _object(
    id=_TEXT,
    score=_SCORE,
    kind=_one_of("bytes", "normalized", "near"),
    decision=_or_null(_TEXT),
)

_SETTINGS = _object(
    cleaning=_object(
        control_characters=_FLAG,
        invisible_characters=_FLAG,
        whitespace=_FLAG,
        empty_lines=_FLAG,
        repeated_lines=_or_null(_object(share={"type": "number"}, min_pages=_COUNT)),
        page_numbers=_FLAG,
        protect=_list(_TEXT),
    ),
    normalization=_one_of("words", "squish"),
    shingles=_object(unit=_one_of("word", "char"), size=_COUNT),
    threshold=_SCORE,
    survivor=_list(_TEXT),
    on_conflict=_one_of("review", "survivor", "ingest", "skip"),
    ttl_days=_or_null(_COUNT),
)

_SCHEME = _object(
    version=_COUNT,
    cleaning_version=_COUNT,
    normalization_version=_COUNT,
    algorithm=_TEXT,
    threshold=_SCORE,
    banding=_object(bands=_COUNT, rows=_COUNT),
)

_STATISTICS = _object(
    documents=_COUNTS,
    checks=_object(
        total=_COUNT,
        replayed=_COUNT,
        verdicts=_object(**dict.fromkeys(_VERDICTS, _COUNT)),
        actions=_object(**dict.fromkeys(_ACTIONS, _COUNT)),
    ),
    conflicts=_object(open=_COUNT, resolved=_COUNT, void=_COUNT),
    cleaning=_object(
        chars_before=_COUNT,
        chars_after=_COUNT,
        removed=_about(
            {"type": "object", "additionalProperties": _COUNT}, "characters removed, by rule"
        ),
    ),
    scores=_list(_object(**{"from": _SCORE, "to": _SCORE, "count": _COUNT})),
    leaks=_COUNT,
    embedding_calls_saved=_about(_COUNT, "checks answered `skip`, replays apart"),
    bytes_per_document=_or_null(_COUNT),
)

RESPONSES: dict[str, Json] = {
    "CleaningReport": _REPORT,
    "CheckAnswer": _object(
        id=_TEXT,
        collection=_TEXT,
        verdict=_one_of(*_VERDICTS),
        action=_about(_one_of(*_ACTIONS), "what the caller does with the text"),
        match=_or_null(
            _object(
                id=_TEXT,
                kind=_one_of("bytes", "normalized", "near"),
                score=_about(_SCORE, "the Jaccard similarity, given to six digits"),
                score_kind=_one_of("jaccard", "estimate"),
                state=_one_of("active", "held"),
            )
        ),
        facts_differ=_FLAG,
        changes=_CHANGES,
        conflict=_or_null({"type": "object"}),
        survivor=_or_null(_one_of("incoming", "existing")),
        reason=_or_null(_TEXT),
        retire=_about(_list(_TEXT), "ids that were active and now are not"),
        family=_TEXT,
        leak=_or_null(_object(split=_TEXT, match_split=_TEXT)),
        candidates=_object(looked_at=_COUNT, cut=_FLAG),
        **_CLEANED,
        hashes=_HASHES,
        decision=_or_null(_TEXT),
        replayed=_about(_FLAG, "this id and these bytes were checked before"),
        supersedes=_or_null(_SUPERSEDES),
    ),
    "CleanAnswer": _object(**_CLEANED),
    "CompareAnswer": _object(
        bytes_equal=_FLAG,
        normalized_equal=_FLAG,
        similarity=_list(_object(unit=_one_of("word", "char"), size=_COUNT, score=_SCORE)),
        score=_about(_SCORE, "the similarity at the collection's own shingles"),
        verdict=_about(_one_of(*_VERDICTS), "what `b` would be if `a` were stored"),
        facts_differ=_FLAG,
        changes=_CHANGES,
    ),
    "Document": _object(
        id=_TEXT,
        collection=_TEXT,
        state=_one_of(*STATES),
        orphaned=_about(_FLAG, "dropped, and what it was dropped for is gone"),
        family=_TEXT,
        hashes=_HASHES,
        metadata=Metadata().json_schema(),
        text=_TEXT,
        pending=_or_null({"type": "object"}),
        registered_at=_TIME,
        updated_at=_TIME,
        twins=_about(_list(_TWIN), "copies that were dropped for it"),
        twins_cut=_about(_FLAG, "there are more than are named"),
        twin_of=_about(_or_null(_TWIN), "what it was dropped for"),
    ),
    "DocumentList": _object(items=_list(ref("Document")), next=_or_null(_TEXT)),
    "DeletedDocument": _object(deleted=_TEXT, twins=_list(_TWIN)),
    "Collection": _object(name=_TEXT, settings=_SETTINGS, scheme=_SCHEME, documents=_COUNTS),
    "CollectionList": _object(items=_list(ref("Collection")), next=_or_null(_TEXT)),
    "DeletedCollection": _object(deleted=_TEXT),
    "Stats": _object(
        collections={"type": "object", "additionalProperties": _STATISTICS},
        store=_or_null(
            _object(memory_bytes=_COUNT, maxmemory_bytes=_COUNT, version=_TEXT, policy=_TEXT)
        ),
    ),
    "Alive": _object(status=_one_of("ok")),
    "Ready": _object(status=_one_of("ready"), store=_one_of("ready", "full")),
    "Contract": {"type": "object", "description": "an OpenAPI document"},
    "Problem": _object(
        type={"type": "string", "format": "uri"},
        title=_TEXT,
        status={"type": "integer"},
        detail=_TEXT,
        code=_about(_TEXT, "stable; the words beside it may change"),
        errors=_list(
            _object(
                pointer=_about(_TEXT, "a JSON pointer into the body, or `/` and a parameter"),
                code=_about(
                    _TEXT, "what kind of fault, as `missing`, `invalid_type` or `invalid_value`"
                ),
                detail=_TEXT,
            )
        ),
    ),
}
"""Every answer by the name of its component."""
for _name in ("CheckAnswer", "CompareAnswer"):
    RESPONSES[_name]["properties"]["changes_cut"] = _CHANGES_CUT
