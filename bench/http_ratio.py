"""What does a check cost beside HTTP itself? `POST /check` over a bare route, in requests a second.

    python -m bench.http_ratio

One gthread worker each, the same middleware, schema and gunicorn settings (`altered_app`). The same
requests go to both in short blocks that alternate; the ratio is that of each pair of rounds, the
figure their median. A worker's requests a second are what it gives when it is kept busy: by as many
connections as it has threads. It has a core of its own, for its threads take turns anyway and lose
much by wandering between cores; client and store share another. More readings are told beside it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from bench.figures import Row, at_least, show
from bench.load import check_request, saturate
from bench.made_up_texts import name_of, unique_text
from bench.processes import CpuSeconds, StoreServer, WebServer, cores_of, on_cores
from service.settings import Settings

PAIRS = 5
REQUESTS = 5000
BLOCK = 250
WARM_UP = 1000
WANTED = 0.45


@dataclass(frozen=True, slots=True)
class Reading:
    """A way to ask both; no cores: wherever the kernel puts them."""

    name: str
    connections: int
    of_worker: frozenset[int] = frozenset()
    of_others: frozenset[int] = frozenset()


BUSY = Settings().threads
HEADLINE = Reading("one gthread worker", BUSY, frozenset({0}), frozenset({1}))
OTHERS = (
    Reading("nothing kept to a core", BUSY),
    Reading("one connection", 1, HEADLINE.of_worker, HEADLINE.of_others),
)


class Side:
    """One of the two: its rates, and the CPU seconds of everything that took part."""

    def __init__(self, web: WebServer, store: StoreServer) -> None:
        self._web = web
        self.cpu = CpuSeconds(store, web)
        self.rates: list[float] = []
        self._seconds = 0.0

    def run(self, requests: Sequence[bytes], connections: int) -> None:
        """One block."""
        with self.cpu:
            self._seconds += saturate(self._web.port, requests, connections)

    def end_round(self) -> None:
        """What ran since the last round was one."""
        self.rates.append(REQUESTS / self._seconds)
        self._seconds = 0.0

    def told(self) -> str:
        """Its figures in words."""
        used = self.cpu.told(len(self.rates) * REQUESTS)
        return f"{median(self.rates):,.0f} requests/s ({used})"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Both sides in one reading, and where everything ran."""

    reading: Reading
    places: str
    check: Side
    echo: Side

    def row(self, wanted: float | None = None) -> Row:
        """The ratio."""
        name = f"`POST /check` over a bare route, {self.reading.name}"
        rates = zip(self.check.rates, self.echo.rates, strict=True)
        ratios = [checked / echoed for checked, echoed in rates]
        how = (
            f"unique texts of 100 words; {self.places}; "
            f"pairs: {', '.join(f'{ratio:.3f}' for ratio in ratios)}; "
            f"check {self.check.told()}, bare {self.echo.told()}"
        )
        if wanted is None:
            return Row(name, f"{median(ratios):.3f}", how=how)
        return at_least(name, median(ratios), wanted, "{:.3f}", how)

    def cpu_row(self) -> Row:
        """The ratio of what the workers used."""
        ratio = self.echo.cpu.used["worker"] / self.check.cpu.used["worker"]
        how = "what the ratio comes to where a worker never waits"
        return Row("the same in CPU seconds of the worker", f"{ratio:.3f}", how=how)


def measure() -> list[Row]:
    """The rows of this question."""
    chief = _compared(HEADLINE)
    others = [_compared(reading).row() for reading in OTHERS]
    return [chief.row(WANTED), chief.cpu_row(), *others]


def _compared(reading: Reading) -> Comparison:
    with on_cores(reading.of_others), StoreServer() as store:
        with on_cores(reading.of_worker):
            service = WebServer.service(store.url)
            bare = WebServer.altered("bare-check", store.url)
        with service, bare:
            places = (
                f"worker {cores_of(service.pid)}, client {cores_of(0)}, "
                f"server {cores_of(store.pid)}; connections: {reading.connections}"
            )
            check, echo = Side(service, store), Side(bare, store)
            for web in (service, bare):
                saturate(web.port, _requests(0, WARM_UP), reading.connections)
            for pair in range(PAIRS):
                _alternate([check, echo], WARM_UP + pair * REQUESTS, reading.connections)
    return Comparison(reading, places, check, echo)


def _alternate(sides: list[Side], first: int, connections: int) -> None:
    """A round of each, of texts from this number on."""
    for at in range(first, first + REQUESTS, BLOCK):
        requests = _requests(at, BLOCK)
        for side in sides:
            side.run(requests, connections)
        sides.reverse()
    for side in sides:
        side.end_round()


def _requests(first: int, count: int) -> list[bytes]:
    return [
        check_request(name_of(number), unique_text(number), "default")
        for number in range(first, first + count)
    ]


def main() -> None:
    """Measure and print."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    show(measure())


if __name__ == "__main__":
    main()
