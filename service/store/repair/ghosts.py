"""Numbers in buckets that are not their text's."""

from __future__ import annotations

from collections.abc import Sequence

from service.dedup.minhash import text_tag
from service.store.repair.facts import FactReader

Bucket = tuple[int, bytes]
"""A band and a tag."""
MOST_REMEMBERED = 100_000


class GhostFinder:
    """Finds them. Each text is in a bucket of each band, so signatures are remembered for a while;
    what was found is looked at anew before it is mended."""

    def __init__(self, facts: FactReader) -> None:
        self._facts = facts
        self._known: dict[int, tuple[bytes, bytes] | None] = {}

    def forget(self) -> None:
        """Reads all anew."""
        self._known.clear()

    def in_buckets(
        self, buckets: Sequence[tuple[int, bytes, list[int]]]
    ) -> dict[int, list[Bucket]]:
        """By number the buckets that list it and are not its text's."""
        self._read({number for _, _, listed in buckets for number in listed})
        banding = self._facts.collection.scheme.banding
        found: dict[int, list[Bucket]] = {}
        for band, tag, listed in buckets:
            for number in listed:
                text = self._known[number]
                if text is None or text_tag(*text, banding, band) != tag:
                    found.setdefault(number, []).append((band, tag))
        return found

    def _read(self, numbers: set[int]) -> None:
        if len(self._known) > MOST_REMEMBERED:
            self.forget()
        unknown = sorted(numbers - self._known.keys())
        texts = self._facts.texts(unknown)
        for number in unknown:
            text = texts.get(number)
            is_there = text is not None and text.state.is_indexed
            self._known[number] = (
                (text.signature, text.hashes.normalized) if text is not None and is_there else None
            )
