"""A partition put back to what it was: what is left when a replica that is behind is promoted."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import redis

from service.store.any_store import AnyStore
from service.store.keys import PartitionKeys

ANOTHER_PROCESS = "0" * 40


@dataclass
class Past:
    """All keys of one partition, as they were."""

    client: redis.Redis
    keys: PartitionKeys
    dumped: dict[bytes, Any]

    def put_back(self) -> None:
        """The partition is as it was then, at another process of the server."""
        for key in keys_of(self.client, self.keys):
            self.client.delete(key)
        for key, value in self.dumped.items():
            self.client.restore(key, 0, value)
        if self.client.hexists(self.keys.settings, "run"):
            self.client.hset(self.keys.settings, "run", ANOTHER_PROCESS)


def past_of(client: redis.Redis, keys: PartitionKeys) -> Past:
    """A partition as it is now."""
    return Past(client, keys, {key: client.dump(key) for key in keys_of(client, keys)})


@contextmanager
def lost(client: redis.Redis, keys: PartitionKeys, store: AnyStore) -> Iterator[None]:
    """What is written to this partition in the block is lost behind it."""
    store.settle()
    past = past_of(client, keys)
    yield
    store.settle()
    past.put_back()


def keys_of(client: redis.Redis, keys: PartitionKeys) -> list[bytes]:
    """The keys that a partition has."""
    return list(client.scan_iter(f"{keys.prefix}*", count=1000))
