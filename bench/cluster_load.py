"""What is checked against a cluster: the texts, and the processes that check them.

First come texts that are like no other; then a mix, of which one in five is a near copy of a first
one.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing
from enum import Enum
from random import Random

from bench.closing import Closing
from bench.made_up_texts import changed, unique_text, words_of, written
from service.batching import Batches
from service.checker import Checker
from service.dedup.verdict import Document, Posted
from service.store.any_store import AnyStore
from service.store.connection import Connection

CLIENTS, THREADS = 3, 16
FIRST, MIXED = 2000, 3000
NEAR_ONE_IN = 5
COMMON = 95
A_BATCH = 200


def original_of(number: int) -> int:
    """The text that a near copy is made of: one in five of the mix, of the first ones. All others
    are their own."""
    is_copy = number >= FIRST and number % NEAR_ONE_IN == 0
    return Random(number).randrange(FIRST) if is_copy else number


def text_of(number: int) -> str:
    """The text of a number."""
    original = original_of(number)
    if original == number:
        return unique_text(number)
    return written(changed(words_of(original), COMMON, number))


def name_of_collection(number: int) -> str:
    """What a collection is called."""
    return f"c{number}"


class How(Enum):
    """How each client process checks its texts."""

    ONE_BY_ONE = "one at a time"
    AT_ONCE = f"{THREADS} at a time"
    IN_BATCHES = f"in batches of {A_BATCH}"


class Clients(Closing):
    """Processes that check, each its part of the numbers."""

    def __init__(self) -> None:
        spawning = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(CLIENTS, mp_context=spawning)

    def check(self, url: str, numbers: range, collections: int, how: How) -> None:
        """Checks the numbered texts into so many collections, a near copy where its original is."""
        parts = [(url, numbers[at::CLIENTS], collections, how) for at in range(CLIENTS)]
        for done in [self._pool.submit(_check, *part) for part in parts]:
            done.result()

    def close(self) -> None:
        """Ends them."""
        self._pool.shutdown()


def _check(url: str, numbers: Sequence[int], collections: int, how: How) -> None:
    def document(number: int) -> Document:
        name = name_of_collection(original_of(number) % collections)
        return Document(str(number), Posted(text_of(number), None), name)

    def check(some: Sequence[int]) -> None:
        for number in some:
            checker.check(document(number))

    with closing(Connection(url, deadline=30.0)) as connection:
        store = AnyStore(connection)
        checker = Checker(store, deadline=30.0)
        if how is How.ONE_BY_ONE:
            check(numbers)
        elif how is How.AT_ONCE:
            with ThreadPoolExecutor(THREADS) as pool:
                list(pool.map(check, [numbers[at::THREADS] for at in range(THREADS)]))
        else:
            batches = Batches(store, checker)
            for first in range(0, len(numbers), A_BATCH):
                for answer in batches.check(map(document, numbers[first : first + A_BATCH])):
                    if isinstance(answer, Exception):
                        raise answer
        store.settle()
