"""Items: what a transaction reads and writes, as five bytes each that home compares. Pure.

Two names that have one item only make a transaction be tried again. What comes into buckets is told
by its tags.
"""

from __future__ import annotations

from hashlib import blake2b


def _named(letter: bytes, name: bytes) -> bytes:
    return letter + blake2b(name, digest_size=4).digest()


def id_item(id: str) -> bytes:
    """What stands under an id."""
    return _named(b"i", id.encode())


def ruling_item(pair: bytes) -> bytes:
    """What is ruled about a pair."""
    return _named(b"r", pair)


def text_item(number: int) -> bytes:
    """A text's record, words and metadata; not when it was last seen."""
    return b"t" + number.to_bytes(4, "big")


def seen_item(number: int) -> bytes:
    """When a text was last seen: whoever sees it writes this and reads nothing, so that many may;
    who takes out what has expired reads it."""
    return b"s" + number.to_bytes(4, "big")


def edges_item(number: int) -> bytes:
    """The conflicts in which a text is the existing one."""
    return b"e" + number.to_bytes(4, "big")


def conflict_item(number: int) -> bytes:
    """A conflict."""
    return b"c" + number.to_bytes(4, "big")


def entry_item(number: int) -> bytes:
    """A log entry."""
    return b"l" + number.to_bytes(4, "big")


def waiting_item(number: int) -> bytes:
    """Whether a held text waits to be checked anew."""
    return b"v" + number.to_bytes(4, "big")


END_OF_LOG = b"z\0\0\0\0"
"""The old end of the log."""
COUNTS = b"n\0\0\0\0"
"""What a repair sets of what is counted: of two repairs one does it."""
