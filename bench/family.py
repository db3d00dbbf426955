"""Does a large family slow its members down? Texts that share most words, beside unrelated ones.

    python -m bench.family [--size 50000] [--partitions 1]

A family of texts of 100 words, two thirds of them common to all: any two are alike by 0.496, below
the threshold of 0.6, so all of them are kept. In a store of the same size, no two texts share
anything. Both are asked in turn over HTTP, each with more of its own kind. Then copies of members,
at 0.8 and above, are posted into the family.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from bench.figures import Row, at_least, at_most, percentile, show
from bench.filling import Filling, check, fill_all
from bench.load import check_request
from bench.made_up_texts import (
    WORDS,
    changed,
    common_words,
    family_words,
    name_of,
    similarity,
    unique_text,
    written,
)
from bench.processes import StoreServer
from bench.side_by_side import Requests, ask_in_turn, told
from service.dedup.scheme import DEFAULT_COLLECTION

SIZE = 50_000
WANTED_RATIO = 3.0
WANTED_RECALL = 0.99
CHECKS = 3000
COPIES = 2000
LEAST_ALIKE = 0.8
COPY_NUMBERS = 900_000_000


def family_text(number: int) -> str:
    """A member of the family."""
    return written(family_words(number))


def measure(size: int = SIZE, partitions: int = 1) -> list[Row]:
    """The rows of this question."""
    with StoreServer() as apart, StoreServer() as family:
        for store in (apart, family):
            store.store().configure(DEFAULT_COLLECTION, {"partitions": partitions})
        # Members of one family would make several processes look again and again: one each.
        members = Filling(family.url, range(size), family_text)
        _, seconds = fill_all([Filling(apart.url, range(size)), members])
        sides = (
            (apart, _requests(unique_text, size)),
            (family, _requests(family_text, size)),
        )
        of_apart, of_family = ask_in_turn(sides, CHECKS)
        found, right, cut = _copies(family, size)
    ratio = percentile(of_family, 99) / percentile(of_apart, 99)
    how = (
        f"unrelated: {told(of_apart)}; family: {told(of_family)}; {CHECKS:,} checks each, in turn; "
        f"family filled at {size / seconds:,.0f} a second by one process"
    )
    return [
        at_most(
            f"p99 inside a family of {size:,} over unrelated", ratio, WANTED_RATIO, "{:.2f}", how
        ),
        at_least(
            "recall of copies at 0.8 and above in the family",
            found / COPIES,
            WANTED_RECALL,
            "{:.4f}",
            f"{found:,} of {COPIES:,} copies at 0.8 to 1; {right:,} were told their own original; "
            f"{cut:,} answers said that candidates were cut",
        ),
    ]


def _requests(text_of: Callable[[int], str], size: int) -> Requests:
    def requests(first: int, count: int) -> list[bytes]:
        numbers = range(size + first, size + first + count)
        return [check_request(name_of(number), text_of(number), "default") for number in numbers]

    return requests


def _copies(store: StoreServer, size: int) -> tuple[int, int, int]:
    """How many copies were found, how many with their own original, how many answers were cut."""
    checker = store.checker()
    least = common_words(LEAST_ALIKE, WORDS)
    assert similarity(least, WORDS) >= LEAST_ALIKE
    found = right = cut = 0
    for copy in range(COPIES):
        original = copy * size // COPIES
        common = least + copy % (WORDS + 1 - least)
        text = written(changed(family_words(original), common, COPY_NUMBERS + copy))
        answer = check(checker, COPY_NUMBERS + copy, text)
        cut += answer.candidates.cut
        if answer.match is not None:
            found += 1
            right += answer.match.id == name_of(original)
    return found, right, cut


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=SIZE, help="members of the family")
    parser.add_argument("--partitions", type=int, default=1, help="of both collections")
    asked = parser.parse_args()
    show(measure(asked.size, asked.partitions))


if __name__ == "__main__":
    main()
