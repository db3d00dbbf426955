"""`twinsift stats`: what was checked and what is kept."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from service.commands.connecting import add_url, connected
from service.commands.output import is_for_people, write_fields, write_json, write_table
from service.commands.parts import Commands, command

if TYPE_CHECKING:
    from service.client import CollectionStatistics

COLUMNS = ("collection", "active", "held", "dropped", "checks", "new", "exact", "near", "replayed",
           "open conflicts", "embeddings saved")  # fmt: skip
_MIB = 1 << 20


def add(commands: Commands) -> None:
    """Adds the command."""
    parser = command(
        commands,
        "stats",
        run,
        summary="count what was checked and what is kept",
        about="Counts what was checked and what is kept: a table at a terminal, elsewhere\n"
        "one line of JSON with all figures of GET /stats.",
    )
    parser.add_argument("--collection", help="this one alone")
    add_url(parser)


def run(chosen: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Counts."""
    with connected(chosen, environ) as client:
        counted = client.stats(collection=chosen.collection)
    if not is_for_people():
        write_json(counted.raw)
        return 0
    write_table(COLUMNS, [_row(name, one) for name, one in sorted(counted.collections.items())])
    store = counted.store
    if store is not None:
        limit = f" of {store.maxmemory_bytes / _MIB:,.0f}" if store.maxmemory_bytes else ""
        write_fields({"store": f"{store.memory_bytes / _MIB:,.1f}{limit} MiB, {store.version}"})
    return 0


def _row(name: str, counted: CollectionStatistics) -> list[Any]:
    documents, checks = counted.documents, counted.checks
    verdicts = checks["verdicts"]
    return [
        name,
        documents.active,
        documents.held,
        documents.dropped,
        checks["total"],
        verdicts["new"],
        verdicts["exact_duplicate"],
        verdicts["near_duplicate"],
        checks["replayed"],
        counted.conflicts["open"],
        counted.embedding_calls_saved,
    ]
