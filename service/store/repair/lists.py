"""What contradicts an id's entry, a log entry or a place in a list, and the step that mends it.
Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from service.dedup.decisions import ConflictStatus, DecisionKind
from service.dedup.verdict import State
from service.store.base import StoredText
from service.store.log import entry_body, entry_head
from service.store.repair.damage import Damage, Mend
from service.store.repair.texts import REASON, write_entry, write_retired
from service.store.spread import items
from service.store.spread.planning import Transaction
from service.store.step import LogEntry, StoredConflict
from service.store.steps import packed

NOBODY = "(lost)"
"""What stands for the id in a log entry of which nothing is known."""


def id_mend(
    id: str, numbers: Sequence[int], texts: Sequence[StoredText | None], now: int
) -> Mend | None:
    """An id names a text that is there, and a held one beside an active one. Of a main text that is
    lost downstream is told that it is no longer active (it may have been)."""
    there = [
        text
        for text in texts
        if text is not None and text.id == id and text.state is not State.GONE
    ]
    stay = there[:1]
    if [text.state for text in there[:2]] == [State.ACTIVE, State.HELD]:
        stay = there[:2]
    elif len(there) > 1:  # who was beside the main text is newer
        stay = there[-1:] if there[-1].state.is_indexed else there[:1]
    named = [text.number for text in stay]
    if named == list(numbers):
        return None
    plan = Transaction()
    plan.changes(items.id_item(id))
    plan.reads.update(map(items.text_item, numbers))
    plan.writes.append((b"I", id.encode(), b"".join(map(packed, named))))
    if texts[0] is None and not any(text.state is State.ACTIVE for text in stay):
        write_retired(plan, id, now)
    return Mend(Damage.ID, plan)


def rest_mend(number: int) -> Mend:
    """Words and metadata of a text that is not there."""
    plan = Transaction()
    plan.changes(items.text_item(number))
    plan.writes.append((b"F", packed(number)))
    return Mend(Damage.REST, plan)


def ghost_mend(number: int, tags: Sequence[bytes], count: int) -> Mend:
    """A number goes out of `count` buckets that are not its text's; `tags` has one for each
    band."""
    plan = Transaction()
    plan.changes(items.text_item(number))
    plan.brings.append(b"".join(tags))
    plan.writes.append((b"~", packed(number), b"".join(tags)))
    return Mend(Damage.GHOST, plan, count)


def link_mend(survivor: int, number: int, text: StoredText | None) -> Mend | None:
    """A survivor's link to a copy that was dropped for it."""
    if text is not None and text.state is State.DROPPED and text.survivor == survivor:
        return None
    plan = Transaction()
    plan.changes(items.text_item(number))
    plan.writes.append((b"t", packed(survivor), packed(number)))
    return Mend(Damage.LINK, plan)


def edge_mend(existing: int, number: int, conflict: StoredConflict | None) -> Mend | None:
    """An open conflict in the list of its existing text."""
    is_right = conflict is not None and conflict.existing == existing
    if is_right and conflict is not None and conflict.status is ConflictStatus.OPEN:
        return None
    plan = Transaction()
    plan.changes(items.conflict_item(number))
    plan.touches.add(items.edges_item(existing))
    plan.writes.append((b"e", packed(existing), packed(number)))
    return Mend(Damage.LISTED, plan)


def age_mend(number: int) -> Mend:
    """A conflict that is not there goes out of the list by age."""
    plan = Transaction()
    plan.changes(items.conflict_item(number))
    plan.writes.append((b"a", packed(number)))
    return Mend(Damage.LISTED, plan)


def waiting_mend(
    number: int, waits_for: int, text: StoredText | None, conflict: StoredConflict | None
) -> Mend | None:
    """Who waits to be checked anew is held, and the conflict it was in is void."""
    is_held = text is not None and text.state is State.HELD
    is_void = conflict is not None and conflict.status is ConflictStatus.VOID
    if is_held and is_void and conflict is not None and conflict.incoming == number:
        return None
    plan = Transaction()
    plan.changes(items.waiting_item(number))
    plan.reads |= {items.text_item(number), items.conflict_item(waits_for)}
    plan.writes.append((b"u", packed(number), b""))
    return Mend(Damage.HELD, plan)


def lost_entry_mend(number: int, at: int) -> Mend:
    """Stands for a log entry of which nothing is known; `at` is when the one before it was."""
    plan = Transaction()
    write_entry(plan, number, LogEntry(DecisionKind.VOIDED, NOBODY, reason=REASON, at=at))
    return Mend(Damage.ENTRY, plan)


def past_entry_mend(number: int, entry: LogEntry) -> Mend:
    """An entry that has left the log, and stands again."""
    plan = Transaction()
    plan.changes(items.entry_item(number))
    plan.writes.append((b"l", packed(number)))
    for id in {entry.document, entry.twin or entry.document}:
        plan.writes.append((b"q", id.encode(), b"", packed(number)))
    return Mend(Damage.PAST, plan)


@dataclass(slots=True)
class EntryFacts:
    """A log entry; `unnamed` are its ids under which the index lacks it, `lost` the texts that it
    is to keep and that are not there, though nothing has happened to them since."""

    entry: LogEntry
    unnamed: list[str]
    lost: list[int]


def entry_mend(facts: EntryFacts) -> Mend | None:
    """The first thing that is wrong with a log entry, mended."""
    entry, plan = facts.entry, Transaction()
    number = packed(entry.number_in_log)
    plan.changes(items.entry_item(entry.number_in_log))
    if facts.lost:
        plan.reads.update(map(items.text_item, facts.lost))
        bare = replace(entry, kept=tuple(one for one in entry.kept if one not in facts.lost))
        plan.writes.append((b"B", number, entry_head(bare) + entry_body(bare)))
        return Mend(Damage.KEPT, plan)
    for id in facts.unnamed:
        plan.writes.append((b"Q", id.encode(), b"", number))
    return Mend(Damage.NAMED, plan) if plan.writes else None


def was_decided_since(entry: LogEntry, later: Sequence[LogEntry]) -> bool:
    """Whether what an entry keeps may have come back and left again, or been erased, since."""
    return any(
        one.kind in (DecisionKind.DELETED, DecisionKind.REVERTED)
        and one.number_in_log >= entry.number_in_log
        and one.document in (entry.document, entry.twin)
        for one in (entry, *later)
    )


def named_mend(place: int, member: bytes, item: bytes) -> Mend:
    """A place in the index of the log that names what does not name the id."""
    plan = Transaction()
    plan.changes(item)
    plan.writes.append((b"K", packed(place), member))
    return Mend(Damage.NAMED, plan)
