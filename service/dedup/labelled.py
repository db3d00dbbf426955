"""Pairs that a person has labelled, read from what they wrote: lines of JSON, or CSV with a header.

Both have `a`, `b` and `duplicate`; what else there is is left alone.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import orjson

from service.dedup.calibration import Pair

NAMES: Final = ("a", "b", "duplicate")
DELIMITERS: Final = ",;\t|"
LONGEST: Final = 131_072  # of a text in CSV; what Python's reader takes
_LABELS: Final = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}

_NO_HEADER: Final = (
    "line 1 is neither JSON nor a CSV header with the columns a, b and duplicate, each once"
)


class NotPairs(Exception):
    """What was written are no labelled pairs; the words say why, quote nothing of it, and name the
    line, where there is one. `line` counts from 1."""

    def __init__(self, words: str, line: int | None = None) -> None:
        super().__init__(words)
        self.line = line


@dataclass(frozen=True, slots=True)
class LabelledPairs:
    """The pairs, the lines where they begin, and how many are not labelled and left out."""

    pairs: tuple[Pair, ...]
    lines: tuple[int, ...]
    unlabelled: int


def read_pairs(written: str) -> LabelledPairs:
    """The labelled pairs of a text that is CSV unless it begins with `{`. `duplicate` is true,
    false or null, in CSV one of those words, yes, no, 1, 0, or nothing.

    Raises NotPairs for the first line that is no pair, or where none is labelled."""
    written = written.removeprefix("\ufeff")
    rows = _of_json(written) if written.lstrip()[:1] in ("{", "[", "") else _of_csv(written)
    pairs: list[Pair] = []
    lines: list[int] = []
    unlabelled = 0
    for line, pair in rows:
        if pair is None:
            unlabelled += 1
        else:
            pairs.append(pair)
            lines.append(line)
    if not pairs:
        raise NotPairs("has no labelled pairs")
    return LabelledPairs(tuple(pairs), tuple(lines), unlabelled)


def _of_json(written: str) -> Iterator[tuple[int, Pair | None]]:
    for number, line in enumerate(written.split("\n"), 1):
        if line.strip():
            yield number, _json_pair(number, line)


def _json_pair(number: int, line: str) -> Pair | None:
    try:
        pair: Any = orjson.loads(line)
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        raise NotPairs(f"line {number} is not JSON", number) from None
    if not isinstance(pair, dict) or not set(NAMES) <= set(pair):
        raise NotPairs(f"line {number} has not a, b and duplicate", number)
    a, b, duplicate = (pair[name] for name in NAMES)
    if not isinstance(a, str) or not isinstance(b, str):
        raise NotPairs(f"line {number}: a and b must be strings", number)
    if duplicate is not None and not isinstance(duplicate, bool):
        raise NotPairs(f"line {number}: duplicate must be true, false or null", number)
    return None if duplicate is None else Pair(a, b, duplicate)


def _of_csv(written: str) -> Iterator[tuple[int, Pair | None]]:
    first = written.partition("\n")[0]
    delimiter = max(DELIMITERS, key=first.count)
    reader = csv.reader(io.StringIO(written, newline=""), delimiter=delimiter, strict=True)
    places: list[int] | None = None
    while True:
        number = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error:
            words = f"line {number} is not CSV, or has a text of more than {LONGEST} characters"
            raise NotPairs(words, number) from None
        if places is None:
            places = _places(row)
        elif row:
            yield number, _csv_pair(number, row, places)


def _places(header: list[str]) -> list[int]:
    names = [name.strip().lower() for name in header]
    if any(names.count(name) != 1 for name in NAMES):
        raise NotPairs(_NO_HEADER, 1)
    return [names.index(name) for name in NAMES]


def _csv_pair(number: int, row: list[str], places: list[int]) -> Pair | None:
    if len(row) <= max(places):
        raise NotPairs(f"line {number} has not a, b and duplicate", number)
    a, b, label = (row[place] for place in places)
    label = label.strip().lower()
    if label in ("", "null"):
        return None
    if label not in _LABELS:
        raise NotPairs(f"line {number}: duplicate must be true, false or empty", number)
    return Pair(a, b, _LABELS[label])
