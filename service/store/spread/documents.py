"""Documents of a collection with several partitions as `lua/read.lua` tells them for one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from service.dedup.stored import DocumentFilter
from service.dedup.verdict import State
from service.store.base import Collection, StoredText
from service.store.records import pack
from service.store.spread import items
from service.store.spread.fields import Ask, Fields, numbers_in, stored
from service.store.spread.looking import anchor_of, has_expired
from service.store.spread.placement import HOME
from service.store.spread.reading import Question, places_of
from service.store.spread.sequencing import Sequencer
from service.store.steps import packed

Entry = list[Any]
NUMBERS_AT_ONCE = 500


class SpreadDocuments:
    """Reads documents in the form in which `Listing` takes them."""

    def __init__(self, fields: Fields, sequencer: Sequencer) -> None:
        self._fields = fields
        self._sequencer = sequencer

    def document(self, collection: Collection, id: str, cutoff: int, copies: int) -> Entry | None:
        """A document as it stood at one instant, or None."""
        self._sequencer.catch_up(collection)
        while True:
            at = self._sequencer.snapshot(collection)
            numbers = self._fields.entry(collection, id)
            texts = [t for t in self._fields.records(collection, numbers) if t is not None]
            reads = {items.id_item(id), *map(items.text_item, numbers)}
            entry = None
            # What waits for a ruling keeps its document from expiring.
            if len(texts) == 2 or (texts and not has_expired(texts[0], cutoff)):
                (entry,) = self._entries(collection, texts[:1], cutoff, copies)
                if texts[0].conflict:
                    reads.add(items.conflict_item(texts[0].conflict))
            if len(texts) == len(numbers) and self._sequencer.validate(collection, at, reads):
                return entry
            self._sequencer.catch_up(collection)

    def run(
        self,
        collection: Collection,
        first: int,
        most: int,
        wanted: DocumentFilter,
        family: bytes,
        *,
        cutoff: int,
        copies: int,
        tried: int,
    ) -> tuple[list[Entry], int | None]:
        """Documents from a number on, and where to go on."""
        self._sequencer.catch_up(collection)
        settings = places_of(collection).home.settings
        (told,) = self._fields.ask(collection, [Question(HOME, settings, "f", ("next",))]).answers
        ends, at = int(told[0] or 0), first
        stops = min(ends, first + tried)
        found: list[StoredText] = []
        while at < stops and len(found) < most:
            numbers = range(at, min(at + NUMBERS_AT_ONCE, stops))
            fitting = self._fitting(collection, numbers, wanted, family, cutoff)
            found += fitting[: most - len(found)]
            at = found[-1].number + 1 if len(found) == most else numbers.stop
        entries = self._entries(collection, found, cutoff, copies)
        return [entry for entry in entries if entry is not None], at if at < ends else None

    def _fitting(
        self,
        collection: Collection,
        numbers: Sequence[int],
        wanted: DocumentFilter,
        family: bytes,
        cutoff: int,
    ) -> list[StoredText]:
        """Those that stand as main texts and are wanted."""
        texts = [
            text
            for text in self._fields.records(collection, numbers)
            if text is not None
            and not has_expired(text, cutoff)
            and wanted.state in (None, text.state)
            and family in (b"", packed(text.family))
        ]
        stand = self._stand(collection, texts)
        return [
            text
            for text in texts
            if text.number in stand
            and wanted.orphaned in (None, self._is_orphaned(collection, text, cutoff))
        ]

    def _stand(self, collection: Collection, texts: Sequence[StoredText]) -> set[int]:
        """Which of them are main texts."""
        if not texts:
            return set()
        ask = Ask(places_of(collection))
        told = self._fields.ask(collection, [ask.id(text.id) for text in texts])
        return {
            text.number
            for text, (entry,) in zip(texts, told.answers, strict=True)
            if numbers_in(entry or b"")[:1] == [text.number]
        }

    def _is_orphaned(self, collection: Collection, text: StoredText, cutoff: int) -> bool:
        if text.state is not State.DROPPED:
            return False
        return anchor_of(self._fields, collection, text, cutoff) is None

    def _entries(
        self, collection: Collection, texts: Sequence[StoredText], cutoff: int, copies: int
    ) -> list[Entry | None]:
        """What is told of each; None for one whose words have left meanwhile."""
        ask = Ask(places_of(collection))
        if not texts:
            return []
        questions = [
            question
            for text in texts
            for question in (
                ask.id(text.id),
                ask.field("texts", text.number),
                ask.field("metadata", text.number),
                ask.field("conflicts", text.conflict),
                ask.field("documents", text.survivor),
            )
        ]
        flat = [answer[0] for answer in self._fields.ask(collection, questions).answers]
        entries: list[Entry | None] = []
        for at, text in enumerate(texts):
            standing, words, metadata, conflict, survivor = flat[at * 5 : at * 5 + 5]
            if words is None:
                entries.append(None)
                continue
            waiting = numbers_in(standing or b"")[1:]
            pending = self._pending(collection, waiting)
            own, more = self._copies(collection, [text.number, *waiting], cutoff, copies)
            dropped = text.state is State.DROPPED
            entries.append(
                [
                    packed(text.number),
                    pack(text),
                    words,
                    metadata,
                    self._is_orphaned(collection, text, cutoff),
                    own,
                    more,
                    survivor if dropped else None,
                    conflict[:1] if conflict else None,
                    pending,
                ]
            )
        return entries

    def _pending(self, collection: Collection, waiting: Sequence[int]) -> list[Any]:
        if not waiting:
            return []
        ask = Ask(places_of(collection))
        names = ("documents", "texts", "metadata")
        told = self._fields.ask(collection, [ask.field(name, waiting[0]) for name in names])
        record, words, metadata = (answer[0] for answer in told.answers)
        return [record, words, metadata] if record is not None and words is not None else []

    def _copies(
        self, collection: Collection, numbers: Sequence[int], cutoff: int, most: int
    ) -> tuple[list[bytes], bool]:
        """Records of the copies that stand as dropped for any of these texts, and whether there
        are more."""
        ask = Ask(places_of(collection))
        told = self._fields.ask(collection, [ask.edges("twins", n, most + 1) for n in numbers])
        joined = [
            int.from_bytes(edge[4:], "big") for edges in told.answers for edge in edges[:most]
        ]
        more = any(len(edges) > most for edges in told.answers)
        kept = self._fields.of(collection, "documents", joined)
        texts = [stored(n, record) for n, record in zip(joined, kept, strict=True)]
        there = [text for text in texts if text is not None and not has_expired(text, cutoff)]
        stand = self._stand(collection, there)
        return [pack(text) for text in there if text.number in stand], more
