"""What does a check cost beside HTTP itself? `POST /check` over a bare route, in requests a second.

    python -m bench.http_ratio

One gthread worker each, the same middleware, schema and gunicorn settings (`bare_route`). The same
requests go to both, alternating; the ratio is that of each pair, and the figure is their median.
Where there are two cores, the worker has one, the client and the server of the store the other.
"""

from __future__ import annotations

import argparse
import time
from statistics import median

from bench.figures import Row, at_least, show
from bench.load import check_request, saturate
from bench.made_up_texts import name_of, unique_text
from bench.processes import StoreServer, WebServer, on_cores

PAIRS = 5
REQUESTS = 5000
CONNECTIONS = 8
WANTED = 0.45


class Side:
    """One of the two: its rates, and the CPU seconds of everything that took part."""

    def __init__(self, web: WebServer, store: StoreServer) -> None:
        self._web = web
        self._store = store
        self.rates: list[float] = []
        self.cpu = {"worker": 0.0, "server": 0.0, "client": 0.0}

    def run(self, requests: list[bytes]) -> float:
        """One round; requests a second."""
        before = self._clocks()
        seconds = saturate(self._web.port, requests, CONNECTIONS)
        for name, used in self._clocks().items():
            self.cpu[name] += used - before[name]
        self.rates.append(len(requests) / seconds)
        return self.rates[-1]

    def _clocks(self) -> dict[str, float]:
        return {
            "worker": self._web.cpu_seconds(),
            "server": self._store.cpu_seconds(),
            "client": time.process_time(),
        }

    def told(self, name: str) -> Row:
        """Its row."""
        count = PAIRS * REQUESTS
        parts = ", ".join(
            f"{part} {used:.1f} ({used / count * 1e6:.0f} µs a request)"
            for part, used in self.cpu.items()
        )
        return Row(f"{name}, requests/s", f"{median(self.rates):,.0f}", how=f"CPU seconds: {parts}")


def measure() -> list[Row]:
    """The rows of this question."""
    with on_cores({1}), StoreServer() as store:
        with on_cores({0}):
            service, bare = WebServer.service(store.url), _bare(store)
        with service, bare:
            check, echo = Side(service, store), Side(bare, store)
            saturate(service.port, _requests(0, 1000), CONNECTIONS)
            saturate(bare.port, _requests(0, 1000), CONNECTIONS)
            ratios = []
            for pair in range(1, PAIRS + 1):
                requests = _requests(pair * REQUESTS, REQUESTS)
                ratios.append(check.run(requests) / echo.run(requests))
    told = ", ".join(f"{ratio:.3f}" for ratio in ratios)
    return [
        at_least(
            "`POST /check` over a bare route, one gthread worker",
            median(ratios),
            WANTED,
            "{:.3f}",
            f"unique texts of 100 words, {CONNECTIONS} connections; pairs: {told}",
        ),
        Row(
            "the same in CPU seconds of the worker",
            f"{echo.cpu['worker'] / check.cpu['worker']:.3f}",
            how="what the ratio comes to where nothing else uses the cores",
        ),
        check.told("`POST /check`"),
        echo.told("bare route"),
    ]


def _bare(store: StoreServer) -> WebServer:
    return WebServer("bench.bare_route", store_url=store.url)


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
