"""The index of collections with several partitions: those verbs of `base.Store` that are about one
collection. docs/partitions.md tells how."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from service.dedup.verdict import Metadata, State
from service.errors import StoreError, StoreFull, StoreUnavailable
from service.store.base import (
    Applied,
    Collection,
    CollectionChanged,
    Look,
    Probe,
    Recalled,
    Registered,
    Registration,
    Replay,
    Seen,
    Snapshot,
    Standing,
    StoredText,
)
from service.store.connection import Connection
from service.store.log import read_conflict, read_entry
from service.store.records import TextCodec, pack
from service.store.replies import metadata_of
from service.store.spread import items
from service.store.spread.fields import Ask, Fields, numbers_in, stored
from service.store.spread.grouping import Groups
from service.store.spread.growing import GrowthOfParts
from service.store.spread.looking import Looker
from service.store.spread.planning import (
    Basis,
    Planner,
    Transaction,
    comes_back,
    holds,
    leaves_index,
)
from service.store.spread.reading import Question, Reader, places_of
from service.store.spread.sequencing import Sequencer
from service.store.step import MOST_NEW, Step, new_ref
from service.store.steps import metadata_bytes, packed

MOST_EDGES = 100_000
TRIES_TOGETHER = 3


class SpreadStore:
    """Implements `base.Store` for them; what each verb promises is written there. `forget`: what is
    remembered of the collection of a name is out of date."""

    def __init__(
        self, connection: Connection, codec: TextCodec, forget: Callable[[str], None]
    ) -> None:
        self._codec = codec
        growth = GrowthOfParts(connection)
        self.reader = Reader(connection, growth, forget)
        self.fields = Fields(self.reader)
        self.sequencer = Sequencer(connection, growth, self.reader)
        self._groups = Groups(self._check_together, connection.wait_for, MOST_NEW)
        # What another thread has written and read for this one could not be confirmed.
        self._goes_alone = connection.is_replicated
        self._looker = Looker(self.reader, self.fields, self.sequencer, codec)

    def look(self, collection: Collection, probe: Probe) -> Replay | Seen:
        """What is known of a text."""
        _is_current(collection)
        self.sequencer.catch_up(collection)
        return self._looker.look(collection, probe)

    def check(self, collection: Collection, entry: Registration) -> Registered | Replay | Seen:
        """A look, and the registration of a text that is like nothing."""
        try:
            told = None if self._goes_alone else self._groups.check(collection, entry)
            while told is None:
                (told,) = self._check_together(collection, [entry])
                if told is None:
                    self.sequencer.catch_up(collection)
        except StoreFull:
            return self.look(collection, entry.probe)
        return told

    def _registration(self, entries: Sequence[Registration], at: Snapshot) -> Transaction:
        """The transaction of texts that are like nothing, all looked for under one snapshot."""
        counters: Counter[str] = Counter(active=len(entries))
        transaction = Transaction(
            at_look=at,
            tags_at_look=[tag for entry in entries for tag in entry.probe.tags],
            counters=counters,
            seconds=entries[0].probe.now,
            new=len(entries),
        )
        for place, entry in enumerate(entries):
            id, number = entry.probe.id, packed(new_ref(place))
            tags, text = b"".join(entry.probe.tags), self._codec.compress(entry.text)
            counters.update(entry.counters)
            transaction.touches.add(items.id_item(id))
            transaction.brings.append(tags)
            transaction.writes += [
                (b"N", number, pack(entry.stored), text, metadata_bytes(entry.metadata)),
                (b"+", number, tags),
                (b"I", id.encode(), number),
            ]
        transaction.reads_at_look = list(transaction.touches)
        return transaction

    def begin_checks(
        self, entries: Sequence[tuple[Collection, Registration]]
    ) -> Callable[[], list[Look]]:
        """Several checks, when they are waited for: those of one collection share their round
        trips."""
        places: dict[tuple[str, str], list[int]] = {}
        for at, (collection, _) in enumerate(entries):
            places.setdefault((collection.uid, collection.revision), []).append(at)
        together = [
            of_one[first : first + MOST_NEW]
            for of_one in places.values()
            for first in range(0, len(of_one), MOST_NEW)
        ]

        def outcomes() -> list[Look]:
            told: list[Look] = [None] * len(entries)
            for some in together:
                collection = entries[some[0]][0]
                with suppress(StoreError, CollectionChanged):  # each by itself is told why
                    looks = self._check_together(collection, [entries[at][1] for at in some])
                    for at, look in zip(some, looks, strict=True):
                        told[at] = look
            return told

        return outcomes

    def _check_together(
        self, collection: Collection, entries: Sequence[Registration]
    ) -> list[Look]:
        """A look at each, and one transaction for all that are like nothing. Where another one came
        in between for any of them, all are looked for again; None for those that it is so for each
        time."""
        _is_current(collection)
        probes = [entry.probe for entry in entries]
        looks: list[Replay | Seen | None] = []
        alone: list[int] = []
        for _ in range(TRIES_TOGETHER):
            looks = self._looker.looks(collection, probes)
            alone = [at for at, look in enumerate(looks) if _is_alone(look)]
            state = next((look.state for look in looks if isinstance(look, Seen)), None)
            if not alone or state is None:
                return list(looks)
            new = [entries[at] for at in alone]
            told = self.sequencer.run(collection, self._registration(new, state.snapshot))
            if told is not None:
                numbers = {at: told.given.text + place for place, at in enumerate(alone)}
                return [
                    Registered(numbers[at], state.oldest) if at in numbers else look
                    for at, look in enumerate(looks)
                ]
        return [None if at in alone else look for at, look in enumerate(looks)]

    def apply(
        self, collection: Collection, step: Step, *, at_limit: bool = False
    ) -> Applied | None:
        """Applies a step whole; None where what it rests on has changed."""
        at = self.sequencer.snapshot(collection)
        basis = self._basis(collection, step, writable=not at_limit)
        if not holds(step, basis):
            # What was read may be half of a step that nobody goes on with.
            self.sequencer.catch_up(collection)
            return None
        transaction = Planner(collection, step, basis, self._codec).plan(at)
        told = self.sequencer.run(collection, transaction, at_limit=at_limit)
        if told is None:
            return None
        given = told.given
        number = given.text if step.new else 0
        return Applied(number, given.conflict, given.entry, told.unsettled)

    def _basis(  # noqa: PLR0912 - one row for each kind of thing
        self, collection: Collection, step: Step, *, writable: bool
    ) -> Basis:
        """What a step rests on and changes, as it is now."""
        ask, basis = Ask(places_of(collection)), Basis()
        questions: list[Question] = []
        receivers: list[Callable[[Any], None]] = []

        def to(question: Question, receive: Callable[[Any], None]) -> None:
            questions.append(question)
            receivers.append(receive)

        def into(known: dict[Any, Any], name: Any, empty: Any = None) -> Callable[[Any], None]:
            def receive(answer: Any) -> None:
                known[name] = empty if answer[0] is None else answer[0]

            return receive

        def edges_into(number: int) -> Callable[[Any], None]:
            return lambda answer: basis.edges.__setitem__(
                number, [int.from_bytes(edge[4:], "big") for edge in answer]
            )

        def has_words(number: int) -> Callable[[Any], None]:
            return lambda answer: basis.words.__setitem__(number, answer[0] is not None)

        for one in step.is_standing:
            to(ask.id(one.id), into(basis.ids, one.id, b""))
        moved = {move.was.number for move in step.moves}
        for number in {*step.is_text, *moved}:
            to(ask.field("documents", number), into(basis.records, number))
        conflicts = {*step.is_conflict, *(closing.number for closing in step.closed)}
        for move in step.moves:
            number = move.was.number
            if comes_back(move):
                to(ask.field("texts", number), has_words(number))
            if leaves_index(move):
                to(ask.edges("conflicts_by_existing", number, MOST_EDGES), edges_into(number))
                conflicts |= {move.was.conflict} - {0}
        for pair in step.is_ruled:
            to(ask.ruling(pair), into(basis.rulings, pair, b""))
        for number in conflicts:
            to(ask.field("conflicts", number), into(basis.conflicts, number))
        for number in step.is_entry:
            to(ask.field("log", number), into(basis.entries, number))
        for number, _ in step.is_unsettled:
            to(ask.waiting(number), into(basis.waiting, number))
        self._read(collection, questions, receivers, writable=writable)
        more = {n for edges in basis.edges.values() for n in edges} - set(basis.conflicts)
        if any(basis.edges.values()):
            for number in more:
                to(ask.field("conflicts", number), into(basis.conflicts, number))
            self._read(collection, questions, receivers)
            for number in {n for edges in basis.edges.values() for n in edges}:
                kept = basis.conflicts[number]
                incoming = int.from_bytes(kept[5:9], "big") if kept else 0
                if incoming and incoming not in basis.records:
                    to(ask.field("documents", incoming), into(basis.records, incoming))
            self._read(collection, questions, receivers)
        return basis

    def _read(
        self,
        collection: Collection,
        questions: list[Question],
        receivers: list[Callable[[Any], None]],
        *,
        writable: bool = False,
    ) -> None:
        """Asks what is to be asked, and empties both lists."""
        if questions or writable:
            told = self.reader.ask(collection, questions, writable=writable)
            for receive, answer in zip(receivers, told.answers, strict=True):
                receive(answer)
        questions.clear()
        receivers.clear()

    def texts(self, collection: Collection, numbers: Sequence[int]) -> list[str | None]:
        """Kept texts by number."""
        kept = self.fields.of(collection, "texts", numbers)
        return [None if text is None else self._codec.decompress(text) for text in kept]

    def records(self, collection: Collection, numbers: Sequence[int]) -> list[StoredText | None]:
        """Registered texts by number."""
        return self.fields.records(collection, numbers)

    def metadata(self, collection: Collection, numbers: Sequence[int]) -> list[Metadata]:
        """The metadata of texts by number."""
        return [metadata_of(kept) for kept in self.fields.of(collection, "metadata", numbers)]

    def standing(self, collection: Collection, id: str) -> Standing:
        """The texts under an id, as they are."""
        self.sequencer.catch_up(collection)
        while True:
            found = self.records(collection, self.fields.entry(collection, id))
            texts = [text for text in found if text is not None]
            if len(texts) == len(found):
                return Standing(id, *texts)
            self.sequencer.catch_up(collection)  # its step is not all applied

    def rulings(self, collection: Collection, pairs: Sequence[bytes]) -> list[bytes]:
        """What is ruled about pairs."""
        ask = Ask(places_of(collection))
        told = self.fields.ask(collection, [ask.ruling(pair) for pair in pairs])
        return [answer[0] or b"" for answer in told.answers]

    def touch(
        self, collection: Collection, replay: Replay, metadata: Metadata, at: int
    ) -> Recalled | None:
        """Counts a replay and keeps its metadata; None where what it rests on has changed."""
        text, anchor = replay.stored, replay.anchor
        seconds = b"%d" % (at // 1000)
        transaction = Transaction(
            at=replay.snapshot,
            reads={items.id_item(text.id), items.text_item(text.number)},
            counters={"replayed": 1},
            seconds=at // 1000,
        )
        for one in (text, anchor):
            if one is not None:
                transaction.reads.add(items.text_item(one.number))
                transaction.touches.add(items.seen_item(one.number))
                transaction.writes.append((b"S", packed(one.number), seconds))
        if metadata and metadata != replay.metadata:
            transaction.changes(items.text_item(text.number))
            kept = metadata_bytes(metadata)
            transaction.writes.append((b"M", packed(text.number), kept))
            transaction.writes.append((b"W", packed(text.number), at.to_bytes(6, "big")))
        try:
            if self.sequencer.run(collection, transaction) is None:
                return None
        except StoreFull:
            reads = transaction.reads
            if not self.sequencer.validate(collection, replay.snapshot, reads):
                return None
        return self.recall(collection, text)

    def recall(self, collection: Collection, stored_text: StoredText) -> Recalled | None:
        """What a replayed answer needs of the present; None where the text has left."""
        ask = Ask(places_of(collection))
        superseded = stored_text.superseded
        questions = [
            ask.field("documents", stored_text.number),
            ask.field("log", stored_text.decision),
            ask.field("conflicts", stored_text.conflict),
            ask.field("log", superseded[2] if superseded else 0),
        ]
        if stored_text.match_id is not None:  # mostly that of the text that this one rests on
            survivor = stored_text.survivor
            questions.append(ask.id(stored_text.match_id))
            questions += [ask.field(name, survivor) for name in ("documents", "metadata")]
        answers = [answer[0] for answer in self.fields.ask(collection, questions).answers]
        record, decision, conflict, updated, *match = answers
        if record is None:
            return None
        state, told = self._match(collection, stored_text.survivor, *match) if match else (None, {})
        return Recalled(
            decision=read_entry(stored_text.decision, decision) if decision else None,
            updated=read_entry(superseded[2], updated) if updated and superseded else None,
            conflict=read_conflict(stored_text.conflict, conflict) if conflict else None,
            match_state=state,
            match_metadata=told,
        )

    def _match(
        self,
        collection: Collection,
        guessed: int,
        entry: bytes | None,
        record: bytes | None,
        kept: bytes | None,
    ) -> tuple[State | None, Metadata]:
        """State and metadata of what stands under the id of a match. Those of a text that it may be
        were read with it."""
        if not entry:
            return None, {}
        number = numbers_in(entry)[0]
        if number != guessed:
            ask = Ask(places_of(collection))
            questions = [ask.field("documents", number), ask.field("metadata", number)]
            (record,), (kept,) = self.fields.ask(collection, questions).answers
        text = stored(number, record)
        return None if text is None else text.state, metadata_of(kept)

    def unsettled(self, collection: Collection) -> list[tuple[int, int]]:
        """Held texts that wait to be checked anew, each with its void conflict."""
        # What is half applied would wait for what is not void yet.
        self.sequencer.catch_up(collection)
        key = places_of(collection).home.unsettled
        (found,) = self.fields.ask(collection, [Question(0, key, "a", ())]).answers
        waiting = (int.from_bytes(part, "big") for part in found)
        return sorted(zip(waiting, waiting, strict=True))


def _is_current(collection: Collection) -> None:
    if not collection.is_current:
        raise StoreUnavailable(f"{collection.name!r} was made under another scheme")


def _is_alone(look: Replay | Seen | None) -> bool:
    """Whether a text is registered by its look: nothing is like it, and nothing is due."""
    if not isinstance(look, Seen):
        return False
    found = look.standing.texts or look.exact or look.candidates or look.expired or look.cut
    return not found and not look.state.unsettled
