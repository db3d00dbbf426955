"""The registry of collections, and keys that belong to none of them."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import Any

from service.errors import StoreUnavailable
from service.store.connection import Connection
from service.store.keys import NEXT_UID, PREFIX, REGISTRY, partition
from service.store.registry import Registry
from service.store.repair.damage import Damage
from service.store.server import Server

OF_A_COLLECTION = re.compile(rb"ts1:\{(\d+)\.[\d.]+\}:")
BEING_MADE = 2.0
"""Keys of no collection may be those of one that is being made: they are looked at twice, so many
seconds apart."""
AT_ONCE = 1000
TRIES, PAUSE = 10, 0.5


class MayNotScan(Exception):
    """The store's user has no right to SCAN: keys that no name leads to cannot be found."""


class Names:
    """Sets names and keys right."""

    def __init__(self, connection: Connection, registry: Registry) -> None:
        self._connection = connection
        self._registry = registry
        self._client = connection.client

    def set_right(self, *, mends: bool) -> Iterator[tuple[Damage, int, bool]]:
        """Tells damage, how often, and whether it is mended. Raises MayNotScan behind what can be
        done without."""
        gone = [name for name, uid in self._listed().items() if not self._is_there(uid)]
        if gone:
            for name in gone if mends else ():
                self._registry.clear_if_gone(name)
            yield Damage.NAME, len(gone), mends
        strays = self._strays()
        if not strays:
            return
        time.sleep(BEING_MADE)
        known = set(self._listed().values())
        strays = {uid: keys for uid, keys in self._strays().items() if uid in strays}
        nameless = [uid for uid in strays if uid not in known and self._is_there(uid)]
        named = sum(self._put_back(uid, mends=mends) for uid in nameless)
        if named:
            yield Damage.NAME, named, mends
        if len(nameless) > named:
            yield Damage.NAME, len(nameless) - named, False
        keys = [key for uid, keys in strays.items() if uid not in nameless for key in keys]
        if keys:
            for start in range(0, len(keys) if mends else 0, AT_ONCE):
                for key in keys[start : start + AT_ONCE]:
                    self._connection.go_on()
                    self._connection.call(self._client.unlink, key.decode())
            yield Damage.STRAY, len(keys), mends

    def _listed(self) -> dict[str, str]:
        listed = self._connection.call(self._client.hgetall, REGISTRY)
        return {n.decode(): uid.decode() for n, uid in listed.items() if n != NEXT_UID.encode()}

    def _is_there(self, uid: str) -> bool:
        settings = partition(uid).settings
        return bool(self._connection.call(self._client.hexists, settings, "revision"))

    def _put_back(self, uid: str, *, mends: bool) -> bool:
        """Puts the name of a collection back; False where another one has it by now."""
        name = self._connection.call(self._client.hget, partition(uid).settings, "name")
        if not name or name.decode() in self._listed():
            return False
        if not mends:
            return True
        while int(self._connection.call(self._client.hget, REGISTRY, NEXT_UID) or 0) < int(uid):
            self._connection.call(self._client.hincrby, REGISTRY, NEXT_UID, 1)
        return bool(self._connection.call(self._client.hsetnx, REGISTRY, name, uid))

    def _strays(self) -> dict[str, list[bytes]]:
        """Keys of collections that no name leads to, by uid."""
        known = {uid.encode() for uid in self._listed().values()}

        def scan(server: Server) -> list[bytes]:
            found, cursor = [], 0
            while True:
                self._connection.go_on()
                reply: Any = server.client.scan(cursor, match=f"{PREFIX}{{*", count=AT_ONCE)
                cursor, keys = reply
                found += [key for key in keys if _uid_of(key) not in {None, *known}]
                if not cursor:
                    return found

        strays: dict[str, list[bytes]] = {}
        for told in self._every(scan):
            for key in told:
                strays.setdefault((_uid_of(key) or b"").decode(), []).append(key)
        return strays

    def _every(self, scan: Callable[[Server], list[bytes]]) -> list[list[bytes]]:
        """What each primary answers; after a failover another one is known only once the old one
        did not answer."""
        for _ in range(TRIES):
            told = self._connection.every(scan)
            errors = [one for one in told if isinstance(one, StoreUnavailable)]
            if any(error.kind == "noperm" for error in errors):
                raise MayNotScan
            if not errors:
                return [one for one in told if not isinstance(one, StoreUnavailable)]
            time.sleep(PAUSE)
            self._connection.go_on()
        raise errors[0]


def _uid_of(key: bytes) -> bytes | None:
    found = OF_A_COLLECTION.match(key)
    return None if found is None else found[1]
