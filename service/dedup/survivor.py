"""Which of two near copies stays: the survivor rules, told from the metadata of both alone.

The same metadata always makes the same choice, and apart from `first` it does not matter which of
the two was posted: exchanging them exchanges the choice. A value that a rule cannot read counts as
missing and never raises. Reasons are of bounded length and quote only times, version numbers and
numbers, never free text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final

from service.dedup.verdict import Metadata, MetadataValue

# A value in a reason is cut in its middle where it is longer: its end may be what tells it apart.
_LONGEST_TOLD, _TOLD_HEAD, _TOLD_TAIL = 40, 27, 12

_TIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]+))?"
    r"([Zz]|[+-][0-9]{2}:[0-9]{2})"
)
_DOTTED_NUMBERS = re.compile(r"[vV]?([0-9]+(?:\.[0-9]+)*)")


class Survivor(StrEnum):
    """The copy that stays: the posted one, or the one that was there."""

    INCOMING = "incoming"
    EXISTING = "existing"


@dataclass(frozen=True, slots=True)
class Choice:
    """The copy that stays, the rule that chose it, and in words which values it compared."""

    survivor: Survivor
    rule: str
    reason: str


def choose(rules: Sequence[str], incoming: Metadata, existing: Metadata) -> Choice | None:
    """The choice of the first of `rules` that decides; None where none does.

    - `newest`: the later `updated_at`, as instants to the last digit given. Where one of the two
      has none, the higher `version`. Two equal times are an answer, that neither is newer, and so
      are undecided whatever the versions say: "`updated_at` of both, else `version` of both".
    - `authority`: the higher number; missing is 0.
    - `richest`: more metadata keys, of whatever name.
    - `first`: always the existing one.

    A version is numbers joined by dots, after a `v` or none, compared number by number: 1.10 is
    higher than 1.9, v10 than 3, 1.0 is 1. Nothing else is one, so `newest` is undecided there:
    what a hyphen or a letter means (2024-03, 1.0-2, 1.0-rc1, 1.0b) differs from house to house.

    Raises:
        KeyError: there is no such rule; settings that were validated name none.
    """
    for rule in rules:
        choice = _RULES[rule](incoming, existing)
        if choice is not None:
            return choice
    return None


def _newest(incoming: Metadata, existing: Metadata) -> Choice | None:
    for name, read, reason in (
        ("updated_at", _instant, "newest: {} {} is later than {} {}"),
        ("version", _version, "newest: {} version {} is higher than {} version {}"),
    ):
        values = incoming.get(name), existing.get(name)
        ours, theirs = map(read, values)
        if ours is not None and theirs is not None:
            told = [_shortened(str(value)) for value in values]
            return _higher("newest", (ours, told[0]), (theirs, told[1]), reason)
    return None


def _authority(incoming: Metadata, existing: Metadata) -> Choice | None:
    ours, theirs = (_number(metadata.get("authority")) for metadata in (incoming, existing))
    reason = "authority: {} {} over {} {}"
    return _higher("authority", (ours, str(ours)), (theirs, str(theirs)), reason)


def _richest(incoming: Metadata, existing: Metadata) -> Choice | None:
    ours, theirs = len(incoming), len(existing)
    keys = "key" if max(ours, theirs) == 1 else "keys"
    reason = f"richest: {{}} has {{}} metadata {keys}, {{}} {{}}"
    return _higher("richest", (ours, str(ours)), (theirs, str(theirs)), reason)


def _first(_incoming: Metadata, _existing: Metadata) -> Choice:
    return Choice(Survivor.EXISTING, "first", "first: the existing one stays")


_RULES: Final[Mapping[str, Callable[[Metadata, Metadata], Choice | None]]] = {
    "newest": _newest,
    "authority": _authority,
    "richest": _richest,
    "first": _first,
}


def _higher(
    rule: str, incoming: tuple[Any, str], existing: tuple[Any, str], reason: str
) -> Choice | None:
    """The side of the greater value, None where they are equal. Each side is its value and that in
    words; `reason` has places for the winner, its words, the loser and its words."""
    (ours, our_words), (theirs, their_words) = incoming, existing
    new, old = Survivor.INCOMING, Survivor.EXISTING
    if ours > theirs:
        return Choice(new, rule, reason.format(new, our_words, old, their_words))
    if theirs > ours:
        return Choice(old, rule, reason.format(old, their_words, new, our_words))
    return None


def _instant(value: MetadataValue | None) -> tuple[datetime, str] | None:
    """What orders RFC 3339 times as instants: whole seconds in UTC, and the digits after them, of
    which a datetime would keep six."""
    written = _TIME.fullmatch(value) if isinstance(value, str) else None
    if written is None:
        return None
    seconds, fraction, offset = written.groups(default="")
    try:
        whole = datetime.fromisoformat(f"{seconds}{offset}".upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return whole, fraction.rstrip("0")


def _version(value: MetadataValue | None) -> tuple[tuple[int, str], ...] | None:
    """What orders dotted numbers, zeros at the end left out. A number is how many digits it has,
    then those: int() of thousands of digits is slow or refused."""
    written = _DOTTED_NUMBERS.fullmatch(value) if isinstance(value, str) else None
    if written is None:
        return None
    numbers = [part.lstrip("0") for part in written[1].split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple((len(number), number) for number in numbers)


def _number(value: MetadataValue | None) -> int | float:
    """The value where it is a number, 0 where it is none. A boolean is no number. Integers come
    with at most 64 bits (`web/strict_json.py`), so each can be told in full."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else 0


def _shortened(words: str) -> str:
    if len(words) <= _LONGEST_TOLD:
        return words
    return f"{words[:_TOLD_HEAD]}…{words[-_TOLD_TAIL:]}"
