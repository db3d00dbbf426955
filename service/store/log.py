"""Log entries, conflicts and near misses as bytes: a head of fixed places, which `lua/applying.lua`
and `lua/trim.lua` read, and JSON behind it.

Members that say nothing are left out of the JSON.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any

import orjson

from service.dedup.decisions import ConflictStatus, DecisionKind, Keep
from service.dedup.verdict import NO_CHANGES
from service.store.step import LogEntry, StoredConflict, StoredNearMiss, StoredResolution
from service.text.changes import Change, ChangeKind, Changes

ENTRY = struct.Struct(">c6s?5I")  # kind, at, reverted, number, twin, conflict, two kept texts
# Status, existing, incoming, opened at, score, kinds of changes, closing entry.
CONFLICT = struct.Struct(">cII6sdHI")
CLOSED_BY = CONFLICT.size - 4  # where the closing entry stands
NEAR_MISS = struct.Struct(">IId6s")
KIND_LETTERS = {
    DecisionKind.DROPPED: b"d",
    DecisionKind.REPLACED: b"p",
    DecisionKind.HELD: b"h",
    DecisionKind.UPDATED: b"u",
    DecisionKind.RESOLVED: b"r",
    DecisionKind.DELETED: b"x",
    DecisionKind.REVERTED: b"t",
    DecisionKind.VOIDED: b"v",
    DecisionKind.EXPIRED: b"e",
}
KINDS = {letter: kind for kind, letter in KIND_LETTERS.items()}
STATUS_LETTERS = {
    ConflictStatus.OPEN: b"o",
    ConflictStatus.RESOLVED: b"r",
    ConflictStatus.VOID: b"v",
}
_PLACES = {kind: place for place, kind in enumerate(ChangeKind, 1)}
STATUSES = {letter: status for status, letter in STATUS_LETTERS.items()}


def entry_head(entry: LogEntry) -> bytes:
    """The head of an entry that is written at `entry.at`."""
    kept = (*entry.kept, 0, 0)
    return ENTRY.pack(
        KIND_LETTERS[entry.kind],
        _packed_time(entry.at),
        entry.is_reverted,
        entry.number,
        entry.twin_number,
        entry.conflict,
        kept[0],
        kept[1],
    )


def entry_body(entry: LogEntry) -> bytes:
    """What follows the head."""
    return _json(
        {
            "document": entry.document,
            "twin": entry.twin,
            "score": entry.score,
            "rule": entry.rule,
            "reason": entry.reason,
            **_changes_json(entry.changes),
            "ingest": entry.ingest or None,
            "retire": entry.retire or None,
            "by": entry.by,
            "note": entry.note,
            "pair": entry.pair.hex() or None,
        }
    )


def read_entry(number: int, written: bytes) -> LogEntry:
    """The entry that head and body make."""
    kind, at, is_reverted, text, twin, conflict, *kept = ENTRY.unpack_from(written)
    body = orjson.loads(written[ENTRY.size :])
    return LogEntry(
        kind=KINDS[kind],
        document=body["document"],
        number=text,
        twin=body.get("twin"),
        twin_number=twin,
        conflict=conflict,
        kept=tuple(one for one in kept if one),
        score=body.get("score"),
        rule=body.get("rule"),
        reason=body.get("reason"),
        changes=_changes(body),
        ingest=tuple(body.get("ingest", ())),
        retire=tuple(body.get("retire", ())),
        by=body.get("by"),
        note=body.get("note"),
        pair=bytes.fromhex(body.get("pair", "")),
        at=int.from_bytes(at, "big"),
        number_in_log=number,
        is_reverted=is_reverted,
    )


def conflict_rest(conflict: StoredConflict) -> bytes:
    """What follows status and texts of a conflict that is opened."""
    head = CONFLICT.pack(
        b"-",
        0,
        0,
        _packed_time(conflict.opened_at),
        conflict.score,
        kinds_mask(change.kind for change in conflict.changes.items),
        conflict.decision,
    )
    return head[9:] + _conflict_body(conflict)


def kinds_mask(kinds: Iterable[ChangeKind]) -> int:
    """Kinds of changes as a bit each, in 16."""
    mask = 0
    for kind in kinds:
        mask |= 1 << (kind_number(kind) - 1)
    return mask


def kind_number(kind: ChangeKind | None) -> int:
    """The number that the lists of conflicts know a kind by; that of all kinds is 0."""
    return 0 if kind is None else _PLACES[kind]


def conflict_closing(conflict: StoredConflict) -> bytes:
    """The entry that closes a conflict, and what follows it."""
    return conflict.decision.to_bytes(4, "big") + _conflict_body(conflict)


def read_conflict(number: int, written: bytes) -> StoredConflict:
    """The conflict as it is kept."""
    status, existing, incoming, opened_at, score, _, decision = CONFLICT.unpack_from(written)
    body = orjson.loads(written[CONFLICT.size :])
    ruled = body.get("resolution")
    return StoredConflict(
        number=number,
        status=STATUSES[status],
        existing=existing,
        incoming=incoming,
        existing_id=body["existing"],
        incoming_id=body["incoming"],
        score=score,
        changes=_changes(body),
        opened_at=int.from_bytes(opened_at, "big"),
        decision=decision,
        resolution=None if ruled is None else _resolution(ruled),
    )


def _conflict_body(conflict: StoredConflict) -> bytes:
    ruled = conflict.resolution
    return _json(
        {
            "existing": conflict.existing_id,
            "incoming": conflict.incoming_id,
            **_changes_json(conflict.changes),
            "resolution": None
            if ruled is None
            else [ruled.keep, ruled.by, ruled.note, ruled.at, ruled.ingest, ruled.retire],
        }
    )


def near_miss_rest(score: float, at: int) -> bytes:
    """What follows the two texts of a near miss."""
    return NEAR_MISS.pack(0, 0, score, _packed_time(at))[8:]


def read_near_miss(written: bytes) -> StoredNearMiss:
    """A near miss as it is kept."""
    existing, incoming, score, at = NEAR_MISS.unpack(written)
    return StoredNearMiss(existing, incoming, score, int.from_bytes(at, "big"))


def _resolution(written: list[Any]) -> StoredResolution:
    keep, by, note, at, ingest, retire = written
    return StoredResolution(Keep(keep), by, note, at, tuple(ingest), tuple(retire))


def _packed_time(milliseconds: int) -> bytes:
    return milliseconds.to_bytes(6, "big")


def _json(members: dict[str, Any]) -> bytes:
    return orjson.dumps({name: value for name, value in members.items() if value is not None})


def _changes_json(changes: Changes) -> dict[str, Any]:
    items = [
        [c.kind, c.before, c.after, c.fact, c.before_span, c.after_span] for c in changes.items
    ]
    return {"changes": items or None, "cut": changes.cut or None}


def _changes(body: dict[str, Any]) -> Changes:
    if "changes" not in body:
        return NO_CHANGES
    items = tuple(
        Change(ChangeKind(kind), before, after, fact, _span(one), _span(other))
        for kind, before, after, fact, one, other in body["changes"]
    )
    return Changes(items, bool(body.get("cut")), any(item.fact for item in items))


def _span(written: list[int] | None) -> tuple[int, int] | None:
    return None if written is None else (written[0], written[1])
