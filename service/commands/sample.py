"""`twinsift sample`: pairs to label, from what the service has seen around the threshold."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from service.commands.connecting import add_url, connected
from service.commands.output import write_json
from service.commands.parts import Commands, command

if TYPE_CHECKING:
    from service.client import Decision, Twinsift

KINDS = ("dropped", "replaced", "held")
MOST_READ = 5000
"""So many of the log's entries of a kind are looked at."""


def add(commands: Commands) -> None:
    """Adds the command."""
    parser = command(
        commands,
        "sample",
        run,
        summary="make pairs to label for `calibrate`",
        about="Writes pairs that the service has seen around the threshold, a line of JSON each:\n"
        "near misses from below it, near duplicates from above it, the nearest first, as many of\n"
        "the one as of the other. `duplicate` is null: say true or false, then `calibrate`.",
        more="Texts that have left the service since are left out.",
    )
    parser.add_argument("--collection", default="default", help="left out: default")
    parser.add_argument("--pairs", type=_count, default=50, help="at most so many; left out: 50")
    add_url(parser)


def run(chosen: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Writes the pairs."""
    with connected(chosen, environ) as client:
        below = _near_misses(client, chosen.collection)
        above = list(islice(_duplicates(client, chosen.collection), chosen.pairs))
    half = max(chosen.pairs // 2, chosen.pairs - len(above))
    from_below = below[:half]
    for pair in (*reversed(above[: chosen.pairs - len(from_below)]), *from_below):
        write_json(pair)
    return 0


def _near_misses(client: Twinsift, collection: str) -> list[dict[str, Any]]:
    """The pairs below the threshold, the nearest to it first."""
    missed = [
        _pair(one.score, (one.a.id, one.a.text), (one.b.id, one.b.text))
        for one in client.near_misses(collection=collection)
        if one.a.text is not None and one.b.text is not None
    ]
    return sorted(missed, key=lambda pair: -pair["score"])


def _duplicates(client: Twinsift, collection: str) -> Iterator[dict[str, Any]]:
    """The pairs above the threshold, the nearest to it first."""
    from service.client import Refused  # noqa: PLC0415 - see `commands`

    entries: list[Decision] = []
    for kind in KINDS:
        logged = client.decisions(collection=collection, kind=kind)
        entries += (one for one in islice(logged, MOST_READ) if one.score is not None)
    for entry in sorted(entries, key=lambda one: one.score or 0.0):
        if entry.score == 1.0 or entry.text is None or entry.twin is None:
            continue
        try:
            twin = client.document(entry.twin, collection=collection)
        except Refused:  # it has left since
            continue
        if twin.text is not None:
            yield _pair(entry.score or 0.0, (entry.twin, twin.text), (entry.document, entry.text))


def _pair(score: float, a: tuple[str, str], b: tuple[str, str]) -> dict[str, Any]:
    texts = {"a": a[1], "b": b[1], "duplicate": None}
    return {**texts, "score": score, "a_id": a[0], "b_id": b[0]}


def _count(written: str) -> int:
    number = int(written)
    if number < 1:
        raise ValueError
    return number
