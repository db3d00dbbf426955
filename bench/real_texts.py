"""The texts of questions 2 and 4: a file where one is given, else made-up ones, and said so."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.made_up_texts import descriptions

FILE = "descriptions-5k.jsonl"
COUNT = 5000


@dataclass(frozen=True, slots=True)
class Texts:
    """Ids and texts in the order in which they are posted, and what they are."""

    told: str
    pairs: Sequence[tuple[str, str]]


def load(data: Path | None) -> Texts:
    """The texts of `descriptions-5k.jsonl` in the directory, or made-up ones."""
    if data is None or not (data / FILE).is_file():
        told = f"{COUNT:,} made-up texts, half of them copies (no `{FILE}` was given)"
        return Texts(told, list(descriptions(COUNT)))
    rows = map(json.loads, (data / FILE).read_text("utf-8").splitlines())
    pairs = [(row["id"], row["text"]) for row in rows]
    return Texts(f"`{FILE}`, {len(pairs):,} texts in order", pairs)
