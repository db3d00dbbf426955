"""What the scripts answer, as the types of `base`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from service.store.base import Candidate, Replay, Seen, StoredText
from service.store.growth import Growth
from service.store.keys import PartitionKeys
from service.store.records import TextCodec, unpack


@dataclass(slots=True)
class Trail:
    """What a look leaves for its commit: the shards that it asked, at which growth, and a few texts
    that have expired."""

    growth: Growth
    shards: list[str]
    expired: list[StoredText]

    def shards_at(self, growth: Growth, keys: PartitionKeys, tags: Sequence[bytes]) -> list[str]:
        """The shards of the text's tags; those of the look where the index has not grown since."""
        if (growth.level, growth.split) == (self.growth.level, self.growth.split):
            return list(self.shards)
        return growth.shard_keys(keys, tags)


def stored_text(packed_number: bytes, record: bytes) -> StoredText:
    """A text by its number and its record."""
    return unpack(int.from_bytes(packed_number, "big"), record)


def replay(reply: Sequence[Any]) -> Replay:
    """The `known` of `look.lua`."""
    _, number, record, metadata, anchor_number, anchor = reply
    return Replay(
        stored=stored_text(number, record),
        metadata=orjson.loads(metadata) if metadata else {},
        anchor=stored_text(anchor_number, anchor) if anchor else None,
    )


def seen(reply: Sequence[Any], shards: list[str], codec: TextCodec) -> Seen:
    """The `seen` of `look.lua`."""
    _, following, level, split, indexed, old, exact, flat, cut, expired = reply
    candidates = [
        Candidate(
            stored_text(flat[at], flat[at + 1]),
            None if flat[at + 2] is None else codec.decompress(flat[at + 2]),
        )
        for at in range(0, len(flat), 3)
    ]
    return Seen(
        next=int(following),
        old=stored_text(old[0], old[1]) if old else None,
        old_text=codec.decompress(old[2]) if old else None,
        old_anchor=stored_text(old[3], old[4]) if old and old[3] else None,
        exact=stored_text(exact[0], exact[1]) if exact else None,
        candidates=candidates,
        cut=bool(cut),
        trail=Trail(
            growth=Growth(int(level), int(split), int(indexed)),
            shards=shards,
            expired=[stored_text(*expired[at : at + 2]) for at in range(0, len(expired), 2)],
        ),
    )
