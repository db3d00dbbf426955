"""Documents as callers see them: one by its id, or a list in order of registration."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from service.cursors import read_cursor, write_cursor
from service.dedup.stored import DocumentFilter, Page, Pending, StoredDocument, Twin
from service.dedup.verdict import ConflictRef, MatchKind, State
from service.store.base import Collection, CollectionChanged, StoredText
from service.store.connection import Connection
from service.store.keys import partition
from service.store.log import STATUSES
from service.store.records import STATE_LETTERS, TextCodec, moment, unpack
from service.store.replies import metadata_of
from service.store.spread.documents import SpreadDocuments

NUMBERS_A_CALL = 4000
DOCUMENTS_A_CALL = 50
SECONDS_A_PAGE = 0.5
CHARACTERS_A_PAGE = 4_000_000
COPIES_OF_ONE = 10_000
COPIES_IN_A_LIST = 100
FIRST_NUMBER = 1


class Listing:
    """Reads documents with the script `read`."""

    def __init__(
        self,
        connection: Connection,
        codec: TextCodec,
        clock: Callable[[], float],
        spread: SpreadDocuments | None = None,
    ) -> None:
        self._connection = connection
        self._codec = codec
        self._clock = clock
        self._spread = spread

    def document(self, collection: Collection, id: str) -> StoredDocument | None:
        """A document as it stands, or None."""
        if collection.settings.partitions > 1 and self._spread is not None:
            cutoff = collection.expires_before(int(self._clock()))
            entry = self._spread.document(collection, id, cutoff, COPIES_OF_ONE)
            return None if entry is None else self._document(collection, entry)
        reply = self._read(collection, [id, 0, 0, 0, "", "", ""], COPIES_OF_ONE)
        return self._document(collection, reply[1]) if len(reply) > 1 else None

    def documents(
        self,
        collections: Sequence[Collection],
        wanted: DocumentFilter,
        limit: int,
        cursor: str | None,
    ) -> Page[StoredDocument]:
        """A part of the list: at most `limit` documents, and less where their texts grow large or
        where it takes long to find any, so that a page may be short though there is a next one."""
        start, number = ("", FIRST_NUMBER) if cursor is None else read_cursor(cursor)
        items: list[StoredDocument] = []
        ends_at = time.monotonic() + SECONDS_A_PAGE
        for collection in collections:
            if collection.name < start:
                continue
            at: int | None = number if collection.name == start else FIRST_NUMBER
            family = _family_filter(collection, wanted.family)
            while at is not None and family is not None:
                full = len(items) == limit or _characters(items) > CHARACTERS_A_PAGE
                if full or time.monotonic() > ends_at:
                    return Page(tuple(items), write_cursor(collection.name, at))
                most = min(limit - len(items), DOCUMENTS_A_CALL)
                found, at = self._run(collection, at, most, wanted, family)
                items += found
        return Page(tuple(items), None)

    def _run(
        self, collection: Collection, at: int, most: int, wanted: DocumentFilter, family: bytes
    ) -> tuple[list[StoredDocument], int | None]:
        if collection.settings.partitions > 1 and self._spread is not None:
            entries, following = self._spread.run(
                collection,
                at,
                most,
                wanted,
                family,
                cutoff=collection.expires_before(int(self._clock())),
                copies=COPIES_IN_A_LIST,
                tried=NUMBERS_A_CALL,
            )
            return [self._document(collection, entry) for entry in entries], following
        state = STATE_LETTERS[wanted.state] if wanted.state else ""
        orphaned = "" if wanted.orphaned is None else int(wanted.orphaned)
        run = ["", at, most, NUMBERS_A_CALL, state, family, orphaned]
        reply = self._read(collection, run, COPIES_IN_A_LIST)
        found = [self._document(collection, entry) for entry in reply[1:]]
        return found, None if reply[0] is None else int(reply[0])

    def _read(self, collection: Collection, arguments: Sequence[Any], copies: int) -> list[Any]:
        keys = partition(collection.uid)
        read = [
            keys.settings,
            keys.ids,
            keys.documents,
            keys.texts,
            keys.metadata,
            keys.twins,
            keys.conflicts,
        ]
        cutoff = collection.expires_before(int(self._clock()))
        reply = list(
            self._connection.run("read", read, [*arguments, cutoff, collection.revision, copies])
        )
        if reply[0] == b"revision":
            raise CollectionChanged
        return reply

    def _document(self, collection: Collection, entry: Sequence[Any]) -> StoredDocument:
        number, record, text, metadata, orphaned, copies, more, survivor, status, pending = entry
        stored = unpack(int.from_bytes(number, "big"), record)
        dropped = stored.state is State.DROPPED
        twin_id = unpack(0, survivor).id if survivor else stored.match_id
        return StoredDocument(
            id=stored.id,
            collection=collection.name,
            state=stored.state,
            orphaned=bool(orphaned),
            family=collection.family_name(stored.family),
            hashes=stored.hashes,
            metadata=metadata_of(metadata),
            text=self._codec.decompress(text),
            registered_at=moment(stored.registered_at),
            updated_at=moment(stored.updated_at),
            twins=_twins(collection, copies),
            twins_cut=bool(more),
            twin_of=_twin(collection, stored, twin_id) if dropped and twin_id else None,
            pending=self._pending(collection, *pending) if pending else None,
            conflict=ConflictRef(collection.conflict_name(stored.conflict), STATUSES[status])
            if status
            else None,
        )

    def _pending(
        self, collection: Collection, record: bytes, text: bytes, metadata: bytes | None
    ) -> Pending:
        stored = unpack(0, record)
        return Pending(
            hashes=stored.hashes,
            metadata=metadata_of(metadata),
            text=self._codec.decompress(text),
            posted_at=moment(stored.updated_at),
            conflict=collection.conflict_name(stored.conflict) if stored.conflict else None,
        )


def _characters(items: Sequence[StoredDocument]) -> int:
    return sum(len(document.text) for document in items)


def _twins(collection: Collection, copies: Sequence[bytes]) -> tuple[Twin, ...]:
    read = (unpack(0, copy) for copy in copies)
    return tuple(_twin(collection, stored, stored.id) for stored in read)


def _twin(collection: Collection, dropped: StoredText, id: str) -> Twin:
    own = dropped.drop_score is None and dropped.kind is not None
    return Twin(
        id=id,
        score=dropped.score if dropped.drop_score is None else dropped.drop_score,
        kind=(dropped.kind or MatchKind.NEAR) if own else MatchKind.NEAR,
        decision=collection.decision_name(dropped.decision) if dropped.decision else None,
    )


def _family_filter(collection: Collection, family: str | None) -> bytes | None:
    """The packed number of a family; b"" for any; None where the collection cannot have it."""
    if family is None:
        return b""
    try:
        number = int(family.rpartition("-")[2], 16)
        packed = number.to_bytes(4, "big")
    except (ValueError, OverflowError):
        return None
    return packed if collection.family_name(number) == family else None
