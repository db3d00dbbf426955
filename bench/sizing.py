"""What does a document take, by the length of its text, and as the store grows?

    python -m bench.sizing [--size 200000] [--part length|whole|spread]

By length: bytes in the server's memory (the index, the kept text and the metadata apart), bytes of
the append-only file, which are about those that a replica is sent, and CPU time of the server and
of the service's own code, without HTTP. As it grows: memory and CPU time of each node, in one
partition on one node and in three on three; and what a node of that size takes for a fork, for the
serialisation of its largest key, and to come back. docs/sizing.md reckons with these figures.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

from bench import machine
from bench.cluster import OPTIONS, cpu_seconds, empty, used_memory
from bench.figures import keep
from bench.filling import Filling, fill_all
from bench.made_up_texts import changed, name_of, similarity, words_of, written
from bench.processes import StoreServer, stop_all_when_told_to_end
from service.checker import Checker
from service.dedup.scheme import DEFAULT_COLLECTION
from service.dedup.verdict import Document, Metadata, Posted
from service.store.any_store import AnyStore
from service.store.connection import Connection
from service.store.spread.placement import places
from tests.clusters import ClusterServers, Member, cluster_servers

LENGTHS = (30, 200, 1000)
DOCUMENTS, COPIES = 4000, 1000
COPY_NUMBERS = 900_000_000
SIZE = 200_000
GROWS_THROUGH = (8, 4, 2, 1)
"""Told at the size over each of these."""
LAST = 2000
"""So many checks before each size are told of."""
CLIENTS = 2


LENGTH = "length"
PARTS = {LENGTH: 0, "whole": 1, "spread": 3}
"""What is asked, and over how many nodes."""
HOW_LENGTH = (
    f"{DOCUMENTS:,} new texts of made-up words and {COPIES:,} near copies, one after the other, "
    f"each with metadata of about a hundred bytes; figures are those of one document."
)
HOW_SIZE = (
    f"Texts of 100 words, {CLIENTS} client processes; CPU time is that of the {LAST:,} checks "
    f"before each size."
)


def metadata_of(number: int) -> Metadata:
    """About a hundred bytes as JSON."""
    return {
        "url": f"https://example.org/documents/{number:09d}",
        "source": "import-7",
        "language": "en",
        "section": number % 100,
    }


@dataclass(frozen=True, slots=True)
class Spent:
    """Of one document: µs of CPU in the server and in the service, bytes of the append-only file,
    and bytes of memory: all, kept text, metadata."""

    server: float
    service: float
    written: float
    memory: float
    text: float
    metadata: float

    def cells(self) -> tuple[str, ...]:
        """As the table has it."""
        index = self.memory - self.text - self.metadata
        figures = (index, self.text, self.metadata, self.written, self.server, self.service)
        return tuple(f"{figure:,.0f}" for figure in figures)


def of_length(words: int) -> tuple[str, Spent, Spent]:
    """Bytes of a text of so many words, what a new one takes, and what a near copy does."""
    with StoreServer() as store:
        store.client.config_set("auto-aof-rewrite-percentage", 0)  # it would hide what is written
        checker = store.checker()
        texts = [written(words_of(number, words)) for number in range(DOCUMENTS)]
        new = _spent(store, checker, list(enumerate(texts)))
        common = words * 19 // 20
        copies = [
            (COPY_NUMBERS + n, written(changed(words_of(n, words), common, COPY_NUMBERS + n)))
            for n in range(COPIES)
        ]
        near = _spent(store, checker, copies)
    size = sum(map(len, texts)) / len(texts)
    return f"{size:,.0f}, copies {similarity(common, words):.2f}", new, near


def _spent(store: StoreServer, checker: Checker, texts: Sequence[tuple[int, str]]) -> Spent:
    before, began, own = _state(store), store.cpu_seconds(), time.process_time()
    for number, text in texts:
        checker.check(Document(name_of(number), Posted(text, None), metadata=metadata_of(number)))
    server, service = store.cpu_seconds() - began, time.process_time() - own
    taken = [after - earlier for earlier, after in zip(before, _state(store), strict=True)]
    return Spent(*(each / len(texts) for each in (server * 1e6, service * 1e6, *taken)))


def _state(store: StoreServer) -> tuple[int, int, int, int]:
    """Bytes of the append-only file, of memory, of kept texts and of metadata."""
    file = store.client.info("persistence")["aof_current_size"]
    keys = places("1", 1).home
    texts, metadata = (
        int(store.client.memory_usage(key, samples=0) or 0) for key in (keys.texts, keys.metadata)
    )
    return int(file), store.used_memory(), texts, metadata


@dataclass(frozen=True, slots=True)
class Grown:
    """Of each node at one size, home first: bytes a document, kept text apart, and µs of CPU a
    check."""

    size: int
    memory: list[float]
    text: list[float]
    cpu: list[float]

    def cells(self) -> tuple[str, ...]:
        """As the table has it."""
        index = [whole - text for whole, text in zip(self.memory, self.text, strict=True)]
        return (f"{self.size:,}", _told(index), _told(self.text), _told(self.cpu))


def _told(values: Sequence[float]) -> str:
    return ", ".join(f"{value:,.0f}" for value in values)


def growing(cluster: ClusterServers, size: int) -> Iterator[Grown]:
    """Fills an empty cluster with a partition at each node, and tells of it on the way."""
    nodes = cluster.nodes
    _fill(cluster, range(COPY_NUMBERS, COPY_NUMBERS + 100))  # from now on the scripts are there
    empty(cluster)
    with closing(Connection(cluster.url, deadline=30.0)) as connection:
        store = AnyStore(connection)
        store.configure(DEFAULT_COLLECTION, {"partitions": len(nodes)})
        keys = places(store.collection(DEFAULT_COLLECTION).uid, len(nodes)).keys
    nodes = [cluster.primary_of(part.settings) for part in keys]
    before = [used_memory(node) for node in nodes]
    filled = 0
    for step in GROWS_THROUGH:
        target = size // step
        _fill(cluster, range(filled, target - LAST))
        began = [cpu_seconds(node) for node in nodes]
        _fill(cluster, range(target - LAST, target))
        ended = [cpu_seconds(node) for node in nodes]
        filled = target
        yield Grown(
            target,
            [(used_memory(n) - was) / target for n, was in zip(nodes, before, strict=True)],
            [_bytes_of(n, part.texts) / target for n, part in zip(nodes, keys, strict=True)],
            [(end - begin) / LAST * 1e6 for begin, end in zip(began, ended, strict=True)],
        )


def _fill(cluster: ClusterServers, numbers: range) -> None:
    fill_all([Filling(cluster.url, numbers[at::CLIENTS]) for at in range(CLIENTS)])


def _bytes_of(node: Member, key: str) -> int:
    return int(node.client.memory_usage(key, samples=0) or 0)


def of_a_node(cluster: ClusterServers, size: int) -> list[tuple[str, str]]:
    """What is due now and then with a node that has so many documents."""
    (node,), keys = cluster.nodes, places("1", 1).home
    memory = node.client.info("memory")
    posting = Thread(target=_fill, args=(cluster, range(size, size + LAST)))
    posting.start()
    while node.client.hlen(keys.documents) < size + LAST // 4:
        time.sleep(0.01)
    began, before = time.perf_counter(), node.client.hlen(keys.documents)
    node.client.bgrewriteaof()
    _wait_for_rewrite(node)
    rewrite = time.perf_counter() - began
    new = node.client.hlen(keys.documents) - before
    posting.join()
    fork = node.client.info("stats")["latest_fork_usec"] / 1000
    copied = node.client.info("persistence")["aof_last_cow_size"]
    began = time.perf_counter()
    serialised = len(node.client.dump(keys.documents) or b"")
    dumped = time.perf_counter() - began
    node.client.shutdown(nosave=True)
    node.process.wait()
    began = time.perf_counter()
    node.start()
    resident = memory["used_memory_rss"] / 2**20
    return [
        (
            "memory in use",
            f"{memory['used_memory'] / 2**20:,.0f} MiB, {resident:,.0f} MiB resident",
        ),
        ("fork, during which nothing is answered", f"{fork:.1f} ms"),
        (
            "rewriting the append-only file, while texts come",
            f"{rewrite:.1f} s; {new:,} new texts meanwhile, {copied / 2**20:,.0f} MiB copied",
        ),
        (
            "largest key (the records) serialised, as `MIGRATE` does",
            f"{serialised / 2**20:,.0f} MiB in {dumped * 1000:,.0f} ms",
        ),
        ("start with the rewritten file", f"{time.perf_counter() - began:.1f} s"),
    ]


def _wait_for_rewrite(node: Member) -> None:
    while True:
        told = node.client.info("persistence")
        if not told["aof_rewrite_in_progress"] and not told["aof_rewrite_scheduled"]:
            return
        time.sleep(0.02)


LENGTH_HEADS = (
    "a text of", "its bytes", "verdict", "memory: index", "text", "metadata", "written to the file",
    "server, µs", "service, µs",
)  # fmt: skip
GROWTH_HEADS = ("lies on", "documents", "index, bytes a document", "text", "server, µs a check")


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ("---",) * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def by_length() -> str:
    """The first table."""
    rows = []
    for words in LENGTHS:
        size, new, near = of_length(words)
        rows.append((f"{words:,} words", size, "new", *new.cells()))
        rows.append(("", "", "near copy, dropped", *near.cells()))
    return _table(LENGTH_HEADS, rows)


def by_size(size: int, nodes: int) -> str:
    """How a collection grows to a size over so many nodes; of one, what is due with it then."""
    rows, of_one = [], ""
    stop_all_when_told_to_end()
    with (
        TemporaryDirectory(prefix="twinsift-bench-") as directory,
        cluster_servers(
            Path(directory) / "nodes", primaries=nodes, replicas=0, own_options=OPTIONS
        ) as cluster,
    ):
        for grown in growing(cluster, size):
            where = "1 node" if nodes == 1 else f"{nodes} nodes, home first"
            rows.append((where, *grown.cells()))
            print(f"  {rows[-1]}", flush=True)
        if nodes == 1:
            heads = (f"a node with {size:,} documents", "")
            of_one = "\n\n" + _table(heads, of_a_node(cluster, size))
    return _table(GROWTH_HEADS, rows) + of_one


def main() -> None:
    """Measure, print and keep, each part as it is there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=SIZE, help="documents of the largest store")
    parser.add_argument("--part", choices=PARTS, help="this one alone")
    asked = parser.parse_args()
    for part in [asked.part] if asked.part else PARTS:
        started = time.monotonic()
        if part == LENGTH:
            found, how = by_length(), HOW_LENGTH
        else:
            found, how = by_size(asked.size, PARTS[part]), HOW_SIZE
        print(found, flush=True)
        minutes = (time.monotonic() - started) / 60
        when = f"{time.strftime('%Y-%m-%d', time.gmtime())}, {minutes:.0f} minutes."
        text = "\n\n".join((f"{when} {how}", machine.described(), found))
        keep(f"python -m bench.sizing --part {part}", text)


if __name__ == "__main__":
    main()
