"""Where do the microseconds of one check go? Each stage timed where it happens.

    python -m bench.check_profile

One text of 100 words after the other, in this process, against a store of 10,000. The functions in
`PLACES` are wrapped by a clock for the time of the run; nothing else is changed. What the server
spends inside its scripts is its own count (`INFO commandstats`). HTTP itself (gunicorn, Flask,
hooks) is not in here: `http_ratio` has it.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any, ParamSpec, TypeVar

import orjson

import service.checker
import service.matching
import service.preparing
import service.store.records
import service.store.redis_store
from bench.filling import fill
from bench.made_up_texts import changed, name_of, unique_text, words_of, written
from bench.processes import StoreServer
from service.checker import Checker
from service.store.connection import Connection
from service.web import answers
from service.web.loading import load
from service.web.posted import document
from service.web.schemas import CHECK
from service.web.strict_json import parse

STORED = 10_000
WARM_UP, CHECKS = 200, 2000
UNIQUE, COPIED = 300_000_000, 400_000_000
COMMON = 95
MAX_TEXT = 4 << 20

# Where a stage happens: what holds the function, its name there, the stage, the stage around it.
PLACES: tuple[tuple[Any, str, str, str], ...] = (
    (service.checker, "prepare", "prepare", "check"),
    (service.preparing, "clean", "clean", "prepare"),
    (service.preparing, "normalize", "normalise", "prepare"),
    (service.preparing, "shingle_set", "shingles", "prepare"),
    (service.preparing, "signature", "signature", "prepare"),
    (service.store.redis_store.RedisStore, "check", "ask", "check"),
    (service.store.redis_store.RedisStore, "apply", "apply", "check"),
    (service.matching.Matcher, "find", "verify", "check"),
    (service.matching, "find_changes", "changes", "verify"),
    (service.store.records.TextCodec, "compress", "compress the text", "ask apply"),
    (Connection, "run", "driver and round trip", ""),
)
SHOWN = (
    ("parse JSON", 0), ("load by the schema", 0), ("document", 0), ("check", 0),
    ("prepare", 1), ("clean", 2), ("normalise", 2), ("shingles", 2), ("signature", 2),
    ("ask", 1), ("ask: driver and round trip", 2),
    ("verify", 1), ("changes", 2),
    ("apply", 1), ("apply: driver and round trip", 2),
    ("compress the text", 1), ("in the server", 1),
    ("answer", 0), ("dump JSON", 0), ("all", 0),
)  # fmt: skip
OF_IT_CPU = ", CPU"
NAMES = {
    "prepare": "prepare (with hashes)",
    "ask": "ask (look; register where nothing is alike)",
    "apply": "apply (where something is alike)",
    "changes": "changes (what differs)",
    "compress the text": "of these: compress the text",
    "in the server": "of these: scripts in the server",
    "verify": "verify (candidates' texts cut and compared)",
    "document": "make the document",
    "answer": "answer as a dictionary",
}

P = ParamSpec("P")
T = TypeVar("T")
Figures = dict[str, float]
"""Microseconds by stage, and by stage with OF_IT_CPU what this process was busy of them."""


class Clock:
    """Microseconds of each stage, by check. A stage counts where the one around it is expected."""

    def __init__(self) -> None:
        self.checks: list[defaultdict[str, float]] = []
        self._inside: list[str] = [""]

    def begin(self) -> None:
        """The next check."""
        self.checks.append(defaultdict(float))

    def time(self, stage: str, call: Callable[P, T], /, *arguments: P.args, **named: P.kwargs) -> T:
        """What `call` gives; its time is added to the stage."""
        self._inside.append(stage)
        used_before, started = time.thread_time_ns(), time.perf_counter_ns()
        try:
            return call(*arguments, **named)
        finally:
            taken, used = time.perf_counter_ns() - started, time.thread_time_ns() - used_before
            self._inside.pop()
            if self.checks:
                self.checks[-1][stage] += taken / 1000
                self.checks[-1][stage + OF_IT_CPU] += used / 1000

    def around(self, call: Callable[..., Any], stage: str, parent: str) -> Callable[..., Any]:
        """`call` with its time noted where the stage around it is in `parent` ('': any)."""

        def clocked(*arguments: Any, **named: Any) -> Any:
            at = self._inside[-1]
            if parent == "":
                return self.time(f"{at}: {stage}", call, *arguments, **named)
            if at not in parent.split():
                return call(*arguments, **named)
            return self.time(stage, call, *arguments, **named)

        return clocked

    def medians(self) -> Figures:
        """Of each stage that any check had."""
        stages = {stage for check in self.checks for stage in check}
        return {stage: median(check[stage] for check in self.checks) for stage in stages}


@contextmanager
def clocks_in_place(clock: Clock) -> Iterator[None]:
    """Wraps every function of `PLACES`, and puts it back."""
    originals = [(holder, name, getattr(holder, name)) for holder, name, _, _ in PLACES]
    for holder, name, stage, parent in PLACES:
        setattr(holder, name, clock.around(getattr(holder, name), stage, parent))
    try:
        yield
    finally:
        for holder, name, original in originals:
            setattr(holder, name, original)


def profile(store: StoreServer, bodies: list[bytes]) -> Figures:
    """The medians of all stages over these checks, and the server's own time a check."""
    checker = store.checker()
    for body in bodies[:WARM_UP]:
        _one(Clock(), checker, body)
    clock = Clock()

    def clocked() -> None:
        for body in bodies[WARM_UP:]:
            clock.begin()
            clock.time("all", _one, clock, checker, body)

    with clocks_in_place(clock):
        server = _server_time(store, clocked)
    return clock.medians() | {"in the server": server}


def _one(clock: Clock, checker: Checker, body: bytes) -> None:
    """One check, from the body's bytes to the answer's."""
    written_json = clock.time("parse JSON", parse, body, MAX_TEXT)
    loaded = clock.time("load by the schema", load, CHECK, written_json)
    asked = clock.time("document", document, loaded, MAX_TEXT)
    answer = clock.time("check", checker.check, asked)
    told = clock.time("answer", answers.check, answer)
    clock.time("dump JSON", orjson.dumps, told)


def _server_time(store: StoreServer, run: Callable[[], object]) -> float:
    """Microseconds that the server's scripts took for each check of a run."""
    store.client.config_resetstat()
    run()
    return float(store.client.info("commandstats")["cmdstat_evalsha"]["usec"]) / CHECKS


def measure() -> dict[str, Figures]:
    """The profile of a new text, and of a near copy of a stored one."""
    with StoreServer() as store:
        fill(store, range(STORED))
        count = WARM_UP + CHECKS
        new = [_body(UNIQUE + n, unique_text(UNIQUE + n)) for n in range(count)]
        copies = [
            _body(COPIED + n, written(changed(words_of(n), COMMON, COPIED + n)))
            for n in range(count)
        ]
        return {"a new text": profile(store, new), "a near copy": profile(store, copies)}


def _body(number: int, text: str) -> bytes:
    return orjson.dumps({"id": name_of(number), "text": text})


def described(measured: dict[str, Figures]) -> str:
    """The profile for the results."""
    return f"Where one check of 100 words goes, without HTTP:\n\n{as_table(measured)}"


def as_table(measured: dict[str, Figures]) -> str:
    """The profile in Markdown, what is inside another stage indented."""
    columns = list(measured)
    heads = " | ".join(f"{column} | CPU" for column in columns)
    lines = [f"| µs, medians of {CHECKS:,} | {heads} |"]
    lines.append(f"|---|{'---:|---:|' * len(columns)}")
    for stage, depth in SHOWN:
        name = "&emsp;" * depth + NAMES.get(stage, stage)
        cells = (cell for told in measured.values() for cell in _cells(told, stage))
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cells(told: Figures, stage: str) -> tuple[str, str]:
    """Time and CPU of a stage; the server's CPU is not this process's."""
    used = told.get(stage + OF_IT_CPU)
    return f"{told.get(stage, 0.0):.0f}", "" if used is None else f"{used:.0f}"


def main() -> None:
    """Measure and print."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    measured = measure()
    print(f"µs of a check of 100 words, medians of {CHECKS:,}, in a store of {STORED:,}")
    heads = "".join(f"{column:>14}{'CPU':>7}" for column in measured)
    print(f"{'':46}{heads}")
    for stage, depth in SHOWN:
        name = "  " * depth + NAMES.get(stage, stage)
        cells = (_cells(told, stage) for told in measured.values())
        print(f"{name:46}{''.join(f'{taken:>14}{used:>7}' for taken, used in cells)}")


if __name__ == "__main__":
    main()
