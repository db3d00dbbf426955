"""Two stores, each with a service over it, asked in turn: what disturbs one disturbs the other."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

from bench.load import Connection, timed
from bench.processes import StoreServer, WebServer

Requests = Callable[[int, int], list[bytes]]
BLOCK = 100


def ask_in_turn(
    sides: tuple[tuple[StoreServer, Requests], tuple[StoreServer, Requests]], count: int
) -> tuple[list[float], list[float]]:
    """Milliseconds of `count` checks on each side, in blocks that alternate.

    Of each side the requests are made by its function, from the first number and how many.
    """
    (first, first_requests), (second, second_requests) = sides
    for store in (first, second):
        store.wait_until_quiet()
    of_one: list[float] = []
    of_other: list[float] = []
    with (
        WebServer.service(first.url) as one,
        WebServer.service(second.url) as other,
        Connection(one.port) as to_one,
        Connection(other.port) as to_other,
    ):
        timed(to_one, first_requests(0, BLOCK))
        timed(to_other, second_requests(0, BLOCK))
        for at in range(BLOCK, count + BLOCK, BLOCK):
            of_one += timed(to_one, first_requests(at, BLOCK))
            of_other += timed(to_other, second_requests(at, BLOCK))
    return of_one, of_other


def told(milliseconds: list[float]) -> str:
    """Median and 99th percentile in words."""
    ordered = sorted(milliseconds)
    return f"median {median(ordered):.2f} ms, p99 {ordered[int(len(ordered) * 0.99)]:.2f} ms"
