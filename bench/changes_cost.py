"""What do the changes told with a near copy cost? In checks over HTTP, and alone.

    python -m bench.changes_cost [--data DIRECTORY]

Over HTTP: the same texts in the same order to two services, each with a store of its own, one of
which finds no changes (`altered_app`); in short blocks that alternate, and the figure is the median
of the rounds. Alone: CPU time of `find_changes` for near copies of 200 words, and how it grows with
the length.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random
from statistics import median

from bench.figures import Row, at_most
from bench.load import Connection, check_request
from bench.made_up_texts import SEED, vocabulary, words_of, written
from bench.processes import CpuSeconds, StoreServer, WebServer
from bench.real_texts import load, show_answers
from service.text.changes import find_changes

ROUNDS = 5
BLOCK = 100
COLLECTION = "changes"
SETTINGS = {"threshold": 0.6, "on_conflict": "skip"}
WANTED_OVER_HTTP = 1.2

PAIRS = 1000
WORDS = 200
MOST_CHANGED = 4
WANTED_MS = 0.5

SIZES = (64, 256, 1024, 4096)  # KiB
ONE_OF = 100
"""In long texts one word of so many is another one."""
LONG_TEXT = 910_000_000
WANTED_GROWTH = 1.5


class Side:
    """A service over a store of its own: the seconds of each round, and what the last answered."""

    def __init__(self, web: WebServer, store: StoreServer) -> None:
        self._web = web
        self._store = store
        self.cpu = CpuSeconds(store, web)
        self.rounds: list[float] = []
        self.near = self.told = 0

    def begin(self) -> None:
        """A round, over an empty store."""
        self._store.client.flushall(asynchronous=False)
        self._web.configure(COLLECTION, SETTINGS)
        self.rounds.append(0.0)
        self.near = self.told = 0

    def run(self, connection: Connection, requests: Sequence[bytes]) -> None:
        """One block."""
        with self.cpu:
            started = time.perf_counter()
            answers = [connection.ask(request) for request in requests]
            self.rounds[-1] += time.perf_counter() - started
        near = [answer for answer in answers if b'"verdict":"near_duplicate"' in answer]
        self.near += len(near)
        self.told += sum(b'"changes":[]' not in answer for answer in near)

    def row(self, name: str, count: int) -> Row:
        """Its row; a round has `count` texts."""
        measured = f"{median(self.rounds) / count * 1000:.2f}"
        return Row(f"{name}, ms a text", measured, how=self.cpu.told(count * len(self.rounds)))


def measure(data: Path | None) -> list[Row]:
    """The rows of this question."""
    return [*_over_http(data), _of_short_copies(), _of_long_copies()]


def _over_http(data: Path | None) -> list[Row]:
    texts = load(data)
    requests = [check_request(id, text, COLLECTION) for id, text in texts.pairs]
    with (
        StoreServer() as store,
        StoreServer() as other_store,
        WebServer.service(store.url) as service,
        WebServer.altered("without-changes", other_store.url) as altered,
    ):
        on, off = Side(service, store), Side(altered, other_store)
        with Connection(service.port) as to_on, Connection(altered.port) as to_off:
            for _ in range(ROUNDS):
                sides = [(on, to_on), (off, to_off)]
                for side, _ in sides:
                    side.begin()
                for at in range(0, len(requests), BLOCK):
                    for side, connection in sides:
                        side.run(connection, requests[at : at + BLOCK])
                    sides.reverse()
                assert on.near == off.near, "both give the same verdicts"
                assert on.told > 0 == off.told, "only one of them tells changes"
    ratios = [one / other for one, other in zip(on.rounds, off.rounds, strict=True)]
    told = ", ".join(f"{ratio:.3f}" for ratio in ratios)
    how = f"{texts.told}; changes told in {on.told:,} of {on.near:,} near copies; rounds: {told}"
    return [
        at_most(
            "time to post with changes over without, HTTP, one worker, one client",
            median(ratios),
            WANTED_OVER_HTTP,
            "{:.2f}",
            how,
        ),
        on.row("posting with changes", len(requests)),
        off.row("posting without", len(requests)),
    ]


def _of_short_copies() -> Row:
    """Copies with one to four other words, in every other pair one of them a number."""
    source = Random(SEED)
    wording: list[float] = []
    facts: list[float] = []
    for number in range(PAIRS):
        words = words_of(number, WORDS)
        places = source.sample(range(WORDS), 1 + number // 2 % MOST_CHANGED)
        copy = _copy(words, places, source)
        taken = wording
        if number % 2:
            words[places[0]], copy[places[0]] = "12", "21"
            taken = facts
        taken.append(_milliseconds(written(words), written(copy)))
    return at_most(
        f"`find_changes` of near copies of {WORDS} words, median ms",
        median(wording + facts),
        WANTED_MS,
        "{:.2f}",
        f"{PAIRS:,} pairs, 1 to {MOST_CHANGED} words differ, in half of them one is a number; "
        f"wording only: {median(wording):.2f}, a number too: {median(facts):.2f}",
    )


def _of_long_copies() -> Row:
    """Near copies of growing length, as alike in every part."""
    words = words_of(LONG_TEXT, SIZES[-1] * 1024 // 6)
    copy = _copy(words, range(ONE_OF // 2, len(words), ONE_OF), Random(SEED))
    one, other = written(words), written(copy)
    by_size = {}
    for size in SIZES:
        length = size << 10
        by_size[size] = min(_milliseconds(one[:length], other[:length]) for _ in range(5)) / size
    told = ", ".join(f"{size:,} KiB {each * 1024:,.0f}" for size, each in by_size.items())
    return at_most(
        f"`find_changes`, time for a MiB up to {SIZES[-1] >> 10} MiB over that at {SIZES[0]} KiB",
        max(by_size.values()) / by_size[SIZES[0]],
        WANTED_GROWTH,
        "{:.2f}",
        f"one word of {ONE_OF} is another; ms a MiB: {told}",
    )


def _copy(words: Sequence[str], places: Iterable[int], source: Random) -> list[str]:
    """The words, with another one at each of these places."""
    copy = list(words)
    for at in places:
        copy[at] = source.choice(vocabulary())
    return copy


def _milliseconds(before: str, after: str) -> float:
    started = time.process_time()
    find_changes(before, after)
    return (time.process_time() - started) * 1000


def main() -> None:
    """Measure and print."""
    show_answers(__doc__, measure)


if __name__ == "__main__":
    main()
