"""A plain loop: check, embed what is to be embedded, remove what is to leave.

    python docs/recipes/plain.py PASSAGES.jsonl [ADDRESS]

The "store" is a dictionary here; `embed` and `remove` are what you have in its place.
"""

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from following import catch_up

from service.client import Document, Problem, Twinsift


class Store:
    """Stands for the vector store."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def embed(self, id: str, text: str) -> None:
        """Puts a text in, or in the place of the one that is there."""
        self.texts[id] = text

    def remove(self, id: str) -> None:
        """Takes a text out; one that is not there is no error."""
        self.texts.pop(id, None)


def ingest(
    twinsift: Twinsift, store: Store, passages: Iterable[Mapping[str, Any]]
) -> list[Problem]:
    """Checks all passages and does what the answers say; gives those that were refused."""
    refused = []
    for result in twinsift.check_many(passages):
        if isinstance(result, Problem):
            refused.append(result)
            continue
        for id in result.retire:
            store.remove(id)
        if result.action == "ingest":
            store.embed(result.id, result.text)
        # `skip`: it is there already. `review`: a person decides, and `follow` tells what.
    return refused


def follow(twinsift: Twinsift, store: Store, kept: Path) -> None:
    """Does what was decided since; to be called from time to time."""

    def embed(document: Document) -> None:
        store.embed(document.id, document.text or "")

    catch_up(twinsift, kept, embed=embed, remove=store.remove)


if __name__ == "__main__":
    mine = Store()
    with Twinsift(*sys.argv[2:]) as client, Path(sys.argv[1]).open(encoding="utf-8") as lines:
        wrong = ingest(client, mine, map(json.loads, lines))
        follow(client, mine, Path("after"))
    print(f"{len(mine.texts)} embedded, {len(wrong)} refused")
