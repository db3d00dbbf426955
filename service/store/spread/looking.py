"""A look at a collection with several partitions: buckets and what stands under the id from all of
them at once, then the texts that these name. `lua/looking.lua` is the same for one partition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

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


class Looker:
    """Looks at collections."""

    def __init__(
        self, reader: Reader, fields: Fields, sequencer: Sequencer, codec: TextCodec
    ) -> None:
        self._reader = reader
        self._fields = fields
        self._sequencer = sequencer
        self._codec = codec

    def look(
        self, collection: Collection, probe: Probe, *, writable: bool = False
    ) -> Replay | Seen:
        """What is known of a text. `writable`: StoreFull where a partition takes no writes.

        What it says is of no one instant: it is validated by whoever rests on it."""
        while True:
            first = self._first(collection, probe, writable=writable)
            found = self._second(collection, probe, first)
            if found is not None:
                return found
            # A text stands under the id and is not there: its step is not all applied.
            self._sequencer.catch_up(collection)

    def _first(self, collection: Collection, probe: Probe, *, writable: bool) -> _First:
        where = places_of(collection)
        questions = [Ask(where).id(probe.id)]
        if collection.expires_before(probe.now):
            some = -(-SWEPT_AT_ONCE // len(where.keys))
            questions += [
                Question(place, keys.documents, "d", (some,))
                for place, keys in enumerate(where.keys)
            ]
        while True:
            at, told = self._visited(collection, probe, questions, writable=writable)
            home = self._reader.home_of(told)
            self._sequencer.heard(collection, home.snapshot)
            if not self._sequencer.finish_overdue(collection, home):
                return _first_told(at, home, told)

    def _visited(
        self, collection: Collection, probe: Probe, questions: list[Question], *, writable: bool
    ) -> tuple[Snapshot, Told]:
        """What all partitions tell, and under which snapshot. One that may write takes along what
        this process has published and not yet applied."""
        if not writable:
            at = self._sequencer.snapshot(collection)
            return at, self._reader.ask(collection, questions, tags=probe.tags, home=True)
        with self._sequencer.carrying(collection) as (at, carried):
            told = self._reader.ask(
                collection, questions, tags=probe.tags, home=True, writable=True, carried=carried
            )
        return at, told

    def _second(self, collection: Collection, probe: Probe, first: _First) -> Replay | Seen | None:
        """What follows from the first round trip; None where what stands under the id is torn."""
        texts = self._texts_of(collection, probe, first)
        if texts is None:
            return None
        standing, old_text, metadata, equal, near = texts
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
        exact = self._equal(probe, equal, cutoff)
        if exact is None and first.equal:  # what had the first bytes of its hash counts for nothing
            return self._second(collection, probe, replace(first, equal=[]))
        own = standing.main
        expired = self._expired(collection, first.drawn, own, cutoff)
        if own is not None and old is None:
            expired.append(own)
        candidates, cut = self._candidates(collection, probe, near, cutoff)
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
        self, collection: Collection, probe: Probe, first: _First
    ) -> tuple[Standing, str | None, Metadata, list[StoredText], list[Candidate]] | None:
        """What stands under the id, words and metadata of the main text there, texts of the same
        hash, and candidates, all in one round trip."""
        ask = Ask(places_of(collection))
        near = [] if first.equal else first.ranked
        with_texts = near[:TEXTS_WITH_A_LOOK]
        questions = [ask.field("documents", n) for n in (*first.own, *first.equal, *near)]
        main = first.own[:1]
        questions += [ask.field("texts", n) for n in (*main, *with_texts)]
        questions += [ask.field("metadata", n) for n in (*main, *with_texts)]
        if not questions:
            return Standing(probe.id), None, {}, [], []
        answers = [answer[0] for answer in self._fields.ask(collection, questions).answers]
        numbers = [*first.own, *first.equal, *near]
        records = [stored(n, r) for n, r in zip(numbers, answers, strict=False)]
        own = [text for text in records[: len(first.own)] if text is not None]
        if len(own) < len(first.own):
            return None
        rest = answers[len(numbers) :]
        texts, kept = rest[: len(rest) // 2], rest[len(rest) // 2 :]
        old_text: str | None = None
        metadata: Metadata = {}
        if main:
            old_text = None if texts[0] is None else self._codec.decompress(texts[0])
            metadata, texts, kept = metadata_of(kept[0]), texts[1:], kept[1:]
        equal = records[len(first.own) : len(first.own) + len(first.equal)]
        candidates = []
        for at, text in enumerate(records[len(first.own) + len(first.equal) :]):
            if text is None:  # it has left
                continue
            words = texts[at] if at < len(texts) else None
            candidates.append(
                Candidate(
                    text,
                    None if words is None else self._codec.decompress(words),
                    metadata_of(kept[at]) if at < len(kept) else {},
                )
            )
        standing = Standing(probe.id, *own)
        return standing, old_text, metadata, [t for t in equal if t is not None], candidates

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


def _first_told(at: Snapshot, home: HomeState, told: Told) -> _First:
    own = numbers_in(told.answers[0][0] or b"")
    drawn = [part for answer in told.answers[1:] for part in answer]
    *bands, (same, _) = told.buckets
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
