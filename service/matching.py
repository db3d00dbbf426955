"""Verify: of what the look found, the one that the text is a duplicate of, by exact comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from service.dedup.minhash import estimate
from service.dedup.shingles import jaccard
from service.dedup.verdict import Candidates, MatchKind, State
from service.preparing import Prepared, shingles_of
from service.store.base import Candidate, Collection, Seen, Store, StoredText

# An estimate further than this below what would count is not looked into: three and a half of its
# standard deviations at 128 permutations, so that one such pair in four thousand is missed.
ESTIMATE_MARGIN = 0.15
MOST_FETCHED = 24


@dataclass(frozen=True, slots=True)
class Found:
    """The stored text that a posted one is a duplicate of; `score` is the exact Jaccard. `text` is
    the cleaned one of a near match."""

    stored: StoredText
    kind: MatchKind
    score: float
    text: str = ""


class Matcher:
    """Finds the match of one prepared text among what a look saw."""

    def __init__(self, store: Store, collection: Collection, prepared: Prepared) -> None:
        self._store = store
        self._collection = collection
        self._prepared = prepared
        self._best: Found | None = None
        self._looked_at = 0

    def find(self, seen: Seen) -> tuple[Found | None, Candidates]:
        """The best match, or None, and how many stored texts were compared.

        Exact comes before near. Of the near ones those are compared whose signatures promise
        enough: first those whose texts came with the look, then the others, in another round trip.
        """
        if seen.exact is not None:
            same_bytes = seen.exact.hashes.bytes == self._prepared.hashes.bytes
            kind = MatchKind.BYTES if same_bytes else MatchKind.NORMALIZED
            return Found(seen.exact, kind, 1.0), Candidates(1, False)
        for candidate in self._likely([c for c in seen.candidates if c.text is not None]):
            self._compare(candidate.stored, candidate.text)
        likely = self._likely([c for c in seen.candidates if c.text is None])
        chosen = [candidate.stored for candidate in likely[:MOST_FETCHED]]
        texts = self._store.texts(self._collection, [stored.number for stored in chosen])
        for stored, text in zip(chosen, texts, strict=True):
            self._compare(stored, text)
        cut = seen.cut or len(likely) > len(chosen)
        return self._best, Candidates(self._looked_at, cut)

    def _compare(self, stored: StoredText, text: str | None) -> None:
        if text is None:  # it has left since the look
            return
        settings = self._collection.settings
        self._looked_at += 1
        score = jaccard(self._prepared.shingles, shingles_of(text, settings))
        if score >= settings.threshold and (
            self._best is None or _beats(stored, score, self._best)
        ):
            self._best = Found(stored, MatchKind.NEAR, score, text)

    def _likely(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Those whose estimate is near enough to what would count, the most alike first."""
        banding = self._collection.scheme.banding
        to_beat = self._best.score if self._best else self._collection.settings.threshold
        estimated = (
            (estimate(self._prepared.signature, c.stored.signature, banding), c) for c in candidates
        )
        likely = [pair for pair in estimated if pair[0] >= to_beat - ESTIMATE_MARGIN]
        likely.sort(key=lambda pair: (-pair[0], pair[1].stored.number))
        return [candidate for _, candidate in likely]


def _beats(stored: StoredText, score: float, best: Found) -> bool:
    """The highest score, then active before held, then the oldest."""
    held, best_held = stored.state is State.HELD, best.stored.state is State.HELD
    return (-score, held, stored.number) < (-best.score, best_held, best.stored.number)
