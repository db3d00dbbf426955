"""Does a check take longer when more is stored? Medians over HTTP at two sizes.

    python -m bench.scale [--large]

Two stores are filled without HTTP and then asked in turn by one client, with unique texts.
`--large` fills a million documents instead of 100,000. The bytes of each are told too.
"""

from __future__ import annotations

import argparse
from statistics import median

from bench.figures import Row, at_most, show
from bench.filling import fill
from bench.load import check_request
from bench.made_up_texts import name_of, unique_text
from bench.memory import bytes_a_document, row_of
from bench.processes import StoreServer
from bench.side_by_side import ask_in_turn, told

WANTED = 1.3
SMALL, LARGE, LARGEST = 10_000, 100_000, 1_000_000
CHECKS = 3000
POSTED = 300_000_000


def measure(*, large: bool) -> list[Row]:
    """The rows of this question."""
    size = LARGEST if large else LARGE
    with StoreServer() as few, StoreServer() as many:
        empty = many.used_memory()
        fill(few, range(SMALL))
        seconds = fill(many, range(size))
        speed = f"{size / seconds:,.0f} a second by two processes without HTTP"
        how = f"filled in {seconds / 60:.1f} minutes, {speed}"
        memory = row_of(size, bytes_a_document(many, empty, size), how)
        at_few, at_many = ask_in_turn(((few, _requests), (many, _requests)), CHECKS)
    how = (
        f"at {SMALL:,}: {told(at_few)}; at {size:,}: {told(at_many)}; {CHECKS:,} checks each, "
        f"in turn"
    )
    name = f"median check over HTTP at {size:,} documents over {SMALL:,}"
    return [memory, at_most(name, median(at_many) / median(at_few), WANTED, "{:.2f}", how)]


def _requests(first: int, count: int) -> list[bytes]:
    numbers = range(POSTED + first, POSTED + first + count)
    return [check_request(name_of(number), unique_text(number), "default") for number in numbers]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--large", action="store_true", help="a million documents")
    show(measure(large=parser.parse_args().large))


if __name__ == "__main__":
    main()
