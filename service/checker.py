"""The use case: check(document) -> Answer. Start reading here.

The life of a check: *prepare* (clean, normalise, hash, cut into shingles, sign), *look* at what the
store has, *verify* the candidates exactly, *decide*, and *apply* all that follows in one step;
where something came in between, look again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from service.concluding import NOTHING, Concluded, Concluder
from service.confirming import confirmed
from service.dedup.minhash import text_tags
from service.dedup.scheme import CollectionSettings, merge, rules_from_json
from service.dedup.shingles import Shingles, jaccard, shingle_set
from service.dedup.verdict import Answer, Document, Posted, Verdict
from service.errors import StoreUnavailable
from service.preparing import Prepared, nothing_left, pages_of, prepare
from service.registering import Case, answer_for, counters_for, new_text
from service.settling import Settler
from service.stages import HASHING
from service.store.base import (
    Collection,
    CollectionChanged,
    Probe,
    Registered,
    Registration,
    Replay,
    Seen,
    Store,
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


@dataclass(slots=True)
class Begun:
    """A text that is prepared, and what is registered of it if it is like nothing."""

    case: Case
    entry: Registration


class Checker:
    """Answers checks over a store. `deadline` (seconds) bounds how long one looks again and again;
    `clock` gives the time in seconds since 1970; `log_days` is how long log entries stay."""

    def __init__(
        self,
        store: Store,
        *,
        deadline: float = 2.0,
        clock: Callable[[], float] = time.time,
        log_days: int = 90,
    ) -> None:
        self._store = store
        self._deadline = deadline
        self._clock = clock
        self._settler = Settler(store, deadline=deadline, log_days=log_days)
        self._concluder = Concluder(store, self._settler)

    def check(self, document: Document) -> Answer:
        """Decides what a text is and registers it, in one step that the answer comes after.

        Raises UnknownCollection, EmptyText, or what the store raises; nothing is stored then.
        """
        with confirmed(self._store):
            return self._check(document, None, None)

    def check_begun(self, begun: Begun) -> Answer:
        """The same for a text that is prepared; that it is kept is the caller's to confirm."""
        case = begun.case
        return self._check(case.document, case.prepared, case.collection)

    def _check(
        self, document: Document, prepared: Prepared | None, prepared_for: Collection | None
    ) -> Answer:
        gives_up_at: float | None = None
        while gives_up_at is None or time.monotonic() < gives_up_at:
            collection = self._store.collection(document.collection)
            if prepared is None or not _alike(collection, prepared_for):
                prepared = _prepare(document, collection)
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

    def begin(self, document: Document) -> Begun:
        """A text ready to be looked up; raises UnknownCollection or EmptyText."""
        collection = self._store.collection(document.collection)
        prepared = _prepare(document, collection)
        case = Case(document, collection, prepared, int(self._clock() * 1000))
        return Begun(case, _registration(case))

    def conclude(self, begun: Begun, told: Registered | Replay | Seen) -> Concluded:
        """What follows from a look that may have registered the text. Raises what the store
        raises."""
        case = begun.case
        if isinstance(told, Registered):
            self._settler.trim(case.collection, told.oldest, case.now)
            family = case.collection.family_name(told.number)
            return Concluded(answer_for(case, begun.entry.stored, family), NOTHING)
        if isinstance(told, Replay):
            changes = NOTHING if told.standing.pending is None else None
            return Concluded(self._concluder.replay(case, told), changes)
        if self._settler.is_due(case.collection, told, case.now):
            return Concluded(None, None)
        return self._concluder.decide(case, begun.entry.probe, told)

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
        begun = Begun(case, _registration(case))
        if not case.document.dry_run:
            return self.conclude(begun, self._store.check(case.collection, begun.entry)).answer
        look = self._store.look(case.collection, begun.entry.probe)
        if isinstance(look, Replay):
            return self._concluder.dry_replay(case, look)
        return self._concluder.decide(case, begun.entry.probe, look).answer


@HASHING
def _prepare(document: Document, collection: Collection) -> Prepared:
    return prepare(document.posted, collection.settings, collection.scheme)


def _registration(case: Case) -> Registration:
    """What is registered of a text if it is like nothing, and how it is looked up."""
    hashes, stored = case.prepared.hashes, new_text(case)
    probe = Probe(
        id=case.document.id,
        bytes_hash=hashes.bytes,
        normalized_hash=hashes.normalized,
        tags=text_tags(case.prepared.signature, hashes.normalized, case.collection.scheme.banding),
        shingles=len(case.prepared.shingles),
        now=case.now // 1000,
    )
    return Registration(
        probe=probe,
        stored=stored,
        text=case.prepared.cleaned.text,
        metadata=case.document.metadata,
        counters=counters_for(stored, case.prepared.cleaned.report),
    )


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
