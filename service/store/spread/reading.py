"""Reading from all partitions of a collection at once: one script for each that is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from service.errors import StoreError
from service.store.base import Collection, CollectionChanged, Snapshot
from service.store.connection import Connection
from service.store.growth import Growth
from service.store.keys import PartitionKeys
from service.store.spread.growing import GrowthOfParts
from service.store.spread.placement import HOME, Places, places


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
    """The answers, in the order of the questions; `buckets` has the numbers that each tag lists,
    and how many more it holds; `home` where it was asked."""

    answers: list[Any]
    buckets: list[tuple[bytes, int]]
    home: HomeState | None


@dataclass(slots=True)
class _Asked:
    """What is asked of one partition."""

    place: int
    keys: PartitionKeys
    tags: Sequence[bytes]
    is_home: bool
    questions: list[tuple[int, Question]] = field(default_factory=list)

    def call(self, growth: Growth) -> tuple[list[str], list[Any]]:
        """Keys and arguments of `gather`."""
        names = [self.keys.settings]
        if self.is_home:
            names += [self.keys.unfinished, self.keys.unsettled]
        where = {name: at for at, name in enumerate(names, 1)}
        asked: list[Any] = []
        for _, question in self.questions:
            at = where.get(question.key)
            if at is None:
                names.append(question.key)
                at = where[question.key] = len(names)
            asked += (question.kind, at, len(question.arguments), *question.arguments)
        if self.tags:
            names.append(self.keys.wide)
        head = [growth.level, growth.split, b"".join(self.tags), len(names), int(self.is_home)]
        return [*names, *growth.shard_keys(self.keys, self.tags)], [*head, *asked]


class Reader:
    """Asks the partitions of collections. What it reads is of one instant for each partition, and
    of several for all of them: who rests on it has it validated."""

    def __init__(
        self, connection: Connection, growth: GrowthOfParts, forget: Callable[[str], None]
    ) -> None:
        self._connection = connection
        self._growth = growth
        self._forget = forget

    def changed(self, collection: Collection) -> CollectionChanged:
        """What is raised where the settings changed, or the collection is gone: read again."""
        self._forget(collection.name)
        return CollectionChanged()

    def ask(
        self,
        collection: Collection,
        questions: Sequence[Question],
        *,
        tags: Sequence[bytes] = (),
        home: bool = False,
        writable: bool = False,
    ) -> Told:
        """Answers to all questions. `tags`: also the buckets of a text; `home`: also home's state;
        `writable`: StoreFull where any partition would take no writes.

        Raises CollectionChanged where the collection is gone."""
        where = places_of(collection)
        asked: dict[int, _Asked] = {}

        def of(place: int) -> _Asked:
            if place not in asked:
                own = where.tags_at(place, tags)
                asked[place] = _Asked(place, where.keys[place], own, home and place == HOME)
            return asked[place]

        for at, question in enumerate(questions):
            of(question.place).questions.append((at, question))
        if home:
            of(HOME)
        if writable or tags:
            for place in range(len(where.keys)):
                of(place)
        replies = self._replies(collection, list(asked.values()), writable=writable)
        told = Told([None] * len(questions), [(b"", 0)] * len(tags), None)
        for one, reply in replies:
            for (at, _), answer in zip(one.questions, reply[4:], strict=True):
                told.answers[at] = answer
            found = reply[3]
            told.buckets[one.place :: len(where.keys)] = (
                list(zip(found[::2], found[1::2], strict=True)) if one.tags else []
            )
            if one.is_home:
                told.home = _home_state(reply[2])
                if told.home.revision != collection.revision:
                    raise self.changed(collection)
        return told

    def buckets(
        self, collection: Collection, texts: Sequence[Sequence[bytes]]
    ) -> list[list[tuple[bytes, int]]]:
        """The buckets of several texts, each given by its tags, as `Told.buckets` has them."""
        where = places_of(collection)
        asked: list[_Asked] = []
        text_of: dict[int, int] = {}
        for at, tags in enumerate(texts):
            for place, keys in enumerate(where.keys):
                if own := where.tags_at(place, tags):
                    asked.append(_Asked(place, keys, own, is_home=False))
                    text_of[id(asked[-1])] = at
        found = [[(b"", 0)] * len(tags) for tags in texts]
        for one, reply in self._replies(collection, asked, writable=False):
            listed = list(zip(reply[3][::2], reply[3][1::2], strict=True))
            found[text_of[id(one)]][one.place :: len(where.keys)] = listed
        return found

    @staticmethod
    def home_of(told: Told) -> HomeState:
        """Home's state, which was asked for."""
        if told.home is None:
            raise ValueError("home was not asked")
        return told.home

    def _replies(
        self, collection: Collection, asked: list[_Asked], *, writable: bool
    ) -> Iterator[tuple[_Asked, Sequence[Any]]]:
        verb = "gather_open" if writable else "gather"
        while asked:
            calls = [(verb, *one.call(self._growth.of(collection, one.place))) for one in asked]
            replies = self._connection.run_all(calls)
            again = []
            for one, reply in zip(asked, replies, strict=True):
                if isinstance(reply, StoreError):
                    raise reply
                if reply[0] == b"gone":
                    raise self.changed(collection)
                if reply[0] == b"shards":
                    self._growth.corrected(collection, one.place, int(reply[1]), int(reply[2]))
                    again.append(one)
                    continue
                self._growth.heard(collection, one.place, reply[1])
                yield one, reply
            asked = again


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
