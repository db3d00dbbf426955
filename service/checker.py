"""The use case: check(document) -> Answer. Start reading here.

The life of a check: *prepare* (clean, normalise, hash, cut into shingles, sign), *look* at what the
store has, *verify* the candidates exactly, *decide*, and *commit* in one step; where something came
in between, look again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from secrets import token_hex
from typing import Any

from service.dedup.minhash import band_tags
from service.dedup.scheme import CollectionSettings, merge, rules_from_json
from service.dedup.shingles import Shingles, jaccard, shingle_set
from service.dedup.verdict import (
    NO_CHANGES,
    Answer,
    Document,
    MatchKind,
    Metadata,
    Posted,
    Verdict,
)
from service.errors import StoreUnavailable
from service.matching import Matcher
from service.preparing import Prepared, nothing_left, pages_of, prepare
from service.registering import (
    Beside,
    Case,
    answer_for,
    counters_for,
    kept_answer,
    new_text,
    registered,
    rewritten,
)
from service.store.base import (
    Collection,
    CollectionChanged,
    Probe,
    Registration,
    Replay,
    Seen,
    Store,
    StoredText,
)
from service.text.changes import Changes, find_changes
from service.text.cleaning import Cleaned, clean, split_pages
from service.text.normalization import normalize

COMPARED_SHINGLES = (
    Shingles("word", 1),
    Shingles("word", 2),
    Shingles("word", 3),
    Shingles("word", 5),
    Shingles("char", 3),
    Shingles("char", 5),
)


@dataclass(frozen=True, slots=True)
class Similarity:
    """The Jaccard similarity of two texts at one shingle setting."""

    unit: str
    size: int
    score: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two texts side by side. `score` is at the collection's own shingles; `verdict` is what the
    second would get if the first were stored."""

    bytes_equal: bool
    normalized_equal: bool
    similarity: tuple[Similarity, ...]
    score: float
    verdict: Verdict
    changes: Changes


class Checker:
    """Answers checks over a store. `deadline` (seconds) bounds how long one looks again and again;
    `clock` gives the time in seconds since 1970."""

    def __init__(
        self, store: Store, *, deadline: float = 2.0, clock: Callable[[], float] = time.time
    ) -> None:
        self._store = store
        self._deadline = deadline
        self._clock = clock

    def check(self, document: Document) -> Answer:
        """Decides what a text is and registers it, in one step that the answer comes after.

        Raises UnknownCollection, EmptyText, or what the store raises; nothing is stored then.
        """
        prepared: Prepared | None = None
        prepared_for: Collection | None = None
        gives_up_at: float | None = None
        while gives_up_at is None or time.monotonic() < gives_up_at:
            collection = self._store.collection(document.collection)
            if prepared is None or not _alike(collection, prepared_for):
                prepared = prepare(document.posted, collection.settings, collection.scheme)
                prepared_for = collection
            # From here on: preparing a text of megabytes is not waiting for the store.
            gives_up_at = gives_up_at or time.monotonic() + self._deadline
            with suppress(CollectionChanged):
                answer = self._check_once(
                    Case(document, collection, prepared, int(self._clock() * 1000))
                )
                if answer is not None:
                    return answer
        raise StoreUnavailable("the index changed too often for an answer in time")

    def clean(self, posted: Posted, collection: str, cleaning: Mapping[str, Any] | None) -> Cleaned:
        """A text cleaned by the rules of a collection, with `cleaning` merged over them."""
        rules = self._store.collection(collection, anew=True).settings.cleaning
        if cleaning is not None:
            base = CollectionSettings(cleaning=rules).as_json()["cleaning"]
            rules = rules_from_json(merge(base, cleaning))
        return clean(pages_of(posted), rules)

    def compare(self, a: str, b: str, collection: str) -> Comparison:
        """Two texts side by side under the settings of a collection; nothing is stored."""
        settings = self._store.collection(collection, anew=True).settings
        cleaned_a, first = _normalized(a, settings, "/a")
        cleaned_b, second = _normalized(b, settings, "/b")

        def score(shingles: Shingles) -> float:
            return jaccard(shingle_set(first, shingles), shingle_set(second, shingles))

        own_score = score(settings.shingles)
        verdict = Verdict.NEW
        if first == second:
            verdict = Verdict.EXACT_DUPLICATE
        elif own_score >= settings.threshold:
            verdict = Verdict.NEAR_DUPLICATE
        return Comparison(
            bytes_equal=a == b,
            normalized_equal=first == second,
            similarity=tuple(Similarity(s.unit, s.size, score(s)) for s in COMPARED_SHINGLES),
            score=own_score,
            verdict=verdict,
            changes=find_changes(cleaned_a, cleaned_b),
        )

    def _check_once(self, case: Case) -> Answer | None:
        """One look and what follows from it; None where the store changed in between."""
        probe = Probe(
            id=case.document.id,
            bytes_hash=case.prepared.hashes.bytes,
            normalized_hash=case.prepared.hashes.normalized,
            tags=band_tags(case.prepared.signature, case.collection.scheme.banding),
            shingles=len(case.prepared.shingles),
            now=case.now // 1000,
        )
        if case.document.dry_run:
            return self._answer(case, probe, self._store.look(case.collection, probe))
        stored = new_text(case)
        entry = Registration(
            probe=probe,
            stored=stored,
            text=case.prepared.cleaned.text,
            metadata=case.document.metadata,
            counters=counters_for(stored, case.prepared.cleaned.report),
        )
        told = self._store.check(case.collection, entry)
        if isinstance(told, int):
            return answer_for(case, stored, case.collection.family_name(told))
        return self._answer(case, probe, told)

    def _answer(self, case: Case, probe: Probe, look: Replay | Seen) -> Answer | None:
        return (
            self._decide(case, probe, look) if isinstance(look, Seen) else self._replay(case, look)
        )

    def _replay(self, case: Case, look: Replay) -> Answer | None:
        posted, dry_run = case.document.metadata, case.document.dry_run
        if not dry_run and not self._store.touch(case.collection, look, posted, case.now):
            return None
        beside = Beside(
            matched=look.anchor,
            changes=self._changes_from(case, look),
            leak=self._leak(case, posted or look.metadata, look.anchor),
        )
        family = case.collection.family_name(look.stored.family)
        return replace(answer_for(case, look.stored, family, beside), replayed=True)

    def _changes_from(self, case: Case, look: Replay) -> Changes:
        """What differs from the text that a replayed near copy rests on."""
        if look.anchor is None or look.stored.kind is not MatchKind.NEAR:
            return NO_CHANGES
        text = self._store.texts(case.collection, [look.anchor.number])[0]
        return NO_CHANGES if text is None else find_changes(text, case.prepared.cleaned.text)

    def _decide(self, case: Case, probe: Probe, seen: Seen) -> Answer | None:
        metadata = case.document.metadata
        text, changes = case.prepared.cleaned.text, NO_CHANGES
        kept = kept_answer(case, seen)
        if kept is not None:
            matched, stored = seen.old_anchor, rewritten(kept, case)
            metadata = metadata or self._store.metadata(case.collection, kept.number)
        else:
            found, candidates = Matcher(self._store, case.collection, case.prepared).find(seen)
            matched = found.stored if found else None
            if found is not None and found.kind is MatchKind.NEAR:
                changes = find_changes(found.text, text)
            stored = registered(case, seen, found, candidates)
        leak = self._leak(case, metadata, matched)
        family = stored.family
        if not case.document.dry_run:
            entry = Registration(
                probe=probe,
                stored=stored,
                text=text,
                metadata=metadata,
                match=matched,
                leaving=(seen.old,) if seen.old else (),
                counters=counters_for(stored, case.prepared.cleaned.report, leak),
            )
            number = self._register(case, seen, entry, kept)
            if number is None:
                return None
            family = family or number
        # A family is made once; that of a dry run is not made, so its name must never come again.
        name = case.collection.family_name(family) if family else f"f-dry-run-{token_hex(8)}"
        superseded = NO_CHANGES
        if stored.superseded and stored.superseded[0] != case.prepared.hashes.normalized:
            superseded = find_changes(seen.old_text or "", text)
        return answer_for(case, stored, name, Beside(matched, changes, leak, superseded))

    def _register(
        self, case: Case, seen: Seen, entry: Registration, kept: StoredText | None
    ) -> int | None:
        """The number that the text has now; None where the store changed since the look."""
        if kept is None:
            return self._store.commit(case.collection, seen, entry)
        return kept.number if self._store.rewrite(case.collection, kept, entry) else None

    def _leak(
        self, case: Case, metadata: Metadata, matched: StoredText | None
    ) -> tuple[str, str] | None:
        """The splits of a text and its match, where both have one and they differ."""
        split = metadata.get("split")
        if matched is None or not isinstance(split, str):
            return None
        match_split = self._store.metadata(case.collection, matched.number).get("split")
        if not isinstance(match_split, str) or match_split == split:
            return None
        return split, match_split


def _alike(collection: Collection, other: Collection | None) -> bool:
    """Whether a text prepared for one collection is as prepared for the other."""
    return other is not None and (collection.settings, collection.scheme) == (
        other.settings,
        other.scheme,
    )


def _normalized(text: str, settings: CollectionSettings, pointer: str) -> tuple[str, str]:
    """A text cleaned, and normalised."""
    cleaned = clean(split_pages(text), settings.cleaning).text
    normalized = normalize(cleaned, settings.normalization)
    if not normalized:
        raise nothing_left(pointer)
    return cleaned, normalized
