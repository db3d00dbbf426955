"""Walks texts, ids and buckets of a collection: what is suspicious, each to be examined anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from service.store.growth import tags_of_a_text
from service.store.repair.damage import Mend
from service.store.repair.facts import FactReader
from service.store.repair.ghosts import Bucket, GhostFinder
from service.store.repair.lists import ghost_mend, id_mend, link_mend, rest_mend
from service.store.repair.sweeps import Sweeps
from service.store.repair.texts import text_mend

Suspect = Callable[[], Mend | None]
"""Examines one thing as it is now; what mends it, None where nothing is wrong with it."""
NO_TAG = bytes(4)


class TextWalk:
    """What goes by texts, in one collection."""

    def __init__(self, facts: FactReader, sweeps: Sweeps) -> None:
        self._facts = facts
        self._sweeps = sweeps

    def suspects(self) -> Iterator[Suspect]:
        """All that may be torn."""
        yield from self._texts()
        yield from self._rests()
        yield from self._ids()
        yield from self._ghosts()
        yield from self._links()

    def _texts(self) -> Iterator[Suspect]:
        facts, ends = self._facts, self._facts.ends()
        for numbers in self._sweeps.kept("documents"):
            for one in facts.of_texts(facts.texts(numbers).values()):
                if text_mend(facts.collection, one, ends) is not None:
                    yield partial(self._text_mend, one.text.number)

    def _text_mend(self, number: int) -> Mend | None:
        facts, ends = self._facts, self._facts.ends()
        for one in facts.of_texts(facts.texts([number]).values()):
            return text_mend(facts.collection, one, ends)
        return None

    def _rests(self) -> Iterator[Suspect]:
        for name in ("texts", "metadata"):
            for numbers in self._sweeps.kept(name):
                there = self._facts.texts(numbers)
                for number in numbers:
                    if number not in there:
                        yield partial(self._rest_mend, number)

    def _rest_mend(self, number: int) -> Mend | None:
        if self._facts.texts([number]) or not self._facts.has_rest([number]):
            return None
        return rest_mend(number)

    def _ids(self) -> Iterator[Suspect]:
        now = self._facts.ends().now
        for page in self._sweeps.ids():
            texts = self._facts.texts(sorted({n for _, numbers in page for n in numbers}))
            for id, numbers in page:
                if id_mend(id, numbers, [texts.get(n) for n in numbers], now) is not None:
                    yield partial(self._id_mend, id)

    def _id_mend(self, id: str) -> Mend | None:
        (numbers,) = self._facts.ids([id])
        if not numbers:
            return None
        texts = self._facts.texts(numbers)
        return id_mend(id, numbers, [texts.get(n) for n in numbers], self._facts.ends().now)

    def _ghosts(self) -> Iterator[Suspect]:
        finder = GhostFinder(self._facts)
        for page in self._sweeps.buckets():
            for number, buckets in finder.in_buckets(page).items():
                yield partial(self._ghost_mend, number, buckets)

    def _ghost_mend(self, number: int, buckets: list[Bucket]) -> Mend | None:
        tags = [NO_TAG] * tags_of_a_text(self._facts.collection)
        for band, tag in (
            GhostFinder(self._facts)
            .in_buckets([(band, tag, [number]) for band, tag in buckets])
            .get(number, ())
        ):
            # Of two in one band the other one is for the next walk.
            if number in self._sweeps.bucket(band, tag) and tags[band] == NO_TAG:
                tags[band] = tag
        count = sum(tag != NO_TAG for tag in tags)
        return ghost_mend(number, tags, count) if count else None

    def _links(self) -> Iterator[Suspect]:
        for _, page in self._sweeps.members("twins"):
            edges = [(int.from_bytes(m[:4], "big"), int.from_bytes(m[4:], "big")) for m in page]
            texts = self._facts.texts([number for _, number in edges])
            for survivor, number in edges:
                if link_mend(survivor, number, texts.get(number)) is not None:
                    yield partial(self._link_mend, survivor, number)

    def _link_mend(self, survivor: int, number: int) -> Mend | None:
        if not self._facts.has_edge("twins", survivor, number):
            return None
        return link_mend(survivor, number, self._facts.texts([number]).get(number))
