"""Decide: from a match to what becomes of both texts, and why. `docs/life.md` has the table."""

from __future__ import annotations

from dataclasses import dataclass

from service.dedup.decisions import Keep
from service.dedup.scheme import CollectionSettings
from service.dedup.survivor import Choice, Survivor, choose
from service.dedup.verdict import MatchKind, Metadata, State
from service.matching import Found
from service.text.changes import Changes

RULES_ON_CONFLICT = ("newest", "authority")
LONGEST_QUOTE = 60


@dataclass(frozen=True, slots=True)
class Outcome:
    """What becomes of a posted text: `state` once it is registered. `wins`: its match is dropped
    for it; `opens`: a conflict with the match is opened. The rest is as it is told."""

    state: State
    wins: bool = False
    opens: bool = False
    survivor: Survivor | None = None
    rule: str | None = None
    reason: str | None = None


ALONE = Outcome(State.ACTIVE)


def decide(found: Found | None, metadata: Metadata, settings: CollectionSettings) -> Outcome:
    """What becomes of a text with this metadata, given its match."""
    if found is None:
        return ALONE
    if found.ruling is Keep.BOTH:
        return Outcome(State.ACTIVE, rule="ruled", reason="ruled: both stay")
    if found.kind is not MatchKind.NEAR:
        return _stays("equal", "equal texts: the existing one stays")
    if found.ruling is Keep.EXISTING:
        return _stays("ruled", "ruled: the existing text stays")
    if found.ruling is Keep.INCOMING:
        return _wins(found, "ruled", "ruled: the incoming text stays")
    if found.changes.facts_differ:
        return _of_differing(found, metadata, settings)
    choice = choose(settings.survivor, metadata, found.metadata)
    if choice is None:
        return _stays("first", "undecided: the existing one stays")
    return _chosen(found, choice)


def _of_differing(found: Found, metadata: Metadata, settings: CollectionSettings) -> Outcome:
    told = difference_in_words(found.changes)
    if settings.on_conflict == "skip":
        return _stays("skip", f"{told}; on_conflict is skip")
    held = Outcome(State.HELD, opens=True, rule="review", reason=told)
    if found.stored.state is State.HELD or settings.on_conflict == "review":
        return held
    if settings.on_conflict == "ingest":
        return Outcome(State.ACTIVE, opens=True, rule="ingest", reason=told)
    choice = choose(RULES_ON_CONFLICT, metadata, found.metadata)
    return held if choice is None else _chosen(found, choice)


def _chosen(found: Found, choice: Choice) -> Outcome:
    if choice.survivor is Survivor.INCOMING:
        return _wins(found, choice.rule, choice.reason)
    return _stays(choice.rule, choice.reason)


def _stays(rule: str, reason: str) -> Outcome:
    return Outcome(State.DROPPED, survivor=Survivor.EXISTING, rule=rule, reason=reason)


def _wins(found: Found, rule: str, reason: str) -> Outcome:
    """Against a held text one only takes its place: the ruling is still to come."""
    return Outcome(
        found.stored.state, wins=True, survivor=Survivor.INCOMING, rule=rule, reason=reason
    )


def difference_in_words(changes: Changes) -> str:
    """The first change of fact, with both values."""
    for change in changes.items:
        if change.fact:
            return f"facts differ: {_quoted(change.before)} -> {_quoted(change.after)}"
    return "facts differ"


def _quoted(words: str | None) -> str:
    if words is None:
        return "(nothing)"
    return words if len(words) <= LONGEST_QUOTE else words[: LONGEST_QUOTE - 1] + "…"
