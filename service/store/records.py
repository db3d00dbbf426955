"""A document's record as packed bytes, and kept texts as compressed ones.

The first 120 bytes have fixed places; `lua/records.lua` reads some of them.
"""

from __future__ import annotations

import struct
import threading
from datetime import UTC, datetime

import zstandard

from service.dedup.verdict import Candidates, Hashes, MatchKind, State
from service.store.base import StoredText

HEAD = struct.Struct(">cIII cd 6s6sI 32s32s H B II")
TAIL = struct.Struct(">HHHB")
DROP_SCORE = struct.Struct(">d")
SUPERSEDED = struct.Struct(">32sdI")
HAS_SUPERSEDED, HAS_DROP_SCORE = 1, 2
NO_MATCH = b"-"
MOST_LOOKED_AT = 0xFFFF
STATES = {b"a": State.ACTIVE, b"h": State.HELD, b"d": State.DROPPED, b"g": State.GONE}
KINDS = {b"b": MatchKind.BYTES, b"n": MatchKind.NORMALIZED, b"s": MatchKind.NEAR}
STATE_LETTERS = {state: letter for letter, state in STATES.items()}
KIND_LETTERS = {kind: letter for letter, kind in KINDS.items()}


def pack(stored: StoredText) -> bytes:
    """The record of a text; its number is not in it, as it is the record's field."""
    name, match_name = stored.id.encode(), (stored.match_id or "").encode()
    head = HEAD.pack(
        STATE_LETTERS[stored.state],
        stored.shingles,
        stored.family,
        stored.survivor,
        NO_MATCH if stored.kind is None else KIND_LETTERS[stored.kind],
        stored.score,
        stored.registered_at.to_bytes(6, "big"),
        stored.updated_at.to_bytes(6, "big"),
        stored.seen_at,
        stored.hashes.bytes,
        stored.hashes.normalized,
        min(stored.candidates.looked_at, MOST_LOOKED_AT),
        stored.candidates.cut | stored.retires << 1 | stored.wins << 2,
        stored.decision,
        stored.conflict,
    )
    more = b""
    parts = 0
    if stored.drop_score is not None:
        parts, more = HAS_DROP_SCORE, DROP_SCORE.pack(stored.drop_score)
    if stored.superseded is not None:
        parts |= HAS_SUPERSEDED
        more += SUPERSEDED.pack(*stored.superseded)
    tail = TAIL.pack(len(name), len(match_name), len(stored.signature), parts)
    return b"".join((head, tail, name, match_name, stored.signature, more))


def unpack(number: int, record: bytes) -> StoredText:
    """The text that `pack` wrote."""
    (
        state,
        shingles,
        family,
        survivor,
        kind,
        score,
        registered_at,
        updated_at,
        seen_at,
        by_bytes,
        normalized,
        looked_at,
        flags,
        decision,
        conflict,
    ) = HEAD.unpack_from(record)
    name_size, match_size, signature_size, parts = TAIL.unpack_from(record, HEAD.size)
    name_at = HEAD.size + TAIL.size
    match_at = name_at + name_size
    signature_at = match_at + match_size
    end = more_at = signature_at + signature_size
    drop_score = None
    if parts & HAS_DROP_SCORE:
        (drop_score,) = DROP_SCORE.unpack_from(record, end)
        more_at += DROP_SCORE.size
    return StoredText(
        id=record[name_at:match_at].decode(),
        state=STATES[state],
        shingles=shingles,
        hashes=Hashes(by_bytes, normalized),
        signature=record[signature_at:end],
        registered_at=int.from_bytes(registered_at, "big"),
        updated_at=int.from_bytes(updated_at, "big"),
        seen_at=seen_at,
        number=number,
        family=family,
        survivor=survivor,
        retires=bool(flags & 2),
        kind=KINDS.get(kind),
        score=score,
        match_id=record[match_at:signature_at].decode() if match_size else None,
        candidates=Candidates(looked_at, bool(flags & 1)),
        superseded=SUPERSEDED.unpack_from(record, more_at) if parts & HAS_SUPERSEDED else None,
        wins=bool(flags & 4),
        decision=decision,
        conflict=conflict,
        drop_score=drop_score,
    )


def moment(milliseconds: int) -> datetime:
    """The time of a record as a datetime in UTC."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


class TextCodec:
    """Compresses kept texts (Zstandard). Its contexts are one a thread: they hold state."""

    def __init__(self) -> None:
        self._contexts = threading.local()

    def compress(self, text: str) -> bytes:
        """The bytes that are kept of a text."""
        try:
            compressor = self._contexts.compressor
        except AttributeError:
            compressor = self._contexts.compressor = zstandard.ZstdCompressor(level=1)
        return bytes(compressor.compress(text.encode()))

    def decompress(self, kept: bytes) -> str:
        """The text that `compress` kept."""
        try:
            decompressor = self._contexts.decompressor
        except AttributeError:
            decompressor = self._contexts.decompressor = zstandard.ZstdDecompressor()
        return str(decompressor.decompress(kept), "utf-8")
