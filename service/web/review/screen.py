"""What the screen of one conflict shows, cut to what a page may weigh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from service.dedup.decisions import Conflict, Side
from service.text.changes import Change, Changes
from service.web.review.marking import (
    Piece,
    Place,
    clipped,
    collapse,
    cut,
    place,
    total,
    weight,
    within,
)

CHANGES_A_PART: Final = 40
WHOLE_UP_TO: Final = 6000
# Bytes: of both texts together, of the words of one side of a listed change, of a value, of the
# values of a side, and of an id where it is only mentioned.
WEIGHT_OF_TEXTS: Final = 36_000
WEIGHT_OF_WORDS: Final = 260
WEIGHT_OF_VALUE: Final = 200
WEIGHT_OF_METADATA: Final = 3000
WEIGHT_OF_NAME: Final = 300
# The changes in a row of the queue, and the bytes of one side of them.
IN_A_ROW: Final = 3
WEIGHT_IN_A_ROW: Final = 120
# Context around a mark and longest mark, in code points; the first that is light enough is taken.
_LEVELS: Final = ((400, 1500), (160, 400), (70, 160), (30, 60))
_KNOWN_KEYS: Final = ("source", "version", "updated_at", "authority", "split")


@dataclass(frozen=True, slots=True)
class Clipped:
    """The beginning of some words; `missing` is how many characters follow."""

    text: str
    missing: int


@dataclass(frozen=True, slots=True)
class ListedChange:
    """A change as the list has it: `number` is what its marks go by; a side is None where there is
    nothing, and `has_before`, `has_after` tell whether its place in that text is known."""

    number: int
    change: Change
    before: Clipped | None
    after: Clipped | None
    has_before: bool
    has_after: bool


@dataclass(frozen=True, slots=True)
class Value:
    """A value of the metadata; `differs` from the other side's."""

    key: str
    value: Clipped
    differs: bool


@dataclass(frozen=True, slots=True)
class Column:
    """One text of the conflict: None where it is no longer kept."""

    pieces: Sequence[Piece] | None
    is_collapsed: bool
    characters: int


@dataclass(frozen=True, slots=True)
class Screen:
    """What is shown of a conflict: the changes of one part of the list, both texts with their
    marks, `facts` changes of facts in all."""

    listed: Sequence[ListedChange]
    existing: Column
    incoming: Column
    facts: int
    part: int
    parts: int


def numbered(conflict: Conflict) -> list[tuple[int, Change]]:
    """The changes by the numbers that they go by on the page: facts first, as they stand."""
    ordered = sorted(conflict.changes.items, key=lambda change: not change.fact)
    return list(enumerate(ordered, 1))


def places(side: Side, changes: Sequence[tuple[int, Change]], *, before: bool) -> dict[int, Place]:
    """Where the changes are in the text of this side."""
    found = {}
    for number, change in changes:
        words, span = (
            (change.before, change.before_span) if before else (change.after, change.after_span)
        )
        at = place(side.text or "", words, span, fact=change.fact)
        if at is not None:
            found[number] = at
    return found


def screen(conflict: Conflict, part: int) -> Screen:
    """The screen with this part of the list of changes (from 0; the last one where it is less)."""
    changes = numbered(conflict)
    parts = max(1, -(-len(changes) // CHANGES_A_PART))
    part = min(max(part, 0), parts - 1)
    shown = changes[part * CHANGES_A_PART : (part + 1) * CHANGES_A_PART]
    before = places(conflict.existing, changes, before=True)
    after = places(conflict.incoming, changes, before=False)
    existing, incoming = _columns(
        [(conflict.existing.text, before), (conflict.incoming.text, after)],
        [number for number, _ in shown],
    )
    return Screen(
        listed=[
            ListedChange(
                number,
                change,
                None
                if change.before is None
                else Clipped(*clipped(change.before, WEIGHT_OF_WORDS)),
                None if change.after is None else Clipped(*clipped(change.after, WEIGHT_OF_WORDS)),
                number in before,
                number in after,
            )
            for number, change in shown
        ],
        existing=existing,
        incoming=incoming,
        facts=sum(change.fact for _, change in changes),
        part=part,
        parts=parts,
    )


def _columns(
    sides: Sequence[tuple[str | None, dict[int, Place]]], shown: Sequence[int]
) -> list[Column]:
    """Both texts with the marks of the changes that are shown, as much of them as there is room."""
    cuts = [None if text is None else cut(text, places) for text, places in sides]
    kept = [pieces or [] for pieces in cuts]
    lengths = [len(text or "") for text, _ in sides]
    if max(lengths) > WHOLE_UP_TO or sum(map(total, kept)) > WEIGHT_OF_TEXTS:
        for context, longest_mark in _LEVELS:
            kept = [collapse(pieces or [], context, longest_mark, shown) for pieces in cuts]
            if sum(map(total, kept)) <= WEIGHT_OF_TEXTS:
                break
        kept = [within(pieces, WEIGHT_OF_TEXTS // 2) for pieces in kept]
    return [
        Column(
            None if pieces is None else part,
            any(piece.left_out for piece in part),
            length,
        )
        for pieces, part, length in zip(cuts, kept, lengths, strict=True)
    ]


def metadata(side: Side, other: Side) -> tuple[list[Value], int]:
    """The values of a side, those with a meaning first, and how many had no room."""
    keys = [key for key in _KNOWN_KEYS if key in side.metadata]
    keys += sorted(key for key in side.metadata if key not in _KNOWN_KEYS)
    values: list[Value] = []
    left = WEIGHT_OF_METADATA
    for key in keys:
        value = _written(side.metadata[key])
        text, missing = clipped(value, WEIGHT_OF_VALUE)
        left -= weight(text) + weight(key) + 60
        if left < 0:
            break
        differs = other.metadata.get(key) != side.metadata[key]
        values.append(Value(key, Clipped(text, missing), differs))
    return values, len(keys) - len(values)


def _written(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(value)


def mentioned(id: str) -> str:
    """An id as it is mentioned in a sentence: its beginning where it is long."""
    text, missing = clipped(id, WEIGHT_OF_NAME)
    return f"{text}…" if missing else text


def clipped_words(
    changes: Changes,
) -> tuple[list[tuple[Change, Clipped | None, Clipped | None]], int]:
    """The first changes of a conflict for a row of the queue, facts first, and how many facts, or
    changes where none is a fact, there are more."""
    facts = [change for change in changes.items if change.fact] or list(changes.items)
    first = [(change, _words(change.before), _words(change.after)) for change in facts[:IN_A_ROW]]
    return first, len(facts) - len(first)


def _words(words: str | None) -> Clipped | None:
    return None if words is None else Clipped(*clipped(words, WEIGHT_IN_A_ROW))
