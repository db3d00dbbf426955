"""Made-up texts, some of them copies of earlier ones: the same for the same seed."""

import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

WORDS = [
    "bike",
    "rental",
    "helmet",
    "brake",
    "chain",
    "shop",
    "river",
    "north",
    "south",
    "gear",
    "lamp",
    "tyre",
    "repair",
    "spring",
    "station",
    "early",
    "late",
    "open",
    "closed",
    "green",
    "ticket",
    "member",
    "family",
    "tour",
    "guide",
    "map",
    "hill",
    "bridge",
    "market",
    "road",
    "winter",
    "summer",
    "wheel",
    "frame",
    "bell",
    "lock",
    "basket",
    "saddle",
    "pump",
    "light",
    "hour",
]

Item = dict[str, Any]


def items(count: int, seed: int = 1) -> list[Item]:
    """Every third or so a copy of an earlier one: equal, in other words, or with another number."""
    chance = random.Random(seed)
    made: list[Item] = []
    for number in range(count):
        kind = chance.choice(["own", "own", "own", "equal", "wording", "fact"])
        if kind == "own" or not made:
            text = " ".join(chance.choices(WORDS, k=30)) + f" for {chance.randrange(2, 99)} hours"
        else:
            text = changed(chance.choice(made)["text"], kind, chance)
        made.append({"id": f"text-{number}", "text": text})
    return made


def changed(text: str, kind: str, chance: random.Random) -> str:
    words = text.split()
    if kind == "wording":
        words[chance.randrange(25)] = chance.choice(WORDS)
    if kind == "fact":
        words[-2] = str(int(words[-2]) + 1)
    return " ".join(words)


def write_lines(path: Path, made: Iterable[Item]) -> Path:
    """One item a line, as JSON."""
    path.write_text("".join(json.dumps(item) + "\n" for item in made), encoding="utf-8")
    return path
