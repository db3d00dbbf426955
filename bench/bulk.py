"""How fast are many texts checked, one after the other, beside the usual tool?

    python -m bench.bulk [--data DIRECTORY]

All on one server at 32 bands of 4 rows, one client: over HTTP with one worker, in batches and one
by one, by the same code in this process, and by datasketch in this process. Rounds alternate; the
figures are medians.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from bench.figures import Row, at_least
from bench.load import Connection, batch_requests, check_request
from bench.peer import BANDS, ROWS, Peer
from bench.processes import CpuSeconds, StoreServer, WebServer
from bench.real_texts import Texts, load, show_answers
from service.dedup.banding import Banding, banding_for
from service.dedup.verdict import Document, Posted

WANTED = 15.0
ROUNDS = 3
COLLECTION = "bulk"
A_BATCH = 500
SETTINGS = {"threshold": 0.6, "on_conflict": "skip"}


class Way:
    """One way of checking all texts: rates, and CPU seconds of everything that took part."""

    def __init__(self, name: str, store: StoreServer, web: WebServer | None = None) -> None:
        self.name = name
        self.rates: list[float] = []
        self.kept = 0
        self._count = 0
        self._cpu = CpuSeconds(store, web)

    def run(self, count: int, check_all: Callable[[], int]) -> None:
        """One round; `check_all` gives how many texts were new."""
        self._count += count
        with self._cpu:
            started = time.perf_counter()
            self.kept = check_all()
            self.rates.append(count / (time.perf_counter() - started))

    @property
    def rate(self) -> float:
        """Texts a second, the median of the rounds."""
        return median(self.rates)

    def told(self) -> Row:
        """Its row."""
        how = f"{self.kept:,} kept; {self._cpu.told(self._count)}"
        return Row(f"{self.name}, texts/s", f"{self.rate:,.0f}", how=how)


def measure(data: Path | None) -> list[Row]:
    """The rows of this question."""
    assert banding_for(0.6) == Banding(BANDS, ROWS)
    texts = load(data)
    count = len(texts.pairs)
    with StoreServer() as store, WebServer.service(store.url) as web:
        http = Way("one `POST /check` after the other", store, web)
        bulk = Way(f"`POST /check/batch` of {A_BATCH}", store, web)
        batches = batch_requests(texts.pairs, COLLECTION, A_BATCH)
        inside = Way("one check after the other in process", store)
        peer = Way("datasketch in process", store)
        requests = [check_request(id, text, COLLECTION) for id, text in texts.pairs]
        for turn in range(ROUNDS):
            store.client.flushall(asynchronous=False)
            web.configure(COLLECTION, SETTINGS)
            with Connection(web.port) as connection:
                http.run(count, lambda: _over_http(connection, requests))
            store.client.flushall(asynchronous=False)
            web.configure(COLLECTION, SETTINGS)
            with Connection(web.port) as connection:
                bulk.run(count, lambda: _over_http(connection, batches))
            store.client.flushall(asynchronous=False)
            inside.run(count, lambda: _in_process(store, texts))
            if turn != 1:  # the slow one: two rounds
                store.client.flushall(asynchronous=False)
                peer.run(count, lambda: _by_peer(store, texts))
    return [
        at_least(
            "bulk checking over HTTP, one worker, one client, over datasketch",
            bulk.rate / peer.rate,
            WANTED,
            "{:.1f} x",
            f"batches of {A_BATCH}; {texts.told}",
        ),
        Row(
            "one `POST /check` after the other over datasketch",
            f"{http.rate / peer.rate:.1f} x",
        ),
        Row(
            "one check after the other in process over datasketch",
            f"{inside.rate / peer.rate:.1f} x",
        ),
        bulk.told(),
        http.told(),
        inside.told(),
        peer.told(),
    ]


def _over_http(connection: Connection, requests: list[bytes]) -> int:
    return sum(connection.ask(request).count(b'"verdict":"new"') for request in requests)


def _in_process(store: StoreServer, texts: Texts) -> int:
    index = store.store()
    index.configure(COLLECTION, SETTINGS)
    checker = store.checker()
    return sum(
        checker.check(Document(id, Posted(text, None), COLLECTION)).verdict.value == "new"
        for id, text in texts.pairs
    )


def _by_peer(store: StoreServer, texts: Texts) -> int:
    peer = Peer(store)
    return sum(peer.check(id, text) for id, text in texts.pairs)


def main() -> None:
    """Measure and print."""
    show_answers(__doc__, measure)


if __name__ == "__main__":
    main()
