"""What differs between two near copies, told as changes of facts and of wording.

Both texts are cut into chunks and aligned; only where they differ are facts read, with a few
chunks around. `docs/changes.md` tells the kinds and what counts as the same.
"""

from __future__ import annotations

from typing import Final

from service.text.changes_alignment import Difference, differences
from service.text.changes_chunks import Span
from service.text.changes_kinds import MOST_CHANGES, Change, ChangeKind, Changes
from service.text.changes_pairing import carries_fact, changes_between
from service.text.changes_settling import Found

__all__ = ["MOST_CHANGES", "Change", "ChangeKind", "Changes", "find_changes"]

_FLIPPED: Final = {
    ChangeKind.ADDED: ChangeKind.REMOVED,
    ChangeKind.REMOVED: ChangeKind.ADDED,
}


def find_changes(before: str, after: str) -> Changes:
    """What differs between two cleaned texts, in order; at most `MOST_CHANGES` are told.

    Linear in the length of the texts. Exchanging the texts exchanges the sides of each change.
    """
    if before == after:
        return Changes((), cut=False, facts_differ=False)
    # Ties are decided in one direction only, so that both directions tell the same.
    flipped = before > after
    one, other = (after, before) if flipped else (before, after)
    items: list[Change] = []
    facts_differ = cut = False
    for difference in differences(one, other):
        for found in _found_in(one, other, difference):
            facts_differ = facts_differ or found.fact
            if len(items) < MOST_CHANGES:
                items.append(_told(found, one, other, flipped))
            else:
                cut = True
        if cut and facts_differ:
            break
    return Changes(tuple(items), cut, facts_differ)


def _found_in(one: str, other: str, difference: Difference) -> list[Found]:
    here, there = difference.here, difference.there
    if difference.wording:
        return [Found(ChangeKind.WORDING, _span(here), _span(there), fact=False)]
    if not difference.passage:
        return changes_between(one, here, other, there)
    if here[0] < here[1]:
        return [Found(ChangeKind.REMOVED, here, None, carries_fact(one, here))]
    return [Found(ChangeKind.ADDED, None, there, carries_fact(other, there))]


def _span(span: Span) -> Span | None:
    return span if span[0] < span[1] else None


def _told(found: Found, one: str, other: str, flipped: bool) -> Change:
    kind, before_span, after_span = found.kind, found.here, found.there
    before_text, after_text = one, other
    if flipped:
        kind = _FLIPPED.get(kind, kind)
        before_span, after_span = after_span, before_span
        before_text, after_text = other, one
    return Change(
        kind,
        None if before_span is None else before_text[slice(*before_span)],
        None if after_span is None else after_text[slice(*after_span)],
        found.fact,
        before_span,
        after_span,
    )
