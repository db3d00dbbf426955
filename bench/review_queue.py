"""Does a page of the conflict queue take longer when more waits? Medians over HTTP at two sizes.

    python -m bench.review_queue

Two stores get 100 and 10,000 open conflicts without HTTP, twenty that are ruled on and twenty void
ones. Then one client asks both in turn for every view that the page offers: each order, kinds that
all, a few and no conflicts have, one collection and all, a part in the middle, and one conflict.
"""

from __future__ import annotations

import argparse
from statistics import median
from urllib.parse import urlencode

from bench.figures import Row, at_most, show
from bench.filling import Filling, fill_all
from bench.load import Connection, timed
from bench.made_up_texts import words_of, written
from bench.processes import StoreServer, WebServer
from service.catalogue import Catalogue
from service.dedup.decisions import Keep
from service.dedup.queue import Order, QueueFilter
from service.dedup.scheme import DEFAULT_COLLECTION
from service.reviewing import Reviewer

WANTED = 1.5
FEW, MANY = 100, 10_000
CLOSED = 20
PAGES, BLOCK = 200, 20
WORDS = 40
RARE = 4
VIEWS: dict[str, dict[str, str]] = {
    "oldest": {},
    "highest": {"order": "highest"},
    "one collection": {"collection": DEFAULT_COLLECTION},
    "a kind of all": {"kind": "quantity"},
    "a rare kind": {"kind": "percent"},
    "a kind of none": {"kind": "negation"},
    "a kind of none, highest": {"kind": "negation", "order": "highest"},
    "ruled on": {"order": "resolved"},
    "void": {"order": "void"},
}


def measure() -> list[Row]:
    """The rows of this question."""
    with StoreServer() as few, StoreServer() as many:
        middles = [_open(store, count) for store, count in ((few, FEW), (many, MANY))]
        with (
            WebServer.service(few.url) as one,
            WebServer.service(many.url) as other,
            Connection(one.port) as to_one,
            Connection(other.port) as to_other,
        ):
            told, ratios = [], {}
            for name, addresses in _addresses(middles).items():
                at_few, at_many = _in_turn((to_one, addresses[0]), (to_other, addresses[1]))
                ratios[name] = at_many / at_few
                told.append(f"{name} {at_few:.1f} and {at_many:.1f}")
    worst = max(ratios, key=lambda name: ratios[name])
    how = f"slowest: {worst}; medians of {PAGES} pages in ms: {', '.join(told)}"
    name = f"queue page at {MANY:,} open conflicts over {FEW:,}, any view"
    return [at_most(name, ratios[worst], WANTED, "{:.2f}", how)]


def _text(number: int) -> str:
    """The texts of an even number and the next differ in a fact, by more words where it rises."""
    pair, is_copy = divmod(number, 2)
    words = words_of(pair, WORDS + pair % 23)
    rate = f" at {5 + is_copy} % interest" if pair % RARE == 0 else ""
    return f"{written(words)} It takes {2 + is_copy} hours{rate}."


def _open(store: StoreServer, count: int) -> str:
    """Fills a store so that so many conflicts are open; the id of one in the middle."""
    numbers = range(2 * (count + 2 * CLOSED))
    fill_all([Filling(store.url, numbers[at::2], _text) for at in range(2)])
    reviewer, catalogue = Reviewer(store.store()), Catalogue(store.store())
    first = reviewer.queue(None, QueueFilter(Order.OLDEST), 2 * CLOSED).items
    for one in first[:CLOSED]:
        reviewer.resolve(one.id, Keep.EXISTING, "bench", None)
    for one in first[CLOSED:]:
        catalogue.delete(one.collection, one.existing)
    opened = reviewer.queue(None, QueueFilter(Order.OLDEST), count).items
    if len(opened) != count:
        raise SystemExit(f"{len(opened)} conflicts are open, not {count}")
    return opened[count // 2].id


def _addresses(middles: list[str]) -> dict[str, list[str]]:
    """What is asked of each side, by the name of the view."""
    views = {name: [_address(query)] * 2 for name, query in VIEWS.items()}
    views["in the middle"] = [_address({"after": id}) for id in middles]
    views["one conflict"] = [f"/review/conflicts/{id}" for id in middles]
    return views


def _address(query: dict[str, str]) -> str:
    return f"/review/conflicts?{urlencode(query)}"


def _in_turn(*sides: tuple[Connection, str]) -> tuple[float, float]:
    """The median milliseconds of a page on either side, asked in blocks that alternate."""
    taken: list[list[float]] = [[], []]
    for _ in range(PAGES // BLOCK + 1):
        for at, (connection, address) in enumerate(sides):
            request = f"GET {address} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
            taken[at] += timed(connection, [request] * BLOCK)
    first, second = (median(milliseconds[BLOCK:]) for milliseconds in taken)
    return first, second


def main() -> None:
    """Measure and print."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    show(measure())


if __name__ == "__main__":
    main()
