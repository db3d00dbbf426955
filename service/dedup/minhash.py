"""MinHash signatures: b bits of the smallest hash under each permutation.

Two signatures agree in a row with probability J + (1 - J) / 2^b, where J is the Jaccard similarity
of the shingle sets (Broder 1997; Li and König 2010, "b-Bit Minwise Hashing"). The permutations are
those of rensa's R-MinHash, whose version is part of the scheme.
"""

from __future__ import annotations

import struct
from typing import Literal
from zlib import crc32

from rensa import RMinHash

from service.dedup.banding import Banding
from service.dedup.shingles import ShingleSet

SEED = 20261
SIGNATURE_ALGORITHM = f"rensa-rminhash-{RMinHash.ALGORITHM_VERSION}-seed-{SEED}-b-bit-1"
TAG_BYTES = 4
ROW_FORMATS: dict[int, Literal["B", "H", "I"]] = {1: "B", 2: "H", 4: "I"}


def row_bytes(rows: int) -> int:
    """How many bytes of each minimum are kept, so that a band has 32 bits or more."""
    return {1: 4, 2: 2, 3: 2}.get(rows, 1)


def signature(shingles: ShingleSet, banding: Banding) -> bytes:
    """The signature of a shingle set that is not empty: `row_bytes` of each minimum, in the order
    of the permutations. The same on every platform."""
    sketch = RMinHash(banding.permutations, SEED)
    sketch.update(list(shingles))
    minima = struct.pack(f"<{banding.permutations}I", *sketch.digest())
    kept = row_bytes(banding.rows)
    if kept == 4:
        return minima
    if kept == 1:
        return minima[::4]
    return b"".join(minima[start : start + kept] for start in range(0, len(minima), 4))


def band_tags(signed: bytes, banding: Banding) -> list[bytes]:
    """Four bytes for each band: equal where all rows are equal (and else but for one in 2^32).

    A checksum, as every bit of every row must count: tags also choose the shard, and texts that
    share half their words share half their rows.
    """
    width = banding.rows * row_bytes(banding.rows)
    return [
        crc32(signed[start : start + width]).to_bytes(TAG_BYTES, "big")
        for start in range(0, len(signed), width)
    ]


def text_tag(signed: bytes, normalized_hash: bytes, banding: Banding, band: int) -> bytes:
    """One of `text_tags`."""
    if band == banding.bands:
        return normalized_hash[:TAG_BYTES]
    width = banding.rows * row_bytes(banding.rows)
    return crc32(signed[band * width : (band + 1) * width]).to_bytes(TAG_BYTES, "big")


def text_tags(signed: bytes, normalized_hash: bytes, banding: Banding) -> list[bytes]:
    """All tags under which a text is indexed: one a band, and one of the normalised hash."""
    return [*band_tags(signed, banding), normalized_hash[:TAG_BYTES]]


def estimate(a: bytes, b: bytes, banding: Banding) -> float:
    """The similarity that two signatures let one expect: equal rows, less those equal by chance.

    Its standard deviation is sqrt(J (1 - J) / permutations): 0.043 at 0.6 with 128.
    """
    kept = row_bytes(banding.rows)
    differing = int.from_bytes(a, "big") ^ int.from_bytes(b, "big")
    rows = memoryview(differing.to_bytes(len(a), "big")).cast(ROW_FORMATS[kept])
    equal = rows.tolist().count(0) / banding.permutations
    by_chance = 1 / 256**kept
    return float(max(0.0, (equal - by_chance) / (1 - by_chance)))
