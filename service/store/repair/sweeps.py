"""Goes through all that a collection with several partitions holds, a page at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from service.store.connection import Connection
from service.store.growth import Growth, tags_of_a_text
from service.store.repair.facts import FactReader
from service.store.spread.fields import numbers_in
from service.store.spread.reading import Question

PAGE = 200
SHARDS_AT_ONCE = 32


class Sweeps:
    """Pages of one collection. What comes or goes meanwhile may be in them or not."""

    def __init__(self, connection: Connection, facts: FactReader) -> None:
        self._connection = connection
        self._facts = facts
        self._where = facts.where

    def numbers(self, first: int, last: int) -> Iterator[list[int]]:
        """Numbers from one to another one."""
        for start in range(first, last + 1, PAGE):
            self._connection.go_on()
            yield list(range(start, min(start + PAGE, last + 1)))

    def fields(self, name: str) -> Iterator[list[bytes]]:
        """Fields of a hash, from all partitions."""
        for keys in self._where.keys:
            key, cursor, begun = getattr(keys, name), b"0", False
            while cursor != b"0" or not begun:
                self._connection.go_on()
                begun = True
                cursor, *found = self._connection.run("scan", [key], [cursor, PAGE])
                for start in range(0, len(found), PAGE):
                    yield found[start : start + PAGE]

    def kept(self, name: str) -> Iterator[list[int]]:
        """Numbers under which a hash has something."""
        for page in self.fields(name):
            yield [int.from_bytes(field, "big") for field in page]

    def ids(self) -> Iterator[list[tuple[str, list[int]]]]:
        """Ids with the numbers under them."""
        for page in self.fields("ids"):
            ids = [field.decode() for field in page]
            rows = zip(ids, self._facts.ids(ids), strict=True)
            yield [(id, numbers) for id, numbers in rows if numbers]  # one may have left since

    def members(self, name: str) -> Iterator[tuple[int, list[bytes]]]:
        """Members of a sorted set whose scores are all 0, with their partition."""
        for place, keys in enumerate(self._where.keys):
            low = b"-"
            while True:
                self._connection.go_on()
                asked = Question(place, getattr(keys, name), "l", (low, b"+", PAGE))
                (page,) = self._facts.ask([asked])
                if not page:
                    break
                yield place, list(page)
                low = b"(" + page[-1]

    def conflicts_by_age(self) -> Iterator[list[int]]:
        """Conflicts as the list by age has them."""
        key, at = self._where.home.conflicts_by_age, 0
        while True:
            self._connection.go_on()
            page = self._connection.call(self._connection.client.zrange, key, at, at + PAGE - 1)
            if not page:
                return
            yield [int.from_bytes(member, "big") for member in page]
            at += len(page)

    def buckets(self) -> Iterator[list[tuple[int, bytes, list[int]]]]:
        """Buckets: band, tag, and the numbers that it lists."""
        bands = tags_of_a_text(self._facts.collection)
        for place, keys in enumerate(self._where.keys):
            here = range(bands)[self._where.bands_at(place, bands)]
            own = len(here)
            (told,) = self._facts.ask([Question(place, keys.settings, "f", ("level", "split"))])
            growth = Growth(int(told[0]), int(told[1]))
            for band in range(own):
                shards = range(_shards(growth, band, own))
                for start in range(0, len(shards), SHARDS_AT_ONCE):
                    self._connection.go_on()
                    names = [keys.shard(band, n) for n in shards[start : start + SHARDS_AT_ONCE]]
                    page = self._shards_of(place, band, names)
                    yield [(here[band], tag, numbers) for tag, numbers in page]

    def bucket(self, band: int, tag: bytes) -> list[int]:
        """The numbers that one bucket lists."""
        bands = tags_of_a_text(self._facts.collection)
        place, own = self._where.of_band(band, bands)
        keys = self._where.keys[place]
        (told,) = self._facts.ask([Question(place, keys.settings, "f", ("level", "split"))])
        growth = Growth(int(told[0]), int(told[1]))
        tags = [tag] * len(range(bands)[self._where.bands_at(place, bands)])
        name = growth.shard_keys(keys, tags)[own]
        return dict(self._shards_of(place, own, [name])).get(tag, [])

    def _shards_of(
        self, place: int, band: int, names: Sequence[str]
    ) -> Iterator[tuple[bytes, list[int]]]:
        wide: list[bytes] = []
        for flat in self._facts.ask([Question(place, name, "a", ()) for name in names]):
            for tag, entry in zip(flat[::2], flat[1::2], strict=True):
                if entry == b"w":
                    wide.append(tag)
                else:
                    yield tag, numbers_in(entry[1:]) if entry[:1] == b"p" else [int(entry)]
        if not wide:
            return
        fields = tuple(bytes([band + 1]) + tag for tag in wide)
        key = self._where.keys[place].wide
        (lists,) = self._facts.ask([Question(place, key, "f", fields)])
        for tag, listed in zip(wide, lists, strict=True):
            yield tag, numbers_in((listed or bytes(4))[4:])


def _shards(growth: Growth, band: int, bands: int) -> int:
    """How many shards a band has."""
    whole, rest = divmod(growth.split, bands)
    return (1 << growth.level) + whole + (band < rest)
