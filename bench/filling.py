"""Filling a store: numbered made-up texts, checked by the service's own code, without HTTP."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from bench.made_up_texts import name_of, unique_text
from bench.processes import StoreServer
from service.checker import Checker
from service.dedup.scheme import DEFAULT_COLLECTION
from service.dedup.verdict import Answer, Document, Posted
from service.settings import Settings
from service.store.any_store import connect

TextOf = Callable[[int], str]


def check(checker: Checker, number: int, text: str, collection: str = DEFAULT_COLLECTION) -> Answer:
    """One check of a numbered text."""
    return checker.check(Document(name_of(number), Posted(text, None), collection))


@dataclass(frozen=True, slots=True)
class Filling:
    """What one process checks into the default collection of the store at a URL.

    `text_of` must be a function of a module, for it is called in another process.
    """

    url: str
    numbers: range
    text_of: TextOf = unique_text


def fill(store: StoreServer, numbers: range) -> float:
    """Checks the numbered texts into the default collection by two processes; the seconds.

    Without the append-only file, which is there again for what is measured."""
    store.client.config_set("appendonly", "no")
    seconds = max(fill_all([Filling(store.url, numbers[at::2]) for at in range(2)]))
    store.client.config_set("appendonly", "yes")
    while store.client.info("persistence")["aof_rewrite_in_progress"]:
        time.sleep(0.5)
    return seconds


def fill_all(fillings: Sequence[Filling]) -> list[float]:
    """Does all fillings at the same time, a process each; the seconds that each took."""
    spawning = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(len(fillings), mp_context=spawning) as pool:
        running = [
            pool.submit(_fill, filling.url, filling.numbers, filling.text_of)
            for filling in fillings
        ]
        return [filled.result() for filled in running]


def _fill(url: str, numbers: range, text_of: TextOf) -> float:
    checker = Checker(connect(Settings(redis_url=url, deadline=30.0)), deadline=30.0)
    started = time.perf_counter()
    for number in numbers:
        check(checker, number, text_of(number))
    return time.perf_counter() - started
