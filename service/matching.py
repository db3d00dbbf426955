"""Verify: of what the look found, the one that the text is a duplicate of, by exact comparison."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from service.dedup.decisions import Keep
from service.dedup.minhash import TAG_BYTES, estimate
from service.dedup.pairs import documents_pair, kept_by, texts_pair
from service.dedup.shingles import ShingleSet, jaccard
from service.dedup.verdict import NO_CHANGES, Candidates, Hashes, MatchKind, Metadata, State
from service.preparing import shingles_of
from service.store.base import Candidate, Collection, Probe, Seen, Store, StoredText
from service.text.changes import Changes, find_changes

# An estimate further than this below what would count is not looked into: three and a half of its
# standard deviations at 128 permutations, so that one such pair in four thousand is missed.
ESTIMATE_MARGIN = 0.15
MOST_FETCHED = 24
# Among so many of the best near ones, those without a change of fact come first.
MOST_WEIGHED = 8
# How far below the threshold a pair is still told as a near miss.
NEAR_MISS_MARGIN = 0.1


@dataclass(slots=True)
class Sought:
    """A text for which a match is sought, with the probe that it was looked up by."""

    probe: Probe
    text: str
    hashes: Hashes
    shingles: ShingleSet
    signature: bytes


@dataclass(slots=True)
class Found:
    """The stored text that another one is a duplicate of; `score` is the exact Jaccard. `text` and
    `changes` are those of a near match. `ruling`: which of the two stays, where that was ruled;
    `is_ruled` is what was kept about the pair when it was read."""

    stored: StoredText
    kind: MatchKind
    score: float
    text: str = ""
    metadata: Metadata = field(default_factory=dict)
    changes: Changes = NO_CHANGES
    ruling: Keep | None = None
    is_ruled: dict[bytes, bytes] = field(default_factory=dict)


@dataclass(slots=True)
class Matching:
    """What a search found: the match, how many texts were compared, and the nearest that fell
    short."""

    found: Found | None
    candidates: Candidates
    near_miss: Found | None = None


def _anyone(_: StoredText) -> bool:
    return True


class Matcher:
    """Finds the match of one text among what a look saw. Stored texts that are not `eligible` are
    passed over."""

    def __init__(
        self,
        store: Store,
        collection: Collection,
        sought: Sought,
        eligible: Callable[[StoredText], bool] = _anyone,
    ) -> None:
        self._store = store
        self._collection = collection
        self._sought = sought
        self._eligible = eligible
        self._near: list[Found] = []
        self._short: Found | None = None
        self._looked_at = 0

    def find(self, seen: Seen) -> Matching:
        """The best match, or None, and how many stored texts were compared.

        Exact comes before near. Of the near ones those are compared whose signatures promise
        enough: first those whose texts came with the look, then the others, in another round trip.
        """
        if seen.exact is not None:
            exact = self._with_rulings(seen, [self._found(seen.exact, 1.0)])[0]
            if self._eligible(seen.exact) and exact.ruling is not Keep.BOTH:
                return Matching(exact, Candidates(1, False))
            seen = self._all_candidates(seen)
        candidates = [c for c in seen.candidates if self._eligible(c.stored)]
        for candidate in self._likely([c for c in candidates if c.text is not None], None):
            self._compare(candidate.stored, candidate.text, candidate.metadata)
        best = self._best(seen)
        likely = self._likely([c for c in candidates if c.text is None], best)
        chosen = [candidate.stored for candidate in likely[:MOST_FETCHED]]
        if chosen:
            numbers = [stored.number for stored in chosen]
            texts = self._store.texts(self._collection, numbers)
            kept = self._store.metadata(self._collection, numbers)
            for stored, text, metadata in zip(chosen, texts, kept, strict=True):
                self._compare(stored, text, metadata)
            best = self._best(seen)
        cut = seen.cut or len(likely) > len(chosen)
        return Matching(best, Candidates(self._looked_at, cut), self._short)

    def _all_candidates(self, seen: Seen) -> Seen:
        """The same look with equal texts among the candidates: that which was named does not
        count."""
        probe = self._sought.probe
        no_hash = bytes(len(probe.normalized_hash))
        tags = [*probe.tags[:-1], no_hash[:TAG_BYTES]]
        again = self._store.look(
            self._collection, replace(probe, normalized_hash=no_hash, tags=tags)
        )
        return replace(again, state=seen.state) if isinstance(again, Seen) else seen

    def _found(self, stored: StoredText, score: float, text: str = "") -> Found:
        own = self._sought.hashes
        if stored.hashes.normalized != own.normalized:
            return Found(stored, MatchKind.NEAR, score, text)
        same_bytes = stored.hashes.bytes == own.bytes
        return Found(stored, MatchKind.BYTES if same_bytes else MatchKind.NORMALIZED, 1.0, text)

    def _compare(self, stored: StoredText, text: str | None, metadata: Metadata) -> None:
        if text is None:  # it has left since the look
            return
        settings = self._collection.settings
        self._looked_at += 1
        score = jaccard(self._sought.shingles, shingles_of(text, settings))
        found = self._found(stored, score, text)
        found.metadata = metadata
        if score >= settings.threshold:
            self._near.append(found)
        elif score >= settings.threshold - NEAR_MISS_MARGIN and (
            self._short is None or score > self._short.score
        ):
            self._short = found

    def _best(self, seen: Seen) -> Found | None:
        """Of the near ones: not ruled to stay both, then without a change of fact, then by rank."""
        ranked = sorted(self._near, key=_rank)[:MOST_WEIGHED]
        fallback: Found | None = None
        both: Found | None = None
        for found in self._with_rulings(seen, ranked):
            if found.kind is MatchKind.NEAR and not found.changes.items:
                found.changes = find_changes(found.text, self._sought.text)
            if found.ruling is Keep.BOTH:
                if both is None or (both.changes.facts_differ and not found.changes.facts_differ):
                    both = found
            elif not found.changes.facts_differ:
                return found
            else:
                fallback = fallback or found
        return fallback or both

    def _with_rulings(self, seen: Seen, found: Sequence[Found]) -> list[Found]:
        """The same with what was ruled about each, where anything ever was."""
        if not seen.state.ruled or not found:
            return list(found)
        own, id = self._sought.hashes.normalized, self._sought.probe.id
        pairs = [
            pair
            for one in found
            for pair in (
                texts_pair(own, one.stored.hashes.normalized),
                documents_pair(id, own, one.stored.id, one.stored.hashes.normalized),
            )
        ]
        kept = self._store.rulings(self._collection, pairs)
        told = []
        for at, one in enumerate(found):
            of_texts, of_documents = kept[2 * at], kept[2 * at + 1]
            ruling = kept_by(of_texts, own, one.stored.hashes.normalized)
            told.append(
                replace(
                    one,
                    ruling=Keep.BOTH if of_documents else ruling,
                    is_ruled={pairs[2 * at]: of_texts, pairs[2 * at + 1]: of_documents},
                )
            )
        return told

    def _likely(self, candidates: Sequence[Candidate], best: Found | None) -> list[Candidate]:
        """Those whose estimate is near enough to what would count, the most alike first.

        Where the best so far has no change of fact, only what could be better counts."""
        banding = self._collection.scheme.banding
        to_beat = self._collection.settings.threshold
        if best is not None and best.ruling is None and not best.changes.facts_differ:
            to_beat = best.score
        estimated = (
            (estimate(self._sought.signature, c.stored.signature, banding), c) for c in candidates
        )
        likely = [pair for pair in estimated if pair[0] >= to_beat - ESTIMATE_MARGIN]
        likely.sort(key=lambda pair: (-pair[0], pair[1].stored.number))
        return [candidate for _, candidate in likely]


def _rank(found: Found) -> tuple[bool, float, bool, int]:
    """Exact before near, the highest score, then active before held, then the oldest."""
    near, held = found.kind is MatchKind.NEAR, found.stored.state is State.HELD
    return (near, -found.score, held, found.stored.number)
