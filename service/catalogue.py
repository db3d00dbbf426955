"""The use cases around documents and collections: look, list, delete, configure, count."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from service.confirming import confirmed
from service.cursors import read_cursor, write_cursor
from service.dedup.decisions import DecisionKind
from service.dedup.scheme import DEFAULT_COLLECTION
from service.dedup.stored import (
    CollectionInfo,
    DocumentFilter,
    Gauges,
    Page,
    Readiness,
    Statistics,
    StoredDocument,
    Twin,
)
from service.dedup.verdict import State
from service.drafting import Draft
from service.errors import DefaultCollection, UnknownCollection, UnknownDocument
from service.settling import Settler
from service.store.base import Collection, CollectionChanged, Standing, Store, StoredText
from service.store.step import LogEntry

T = TypeVar("T")


class Catalogue:
    """What can be asked about stored documents and collections. `deadline` (seconds) bounds how
    long a deletion checks held copies anew; `clock` gives the time in seconds since 1970."""

    def __init__(
        self, store: Store, *, deadline: float = 2.0, clock: Callable[[], float] = time.time
    ) -> None:
        self._store = store
        self._clock = clock
        self._settler = Settler(store, deadline=deadline)

    def document(self, collection: str, id: str) -> StoredDocument:
        """A document as it stands; raises UnknownCollection or UnknownDocument."""
        found = self._as_it_is(collection, lambda known: self._store.document(known, id))
        if found is None:
            raise UnknownDocument("the collection has no document of this id")
        return found

    def delete(self, collection: str, id: str, *, erase: bool = False) -> tuple[Twin, ...]:
        """Takes a document out of the index; the copies once dropped for it. `erase` also takes
        every word of it out of log, conflicts and near misses, later too: its id may be unknown by
        then. Raises UnknownCollection or UnknownDocument."""
        with confirmed(self._store):
            twins = self._as_it_is(collection, lambda known: self._delete(known, id, erase=erase))
            if twins is None:
                raise UnknownDocument("the collection has no document of this id")
            return twins

    def _delete(self, known: Collection, id: str, *, erase: bool) -> tuple[Twin, ...] | None:
        while True:
            document = self._store.document(known, id)
            standing = self._store.standing(known, id)
            main = standing.main
            if main is None or (document is None and not erase):  # it may have expired
                return () if erase and self._store.erase(known, id) else None
            now = int(self._clock() * 1000)
            draft = Draft(now)
            draft.knows(standing)
            dropped = main.state is State.DROPPED and main.decision
            by = self._store.entry(known, main.decision) if dropped else None
            deletion = _deletion(standing, main, document, kept=not erase)
            deletion.pair = b"" if by is None else by.pair
            entry = draft.logs(deletion)
            for text in standing.texts:
                draft.leaves(text, kept_by=0 if erase else entry, erase=erase)
            draft.binds(id, None)
            if erase:
                draft.step.forgotten = [text.number for text in standing.texts]
            applied = self._store.apply(known, draft.finished(), at_limit=True)
            if applied is None:
                continue
            if applied.unsettled:
                self._settler.settle(known, now)
            if erase:
                self._store.erase(known, id, applied.first_entry)
            return () if document is None else document.twins

    def documents(
        self, collection: str | None, wanted: DocumentFilter, limit: int, cursor: str | None
    ) -> Page[StoredDocument]:
        """A part of the list of documents of one collection, or of all."""
        while True:
            names = [collection] if collection is not None else self._names()
            try:
                collections = [self._store.collection(name, anew=True) for name in names]
                return self._store.documents(collections, wanted, limit, cursor)
            except CollectionChanged:
                continue
            except UnknownCollection:
                if collection is not None:
                    raise

    def collections(self, limit: int, cursor: str | None) -> Page[CollectionInfo]:
        """A part of the list of collections, by name; a cursor is the name to go on behind."""
        after = "" if cursor is None else read_cursor(cursor)[0]
        rest = [info for info in self._store.describe(None) if info.name > after]
        more = len(rest) > limit
        return Page(tuple(rest[:limit]), write_cursor(rest[limit - 1].name, 0) if more else None)

    def collection(self, name: str) -> CollectionInfo:
        """A collection with its settings; raises UnknownCollection."""
        return self._store.describe([name])[0]

    def configure(self, name: str, partial: Mapping[str, Any]) -> tuple[CollectionInfo, bool]:
        """Merges settings over what is there, or makes the collection (then True)."""
        with confirmed(self._store):
            return self._store.configure(name, partial)

    def drop(self, name: str) -> None:
        """Removes a collection with all its documents."""
        if name == DEFAULT_COLLECTION:
            raise DefaultCollection("the collection 'default' cannot be removed")
        with confirmed(self._store):
            self._store.drop_collection(name)

    def statistics(self, collection: str | None) -> Statistics:
        """Counters of one collection, or of all."""
        return self._store.statistics(None if collection is None else [collection])

    def gauges(self) -> Gauges:
        """The store as it is now, for those who watch it."""
        return self._store.gauges()

    def readiness(self) -> Readiness:
        """Whether checks can be answered; raises StoreUnavailable where none can."""
        return self._store.readiness()

    def _names(self) -> list[str]:
        return [info.name for info in self._store.describe(None)]

    def _as_it_is(self, name: str, ask: Callable[[Collection], T]) -> T:
        """What `ask` gives for the collection as it is now."""
        while True:
            with suppress(CollectionChanged):
                return ask(self._store.collection(name, anew=True))


def _deletion(
    standing: Standing, main: StoredText, document: StoredDocument | None, *, kept: bool
) -> LogEntry:
    """The entry of a deletion: it keeps what was in the index, unless that is erased."""
    twin = document.twin_of if document else None
    left = [text.number for text in standing.texts]
    return LogEntry(
        DecisionKind.DELETED,
        document=standing.id,
        number=main.number,
        twin=twin.id if twin else None,
        twin_number=main.survivor if twin else 0,
        score=twin.score if twin else None,
        kept=tuple(left) if kept else (),
    )
