"""How single values are written on the wire: hashes, scores, times."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from service.dedup.verdict import Hashes

Json = dict[str, Any]

_DIGITS = 6


def both_hashes(hashes: Hashes) -> Json:
    """The hashes of a text as posted and as normalised."""
    return {"bytes": hash_of(hashes.bytes), "normalized": hash_of(hashes.normalized)}


def hash_of(digest: bytes) -> str:
    """A SHA-256 digest."""
    return f"sha256:{digest.hex()}"


def rounded(score: float) -> float:
    """A score as it is told; it is compared exactly."""
    return round(score, _DIGITS)


def time(at: datetime) -> str:
    """An RFC 3339 time in UTC."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")
