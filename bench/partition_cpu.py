"""What a check costs the server in each partition, beside a collection with one partition.

    python -m bench.partition_cpu [checks]

The partitions are on one server here; its slow log, which notes every command, tells them apart.
"""

from __future__ import annotations

import random
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import redis

from service.checker import Checker
from service.dedup.verdict import Document, Posted
from service.store.any_store import AnyStore
from service.store.connection import Connection
from service.store.embedded import EmbeddedServer

WORDS = 100
NEAR_ONE_IN = 5
MOST_NOTED = 1_000_000


def posts(count: int) -> list[str]:
    """Texts of random words, of which a fifth are near copies of an earlier one."""
    drawn = random.Random(3)
    made: list[list[str]] = []
    for number in range(count):
        if number % NEAR_ONE_IN == 4:
            words = list(drawn.choice(made))
            words[drawn.randrange(WORDS)] = f"other{number}"
        else:
            words = [f"word{drawn.randrange(100_000)}" for _ in range(WORDS)]
        made.append(words)
    return [" ".join(words) for words in made]


HOME = re.compile(rb"\{\d+\.0\}:")


def spent_at_home(client: Any) -> tuple[float, float]:
    """The microseconds of all scripts that the server has noted: at home, and elsewhere."""
    home = others = 0.0
    for noted in client.slowlog_get(MOST_NOTED):
        if noted["command"].startswith((b"EVALSHA", b"EVAL")):
            if HOME.search(noted["command"]):
                home += noted["duration"]
            else:
                others += noted["duration"]
    return home, others


def main() -> None:
    """Prints the microseconds of a check."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1500
    texts = posts(count)
    with tempfile.TemporaryDirectory(prefix="twinsift-") as directory:
        server = EmbeddedServer(Path(directory))
        url = server.start()
        try:
            for partitions in (1, 3):
                _measure(url, texts, partitions)
        finally:
            server.release()


def _measure(url: str, texts: list[str], partitions: int) -> None:
    client = redis.Redis.from_url(url)
    client.flushall()
    store = AnyStore(Connection(url, deadline=30.0), default_partitions=lambda: partitions)
    checker = Checker(store, deadline=30.0)
    warm = len(texts) // 3
    for number, text in enumerate(texts):
        if number == warm:
            client.config_set("slowlog-max-len", MOST_NOTED)
            client.config_set("slowlog-log-slower-than", 0)
            client.slowlog_reset()
            began = time.perf_counter()
        checker.check(Document(str(number), Posted(text, None)))
    took = time.perf_counter() - began
    client.config_set("slowlog-log-slower-than", -1)
    count = len(texts) - warm
    home, others = spent_at_home(client)
    print(
        f"{partitions} partitions, {count} checks in {took:.1f} s: home {home / count:.0f} us "
        f"a check, each other one {others / count / max(partitions - 1, 1):.0f} us"
    )


if __name__ == "__main__":
    main()
