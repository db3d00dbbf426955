"""The use cases around documents and collections: look, list, delete, configure, count."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from service.cursors import read_cursor, write_cursor
from service.dedup.scheme import DEFAULT_COLLECTION
from service.dedup.stored import (
    CollectionInfo,
    DocumentFilter,
    Page,
    Statistics,
    StoredDocument,
    Twin,
)
from service.errors import DefaultCollection, UnknownCollection, UnknownDocument
from service.store.base import Collection, CollectionChanged, Store

T = TypeVar("T")


class Catalogue:
    """What can be asked about stored documents and collections."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def document(self, collection: str, id: str) -> StoredDocument:
        """A document as it stands; raises UnknownCollection or UnknownDocument."""
        found = self._as_it_is(collection, lambda known: self._store.document(known, id))
        if found is None:
            raise UnknownDocument("the collection has no document of this id")
        return found

    def delete(self, collection: str, id: str) -> tuple[Twin, ...]:
        """Takes a document out of the index; the copies once dropped for it."""
        twins = self._as_it_is(collection, lambda known: self._store.remove(known, id))
        if twins is None:
            raise UnknownDocument("the collection has no document of this id")
        return twins

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
        return self._store.configure(name, partial)

    def drop(self, name: str) -> None:
        """Removes a collection with all its documents."""
        if name == DEFAULT_COLLECTION:
            raise DefaultCollection("the collection 'default' cannot be removed")
        self._store.drop_collection(name)

    def statistics(self, collection: str | None) -> Statistics:
        """Counters of one collection, or of all."""
        return self._store.statistics(None if collection is None else [collection])

    def readiness(self) -> str:
        """`ready` or `full`; raises StoreUnavailable where no check could be answered."""
        return self._store.readiness()

    def _names(self) -> list[str]:
        return [info.name for info in self._store.describe(None)]

    def _as_it_is(self, name: str, ask: Callable[[Collection], T]) -> T:
        """What `ask` gives for the collection as it is now."""
        while True:
            with suppress(CollectionChanged):
                return ask(self._store.collection(name, anew=True))
