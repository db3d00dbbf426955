"""How many bytes does a document take in the store, beside its text?

    python -m bench.memory

The difference in the server's `used_memory` to the empty store, less what `MEMORY USAGE` (of every
entry) says of the kept texts, over the number of documents. Texts of 100 words, ids of 14
characters, no metadata. The rows of larger stores come from `scale`, which fills them.
"""

from __future__ import annotations

import argparse

from bench.figures import Row, at_most, show
from bench.filling import check, fill
from bench.made_up_texts import changed, similarity, unique_text, words_of, written
from bench.peer import Peer
from bench.processes import StoreServer
from service.dedup.scheme import DEFAULT_COLLECTION

WANTED = 1100
WANTED_OF_PEER = 0.1
SIZE = 5_000
DROPPED = 5_000
COPIES = 800_000_000
COMMON = 95


def measure() -> list[Row]:
    """The rows of this question."""
    peer = _peer_bytes()
    with StoreServer() as store:
        empty = store.used_memory()
        fill(store, range(SIZE))
        own = bytes_a_document(store, empty, SIZE)
        return [
            row_of(SIZE, own),
            Row(f"datasketch, bytes a document at {SIZE:,}", f"{peer:,.0f}", how="without texts"),
            at_most("bytes a document over datasketch's", own / peer, WANTED_OF_PEER, "{:.3f}"),
            _dropped(store),
        ]


def bytes_a_document(store: StoreServer, empty: int, size: int) -> float:
    """Bytes of the default collection but for the kept texts, over `size`."""
    return (store.used_memory() - empty - store.text_bytes(DEFAULT_COLLECTION)) / size


def row_of(size: int, measured: float, how: str = "") -> Row:
    """The row of a store of this size."""
    return at_most(f"bytes an active document at {size:,}", measured, WANTED, "{:,.0f}", how)


def _peer_bytes() -> float:
    with StoreServer() as store:
        empty = store.used_memory()
        peer = Peer(store)
        kept = sum(peer.check(f"text-{n:09d}", unique_text(n)) for n in range(SIZE))
        return (store.used_memory() - empty) / kept


def _dropped(store: StoreServer) -> Row:
    checker = store.checker()
    before = store.used_memory() - store.text_bytes(DEFAULT_COLLECTION)
    dropped = 0
    for number in range(DROPPED):
        copy = written(changed(words_of(number), COMMON, COPIES + number))
        answer = check(checker, COPIES + number, copy)
        dropped += answer.verdict.value == "near_duplicate"
    after = store.used_memory() - store.text_bytes(DEFAULT_COLLECTION)
    how = f"{dropped:,} copies at {similarity(COMMON, 100):.2f}; no target of its own"
    return Row("bytes a dropped document", f"{(after - before) / dropped:,.0f}", how=how)


def main() -> None:
    """Measure and print."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    show(measure())


if __name__ == "__main__":
    main()
