"""What an import would drop, without importing.

A dry run stores nothing, so it finds copies of what is stored and none inside the files. For these
the texts that would not be dropped for a stored one go into a collection made for it too, with the
settings of the one that they are for, which is removed afterwards. Of the two answers that with the
better match counts, as it would with all texts in one collection.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from service.client import Answer, Problem, Twinsift
from service.client.many import DEFAULT_ITEMS, Item, Result

PREFIX = "dry-run-"
_DEFAULT = "default"


def against_store(client: Twinsift, items: Iterable[Item]) -> Iterator[Result]:
    """What each would be if it came alone, after what is stored."""
    return client.check_many(_dry(item) for item in items)


class Rehearsal:
    """Asks against what is stored and against the items before, in collections of its own.

    Close it: that removes them.
    """

    def __init__(self, client: Twinsift) -> None:
        self._client = client
        self._made: dict[str, str] = {}

    def ask(self, items: Iterable[Item]) -> Iterator[Result]:
        """What each would be, in order."""
        left = iter(items)
        while batch := list(islice(left, DEFAULT_ITEMS)):
            looked_at = list(against_store(self._client, batch))
            own = [
                None if isinstance(item, Problem) or _is_dropped(found) else self._moved(item)
                for item, found in zip(batch, looked_at, strict=True)
            ]
            told = self._client.check_many(item for item in own if item is not None)
            for item, found in zip(own, looked_at, strict=True):
                yield found if item is None else _better(found, next(told))

    def close(self) -> None:
        """Removes the collections."""
        for name in self._made.values():
            self._client.drop(name)
        self._made.clear()

    def _moved(self, item: Mapping[str, object]) -> Item:
        collection = item.get("collection", _DEFAULT)
        return {**item, "collection": self._own(str(collection))}

    def _own(self, collection: str) -> str:
        """The collection that stands for this one."""
        if collection not in self._made:
            settings = self._client.collection(collection).settings
            name = PREFIX + secrets.token_hex(8)
            self._made[collection] = name
            self._client.configure(name, settings)
        return self._made[collection]


def _dry(item: Item) -> Item:
    return item if isinstance(item, Problem) else {**item, "dry_run": True}


def _is_dropped(found: Result) -> bool:
    return isinstance(found, Problem) or found.action == "skip"


def _better(found: Result, told: Result) -> Result:
    """The answer against the store, or that against the items before: an exact match comes before
    a near one, then the higher score. It names the collection that was asked for."""
    if isinstance(found, Problem) or isinstance(told, Problem):
        return told
    if _rank(told) <= _rank(found):
        return found
    return Answer.read({**told.raw, "collection": found.collection})


def _rank(answer: Answer) -> tuple[bool, float]:
    match = answer.match
    return (False, -1.0) if match is None else (match.kind != "near", match.score)
