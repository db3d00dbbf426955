"""What the scripts answer, as the types of `base`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from service.dedup.verdict import Metadata, State
from service.store.base import (
    Candidate,
    CollectionState,
    Recalled,
    Replay,
    Seen,
    Standing,
    StoredText,
)
from service.store.growth import Growth
from service.store.log import read_conflict, read_entry
from service.store.records import STATES, TextCodec, unpack


def stored_text(packed_number: bytes, record: bytes) -> StoredText:
    """A text by its number and its record."""
    return unpack(int.from_bytes(packed_number, "big"), record)


def growth_and_state(told: Sequence[Any]) -> tuple[Growth, CollectionState]:
    """The `state` of `looking.lua`."""
    level, split, indexed, unsettled, reindexed, oldest, ruled = told
    return Growth(int(level), int(split), int(indexed)), CollectionState(
        unsettled=int(unsettled or 0),
        reindexed=int(reindexed or 0),
        oldest=None if oldest is None else int(oldest),
        ruled=bool(ruled),
    )


def metadata_of(written: bytes | None) -> Metadata:
    """Metadata as it is kept."""
    return orjson.loads(written) if written else {}


def replay(id: str, reply: Sequence[Any]) -> Replay:
    """The `known` of `looking.lua`."""
    _, number, record, metadata, anchor_number, anchor, standing = reply
    return Replay(
        stored=stored_text(number, record),
        metadata=metadata_of(metadata),
        anchor=stored_text(anchor_number, anchor) if anchor else None,
        standing=_standing(id, standing),
    )


def seen(id: str, reply: Sequence[Any], state: CollectionState, codec: TextCodec) -> Seen:
    """The `seen` of `looking.lua`."""
    _, following, _, old, exact, flat, cut, expired, standing = reply
    candidates = [
        Candidate(
            stored_text(flat[at], flat[at + 1]),
            None if flat[at + 2] is None else codec.decompress(flat[at + 2]),
            metadata_of(flat[at + 3]),
        )
        for at in range(0, len(flat), 4)
    ]
    return Seen(
        next=int(following),
        state=state,
        standing=_standing(id, standing),
        old=stored_text(old[0], old[1]) if old else None,
        old_text=codec.decompress(old[2]) if old and old[2] else None,
        old_anchor=stored_text(old[3], old[4]) if old and old[3] else None,
        exact=stored_text(exact[0], exact[1]) if exact else None,
        candidates=candidates,
        cut=bool(cut),
        expired=[stored_text(*expired[at : at + 2]) for at in range(0, len(expired), 2)],
    )


def recalled(stored: StoredText, reply: Sequence[Any]) -> Recalled:
    """What `recalling.lua` says."""
    decision, updated, conflict, match_state, match_metadata = reply
    state: State | None = None if match_state is None else STATES[match_state]
    return Recalled(
        decision=read_entry(stored.decision, decision) if decision else None,
        updated=read_entry(stored.superseded[2], updated)
        if updated and stored.superseded
        else None,
        conflict=read_conflict(stored.conflict, conflict) if conflict else None,
        match_state=state,
        match_metadata=metadata_of(match_metadata),
    )


def _standing(id: str, flat: Sequence[Any]) -> Standing:
    texts = [stored_text(flat[at], flat[at + 1]) for at in range(0, len(flat), 2)]
    return Standing(id, *texts)
