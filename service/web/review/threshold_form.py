"""The form of the page Thresholds: what was typed, and what it asks for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, cast

from service.dedup.calibration import Costs
from service.dedup.labelled import LabelledPairs, NotPairs, read_pairs
from service.dedup.shingles import Shingles
from service.errors import Fault, TooLarge
from service.text.normalization import Kind
from service.web.fields import INVALID_VALUE
from service.web.loading import refusal
from service.web.posted import expect_size
from service.web.review import worked_example
from service.web.schemas import MOST_PAIRS, MOST_RUNS

MOST_THRESHOLDS: Final = 30
"""So many rows of a table can be read; the call takes more."""
_LONGEST: Final = 1000  # characters of any field but the pairs
_MOST_COST: Final = 1_000_000
_NUMBER: Final = re.compile(r"[0-9]{0,12}\.?[0-9]{1,12}")


@dataclass(frozen=True, slots=True)
class Typed:
    """The fields as they were typed; sizes and thresholds are lists apart by spaces or commas."""

    pairs: str = ""
    word: str = "1 2 3 5"
    char: str = "3 5"
    normalization: str = "words"
    thresholds: str = " ".join(f"{number / 20:g}" for number in range(4, 21))
    missed: str = "1"
    wrongly_joined: str = "1"

    @classmethod
    def of(cls, form: Mapping[str, str]) -> Typed:
        """What a form says; a field that is not there is as it was at first."""
        names = ("word", "char", "normalization", "thresholds", "missed", "wrongly_joined")
        typed = {name: form[name][: _LONGEST + 1] for name in names if name in form}
        # Browsers send every line break of a field as CR LF.
        return cls(**typed | {"pairs": form.get("pairs", "").replace("\r\n", "\n")})


EXAMPLE: Final = Typed(
    pairs=worked_example.PAIRS,
    word="",
    char="3",
    normalization="squish",
    thresholds=worked_example.THRESHOLDS,
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a form asks for."""

    found: LabelledPairs
    normalization: Kind
    shingles: tuple[Shingles, ...]
    thresholds: tuple[float, ...]
    costs: Costs


@dataclass(slots=True)
class _Reader:
    """Reads fields, and notes what is wrong with them."""

    faults: list[Fault] = field(default_factory=list)

    def wrong(self, name: str, words: str) -> None:
        self.faults.append(Fault(f"/{name}", INVALID_VALUE, words))

    def numbers(self, name: str, written: str) -> list[float]:
        parts = [part for part in re.split(r"[\s,;]+", written) if part]
        if len(written) <= _LONGEST and all(map(_NUMBER.fullmatch, parts)):
            return [float(part) for part in parts]
        self.wrong(name, "must be numbers, apart by spaces")
        return []

    def sizes(self, name: str, written: str) -> list[Shingles]:
        sizes = self.numbers(name, written)
        if all(size.is_integer() and 1 <= size <= 100 for size in sizes):
            return [Shingles(name, int(size)) for size in dict.fromkeys(sizes)]
        self.wrong(name, "must be whole numbers from 1 to 100")
        return []

    def cost(self, name: str, written: str) -> float:
        if _NUMBER.fullmatch(written.strip()) and float(written) <= _MOST_COST:
            return float(written)
        self.wrong(name, f"must be a number from 0 to {_MOST_COST:,}")
        return 0

    def pairs(self, written: str) -> LabelledPairs:
        found = LabelledPairs((), (), 0)
        try:
            found = read_pairs(written)
        except NotPairs as error:
            self.wrong("pairs", str(error) if error.line else "there are no labelled pairs")
        if len(found.pairs) > MOST_PAIRS:
            self.wrong("pairs", f"must be at most {MOST_PAIRS:,} pairs")
        return found


def read_form(typed: Typed, max_text: int) -> Wanted:
    """What is asked for; `max_text` (bytes) is the most of all texts together.

    Raises InvalidRequest or TooLarge, with a fault for each field that something is wrong with."""
    reader = _Reader()
    found = reader.pairs(typed.pairs)
    shingles = [*reader.sizes("word", typed.word), *reader.sizes("char", typed.char)]
    if not reader.faults and not 1 <= len(shingles) <= MOST_RUNS:
        reader.wrong("word", f"must be 1 to {MOST_RUNS} sizes, of words and characters together")
    if typed.normalization not in ("words", "squish"):
        reader.wrong("normalization", "must be words or squish")
    thresholds = sorted(set(reader.numbers("thresholds", typed.thresholds)))
    if not all(0 < threshold <= 1 for threshold in thresholds):
        reader.wrong("thresholds", "must be above 0 and at most 1")
    elif not 1 <= len(thresholds) <= MOST_THRESHOLDS:
        words = f"must be 1 to {MOST_THRESHOLDS} thresholds here; POST /calibrate takes more"
        reader.wrong("thresholds", words)
    costs = Costs(
        reader.cost("missed", typed.missed), reader.cost("wrongly_joined", typed.wrongly_joined)
    )
    if reader.faults:
        raise refusal(reader.faults)
    try:
        expect_size([text for pair in found.pairs for text in (pair.a, pair.b)], max_text)
    except TooLarge:
        words = f"the texts are larger than {max_text:,} bytes together"
        raise TooLarge(words, (Fault("/pairs", INVALID_VALUE, words),)) from None
    kind = cast(Kind, typed.normalization)
    return Wanted(found, kind, tuple(shingles), tuple(thresholds), costs)
