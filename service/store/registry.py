"""Collections by name: made, configured, described, removed.

A name in the registry means a uid; all keys of a collection carry its uid, so a collection made
anew under an old name never meets what is left of the old one. A uid without a revision is a
collection on its way out, or one whose maker died: whoever meets it clears it away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from itertools import islice
from secrets import token_hex
from typing import Any

import orjson

from service.dedup.scheme import DEFAULT_COLLECTION, CollectionSettings, Scheme, scheme_for
from service.dedup.stored import CollectionInfo, DocumentCounts
from service.errors import Fault, FrozenSetting, UnknownCollection
from service.store.base import Collection
from service.store.connection import Connection
from service.store.growth import FIRST_LEVEL
from service.store.keys import NEXT_UID, REGISTRY, PartitionKeys, partition
from service.store.spread.placement import PART_REVISION, places

UNLINK_BATCH = 1000


class Registry:
    """The collections of one server. It remembers what it read; `forget` makes it read again.

    `default_partitions`: how many partitions a collection gets that is made without saying so;
    `finish`: finishes the transactions of a collection that are under way."""

    def __init__(
        self,
        connection: Connection,
        *,
        default_partitions: Callable[[], int] = lambda: 1,
        finish: Callable[[Collection], None] = lambda _: None,
    ) -> None:
        self._connection = connection
        self._default_partitions = default_partitions
        self._finish = finish
        self._read: dict[str, Collection] = {}

    def forget(self, name: str) -> None:
        """Reads the collection anew at the next call."""
        self._read.pop(name, None)

    def collection(self, name: str) -> Collection:
        """The collection as last read; `default` is made where it is missing."""
        known = self._read.get(name)
        if known is not None:
            return known
        found = self._load(name)
        if found is None and name == DEFAULT_COLLECTION:
            self.configure(name, {})
            found = self._load(name)
        if found is None:
            raise UnknownCollection(f"there is no collection {name!r}")
        self._read[name] = found
        return found

    def by_uid(self, uid: str) -> Collection | None:
        """The collection of a uid, or None where there is none."""
        listed = self._connection.call(self._connection.client.hgetall, REGISTRY)
        for name, known in listed.items():
            if known == uid.encode() and name != NEXT_UID.encode():
                self.forget(name.decode())
                with suppress(UnknownCollection):
                    found = self.collection(name.decode())
                    return found if found.uid == uid else None
        return None

    def names(self) -> list[str]:
        """The names of all collections, in order."""
        listed = self._connection.call(self._connection.client.hkeys, REGISTRY)
        names = {name.decode() for name in listed} - {NEXT_UID}
        return sorted(names | {DEFAULT_COLLECTION})

    def listed(self) -> list[str]:
        """The names that are there, in order: not that of a default that was never made."""
        listed = self._connection.call(self._connection.client.hkeys, REGISTRY)
        return sorted({name.decode() for name in listed} - {NEXT_UID})

    def clear_if_gone(self, name: str) -> None:
        """Takes a name out whose collection has lost its settings."""
        self.forget(name)
        self._load(name)

    def uids(self) -> list[str]:
        """The uids of all collections."""
        listed = self._connection.call(self._connection.client.hgetall, REGISTRY)
        return [uid.decode() for name, uid in listed.items() if name != NEXT_UID.encode()]

    def describe(self, name: str) -> CollectionInfo:
        """A collection as it is now; raises UnknownCollection."""
        self.forget(name)
        found = self.collection(name)
        return CollectionInfo(name, found.settings, found.scheme, self.counts(found))

    def describe_all(self) -> list[CollectionInfo]:
        """All collections, by name; one that is removed meanwhile is left out."""
        described = []
        for name in self.names():
            with suppress(UnknownCollection):
                described.append(self.describe(name))
        return described

    def counts(self, collection: Collection) -> DocumentCounts:
        """How many documents of each state there are."""
        counters = partition(collection.uid).counters
        client = self._connection.client
        counted = self._connection.call(client.hmget, counters, "active", "held", "dropped")
        return DocumentCounts(*(int(count or 0) for count in counted))

    def configure(self, name: str, partial: Mapping[str, Any]) -> tuple[CollectionInfo, bool]:
        """Merges settings over what is there, or makes the collection (True)."""
        while True:
            self.forget(name)
            current = self._load(name)
            if current is None:
                default = {"partitions": self._default_partitions()}
                settings = CollectionSettings().merged({**default, **partial})
                if self._make(name, settings):
                    return self.describe(name), True
            elif self._change(current, current.settings.merged(partial)):
                return self.describe(name), False

    def drop(self, name: str) -> None:
        """Removes a collection and all its keys; raises UnknownCollection."""
        self.forget(name)
        found = self._load(name)
        if found is None:
            raise UnknownCollection(f"there is no collection {name!r}")
        self._clear(name, found.uid)
        self.forget(name)

    def _load(self, name: str) -> Collection | None:
        client = self._connection.client
        uid = self._connection.call(client.hget, REGISTRY, name)
        if uid is None:
            return None
        uid = uid.decode()
        fields = ("revision", "settings", "scheme")
        revision, settings, scheme = self._connection.call(
            client.hmget, partition(uid).settings, *fields
        )
        if revision is None:
            self._clear(name, uid)
            return None
        made_by = Scheme.from_json(orjson.loads(scheme))
        written = CollectionSettings.from_json(orjson.loads(settings))
        return Collection(name, uid, revision.decode(), written, made_by, made_by.is_current)

    def _make(self, name: str, settings: CollectionSettings) -> bool:
        """Makes a collection; False where another process made one of this name first."""
        client = self._connection.client
        uid = str(self._connection.call(client.hincrby, REGISTRY, NEXT_UID, 1))
        scheme = scheme_for(settings.threshold)
        home, *others = places(uid, settings.partitions).keys
        if self._connection.call(client.hexists, home.settings, "revision"):
            return False  # the registry was lost in part: it gives uids again
        for keys in others:
            self._make_part(keys, name, settings, scheme)
        self._write(home, "", settings, scheme, only_empty=True, name=name)
        self._connection.call(client.hsetnx, REGISTRY, name, uid)
        # Asked, as an earlier try whose answer was lost may have made it.
        if self._connection.call(client.hget, REGISTRY, name) == uid.encode():
            return True
        for keys in (home, *others):
            self._connection.call(client.unlink, keys.settings)
        return False

    def make_part(self, collection: Collection, place: int) -> None:
        """Makes a partition that has lost all, empty; one that is there stays as it is."""
        keys = places(collection.uid, collection.settings.partitions).keys[place]
        self._make_part(keys, collection.name, collection.settings, collection.scheme)

    def _make_part(
        self, keys: PartitionKeys, name: str, settings: CollectionSettings, scheme: Scheme
    ) -> None:
        self._write(
            keys, "", settings, scheme, only_empty=True, new_revision=PART_REVISION, name=name
        )

    def _change(self, current: Collection, settings: CollectionSettings) -> bool:
        """Changes a collection; False where it changed meanwhile. Raises FrozenSetting."""
        if settings.partitions != current.settings.partitions:
            raise _frozen("partitions", "partitions cannot change: they are chosen once")
        frozen = current.settings.frozen_difference(settings)
        scheme = current.scheme
        if settings.threshold < scheme.threshold:
            frozen = frozen or "threshold"
        if frozen:
            scheme = scheme_for(settings.threshold)
        home = partition(current.uid)
        outcome = self._write(
            home, current.revision, settings, scheme, only_empty=frozen is not None
        )
        if outcome == b"frozen" and frozen is not None:
            raise _frozen(frozen, f"{frozen} cannot change like this while documents are stored")
        if outcome == b"busy":
            self._finish(current)
        return bool(outcome == b"done")

    def _write(
        self,
        keys: PartitionKeys,
        revision: str,
        settings: CollectionSettings,
        scheme: Scheme,
        *,
        only_empty: bool,
        new_revision: str | None = None,
        name: str = "",
    ) -> bytes:
        names = [keys.settings, keys.counters, keys.unfinished]
        arguments = (
            revision,
            new_revision or token_hex(8),
            orjson.dumps(settings.as_json()),
            orjson.dumps(scheme.as_json()),
            int(only_empty),
            FIRST_LEVEL,
            name,
        )
        return bytes(self._connection.run("configure", names, arguments))

    def _clear(self, name: str, uid: str) -> None:
        scheme, level, settings = self._connection.run("drop", [partition(uid).settings], [])
        count = 1 if settings is None else orjson.loads(settings)["partitions"]
        home, *others = places(uid, count).keys
        for keys in others:  # home is last: it knows the others
            _, of_part, _ = self._connection.run("drop", [keys.settings], [])
            self._clear_partition(keys, scheme, of_part)
        self._clear_partition(home, scheme, level)
        self._connection.run("release", [REGISTRY], [name, uid])

    def _clear_partition(
        self, keys: PartitionKeys, scheme: bytes | None, level: bytes | None
    ) -> None:
        if scheme is not None and level is not None:
            bands = Scheme.from_json(orjson.loads(scheme)).banding.bands + 1
            shards = 2 << int(level)
            self._unlink(keys.shard(b, n) for b in range(bands) for n in range(shards))
        self._unlink([*keys.whole(), *keys.of_transactions()])

    def _unlink(self, keys: Iterable[str]) -> None:
        client, left = self._connection.client, iter(keys)
        while batch := list(islice(left, UNLINK_BATCH)):  # all names at once would be gigabytes
            self._connection.go_on()  # a large collection takes as long as it takes
            self._connection.call(client.unlink, *batch)


def _frozen(name: str, detail: str) -> FrozenSetting:
    return FrozenSetting(detail, (Fault(f"/{name}", "frozen_setting", detail),))
