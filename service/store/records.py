"""A document's record as packed bytes, and kept texts as compressed ones.

The first 105 bytes have fixed places; `lua/records.lua` reads some of them.
"""

from __future__ import annotations

import struct
import threading
from datetime import UTC, datetime

import zstandard

from service.dedup.verdict import Candidates, Hashes, MatchKind, State
from service.store.base import StoredText

HEAD = struct.Struct(">cIII cd 6s6sI 32s32s H B")
TAIL = struct.Struct(">HHHB")
SUPERSEDED = struct.Struct(">32sd")
NO_MATCH = b"-"
MOST_LOOKED_AT = 0xFFFF
STATES = {b"a": State.ACTIVE, b"h": State.HELD, b"d": State.DROPPED}
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
        stored.candidates.cut | stored.retires << 1,
    )
    tail = TAIL.pack(
        len(name), len(match_name), len(stored.signature), stored.superseded is not None
    )
    superseded = SUPERSEDED.pack(*stored.superseded) if stored.superseded else b""
    return b"".join((head, tail, name, match_name, stored.signature, superseded))


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
    ) = HEAD.unpack_from(record)
    name_size, match_size, signature_size, supersedes = TAIL.unpack_from(record, HEAD.size)
    name_at = HEAD.size + TAIL.size
    match_at = name_at + name_size
    signature_at = match_at + match_size
    end = signature_at + signature_size
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
        superseded=SUPERSEDED.unpack_from(record, end) if supersedes else None,
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
