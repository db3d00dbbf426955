"""What a difference between two near copies is called, and how it is told."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

MOST_CHANGES: Final = 200


class ChangeKind(StrEnum):
    """What differs. All but the last three are facts; a passage is one if it carries one."""

    NUMBER = "number"
    QUANTITY = "quantity"
    MONEY = "money"
    PERCENT = "percent"
    DATE = "date"
    TIME = "time"
    NEGATION = "negation"
    MODALITY = "modality"
    COMPARISON = "comparison"
    NAME = "name"
    IDENTIFIER = "identifier"
    WORDING = "wording"
    ADDED = "added"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Change:
    """One difference: what stood before, what stands after, None where there is nothing.

    The spans are the character ranges of both in their texts.
    """

    kind: ChangeKind
    before: str | None
    after: str | None
    fact: bool
    before_span: tuple[int, int] | None
    after_span: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Changes:
    """What differs between two texts, in the order of the text; `cut` where there is more."""

    items: tuple[Change, ...]
    cut: bool
    facts_differ: bool
