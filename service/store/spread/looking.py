"""A look at a collection with several partitions: buckets and what stands under the id from all of
them at once, then the texts that these name. `lua/looking.lua` is the same for one partition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from typing import Any

from service.dedup.verdict import Metadata, State
from service.store.base import (
    Candidate,
    Collection,
    CollectionState,
    Probe,
    Replay,
    Seen,
    Snapshot,
    Standing,
    StoredText,
)
from service.store.records import TextCodec
from service.store.replies import metadata_of
from service.store.spread.fields import Ask, Fields, numbers_in, stored
from service.store.spread.reading import HomeState, Question, Reader, Told, places_of
from service.store.spread.sequencing import Sequencer

TEXTS_WITH_A_LOOK = 8
MOST_CANDIDATES = 64
MOST_PROBED = 96
MOST_EQUAL = 256
SWEPT_AT_ONCE, MOST_EXPIRED = 8, 4
ROUNDING = 1e-9
"""Sets of very different sizes cannot reach the threshold; rounding never decides that."""


@dataclass(slots=True)
class _First:
    """What the first round trip told. `own` are the numbers under the id."""

    at: Snapshot
    home: HomeState
    own: list[int]
    equal: list[int]
    ranked: list[int]
    cut: bool
    drawn: list[tuple[bytes, bytes]]

    @property
    def near(self) -> list[int]:
        """The texts that may be like it, none where one has its hash."""
        return [] if self.equal else self.ranked

    def questions(self, ask: Ask) -> list[Question]:
        """The records of all that it names; then words, then metadata, of the main text under the
        id and of a few that may be like it."""
        with_words = (*self.own[:1], *self.near[:TEXTS_WITH_A_LOOK])
        return [
            *(ask.field("documents", number) for number in (*self.own, *self.equal, *self.near)),
            *(ask.field("texts", number) for number in with_words),
            *(ask.field("metadata", number) for number in with_words),
        ]


@dataclass(slots=True)
class _Texts:
    """What stands under the id, the words and metadata of the main text there, texts of the same
    hash, and candidates."""

    standing: Standing
    old_text: str | None
    metadata: Metadata
    equal: list[StoredText]
    near: list[Candidate]


class Looker:
    """Looks at collections."""

    def __init__(
        self, reader: Reader, fields: Fields, sequencer: Sequencer, codec: TextCodec
    ) -> None:
        self._reader = reader
        self._fields = fields
        self._sequencer = sequencer
        self._codec = codec

    def look(self, collection: Collection, probe: Probe) -> Replay | Seen:
        """What is known of a text. What it says is of no one instant: it is validated by whoever
        rests on it."""
        while True:
            firsts = self._firsts(collection, [probe], writable=False)
            (found,) = self._seconds(collection, [probe], firsts)
            if found is not None:
                return found
            # A text stands under the id and is not there: its step is not all applied.
            self._sequencer.catch_up(collection)

    def looks(self, collection: Collection, probes: Sequence[Probe]) -> list[Replay | Seen | None]:
        """The looks of several texts that have nothing to do with one another, in as many round
        trips as one takes, by one who is to write. None for one that is to be looked for by
        itself. Raises StoreFull where a partition takes no writes."""
        firsts = self._firsts(collection, probes, writable=True)
        return self._seconds(collection, probes, firsts)

    def _firsts(
        self, collection: Collection, probes: Sequence[Probe], *, writable: bool
    ) -> list[_First]:
        questions = [_questions(collection, probe) for probe in probes]
        while True:
            at, told = self._visited(collection, probes, questions, writable=writable)
            home = self._reader.home_of(told)
            self._sequencer.heard(collection, home.snapshot)
            if not self._sequencer.finish_overdue(collection, home):
                answers = iter(told.answers)
                return [
                    _first_told(at, home, list(islice(answers, len(asked))), buckets)
                    for asked, buckets in zip(questions, told.buckets, strict=True)
                ]

    def _visited(
        self,
        collection: Collection,
        probes: Sequence[Probe],
        questions: Sequence[Sequence[Question]],
        *,
        writable: bool,
    ) -> tuple[Snapshot, Told]:
        """What all partitions tell, and under which snapshot. One that may write takes along what
        this process has published and not yet applied."""
        asked = [question for some in questions for question in some]
        texts = [probe.tags for probe in probes]
        if not writable:
            at = self._sequencer.snapshot(collection)
            return at, self._reader.ask(collection, asked, texts=texts, home=True)
        with self._sequencer.carrying(collection) as (at, carried):
            told = self._reader.ask(
                collection, asked, texts=texts, home=True, writable=True, carried=carried
            )
        return at, told

    def _seconds(
        self, collection: Collection, probes: Sequence[Probe], firsts: Sequence[_First]
    ) -> list[Replay | Seen | None]:
        """What follows from the first round trip; None where what stands under the id is torn."""
        texts = self._texts_of(collection, probes, firsts)
        return [
            None if found is None else self._found(collection, probe, first, found)
            for probe, first, found in zip(probes, firsts, texts, strict=True)
        ]

    def _found(
        self, collection: Collection, probe: Probe, first: _First, texts: _Texts
    ) -> Replay | Seen | None:
        standing, old_text, metadata = texts.standing, texts.old_text, texts.metadata
        cutoff = collection.expires_before(probe.now)
        hashes = probe.bytes_hash + probe.normalized_hash
        old, old_anchor = None, None
        for text in reversed(standing.texts):  # the pending one first
            if has_expired(text, cutoff):
                continue
            anchor = self._anchor(collection, text, cutoff)
            stands = text.state is not State.DROPPED or anchor is not None
            if stands and text.hashes.bytes + text.hashes.normalized == hashes:
                kept = metadata if text is standing.main else self._metadata(collection, text)
                return Replay(text, kept, anchor, standing, first.at)
            if text is standing.main:
                old, old_anchor = text, anchor
        exact = self._equal(probe, texts.equal, cutoff)
        if exact is None and first.equal:  # what had the first bytes of its hash counts for nothing
            return self._seconds(collection, [probe], [replace(first, equal=[])])[0]
        own = standing.main
        expired = self._expired(collection, first.drawn, own, cutoff)
        if own is not None and old is None:
            expired.append(own)
        candidates, cut = self._candidates(collection, probe, texts.near, cutoff)
        return Seen(
            next=0,
            state=_state(first),
            standing=standing,
            old=old,
            old_text=old_text if old is not None else None,
            old_anchor=old_anchor,
            exact=exact,
            candidates=[] if exact else candidates,
            cut=not exact and (first.cut or cut),
            expired=expired,
        )

    def _texts_of(
        self, collection: Collection, probes: Sequence[Probe], firsts: Sequence[_First]
    ) -> list[_Texts | None]:
        """What the first round trips named, all of it in one more; None for what is torn."""
        ask = Ask(places_of(collection))
        questions = [one.questions(ask) for one in firsts]
        together = [question for some in questions for question in some]
        answers = iter(self._fields.ask(collection, together).answers if together else ())
        return [
            self._read(probe, first, [answer[0] for answer in islice(answers, len(some))])
            for probe, first, some in zip(probes, firsts, questions, strict=True)
        ]

    def _read(self, probe: Probe, first: _First, answers: Sequence[Any]) -> _Texts | None:
        """What is told of the texts of one look; None where one under its id is not there."""
        numbers = [*first.own, *first.equal, *first.near]
        records = [stored(n, r) for n, r in zip(numbers, answers, strict=False)]
        own, others = records[: len(first.own)], records[len(first.own) :]
        standing = [text for text in own if text is not None]
        if len(standing) < len(own):
            return None
        rest = answers[len(numbers) :]
        words, kept = rest[: len(rest) // 2], rest[len(rest) // 2 :]
        texts = [None if one is None else self._codec.decompress(one) for one in words]
        metadata = [metadata_of(one) for one in kept]
        main = len(first.own[:1])
        near = zip_longest(others[len(first.equal) :], texts[main:], metadata[main:])
        return _Texts(
            standing=Standing(probe.id, *standing),
            old_text=texts[0] if main else None,
            metadata=metadata[0] if main else {},
            equal=[text for text in others[: len(first.equal)] if text is not None],
            near=[
                Candidate(text, word, told or {}) for text, word, told in near if text is not None
            ],
        )

    def _equal(self, probe: Probe, equal: Sequence[StoredText], cutoff: int) -> StoredText | None:
        """The oldest text of this hash, an active one first."""
        held = None
        for text in equal:
            if text.hashes.normalized != probe.normalized_hash or not text.state.is_indexed:
                continue
            if text.state is State.HELD:
                held = held or text
            elif not has_expired(text, cutoff):
                return text
        return held

    def _candidates(
        self, collection: Collection, probe: Probe, near: Sequence[Candidate], cutoff: int
    ) -> tuple[list[Candidate], bool]:
        threshold = collection.settings.threshold - ROUNDING
        size = probe.shingles
        found = [
            one
            for one in near
            if one.stored.state.is_indexed
            and min(size, one.stored.shingles) >= max(size, one.stored.shingles) * threshold
            and not has_expired(one.stored, cutoff)
        ]
        return found[:MOST_CANDIDATES], len(found) > MOST_CANDIDATES

    def _anchor(self, collection: Collection, text: StoredText, cutoff: int) -> StoredText | None:
        return anchor_of(self._fields, collection, text, cutoff)

    def _metadata(self, collection: Collection, text: StoredText) -> Metadata:
        return metadata_of(self._fields.of(collection, "metadata", [text.number])[0])

    def _expired(
        self,
        collection: Collection,
        drawn: Sequence[tuple[bytes, bytes]],
        own: StoredText | None,
        cutoff: int,
    ) -> list[StoredText]:
        """Of those drawn, the ones that have expired and stand: what stands nowhere is its log
        entry's."""
        texts = [stored(int.from_bytes(n, "big"), record) for n, record in drawn]
        old = [
            text
            for text in texts
            if text is not None
            and has_expired(text, cutoff)
            and (own is None or text.number != own.number)
        ]
        if not old:
            return []
        ask = Ask(places_of(collection))
        told = self._fields.ask(collection, [ask.id(text.id) for text in old])
        return [
            text
            for text, (entry,) in zip(old, told.answers, strict=True)
            if numbers_in(entry or b"")[:1] == [text.number]
        ][:MOST_EXPIRED]


def has_expired(text: StoredText, cutoff: int) -> bool:
    """Whether a text was neither posted nor matched since (seconds, 0: nothing expires)."""
    may_expire = text.state in (State.ACTIVE, State.DROPPED)
    return cutoff > 0 and may_expire and text.seen_at < cutoff


def anchor_of(
    fields: Fields, collection: Collection, text: StoredText, cutoff: int
) -> StoredText | None:
    """The text that a dropped one rests on, followed along replacements; None where that ends."""
    at: StoredText | None = text
    while at is not None and at.state is State.DROPPED:
        at = fields.records(collection, [at.survivor])[0]
    if at is None or at is text or at.state is State.GONE or has_expired(at, cutoff):
        return None
    return at


def _state(first: _First) -> CollectionState:
    home = first.home
    return CollectionState(
        unsettled=home.unsettled, oldest=home.oldest, ruled=home.ruled, snapshot=first.at
    )


def _questions(collection: Collection, probe: Probe) -> list[Question]:
    """What a look asks beside buckets: what stands under the id, and a few texts at random where
    some may have expired."""
    where = places_of(collection)
    questions = [Ask(where).id(probe.id)]
    if collection.expires_before(probe.now):
        some = -(-SWEPT_AT_ONCE // len(where.keys))
        questions += [
            Question(place, keys.documents, "d", (some,)) for place, keys in enumerate(where.keys)
        ]
    return questions


def _first_told(
    at: Snapshot,
    home: HomeState,
    answers: Sequence[Any],
    buckets: Sequence[tuple[bytes, int]],
) -> _First:
    own = numbers_in(answers[0][0] or b"")
    drawn = [part for answer in answers[1:] for part in answer]
    *bands, (same, _) = buckets
    shared: Counter[int] = Counter()
    for listed, _ in bands:
        shared.update(numbers_in(listed))
    for number in own:
        shared.pop(number, None)
    ranked = sorted(shared, key=lambda number: (-shared[number], number))
    return _First(
        at=at,
        home=home,
        own=own,
        equal=[n for n in numbers_in(same) if n not in own][:MOST_EQUAL],
        ranked=ranked[:MOST_PROBED],
        cut=len(ranked) > MOST_PROBED or any(more for _, more in bands),
        drawn=list(zip(drawn[::2], drawn[1::2], strict=True)),
    )
