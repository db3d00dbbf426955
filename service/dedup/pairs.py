"""What was ruled about a pair of texts, and under which name it is kept.

A ruling holds for two normalised texts, whoever posts them; a revert for two ids with their texts.
The order of the pair does not matter. Names are cut to 16 bytes of each digest: no two pairs share
one but by a chance of 2^-128.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from service.dedup.decisions import Keep

BOTH: Final = b"="
LOWER: Final = b"<"
HIGHER: Final = b">"
CUT: Final = 16


def texts_pair(one: bytes, other: bytes) -> bytes:
    """The name of a pair of normalised hashes."""
    low, high = sorted((one, other))
    return b"t" + low[:CUT] + high[:CUT]


def documents_pair(one_id: str, one: bytes, other_id: str, other: bytes) -> bytes:
    """The name of a pair of ids with their normalised hashes."""
    low, high = sorted(((one_id.encode(), one), (other_id.encode(), other)))
    digest = sha256()
    for name, text in (low, high):
        digest.update(len(name).to_bytes(4, "big") + name + text)
    return b"d" + digest.digest()[: 2 * CUT]


def ruled(keep: Keep, incoming: bytes, existing: bytes) -> bytes:
    """What is kept of a ruling on two normalised hashes."""
    if keep is Keep.BOTH:
        return BOTH
    stays, goes = (incoming, existing) if keep is Keep.INCOMING else (existing, incoming)
    return LOWER if stays < goes else HIGHER


def kept_by(ruling: bytes, incoming: bytes, existing: bytes) -> Keep | None:
    """What a kept ruling means for the two; None where nothing is ruled."""
    if not ruling:
        return None
    if ruling == BOTH:
        return Keep.BOTH
    stays = min(incoming, existing) if ruling == LOWER else max(incoming, existing)
    return Keep.INCOMING if stays == incoming else Keep.EXISTING
