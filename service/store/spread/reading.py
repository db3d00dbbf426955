"""Visits to the partitions of a collection, all at once, one script for each: pieces of
transactions are applied on the way, and what is asked is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from service.store.base import Collection, CollectionChanged, Snapshot
from service.store.connection import Connection
from service.store.growth import Growth
from service.store.keys import PartitionKeys
from service.store.spread.growing import GrowthOfParts
from service.store.spread.placement import HOME, Places, places
from service.store.spread.redo import Piece


def places_of(collection: Collection) -> Places:
    """Where what is kept of a collection lies."""
    return places(collection.uid, collection.settings.partitions)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of one key, at its partition (`gathering.lua` has the kinds)."""

    place: int
    key: str
    kind: str
    arguments: tuple[Any, ...]


@dataclass(slots=True)
class HomeState:
    """What home tells: the snapshot, how long the oldest unfinished transaction has been so
    (milliseconds), and what is due."""

    revision: str
    snapshot: Snapshot
    age: int
    unsettled: int
    oldest: int | None
    ruled: bool


@dataclass(slots=True)
class Told:
    """The answers, in the order of the questions; `buckets` has for each text the numbers that each
    of its tags lists, and how many more it holds; `home` where it was asked."""

    answers: list[Any]
    buckets: list[list[tuple[bytes, int]]]
    home: HomeState | None


@dataclass(frozen=True, slots=True)
class Carried:
    """What is applied before anything is read: each partition's pieces, behind the numbers of their
    transactions, and at home `done`: transactions that are applied everywhere. All below `floor`
    are done."""

    pieces: Mapping[int, Sequence[tuple[int, Piece]]] = field(default_factory=dict)
    done: Sequence[int] = ()
    floor: int = 0


NOTHING = Carried()


@dataclass(slots=True)
class _Visit:
    """What is applied at one partition, and asked of it."""

    place: int
    keys: PartitionKeys
    texts: Sequence[Sequence[bytes]]
    is_home: bool
    carried: Carried
    questions: list[tuple[int, Question]] = field(default_factory=list)

    def call(self, growth: Growth) -> tuple[list[str], list[Any]]:
        """Keys and arguments (`gathering.lua`)."""
        keys = self.keys
        names = [keys.settings, keys.applied, keys.wide]
        if self.is_home:
            names += [keys.unfinished, keys.unsettled, keys.redo]
        places = {name: at for at, name in enumerate(names, 1)}

        def at(name: str) -> int:
            found = places.get(name)
            if found is not None:
                return found
            names.append(name)
            if name == keys.conflicts:
                names.append(keys.conflict_lists)
            places[name] = len(names) - (name == keys.conflicts)
            return places[name]

        asked: list[Any] = []
        for _, one in self.questions:
            asked += (one.kind, at(one.key), len(one.arguments), *one.arguments)
        pieces = self.carried.pieces.get(self.place, ())
        writes = [
            [part for key, kind, *values in piece.writes for part in (kind, at(key), *values)]
            for _, piece in pieces
        ]
        before_shards = len(names)
        for tags in self.texts:
            names += growth.shard_keys(keys, tags)
        applied: list[Any] = [self.carried.floor, len(pieces)]
        for (number, piece), written in zip(pieces, writes, strict=True):
            applied += (number, len(piece.texts))
            for sign, text, tags in piece.texts:
                applied += (sign, text, b"".join(tags), len(names))
                names += growth.shard_keys(keys, tags)
            applied += (len(piece.writes), *written)
        done = self.carried.done if self.is_home else ()
        joined = b"".join(b"".join(tags) for tags in self.texts)
        bands = len(self.texts[0]) if self.texts else 0
        head = [growth.level, growth.split, joined, before_shards, int(self.is_home), bands]
        return names, [*head, *applied, len(done), *done, *asked]


class Reader:
    """Asks the partitions of collections. What it reads is of one instant for each partition, and
    of several for all of them: who rests on it has it validated."""

    def __init__(
        self, connection: Connection, growth: GrowthOfParts, forget: Callable[[str], None]
    ) -> None:
        self._connection = connection
        self._growth = growth
        self._forget = forget

    def begin_call(self) -> None:
        """All that this thread asks from here on has the time of one call."""
        self._connection.begin_call()

    def changed(self, collection: Collection) -> CollectionChanged:
        """What is raised where the settings changed, or the collection is gone: read again."""
        self._forget(collection.name)
        return CollectionChanged()

    def ask(
        self,
        collection: Collection,
        questions: Sequence[Question],
        *,
        texts: Sequence[Sequence[bytes]] = (),
        home: bool = False,
        writable: bool = False,
        carried: Carried = NOTHING,
    ) -> Told:
        """Answers to all questions. `texts`: also the buckets of each, given by its tags; `home`:
        also home's state; `writable`: StoreFull where any partition would take no writes; `carried`
        goes with it.

        Raises CollectionChanged where the collection is gone."""
        verb = "gather_open" if writable else "gather"
        return self._visit(collection, verb, questions, texts, home=home, carried=carried)

    def apply(self, collection: Collection, carried: Carried) -> HomeState | None:
        """Applies what is carried, at the memory limit too; home's state where it was visited."""
        home = HOME in carried.pieces or bool(carried.done)
        return self._visit(collection, "piece", (), (), home=home, carried=carried).home

    def _visit(
        self,
        collection: Collection,
        verb: str,
        questions: Sequence[Question],
        texts: Sequence[Sequence[bytes]],
        *,
        home: bool,
        carried: Carried,
    ) -> Told:
        where = places_of(collection)
        bands = len(texts[0]) if texts else 0
        visits: dict[int, _Visit] = {}

        def of(place: int) -> _Visit:
            if place not in visits:
                own = [tags[where.bands_at(place, bands)] for tags in texts]
                is_home = home and place == HOME
                visits[place] = _Visit(place, where.keys[place], own, is_home, carried)
            return visits[place]

        for at, question in enumerate(questions):
            of(question.place).questions.append((at, question))
        if home:
            of(HOME)
        every = range(len(where.keys)) if texts or verb == "gather_open" else carried.pieces
        for place in every:
            of(place)
        replies = self._replies(collection, verb, list(visits.values()))
        told = Told([None] * len(questions), [[(b"", 0)] * bands for _ in texts], None)
        for one, reply in replies:
            for (at, _), answer in zip(one.questions, reply[4:], strict=True):
                told.answers[at] = answer
            at_place = where.bands_at(one.place, bands)
            found = zip(reply[3][::2], reply[3][1::2], strict=True)
            for own, buckets in zip(one.texts, told.buckets, strict=True):
                buckets[at_place] = islice(found, len(own))
            if one.is_home:
                told.home = _home_state(reply[2])
                # What was published is applied whatever the settings are by now.
                if verb != "piece" and told.home.revision != collection.revision:
                    raise self.changed(collection)
        return told

    @staticmethod
    def home_of(told: Told) -> HomeState:
        """Home's state, which was asked for."""
        if told.home is None:
            raise ValueError("home was not asked")
        return told.home

    def _replies(
        self, collection: Collection, verb: str, visits: list[_Visit]
    ) -> Iterator[tuple[_Visit, Sequence[Any]]]:
        while visits:
            calls = [(verb, *one.call(self._growth.of(collection, one.place))) for one in visits]
            replies = self._connection.run_all(calls)
            again = []
            failed = next((reply for reply in replies if isinstance(reply, Exception)), None)
            if failed is not None:
                raise failed
            for one, reply in zip(visits, replies, strict=True):
                if reply[0] == b"gone":
                    raise self.changed(collection)
                if reply[0] == b"shards":
                    self._growth.corrected(collection, one.place, int(reply[1]), int(reply[2]))
                    again.append(one)
                    continue
                self._growth.heard(collection, one.place, reply[1])
                yield one, reply
            visits = again


def _home_state(told: Sequence[Any]) -> HomeState:
    revision, last, unfinished, age, unsettled, oldest, ruled = told
    return HomeState(
        revision=revision.decode(),
        snapshot=Snapshot(int(last), frozenset(unfinished)),
        age=int(age),
        unsettled=int(unsettled),
        oldest=None if oldest is None else int(oldest),
        ruled=bool(ruled),
    )
