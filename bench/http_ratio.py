"""What does a check cost beside HTTP itself? `POST /check` over a bare route, in requests a second.

    python -m bench.http_ratio

One gthread worker each, the same middleware, schema and gunicorn settings (`altered_app`). The same
requests go to both in short blocks that alternate; the ratio is that of each pair of rounds, the
figure their median. As many connections as keep the worker busy, and for comparison one. Nothing is
pinned to a core: client, worker and the store's server run where the kernel puts them.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from statistics import median

from bench.figures import Row, at_least, show
from bench.load import check_request, saturate
from bench.made_up_texts import name_of, unique_text
from bench.processes import CpuSeconds, StoreServer, WebServer

PAIRS = 5
REQUESTS = 5000
BLOCK = 250
WARM_UP = 1000
CONNECTIONS = 8
WANTED = 0.45


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

    def rate_of_round(self, count: int) -> float:
        """Requests a second of the blocks since the last round, which had so many requests."""
        self.rates.append(count / self._seconds)
        self._seconds = 0.0
        return self.rates[-1]

    def told(self, name: str) -> Row:
        """Its row."""
        how = self.cpu.told(len(self.rates) * REQUESTS)
        return Row(f"{name}, requests/s", f"{median(self.rates):,.0f}", how=how)


class Comparison:
    """Both sides at a number of connections: the ratio of each pair of rounds."""

    def __init__(self, service: WebServer, bare: WebServer, store: StoreServer, count: int) -> None:
        self.check, self.echo = Side(service, store), Side(bare, store)
        self.ratios: list[float] = []
        self._connections = count

    def run(self, first: int) -> None:
        """One pair of rounds, of texts from this number on."""
        sides = [self.check, self.echo]
        for at in range(first, first + REQUESTS, BLOCK):
            requests = _requests(at, BLOCK)
            for side in sides:
                side.run(requests, self._connections)
            sides.reverse()
        ratio = self.check.rate_of_round(REQUESTS) / self.echo.rate_of_round(REQUESTS)
        self.ratios.append(ratio)

    @property
    def ratio(self) -> float:
        """The median."""
        return median(self.ratios)

    def told(self) -> str:
        """Each ratio."""
        return f"pairs: {', '.join(f'{ratio:.3f}' for ratio in self.ratios)}"


def measure() -> list[Row]:
    """The rows of this question."""
    with (
        StoreServer() as store,
        WebServer.service(store.url) as service,
        WebServer.altered("bare-check", store.url) as bare,
    ):
        for web in (service, bare):
            saturate(web.port, _requests(0, WARM_UP), CONNECTIONS)
        busy, alone = (Comparison(service, bare, store, count) for count in (CONNECTIONS, 1))
        for pair in range(PAIRS):
            busy.run(WARM_UP + 2 * pair * REQUESTS)
            alone.run(WARM_UP + (2 * pair + 1) * REQUESTS)
    return [
        at_least(
            "`POST /check` over a bare route, one gthread worker",
            busy.ratio,
            WANTED,
            "{:.3f}",
            f"unique texts of 100 words, {CONNECTIONS} connections; {busy.told()}",
        ),
        Row(
            "the same in CPU seconds of the worker",
            f"{busy.echo.cpu.used['worker'] / busy.check.cpu.used['worker']:.3f}",
            how="what the ratio comes to where nothing else uses the cores",
        ),
        busy.check.told("`POST /check`"),
        busy.echo.told("bare route"),
        Row(
            "`POST /check` over a bare route, one connection",
            f"{alone.ratio:.3f}",
            how=f"the worker waits for the store and the client; {alone.told()}",
        ),
        alone.check.told("`POST /check`, one connection"),
        alone.echo.told("bare route, one connection"),
    ]


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
