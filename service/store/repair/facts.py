"""Reads what texts, conflicts and log entries are to agree with."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

from service.dedup.decisions import DecisionFilter
from service.store.base import Collection, StoredText
from service.store.connection import Connection
from service.store.growth import tags_of_a_text
from service.store.log import read_conflict, read_entry
from service.store.repair.conflicts import ConflictFacts
from service.store.repair.lists import EntryFacts, was_decided_since
from service.store.repair.texts import Ends, TextFacts, is_suspicious
from service.store.spread.decisions import SpreadDecisions
from service.store.spread.fields import Ask, numbers_in
from service.store.spread.placement import HOME
from service.store.spread.reading import Question, places_of
from service.store.spread.redo import OF_CONFLICTS, index_name
from service.store.spread.spread_store import SpreadStore
from service.store.step import LogEntry, StoredConflict
from service.store.steps import packed, tags_of

LATER_ENTRIES = 200
AT_ONCE = 2000
IN_BUCKETS_AT_ONCE = 32  # a script reads all of theirs, and nobody else is answered meanwhile


class FactReader:
    """Reads facts about one collection. What it reads is of no one instant: a step that rests on it
    is validated."""

    def __init__(
        self,
        connection: Connection,
        store: SpreadStore,
        decisions: SpreadDecisions,
        collection: Collection,
    ) -> None:
        self._connection = connection
        self._store = store
        self._decisions = decisions
        self.collection = collection
        self.where = places_of(collection)
        self._ask = Ask(self.where)

    def ask(self, questions: Sequence[Question]) -> list[Any]:
        """Answers to any questions."""
        return self._store.reader.ask(self.collection, questions).answers

    def settings(self, *names: str) -> list[int]:
        """Settings of home that are numbers; 0 for one that is not there."""
        asked = Question(HOME, self.where.home.settings, "f", names)
        return [int(value or 0) for value in self.ask([asked])[0]]

    def ends(self) -> Ends:
        """The numbers of home, all of what was published by then being applied."""
        names = ("next", "conflicts", "logged", "trimmed")
        asked = Question(HOME, self.where.home.settings, "f", names)
        told = self._store.reader.ask(self.collection, [asked], home=True)
        unfinished = self._store.reader.home_of(told).snapshot.unfinished
        self._store.sequencer.finish(self.collection, unfinished)
        following, conflicts, logged, trimmed = (int(value or 0) for value in told.answers[0])
        return Ends(following, conflicts, logged, trimmed, now=int(time.time() * 1000))

    def texts(self, numbers: Sequence[int]) -> dict[int, StoredText]:
        """Those texts that are there."""
        return {
            text.number: text
            for start in range(0, len(numbers), AT_ONCE)
            for text in self._store.fields.records(
                self.collection, numbers[start : start + AT_ONCE]
            )
            if text is not None
        }

    def conflicts(self, numbers: Sequence[int]) -> dict[int, StoredConflict]:
        """Those conflicts that are there."""
        kept = self._store.fields.of(self.collection, "conflicts", numbers)
        pairs = zip(numbers, kept, strict=True)
        return {n: read_conflict(n, written) for n, written in pairs if written is not None}

    def entries(self, numbers: Sequence[int]) -> dict[int, LogEntry]:
        """Those log entries that are there."""
        kept = self._store.fields.of(self.collection, "log", numbers)
        pairs = zip(numbers, kept, strict=True)
        return {n: read_entry(n, written) for n, written in pairs if written is not None}

    def has_rest(self, numbers: Sequence[int]) -> list[int]:
        """Those numbers that have words or metadata."""
        fields = self._store.fields
        words = fields.of(self.collection, "texts", numbers)
        metadata = fields.of(self.collection, "metadata", numbers)
        rows = zip(numbers, words, metadata, strict=True)
        return [n for n, one, other in rows if one is not None or other is not None]

    def ids(self, ids: Sequence[str]) -> list[list[int]]:
        """The numbers under each id."""
        answers = self.ask([self._ask.id(id) for id in ids])
        return [numbers_in(answer[0] or b"") for answer in answers]

    def _add_lacking(self, facts: Sequence[TextFacts]) -> None:
        """The partitions that do not have a text in a bucket where it belongs."""
        indexed = [one for one in facts if one.text.state.is_indexed]
        buckets: list[list[tuple[bytes, int]]] = []
        for start in range(0, len(indexed), IN_BUCKETS_AT_ONCE):
            some = indexed[start : start + IN_BUCKETS_AT_ONCE]
            tags = [tags_of(self.collection, one.text) for one in some]
            buckets += self._store.reader.ask(self.collection, [], texts=tags).buckets
        bands = tags_of_a_text(self.collection)
        for one, found in zip(indexed, buckets, strict=True):
            number = packed(one.text.number)
            one.lacking = sorted(
                {
                    self.where.of_band(band, bands)[0]
                    for band, (listed, more) in enumerate(found)
                    if not more and not _lists(listed, number)
                }
            )

    def of_texts(self, texts: Iterable[StoredText]) -> list[TextFacts]:
        """All about some texts."""
        texts = list(texts)
        ask, questions = self._ask, []
        for text in texts:
            link = packed(text.survivor) + packed(text.number)
            questions += [
                ask.field("texts", text.number),
                ask.id(text.id),
                ask.field("log", text.decision),
                ask.field("conflicts", text.conflict),
                ask.waiting(text.number),
                self._member("twins", self.where.of_number(text.survivor), link),
            ]
        answers = self.ask(questions) if questions else []
        facts = []
        for at, text in enumerate(texts):
            words, id, entry, conflict, waits, link = answers[at * 6 : at * 6 + 6]
            facts.append(
                TextFacts(
                    text=text,
                    has_words=words[0] is not None,
                    standing=numbers_in(id[0] or b""),
                    decided=read_entry(text.decision, entry[0]) if entry[0] else None,
                    conflict=read_conflict(text.conflict, conflict[0]) if conflict[0] else None,
                    waits_for=int.from_bytes(waits[0], "big") if waits[0] else None,
                    is_linked=bool(link),
                )
            )
        self._add_others(facts)
        self._add_lacking(facts)
        for one in facts:
            if is_suspicious(one):
                one.later = self.later(one.text.id, one.text.decision)
        return facts

    def _add_others(self, facts: Sequence[TextFacts]) -> None:
        wanted = {n for one in facts for n in one.standing if n != one.text.number}
        others = self.texts(sorted(wanted))
        for one in facts:
            one.others = {n: others[n] for n in one.standing if n in others}

    def later(self, id: str, number: int) -> list[LogEntry]:
        """Log entries that name an id, and came after this one."""
        wanted = DecisionFilter(document=id, or_twin=True)
        found: list[LogEntry] = []
        after, more = number, True
        while more and len(found) < LATER_ENTRIES:
            some, after, more = self._decisions.entries(
                self.collection, wanted, LATER_ENTRIES, after
            )
            found += some
        return found

    def of_conflicts(self, conflicts: Iterable[StoredConflict]) -> list[ConflictFacts]:
        """All about some conflicts."""
        conflicts = list(conflicts)
        texts = self.texts(sorted({n for c in conflicts for n in (c.existing, c.incoming)}))
        ages = self._ages([c.number for c in conflicts])
        entries = self.entries([c.decision for c in conflicts])
        questions = []
        for one in conflicts:
            place = self.where.of_number(one.existing)
            edge = packed(one.existing) + packed(one.number)
            questions.append(self._member("conflicts_by_existing", place, edge))
            ids = (one.existing_id, one.incoming_id)
            questions += [self._named(id, OF_CONFLICTS, one.number) for id in ids]
        answers = self.ask(questions) if questions else []
        return [
            ConflictFacts(
                conflict=one,
                existing=texts.get(one.existing),
                incoming=texts.get(one.incoming),
                has_edge=bool(answers[at * 3]),
                age=ages[one.number],
                unnamed=[
                    id
                    for id, found in zip(
                        (one.existing_id, one.incoming_id), answers[at * 3 + 1 :], strict=False
                    )
                    if not found
                ],
                has_entry=one.decision in entries,
            )
            for at, one in enumerate(conflicts)
        ]

    def of_entries(self, entries: Iterable[LogEntry]) -> list[EntryFacts]:
        """All about some log entries."""
        entries = list(entries)
        kept = self.texts(sorted({n for entry in entries for n in entry.kept}))
        facts = []
        pairs = [(e, id) for e in entries for id in dict.fromkeys((e.document, e.twin)) if id]
        questions = [self._named(id, b"", entry.number_in_log) for entry, id in pairs]
        answers = self.ask(questions) if questions else []
        lacking: dict[int, list[str]] = {}
        for (entry, id), found in zip(pairs, answers, strict=True):
            if not found:
                lacking.setdefault(entry.number_in_log, []).append(id)
        for entry in entries:
            lost = [number for number in entry.kept if number not in kept]
            if lost:
                ids = [id for id in (entry.document, entry.twin) if id is not None]
                later = [e for id in ids for e in self.later(id, entry.number_in_log)]
                lost = [] if was_decided_since(entry, later) else lost
            facts.append(EntryFacts(entry, lacking.get(entry.number_in_log, []), lost))
        return facts

    def counters(self, *names: str) -> dict[str, int]:
        """Counters by name; 0 for one that is not there."""
        asked = Question(HOME, self.where.home.counters, "f", names)
        (told,) = self.ask([asked])
        return {name: int(value or 0) for name, value in zip(names, told, strict=True)}

    def waiting(self) -> dict[int, int]:
        """Held texts that wait to be checked anew, and their void conflicts."""
        (flat,) = self.ask([Question(HOME, self.where.home.unsettled, "a", ())])
        numbers = [int.from_bytes(part, "big") for part in flat]
        return dict(zip(numbers[::2], numbers[1::2], strict=True))

    def has_rulings(self) -> bool:
        """Whether anything is ruled."""
        drawn = [Question(p, keys.rulings, "d", (1,)) for p, keys in enumerate(self.where.keys)]
        return any(self.ask(drawn))

    def has_member(self, name: str, place: int, member: bytes) -> bool:
        """Whether a sorted set of a partition has a member."""
        return bool(self.ask([self._member(name, place, member)])[0])

    def has_edge(self, name: str, first: int, second: int) -> bool:
        """Whether two numbers are joined."""
        place = self.where.of_number(first)
        return self.has_member(name, place, packed(first) + packed(second))

    def age(self, conflict: int) -> int | None:
        """A conflict's place in the list by age; None where it has none."""
        return self._ages([conflict])[conflict]

    def mend_home(self, transactions: int, parts: Sequence[Any]) -> None:
        """Writes settings of home (`lua/mend.lua`), if nothing was published since."""
        home = self.where.home
        names = [home.settings, home.counters, home.unfinished]
        self._connection.run("mend", names, [self.collection.revision, "", transactions, *parts])

    def _ages(self, numbers: Sequence[int]) -> dict[int, int | None]:
        pipeline = self._connection.client.pipeline(transaction=False)
        for number in numbers:
            pipeline.zscore(self.where.home.conflicts_by_age, packed(number))
        scores = pipeline.execute()
        return {
            n: None if score is None else int(score)
            for n, score in zip(numbers, scores, strict=True)
        }

    def _member(self, name: str, place: int, member: bytes) -> Question:
        """Whether a sorted set of a partition has a member."""
        key = getattr(self.where.keys[place], name)
        return Question(place, key, "l", (b"[" + member, b"[" + member, 1))

    def _named(self, id: str, mark: bytes, number: int) -> Question:
        """Whether the index of the log has an id with an entry or a conflict."""
        written = id.encode()
        member = mark + index_name(written) + packed(number)
        return self._member("log_index", self.where.of_name(written), member)


def _lists(listed: bytes, number: bytes) -> bool:
    return any(listed[at : at + 4] == number for at in range(0, len(listed), 4))
