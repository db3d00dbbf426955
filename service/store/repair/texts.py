"""What contradicts a text's record, and the step that mends it. Pure.

The record is the truth, unless the log says that the text has left, or nothing keeps it any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from service.dedup.decisions import ConflictStatus, DecisionKind
from service.dedup.verdict import NO_CHANGES, State
from service.store.base import Collection, StoredText
from service.store.log import conflict_rest, entry_body, entry_head
from service.store.records import pack
from service.store.repair.damage import Damage, Mend
from service.store.spread import items
from service.store.spread.planning import Transaction
from service.store.spread.redo import OF_CONFLICTS
from service.store.step import LogEntry, StoredConflict, entry_ref
from service.store.steps import packed, tags_of

REASON = "made anew by a repair: what it said was lost with a server"
LOST = "found by a repair: the text was lost with a server"
REPAIR = "repair"
LEAVES = (DecisionKind.DELETED, DecisionKind.EXPIRED, DecisionKind.VOIDED, DecisionKind.RESOLVED)


@dataclass(frozen=True, slots=True)
class Ends:
    """The numbers of home: the next text's, the last conflict's and entry's, and the last entry
    that has left the log. `now` is milliseconds since 1970."""

    next: int
    conflicts: int
    logged: int
    trimmed: int
    now: int

    def has(self, entry: int) -> bool:
        """Whether an entry of this number is to be there."""
        return self.trimmed < entry <= self.logged


@dataclass(slots=True)
class TextFacts:
    """A text with all that it is to agree with. `standing` are the numbers under its id, `others`
    the texts of those; `lacking` the partitions that do not have it in a bucket where it belongs;
    `later` the log entries that name its id and came after the one that put it where it is."""

    text: StoredText
    has_words: bool
    standing: list[int]
    others: dict[int, StoredText] = field(default_factory=dict)
    decided: LogEntry | None = None
    conflict: StoredConflict | None = None
    waits_for: int | None = None
    is_linked: bool = True
    lacking: list[int] = field(default_factory=list)
    later: list[LogEntry] = field(default_factory=list)


def is_suspicious(facts: TextFacts) -> bool:
    """Whether its later log entries may tell that it has left: they are read only then."""
    text = facts.text
    if not text.state.is_indexed:
        return False
    return bool(facts.lacking) or text.number not in facts.standing or _waits_in_vain(facts)


def text_mend(collection: Collection, facts: TextFacts, ends: Ends) -> Mend | None:
    """The first thing that is wrong with a text, mended; None where nothing is."""
    text = facts.text
    if not facts.has_words and (text.state is not State.DROPPED or _stands(facts)):
        return _removal(collection, facts, Damage.WORDS, ends.now)
    if not text.state.is_indexed:
        return _mend_of_left(collection, facts, ends)
    if _has_left(facts):
        return _removal(collection, facts, Damage.STALE, ends.now)
    return (
        _mend_of_id(collection, facts, ends)
        or _mend_of_waiting(collection, facts, ends)
        or _mend_of_references(facts, ends)
        or _mend_of_buckets(collection, facts)
    )


def _plan(facts: TextFacts) -> Transaction:
    """A step that rests on a text and on what stands under its id."""
    plan = Transaction()
    plan.changes(items.text_item(facts.text.number))
    plan.changes(items.id_item(facts.text.id))
    return plan


def _stands(facts: TextFacts) -> bool:
    return facts.text.number in facts.standing


def _has_left(facts: TextFacts) -> bool:
    """Whether the log says that a text which stands has left, or is another one by now."""
    number = facts.text.number
    return any(
        not entry.is_reverted
        and (number in entry.kept or (entry.kind in LEAVES and entry.number == number))
        for entry in facts.later
    )


def _removal(collection: Collection, facts: TextFacts, damage: Damage, now: int) -> Mend:
    """A text goes, as if it had never been: its id may be posted again."""
    text, plan = facts.text, _plan(facts)
    number = packed(text.number)
    plan.writes += [(b"G", number), (b"F", number)]
    if text.signature:
        plan.writes.append((b"~", number, b"".join(tags_of(collection, text))))
        plan.brings.append(b"".join(tags_of(collection, text)))
    if text.state is State.DROPPED:
        plan.writes.append((b"t", packed(text.survivor), number))
    if facts.waits_for is not None:
        plan.touches.add(items.waiting_item(text.number))
        plan.writes.append((b"u", number, b""))
    if _stands(facts):
        rest = [other for other in facts.standing if other != text.number]
        plan.writes.append((b"I", text.id.encode(), b"".join(map(packed, rest))))
        if text.state is State.ACTIVE:
            write_retired(plan, text.id, now)
    return Mend(damage, plan)


def _mend_of_left(collection: Collection, facts: TextFacts, ends: Ends) -> Mend | None:
    """A text that was dropped, or is gone: the entry of its last decision keeps it."""
    text = facts.text
    if facts.decided is None and ends.has(text.decision):
        return _entry_anew(facts)
    if facts.decided is None or text.number not in facts.decided.kept:
        return _removal(collection, facts, Damage.UNKEPT, ends.now)
    if text.state is State.DROPPED and not facts.is_linked:
        plan = _plan(facts)
        plan.writes.append((b"T", packed(text.survivor), packed(text.number)))
        return Mend(Damage.LINK, plan)
    return None


def _entry_anew(facts: TextFacts) -> Mend:
    """The lost log entry that keeps a text, as far as the text tells it."""
    text = facts.text
    kind = {State.DROPPED: DecisionKind.DROPPED, State.HELD: DecisionKind.HELD}.get(
        text.state, DecisionKind.DELETED
    )
    of_pair = text.state is not State.GONE and text.match_id is not None
    entry = LogEntry(
        kind,
        document=text.id,
        number=text.number,
        twin=text.match_id if of_pair else None,
        twin_number=text.survivor if of_pair else 0,
        conflict=text.conflict if text.state is State.HELD else 0,
        kept=() if text.state.is_indexed else (text.number,),
        score=(text.score if text.drop_score is None else text.drop_score) if of_pair else None,
        reason=REASON,
        at=text.updated_at,
    )
    plan = _plan(facts)
    write_entry(plan, text.decision, entry)
    return Mend(Damage.ENTRY, plan)


def write_entry(plan: Transaction, number: int, entry: LogEntry) -> None:
    """Adds a log entry of a known number to a step."""
    plan.changes(items.entry_item(number))
    plan.writes.append((b"L", packed(number), entry_head(entry), entry_body(entry)))
    for id in {entry.document, entry.twin or entry.document}:
        plan.writes.append((b"Q", id.encode(), b"", packed(number)))


def write_retired(plan: Transaction, id: str, now: int) -> None:
    """Adds a log entry that tells downstream that a document is no longer active."""
    entry = LogEntry(
        DecisionKind.DELETED, document=id, reason=LOST, retire=(id,), by=REPAIR, at=now
    )
    plan.entries, plan.seconds = 1, now // 1000
    number = packed(entry_ref(0))
    plan.writes.append((b"L", number, entry_head(entry), entry_body(entry)))
    plan.writes.append((b"Q", id.encode(), b"", number))


def _mend_of_id(collection: Collection, facts: TextFacts, ends: Ends) -> Mend | None:
    """A text that is in the index stands under its id: the newest one, and a held one that is newer
    beside an active one."""
    text = facts.text
    if _stands(facts):
        return None
    there = [facts.others[n] for n in facts.standing if n in facts.others]
    there = [one for one in there if one.id == text.id and one.state is not State.GONE]
    if any(one.number > text.number for one in there):
        return _removal(collection, facts, Damage.STALE, ends.now)
    bound = [text.number]
    if text.state is State.HELD and there and there[0].state is State.ACTIVE:
        bound = [there[0].number, text.number]
    plan = _plan(facts)
    plan.reads.update(items.text_item(number) for number in facts.standing)
    plan.writes.append((b"I", text.id.encode(), b"".join(map(packed, bound))))
    return Mend(Damage.UNBOUND, plan)


def _is_own_conflict(facts: TextFacts) -> bool:
    return facts.conflict is not None and facts.conflict.incoming == facts.text.number


def _waits_in_vain(facts: TextFacts) -> bool:
    """Whether a held text is neither in an open conflict nor to be checked anew."""
    if facts.text.state is not State.HELD:
        return False
    is_open = facts.conflict is not None and facts.conflict.status is ConflictStatus.OPEN
    return not (is_open and _is_own_conflict(facts)) and facts.waits_for is None


def _mend_of_waiting(collection: Collection, facts: TextFacts, ends: Ends) -> Mend | None:
    text, conflict = facts.text, facts.conflict
    if text.state is not State.HELD:
        return None
    plan = _plan(facts)
    plan.changes(items.conflict_item(text.conflict))
    plan.changes(items.waiting_item(text.number))
    if conflict is None and text.conflict and ends.logged:
        plan.writes += _void_anew(text, ends)
    elif (
        conflict is None
        or not _is_own_conflict(facts)
        or conflict.status is ConflictStatus.RESOLVED
    ):
        return _removal(collection, facts, Damage.STALE, ends.now)
    elif conflict.status is ConflictStatus.OPEN:
        if facts.waits_for is None:
            return None
        plan.writes.append((b"u", packed(text.number), b""))
        return Mend(Damage.HELD, plan)
    elif facts.waits_for == text.conflict:
        return None
    plan.writes.append((b"U", packed(text.number), packed(text.conflict)))
    return Mend(Damage.HELD, plan)


def _void_anew(text: StoredText, ends: Ends) -> Sequence[tuple[bytes, ...]]:
    """The lost conflict of a held text, as one that is void: the text is checked anew."""
    other = text.match_id or text.id
    conflict = StoredConflict(
        number=text.conflict,
        status=ConflictStatus.VOID,
        existing=0,
        incoming=text.number,
        existing_id=other,
        incoming_id=text.id,
        score=text.score,
        changes=NO_CHANGES,
        opened_at=text.updated_at,
    )
    number = packed(text.conflict)
    written = b"v" + packed(0) + packed(text.number) + conflict_rest(conflict)
    return [
        (b"C", number, written),
        (b"O", number, b"%d" % -ends.logged),
        *((b"Q", id.encode(), OF_CONFLICTS, number) for id in {other, text.id}),
    ]


def _mend_of_references(facts: TextFacts, ends: Ends) -> Mend | None:
    """What a text names of the log is about it."""
    text, decided = facts.text, facts.decided
    mended = text
    if decided is not None and text.id not in (decided.document, decided.twin):
        mended = replace(mended, decision=0)
    if text.decision > ends.logged:
        mended = replace(mended, decision=0)
    if text.superseded is not None and text.superseded[2] > ends.logged:
        mended = replace(mended, superseded=None)
    if text.state is State.HELD and decided is None and ends.has(text.decision):
        return _entry_anew(facts)
    if mended is text:
        return None
    plan = _plan(facts)
    plan.writes.append((b"R", packed(text.number), pack(mended), b""))
    return Mend(Damage.REFERENCE, plan)


def _mend_of_buckets(collection: Collection, facts: TextFacts) -> Mend | None:
    if not facts.lacking:
        return None
    plan, tags = _plan(facts), tags_of(collection, facts.text)
    plan.changes(items.seen_item(facts.text.number))
    plan.brings.append(b"".join(tags))
    plan.writes.append((b"=", packed(facts.text.number), b"".join(tags)))
    return Mend(Damage.UNINDEXED, plan)
