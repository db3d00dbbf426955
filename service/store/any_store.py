"""The store that the service uses: each collection by how it lies, in one partition
(`RedisStore`) or in several (`SpreadStore`)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from service.dedup.decisions import ConflictFilter, DecisionFilter
from service.dedup.queue import QueueFilter
from service.dedup.verdict import Metadata
from service.settings import REPLICATED, Settings
from service.store.base import (
    Applied,
    Collection,
    Look,
    Probe,
    QueuePart,
    Recalled,
    Registered,
    Registration,
    Replay,
    Seen,
    Standing,
    StoredText,
)
from service.store.connection import Connection
from service.store.listing import Listing
from service.store.redis_store import RedisStore
from service.store.registry import Registry
from service.store.repair.repairer import Repairer
from service.store.spread.decisions import SpreadDecisions
from service.store.spread.documents import SpreadDocuments
from service.store.spread.spread_store import SpreadStore
from service.store.statistics import StatisticsReader
from service.store.step import LogEntry, Step, StoredConflict, StoredNearMiss

MOST_BY_DEFAULT = 16
"""How many partitions a collection gets at most that is made without saying so. Of many more bands
fall unevenly (docs/sizing.md)."""


def connect(settings: Settings) -> AnyStore:
    """The store at `settings.redis_url`. Connects at the first call, not here.

    A collection that is made on a cluster lies over all its primaries, unless it is said
    otherwise: partitions are for good, so a whole one could never outgrow its node."""
    if settings.redis_url is None:
        raise ValueError("the address of the store is not known")
    connection = Connection(
        settings.redis_url,
        deadline=settings.deadline,
        replicated=settings.durability == REPLICATED,
    )
    return AnyStore(connection, default_partitions=lambda: min(connection.parts(), MOST_BY_DEFAULT))


def _is_spread(collection: Collection) -> bool:
    return collection.settings.partitions > 1


class AnyStore(RedisStore):
    """Implements `base.Store`; what each verb promises is written there.

    `clock` gives the time in seconds since 1970; `default_partitions` how many partitions a
    collection gets that is made without saying so."""

    def __init__(
        self,
        connection: Connection,
        *,
        clock: Callable[[], float] = time.time,
        default_partitions: Callable[[], int] = lambda: 1,
    ) -> None:
        super().__init__(connection, clock=clock)
        self._spread = spread = SpreadStore(connection, self._codec, self._forget)
        documents = SpreadDocuments(spread.fields, spread.sequencer)
        self._registry = Registry(
            connection, default_partitions=default_partitions, finish=spread.sequencer.catch_up
        )
        self._listing = Listing(connection, self._codec, clock, documents)
        self._statistics = StatisticsReader(connection, self._registry)
        self._spread_decisions = SpreadDecisions(
            connection, spread.reader, spread.fields, spread.sequencer
        )

    def settle(self) -> None:
        """Does now what was answered and goes on behind it."""
        self._spread.sequencer.settle()

    def _catch_up(self, collections: Sequence[Collection]) -> None:
        """Has all applied that was answered."""
        for collection in filter(_is_spread, collections):
            self._spread.sequencer.catch_up(collection)

    def _decisions_of(self, collection: Collection) -> SpreadDecisions:
        """With all that was answered applied."""
        self._catch_up([collection])
        return self._spread_decisions

    def repairer(self) -> Repairer:
        """What finds and mends what lost writes left torn. A store that repairs applies all at
        once."""
        self._spread.sequencer.apply_at_once()
        return Repairer(self._connection, self._registry, self._spread, self._spread_decisions)

    def _forget(self, name: str) -> None:
        self._registry.forget(name)

    def look(self, collection: Collection, probe: Probe) -> Replay | Seen:
        """What is known of a text."""
        if _is_spread(collection):
            return self._spread.look(collection, probe)
        return super().look(collection, probe)

    def check(self, collection: Collection, entry: Registration) -> Registered | Replay | Seen:
        """A look, and the registration of a text that is like nothing."""
        if _is_spread(collection):
            return self._spread.check(collection, entry)
        return super().check(collection, entry)

    def texts(self, collection: Collection, numbers: Sequence[int]) -> list[str | None]:
        """Kept texts by number."""
        if _is_spread(collection):
            return self._spread.texts(collection, numbers)
        return super().texts(collection, numbers)

    def records(self, collection: Collection, numbers: Sequence[int]) -> list[StoredText | None]:
        """Registered texts by number."""
        if _is_spread(collection):
            return self._spread.records(collection, numbers)
        return super().records(collection, numbers)

    def metadata(self, collection: Collection, numbers: Sequence[int]) -> list[Metadata]:
        """The metadata of texts by number."""
        if _is_spread(collection):
            return self._spread.metadata(collection, numbers)
        return super().metadata(collection, numbers)

    def standing(self, collection: Collection, id: str) -> Standing:
        """The texts under an id."""
        if _is_spread(collection):
            return self._spread.standing(collection, id)
        return super().standing(collection, id)

    def rulings(self, collection: Collection, pairs: Sequence[bytes]) -> list[bytes]:
        """What is ruled about pairs."""
        if _is_spread(collection):
            return self._spread.rulings(collection, pairs)
        return super().rulings(collection, pairs)

    def recall(self, collection: Collection, stored: StoredText) -> Recalled | None:
        """What a replayed answer needs of the present."""
        if _is_spread(collection):
            return self._spread.recall(collection, stored)
        return super().recall(collection, stored)

    def begin_checks(
        self, entries: Sequence[tuple[Collection, Registration]]
    ) -> Callable[[], list[Look]]:
        """Begins several checks at once."""
        whole = [at for at, (collection, _) in enumerate(entries) if not _is_spread(collection)]
        spread = [at for at, (collection, _) in enumerate(entries) if _is_spread(collection)]
        if not spread:
            return super().begin_checks(entries)
        receive = super().begin_checks([entries[at] for at in whole]) if whole else list
        receive_spread = self._spread.begin_checks([entries[at] for at in spread])

        def outcomes() -> list[Look]:
            looks: list[Look] = [None] * len(entries)
            for places, found in ((whole, receive()), (spread, receive_spread())):
                for at, look in zip(places, found, strict=True):
                    looks[at] = look
            return looks

        return outcomes

    def apply(
        self, collection: Collection, step: Step, *, at_limit: bool = False
    ) -> Applied | None:
        """Applies a step whole."""
        if _is_spread(collection):
            return self._spread.apply(collection, step, at_limit=at_limit)
        return super().apply(collection, step, at_limit=at_limit)

    def touch(
        self, collection: Collection, replay: Replay, metadata: Metadata, at: int
    ) -> Recalled | None:
        """Counts a replay and keeps its metadata."""
        if _is_spread(collection):
            return self._spread.touch(collection, replay, metadata, at)
        return super().touch(collection, replay, metadata, at)

    def unsettled(self, collection: Collection) -> list[tuple[int, int]]:
        """Held texts that wait to be checked anew."""
        if _is_spread(collection):
            return self._spread.unsettled(collection)
        return super().unsettled(collection)

    def trim(self, collection: Collection, before: int) -> None:
        """Takes a few of the oldest log entries out."""
        if _is_spread(collection):
            self._decisions_of(collection).trim(collection, before)
        else:
            super().trim(collection, before)

    def queue(
        self,
        collections: Sequence[Collection],
        wanted: QueueFilter,
        most: int,
        start: tuple[Collection, StoredConflict] | None,
        *,
        back: bool = False,
    ) -> QueuePart:
        """A part of the queue that the collections make together."""
        self._catch_up(collections)
        return super().queue(collections, wanted, most, start, back=back)

    def open_with(self, collection: Collection, texts: Sequence[int], most: int) -> list[list[int]]:
        """Open conflicts in which each of some texts is the existing one."""
        self._catch_up([collection])
        return super().open_with(collection, texts, most)

    def near_misses(self, collection: Collection) -> list[StoredNearMiss]:
        """Pairs that fell just below the threshold."""
        self._catch_up([collection])
        return super().near_misses(collection)

    def conflict(self, collection: Collection, number: int) -> StoredConflict | None:
        """A conflict by its number, or None."""
        if _is_spread(collection):
            return self._decisions_of(collection).conflict(collection, number)
        return super().conflict(collection, number)

    def conflicts(
        self, collection: Collection, wanted: ConflictFilter, most: int, below: int | None
    ) -> tuple[list[StoredConflict], int | None]:
        """Conflicts, the newest first, and where to go on."""
        if _is_spread(collection):
            return self._decisions_of(collection).conflicts(collection, wanted, most, below)
        return super().conflicts(collection, wanted, most, below)

    def entry(self, collection: Collection, number: int) -> LogEntry | None:
        """A log entry by its number, or None."""
        if _is_spread(collection):
            return self._decisions_of(collection).entry(collection, number)
        return super().entry(collection, number)

    def entries(
        self, collection: Collection, wanted: DecisionFilter, most: int, after: int
    ) -> tuple[list[LogEntry], int, bool]:
        """Log entries, the oldest first, where to go on, and whether there are more."""
        if _is_spread(collection):
            return self._decisions_of(collection).entries(collection, wanted, most, after)
        return super().entries(collection, wanted, most, after)

    def entries_below(
        self, collection: Collection, wanted: DecisionFilter, most: int, below: int | None
    ) -> tuple[list[LogEntry], int | None]:
        """Log entries, the newest first, and where to go on."""
        if _is_spread(collection):
            return self._decisions_of(collection).entries_below(collection, wanted, most, below)
        return super().entries_below(collection, wanted, most, below)

    def erase(self, collection: Collection, id: str, until: int | None = None) -> int:
        """Takes every word of a deleted document out of the log."""
        if _is_spread(collection):
            return self._decisions_of(collection).erase(collection, id, until)
        return super().erase(collection, id, until)
