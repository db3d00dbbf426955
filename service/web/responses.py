"""What the answers look like, as JSON schemas: the other half of openapi.yaml.

Answers are plain dictionaries (see answers.py); a test holds real ones against these.
"""

from __future__ import annotations

from service.dedup.decisions import ConflictStatus
from service.dedup.verdict import Action, MatchKind, Verdict
from service.web.json_schemas import (
    CHANGES,
    CHANGES_CUT,
    COUNT,
    FLAG,
    HASH,
    HASHES,
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
from service.web.parameters import STATES
from service.web.review_responses import REVIEW_RESPONSES

_COUNTS = an_object(active=COUNT, held=COUNT, dropped=COUNT)
_CONFLICT_REF = an_object(id=TEXT, status=one_of(*ConflictStatus))
_SUPERSEDES = with_optional(
    an_object(normalized=HASH, score=SCORE, changes=CHANGES), changes_cut=CHANGES_CUT
)

_EXAMPLE = with_optional(
    an_object(text=TEXT, pages=COUNT, of=COUNT),
    kept=about(FLAG, "true where a copy of the line stays"),
)
_REMOVAL = with_optional(an_object(rule=TEXT, count=COUNT, chars=COUNT), examples=list_of(_EXAMPLE))
_REPORT = with_optional(
    an_object(chars_before=COUNT, chars_after=COUNT, removed=list_of(_REMOVAL)),
    kept=about(
        list_of(_EXAMPLE), "lines that repeat as headers do, and stay: warnings, and protected ones"
    ),
)

_CLEANED: dict[str, Json] = {
    "text": about(TEXT, "the cleaned text to embed"),
    "pages": about(or_null(list_of(TEXT)), "the cleaned pages, where pages were posted"),
    "cleaning": ref("CleaningReport"),
}

_TWIN = an_object(
    id=TEXT,
    score=SCORE,
    kind=one_of(*MatchKind),
    decision=or_null(TEXT),
)

_PENDING = an_object(
    text=TEXT,
    hashes=HASHES,
    metadata=Metadata().json_schema(),
    posted_at=TIME,
    conflict=about(or_null(TEXT), "the conflict that it waits for"),
)

_SETTINGS = an_object(
    cleaning=an_object(
        control_characters=FLAG,
        invisible_characters=FLAG,
        whitespace=FLAG,
        empty_lines=FLAG,
        repeated_lines=or_null(an_object(share={"type": "number"}, min_pages=COUNT)),
        page_numbers=FLAG,
        protect=list_of(TEXT),
    ),
    normalization=one_of("words", "squish"),
    shingles=an_object(unit=one_of("word", "char"), size=COUNT),
    threshold=SCORE,
    survivor=list_of(TEXT),
    on_conflict=one_of("review", "survivor", "ingest", "skip"),
    ttl_days=or_null(COUNT),
    partitions=COUNT,
)

_SCHEME = an_object(
    version=COUNT,
    cleaning_version=COUNT,
    normalization_version=COUNT,
    algorithm=TEXT,
    threshold=SCORE,
    banding=an_object(bands=COUNT, rows=COUNT),
)

_STATISTICS = an_object(
    documents=_COUNTS,
    checks=an_object(
        total=COUNT,
        replayed=COUNT,
        verdicts=an_object(**{verdict.value: COUNT for verdict in Verdict}),
        actions=an_object(**{action.value: COUNT for action in Action}),
    ),
    conflicts=an_object(**{status.value: COUNT for status in ConflictStatus}),
    cleaning=an_object(
        chars_before=COUNT,
        chars_after=COUNT,
        removed=about(
            {"type": "object", "additionalProperties": COUNT}, "characters removed, by rule"
        ),
    ),
    scores=list_of(an_object(**{"from": SCORE, "to": SCORE, "count": COUNT})),
    leaks=COUNT,
    embedding_calls_saved=about(COUNT, "checks answered `skip`, replays apart"),
    bytes_per_document=or_null(COUNT),
    log_trimmed=about(COUNT, "log entries that left after their time"),
)

_SCORED_PAIR: dict[str, Json] = {"a": TEXT, "b": TEXT, "score": SCORE}
_LABELLED_PAIRS = list_of(an_object(**_SCORED_PAIR, duplicate=FLAG))
_SWEEP = an_object(
    unit=one_of("word", "char"),
    size=COUNT,
    normalization=one_of("words", "squish"),
    sweep=list_of(
        an_object(
            threshold=SCORE,
            caught=about(COUNT, "duplicates that are joined"),
            wrongly_joined=about(COUNT, "distinct pairs that are joined"),
            missed=about(COUNT, "duplicates that are not joined"),
            precision=about(or_null(SCORE), "null where nothing is joined"),
            recall=about(or_null(SCORE), "null where no pair is a duplicate"),
            recall_interval=about(or_null(list_of(SCORE)), "95 %, by Wilson's score"),
            cost={"type": "number"},
        )
    ),
    separable=about(FLAG, "some threshold has all duplicates above it and no other pair"),
    statement=about(TEXT, "the same in words"),
    witness=about(
        or_null(an_object(duplicate=an_object(**_SCORED_PAIR), distinct=an_object(**_SCORED_PAIR))),
        "two pairs that no threshold tells apart rightly",
    ),
    nearest=about(
        an_object(threshold=SCORE, above=_LABELLED_PAIRS, below=_LABELLED_PAIRS),
        "the pairs next to the threshold of least cost, from it outwards",
    ),
)

RESPONSES: dict[str, Json] = {
    "CleaningReport": _REPORT,
    "BatchAnswer": an_object(
        results=list_of({"oneOf": [ref("BatchItem"), ref("BatchProblem")]}),
    ),
    "BatchProblem": an_object(index=COUNT, id=or_null(TEXT), problem=ref("Problem")),
    "CheckAnswer": with_optional(
        an_object(
            id=TEXT,
            collection=TEXT,
            verdict=one_of(*Verdict),
            action=about(one_of(*Action), "what the caller does with the text"),
            match=or_null(
                an_object(
                    id=TEXT,
                    kind=one_of(*MatchKind),
                    score=about(SCORE, "the Jaccard similarity, given to six digits"),
                    score_kind=one_of("jaccard", "estimate"),
                    state=one_of("active", "held"),
                )
            ),
            facts_differ=FLAG,
            changes=CHANGES,
            conflict=about(or_null(_CONFLICT_REF), "where the facts differ"),
            survivor=or_null(one_of("incoming", "existing")),
            reason=or_null(TEXT),
            retire=about(IDS, "ids that were active and now are not"),
            family=TEXT,
            leak=or_null(an_object(split=TEXT, match_split=TEXT)),
            candidates=an_object(looked_at=COUNT, cut=FLAG),
            **_CLEANED,
            hashes=HASHES,
            decision=about(or_null(TEXT), "id of the log entry; null for `new`"),
            replayed=about(FLAG, "this id and these bytes were checked before"),
            supersedes=or_null(_SUPERSEDES),
        ),
        changes_cut=CHANGES_CUT,
    ),
    "CleanAnswer": an_object(**_CLEANED),
    "CompareAnswer": with_optional(
        an_object(
            bytes_equal=FLAG,
            normalized_equal=FLAG,
            similarity=list_of(an_object(unit=one_of("word", "char"), size=COUNT, score=SCORE)),
            score=about(SCORE, "the similarity at the collection's own shingles"),
            verdict=about(one_of(*Verdict), "what `b` would be if `a` were stored"),
            facts_differ=FLAG,
            changes=CHANGES,
        ),
        changes_cut=CHANGES_CUT,
    ),
    "Calibration": an_object(settings=list_of(_SWEEP)),
    "Document": an_object(
        id=TEXT,
        collection=TEXT,
        state=one_of(*STATES),
        orphaned=about(FLAG, "dropped, and what it was dropped for is gone"),
        family=TEXT,
        hashes=HASHES,
        metadata=Metadata().json_schema(),
        text=TEXT,
        pending=about(or_null(_PENDING), "a held update, beside the active text"),
        conflict=about(or_null(_CONFLICT_REF), "the one in which it is the incoming text"),
        registered_at=TIME,
        updated_at=TIME,
        twins=about(list_of(_TWIN), "copies that were dropped for it"),
        twins_cut=about(FLAG, "there are more than are named"),
        twin_of=about(or_null(_TWIN), "what it was dropped for"),
    ),
    "DocumentList": part_of(ref("Document")),
    "DeletedDocument": an_object(deleted=TEXT, twins=list_of(_TWIN)),
    "Collection": an_object(name=TEXT, settings=_SETTINGS, scheme=_SCHEME, documents=_COUNTS),
    "CollectionList": part_of(ref("Collection")),
    "DeletedCollection": an_object(deleted=TEXT),
    "Stats": an_object(
        collections={"type": "object", "additionalProperties": _STATISTICS},
        store=or_null(
            an_object(memory_bytes=COUNT, maxmemory_bytes=COUNT, version=TEXT, policy=TEXT)
        ),
    ),
    **REVIEW_RESPONSES,
    "Alive": an_object(status=one_of("ok")),
    "Ready": an_object(
        status=one_of("ready"),
        store=about(
            one_of("ready", "full", "partial"),
            "`partial`: some primaries of a cluster take no writes, the others do",
        ),
        topology=an_object(
            kind=one_of("single", "sentinel", "cluster"),
            primaries=COUNT,
            available=about(COUNT, "primaries that take writes"),
            replicas=about(COUNT, "replicas that are connected to them"),
        ),
    ),
    "Metrics": {"type": "string", "description": "the text format of Prometheus"},
    "Contract": {"type": "object", "description": "an OpenAPI document"},
    "Problem": an_object(
        type={"type": "string", "format": "uri"},
        title=TEXT,
        status={"type": "integer"},
        detail=TEXT,
        code=about(TEXT, "stable; the words beside it may change"),
        errors=list_of(
            an_object(
                pointer=about(TEXT, "a JSON pointer into the body, or `/` and a parameter"),
                code=about(
                    TEXT, "what kind of fault, as `missing`, `invalid_type` or `invalid_value`"
                ),
                detail=TEXT,
            )
        ),
    ),
}
"""Every answer by the name of its component."""
RESPONSES["BatchItem"] = {
    **RESPONSES["CheckAnswer"],
    "required": ["index", *RESPONSES["CheckAnswer"]["required"]],
    "properties": {"index": COUNT, **RESPONSES["CheckAnswer"]["properties"]},
}
