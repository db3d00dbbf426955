"""The texts of some questions: a file where one is given, else made-up ones, and said so."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.figures import Row, show
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


def show_answers(told: str | None, measure: Callable[[Path | None], list[Row]]) -> None:
    """What a script does that asks one question of these texts; `told` is its docstring."""
    parser = argparse.ArgumentParser(description=(told or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, help=f"directory with {FILE}")
    show(measure(parser.parse_args().data))
