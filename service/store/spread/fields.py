"""What is kept of a collection, read by number and by id from wherever it lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from service.store.base import Collection, StoredText
from service.store.records import unpack
from service.store.spread.placement import HOME, Places
from service.store.spread.reading import Question, Reader, Told, places_of
from service.store.steps import packed

ALL_BEHIND = b"\xff\xff\xff\xff"


def numbers_in(joined: bytes) -> list[int]:
    """Packed numbers, one by one."""
    return [int.from_bytes(joined[at : at + 4], "big") for at in range(0, len(joined), 4)]


def stored(number: int, record: bytes | None) -> StoredText | None:
    """The text of a record, if there is one."""
    return None if record is None else unpack(number, record)


@dataclass(frozen=True, slots=True)
class Ask:
    """Makes questions about one collection."""

    where: Places

    def field(self, name: str, number: int) -> Question:
        """One field of what is placed by its number."""
        place = self.where.of_number(number)
        return Question(place, getattr(self.where.keys[place], name), "f", (packed(number),))

    def id(self, id: str) -> Question:
        """What stands under an id."""
        place = self.where.of_name(id.encode())
        return Question(place, self.where.keys[place].ids, "f", (id,))

    def ruling(self, pair: bytes) -> Question:
        """What is ruled about a pair."""
        place = self.where.of_name(pair)
        return Question(place, self.where.keys[place].rulings, "f", (pair,))

    def edges(self, name: str, number: int, most: int) -> Question:
        """What is joined to a text: its copies, or conflicts with it."""
        place = self.where.of_number(number)
        low = b"[" + packed(number)
        key = getattr(self.where.keys[place], name)
        return Question(place, key, "l", (low, low + ALL_BEHIND, most))

    def waiting(self, number: int) -> Question:
        """The void conflict of a held text that waits."""
        return Question(HOME, self.where.home.unsettled, "f", (packed(number),))


class Fields:
    """Reads a collection's hashes."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def of(self, collection: Collection, name: str, numbers: Sequence[int]) -> list[bytes | None]:
        """One hash by number; None for what is not there. One question for each partition."""
        if not numbers:
            return []
        where = places_of(collection)
        by_place: dict[int, list[int]] = {}
        for number in numbers:
            by_place.setdefault(where.of_number(number), []).append(number)
        questions = [
            Question(place, getattr(where.keys[place], name), "f", tuple(map(packed, some)))
            for place, some in by_place.items()
        ]
        told = self._reader.ask(collection, questions)
        found = {
            number: value
            for some, values in zip(by_place.values(), told.answers, strict=True)
            for number, value in zip(some, values, strict=True)
        }
        return [found[number] for number in numbers]

    def records(self, collection: Collection, numbers: Sequence[int]) -> list[StoredText | None]:
        """Texts by number."""
        kept = self.of(collection, "documents", numbers)
        return [stored(number, record) for number, record in zip(numbers, kept, strict=True)]

    def entry(self, collection: Collection, id: str) -> list[int]:
        """The numbers under an id."""
        (answer,) = self.ask(collection, [Ask(places_of(collection)).id(id)]).answers
        return numbers_in(answer[0] or b"")

    def ask(self, collection: Collection, questions: Sequence[Question]) -> Told:
        """Any questions at once."""
        return self._reader.ask(collection, questions)
