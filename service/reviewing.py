"""The use cases of review: conflicts and their rulings, the log of decisions, and undoing them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from collections.abc import Collection as Collection_
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from service.confirming import confirmed
from service.cursors import read_cursor, read_places, write_cursor, write_places
from service.dedup.decisions import (
    Conflict,
    ConflictFilter,
    ConflictStatus,
    Decision,
    DecisionFilter,
    DecisionPage,
    Keep,
    LatestPage,
    NearMiss,
    Resolution,
    Reverted,
    Ruling,
    Shown,
    Side,
)
from service.dedup.queue import Case, Queued, QueueFilter, QueuePage
from service.dedup.stored import Page
from service.drafting import Draft, downstream
from service.errors import (
    AlreadyResolved,
    AlreadyReverted,
    ConflictVoid,
    NotRevertible,
    StoreUnavailable,
    UnknownCollection,
    UnknownConflict,
    UnknownDecision,
)
from service.foreseeing import outlook
from service.reverting import revert_step
from service.ruling import ruling_draft
from service.settling import Settler
from service.store.base import Applied, Collection, CollectionChanged, Store
from service.store.step import LogEntry, StoredConflict, place_of

CHARACTERS_A_PAGE = 4_000_000
NEWEST = 2**32 - 1


class Reviewer:
    """What can be asked about decisions, and how they are taken and taken back. `deadline`
    (seconds) bounds how long one tries again; `clock` gives the time in seconds since 1970."""

    def __init__(
        self, store: Store, *, deadline: float = 2.0, clock: Callable[[], float] = time.time
    ) -> None:
        self._store = store
        self._deadline = deadline
        self._clock = clock
        self._settler = Settler(store, deadline=deadline)

    def conflicts(
        self, collection: str | None, wanted: ConflictFilter, limit: int, cursor: str | None
    ) -> Page[Conflict]:
        """A part of the conflicts of one collection, or of all one after the other, the newest
        first. A page may be short though there is a next one."""
        start, number = ("", 0) if cursor is None else read_cursor(cursor)
        items: list[Conflict] = []
        for known in self._collections(collection):
            if known.name < start:
                continue
            below = number if known.name == start and number else None
            while True:
                if len(items) >= limit or _characters(items) > CHARACTERS_A_PAGE:
                    return Page(tuple(items), write_cursor(known.name, below or 0))
                most = min(limit - len(items), 50)
                found, rest = self._store.conflicts(known, wanted, most, below)
                items += self._shown(known, found)
                if rest is None:
                    break
                below = rest
                if not found:
                    return Page(tuple(items), write_cursor(known.name, below))
        return Page(tuple(items), None)

    def conflict(self, id: str) -> Conflict:
        """One conflict; raises UnknownConflict."""
        known, conflict = self._conflict(id)
        return self._shown(known, [conflict])[0]

    def case(self, id: str) -> Case:
        """One conflict with what a ruling on it would do; raises UnknownConflict."""
        known, conflict = self._conflict(id)
        return Case(self._shown(known, [conflict])[0], outlook(self._store, known, conflict))

    def queue(
        self,
        names: Collection_[str] | None,
        wanted: QueueFilter,
        limit: int,
        place: str | None = None,
        *,
        back: bool = False,
    ) -> QueuePage:
        """A part of the queue that these collections (None: all) make together, from behind the
        conflict `place` (None, or one that is gone: from the beginning) on, or `back` from before
        it, the nearest first. Collections that are not there have none."""
        start = None
        if place is not None:
            with suppress(UnknownConflict):
                start = self._conflict(place)
        collections = self._named_collections(names)
        part = self._store.queue(collections, wanted, limit, start, back=back)
        items = tuple(_queued(known, conflict) for known, conflict in part.items)
        return QueuePage(
            items, None if part.end is None else part.end[0].conflict_name(part.end[1])
        )

    def conflict_counts(self, names: Collection_[str] | None) -> dict[ConflictStatus, int]:
        """How many conflicts these collections (None: all) have, by status."""
        return self._store.conflict_counts(self._named_collections(names))

    def resolve(
        self, id: str, keep: Keep, by: str, note: str | None, *, seen: str | None = None
    ) -> Ruling:
        """Rules on a conflict. The same ruling again is no error, but with `seen` (what the
        `Outlook` had): then any ruling, and any change, since it was looked at is.

        Raises UnknownConflict, AlreadyResolved, EarlierConflict or ConflictVoid."""
        with confirmed(self._store):
            return self._resolve(id, keep, by, note, seen)

    def _resolve(self, id: str, keep: Keep, by: str, note: str | None, seen: str | None) -> Ruling:
        ends_at = time.monotonic() + self._deadline
        while time.monotonic() < ends_at:
            known, conflict = self._conflict(id)
            if conflict.status is ConflictStatus.VOID:
                raise ConflictVoid("one of the texts left before there was a ruling")
            ruled = conflict.resolution
            if ruled is not None:
                if ruled.keep is not keep or seen is not None:
                    raise AlreadyResolved(f"{ruled.by} ruled before: {ruled.keep.value} stays")
                return Ruling(self._shown(known, [conflict])[0], ruled.ingest, ruled.retire)
            now = int(self._clock() * 1000)
            with suppress(CollectionChanged):
                draft = ruling_draft(
                    self._store, known, conflict, keep=keep, by=by, note=note, now=now, seen=seen
                )
                applied = None if draft is None else self._store.apply(known, draft.finished())
                if draft is not None and applied is not None:
                    ingest, retire = self._settled(known, draft, applied, now)
                    closed = draft.step.closed[0].conflict or conflict
                    decision = applied.first_entry + place_of(closed.decision)
                    resolved = replace(closed, decision=decision)
                    return Ruling(self._shown(known, [resolved])[0], ingest, retire)
        raise StoreUnavailable("the documents changed too often for a ruling in time")

    def decisions(
        self, collection: str | None, wanted: DecisionFilter, limit: int, after: str | None
    ) -> DecisionPage:
        """A part of the log, oldest first in each collection, from `after` on. A page may be short
        though there is a next one."""
        places = {} if after is None else read_places(after)
        items: list[Decision] = []
        more = False
        for known in self._collections(collection):
            place = places.get(known.uid, 0)
            found, place, rest = self._store.entries(known, wanted, limit - len(items), place)
            items += self._told(known, found)
            places[known.uid] = place
            more = more or rest
            if len(items) >= limit or _characters(items) > CHARACTERS_A_PAGE:
                more = more or self._has_more(collection, wanted, places)
                break
        token = write_places(places)
        return DecisionPage(tuple(items), token if more else None, token)

    def latest(
        self,
        names: Collection_[str] | None,
        wanted: DecisionFilter,
        limit: int,
        place: str | None = None,
    ) -> LatestPage:
        """A part of the log of these collections (None: all) together, the newest first, from
        `place` on. A page may be short, or empty, though it goes on."""
        places = {} if place is None else read_places(place)
        known_by_uid = {known.uid: known for known in self._named_collections(names)}
        found: list[tuple[Collection, LogEntry]] = []
        rests: dict[str, int | None] = {}
        for uid, known in known_by_uid.items():
            entries, rests[uid] = self._store.entries_below(known, wanted, limit, places.get(uid))
            found += [(known, entry) for entry in entries]
        found.sort(key=lambda one: (-one[1].at, -one[1].number_in_log))
        left_out = {known.uid for known, _ in found[limit:]}
        found = found[:limit]
        ends = {known.uid: entry.number_in_log for known, entry in found}
        is_over = True
        for uid, rest in rests.items():
            if uid in left_out:
                places[uid] = ends.get(uid, places.get(uid, NEWEST))
                is_over = False
            else:
                places[uid] = 1 if rest is None else rest
                is_over = is_over and rest is None
        items = [self._told(known, [entry])[0] for known, entry in found]
        return LatestPage(tuple(items), None if is_over else write_places(places))

    def shown(self, id: str) -> Shown:
        """One log entry beside its twin; raises UnknownDecision."""
        known, entry = self._entry(id)
        twin = None
        if entry.twin is not None:
            twin = self._sides(known, [(entry.twin_number, entry.twin)])[0]
        obstacle = None
        try:
            revert_step(self._store, known, entry, by=None, note=None, now=0)
        except (AlreadyReverted, NotRevertible) as error:
            obstacle = str(error)
        return Shown(self._told(known, [entry])[0], twin, obstacle)

    def _has_more(
        self, collection: str | None, wanted: DecisionFilter, places: dict[str, int]
    ) -> bool:
        """Whether any collection has something behind its place."""
        for known in self._collections(collection):
            found, _, rest = self._store.entries(known, wanted, 1, places.get(known.uid, 0))
            if found or rest:
                return True
        return False

    def collection_of(self, id: str) -> str:
        """The name of the collection whose log has the entry; raises UnknownDecision."""
        return self._entry(id)[0].name

    def revert(self, id: str, by: str | None, note: str | None) -> Reverted:
        """Takes a decision back; raises UnknownDecision, AlreadyReverted or NotRevertible."""
        with confirmed(self._store):
            return self._revert(id, by, note)

    def _revert(self, id: str, by: str | None, note: str | None) -> Reverted:
        ends_at = time.monotonic() + self._deadline
        while time.monotonic() < ends_at:
            known, entry = self._entry(id)
            now = int(self._clock() * 1000)
            with suppress(CollectionChanged):
                step = revert_step(self._store, known, entry, by=by, note=note, now=now)
                applied = self._store.apply(known, step)
                if applied is None:
                    continue
                if applied.unsettled:
                    self._settler.settle(known, now)
                written = self._store.entry(known, applied.first_entry)
                document = self._store.document(known, entry.document)
                if written is None:
                    raise UnknownDecision("the entry has left the log already")
                decision = self._told(known, [written])[0]
                return Reverted(decision, document, written.ingest, written.retire)
        raise StoreUnavailable("the documents changed too often to take this back in time")

    def near_misses(self, collection: str | None, limit: int, cursor: str | None) -> Page[NearMiss]:
        """A part of the pairs that fell just below the threshold, the newest first in each
        collection; those whose texts have left are not shown."""
        start, number = ("", 0) if cursor is None else read_cursor(cursor)
        items: list[NearMiss] = []
        for known in self._collections(collection):
            if known.name < start:
                continue
            first = number if known.name == start else 0
            pairs = self._store.near_misses(known)
            for at in range(first, len(pairs)):
                if len(items) >= limit:
                    return Page(tuple(items), write_cursor(known.name, at))
                miss = pairs[at]
                a, b = self._sides(known, [(miss.existing, ""), (miss.incoming, "")])
                if a.text is not None and b.text is not None:
                    items.append(NearMiss(a, b, miss.score, _moment(miss.at)))
        return Page(tuple(items), None)

    def _settled(
        self, known: Collection, draft: Draft, applied: Applied, now: int
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Checks anew what a ruling left waiting; what is ingested and retired in the end."""
        entries = list(draft.step.entries)
        if applied.unsettled:
            entries += self._settler.settle(known, now)
        return downstream(entries, draft.was_active())

    def _collections(self, name: str | None) -> list[Collection]:
        if name is not None:
            return [self._store.collection(name, anew=True)]
        found = []
        for info in self._store.describe(None):
            with suppress(UnknownCollection):
                found.append(self._store.collection(info.name))
        return found

    def _named_collections(self, names: Collection_[str] | None) -> list[Collection]:
        if names is None:
            return self._collections(None)
        found = []
        for name in sorted(names):
            with suppress(UnknownCollection):
                found.append(self._store.collection(name))
        return found

    def _conflict(self, id: str) -> tuple[Collection, StoredConflict]:
        known, number = self._named(id, "c")
        conflict = None if known is None else self._store.conflict(known, number)
        if known is None or conflict is None or known.conflict_name(number) != id:
            raise UnknownConflict("there is no conflict of this id")
        return known, conflict

    def _entry(self, id: str) -> tuple[Collection, LogEntry]:
        known, number = self._named(id, "d")
        entry = None if known is None else self._store.entry(known, number)
        if known is None or entry is None or known.decision_name(number) != id:
            raise UnknownDecision("the log has no entry of this id")
        return known, entry

    def _named(self, id: str, letter: str) -> tuple[Collection | None, int]:
        """The collection and the number that an id names; (None, 0) where it names none."""
        kind, _, rest = id.partition("-")
        uid, _, digits = rest.rpartition("-")
        try:
            number = int(digits, 16)
        except ValueError:
            return None, 0
        if kind != letter or not 0 < number < 2**32:
            return None, 0
        return self._store.by_uid(uid), number

    def _sides(self, known: Collection, texts: Sequence[tuple[int, str]]) -> list[Side]:
        """The texts of pairs, each with the id it goes by where its record has left."""
        numbers = [number for number, _ in texts]
        kept = self._store.texts(known, numbers)
        metadata = self._store.metadata(known, numbers)
        records = self._store.records(known, numbers)
        return [
            Side(record.id if record else id, text, told)
            for (_, id), text, told, record in zip(texts, kept, metadata, records, strict=True)
        ]

    def _shown(self, known: Collection, found: Sequence[StoredConflict]) -> list[Conflict]:
        sides = self._sides(
            known,
            [
                side
                for conflict in found
                for side in (
                    (conflict.existing, conflict.existing_id),
                    (conflict.incoming, conflict.incoming_id),
                )
            ],
        )
        return [
            Conflict(
                id=known.conflict_name(conflict.number),
                collection=known.name,
                status=conflict.status,
                score=conflict.score,
                changes=conflict.changes,
                existing=sides[2 * at],
                incoming=sides[2 * at + 1],
                opened_at=_moment(conflict.opened_at),
                resolution=_resolution(known, conflict),
            )
            for at, conflict in enumerate(found)
        ]

    def _told(self, known: Collection, entries: Sequence[LogEntry]) -> list[Decision]:
        numbers = [entry.number for entry in entries]
        texts = self._store.texts(known, numbers)
        metadata = self._store.metadata(known, numbers)
        return [
            Decision(
                id=known.decision_name(entry.number_in_log),
                kind=entry.kind,
                at=_moment(entry.at),
                collection=known.name,
                document=entry.document,
                twin=entry.twin,
                score=entry.score,
                rule=entry.rule,
                reason=entry.reason,
                changes=entry.changes,
                text=text,
                metadata=None if text is None else told,
                ingest=entry.ingest,
                retire=entry.retire,
                by=entry.by,
                note=entry.note,
            )
            for entry, text, told in zip(entries, texts, metadata, strict=True)
        ]


def _resolution(known: Collection, conflict: StoredConflict) -> Resolution | None:
    ruled = conflict.resolution
    if ruled is None or conflict.status is not ConflictStatus.RESOLVED:
        return None
    decision = known.decision_name(conflict.decision)
    return Resolution(ruled.keep, ruled.by, ruled.note, _moment(ruled.at), decision)


def _queued(known: Collection, conflict: StoredConflict) -> Queued:
    return Queued(
        id=known.conflict_name(conflict.number),
        collection=known.name,
        status=conflict.status,
        score=conflict.score,
        changes=conflict.changes,
        existing=conflict.existing_id,
        incoming=conflict.incoming_id,
        opened_at=_moment(conflict.opened_at),
        resolution=_resolution(known, conflict),
    )


def _moment(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def _characters(items: Sequence[Conflict | Decision]) -> int:
    total = 0
    for item in items:
        if isinstance(item, Decision):
            total += len(item.text or "")
        else:
            total += len(item.existing.text or "") + len(item.incoming.text or "")
    return total
