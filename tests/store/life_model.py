"""The life of a document as `docs/life.md` tells it: a model in plain Python, by brute force.

Each text that was ever registered is an object, ids point to their main and pending ones, and what
the service keeps an index for is looked for among all of them, one by one. Errors are the service's
own classes; all else is plain strings, as on the wire.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from service.dedup.scheme import CollectionSettings
from service.dedup.shingles import jaccard
from service.errors import (
    AlreadyResolved,
    AlreadyReverted,
    ConflictVoid,
    EarlierConflict,
    NotRevertible,
    UnknownDocument,
)
from service.preparing import shingles_of
from service.text.changes import find_changes
from service.text.cleaning import clean
from service.text.normalization import normalize

SETTINGS = CollectionSettings()

ACTIVE, HELD, DROPPED, GONE = "active", "held", "dropped", "gone"
INDEXED = (ACTIVE, HELD)
OPEN, RESOLVED, VOID = "open", "resolved", "void"
INCOMING, EXISTING, BOTH = "incoming", "existing", "both"

Metadata = Mapping[str, str | int | float]


# What two texts are to each other, by the service's own pure functions.


@cache
def cleaned(posted: str) -> str:
    return clean((posted,), SETTINGS.cleaning).text


@cache
def normalized(posted: str) -> str:
    return normalize(cleaned(posted), SETTINGS.normalization)


def equal(one: str, other: str) -> bool:
    return normalized(one) == normalized(other)


@cache
def likeness(one: str, other: str) -> float:
    if equal(one, other):
        return 1.0
    return jaccard(shingles_of(cleaned(one), SETTINGS), shingles_of(cleaned(other), SETTINGS))


@cache
def facts_differ(existing: str, incoming: str) -> bool:
    return find_changes(cleaned(existing), cleaned(incoming)).facts_differ


# Which of two stays.


def newest(existing: Metadata, incoming: Metadata) -> str | None:
    """By `updated_at` where both have it, else by `version`; None where that does not tell."""
    readers: dict[str, Callable[[Any], Any]] = {"updated_at": str, "version": dotted}
    for key, read in readers.items():
        if key in existing and key in incoming:
            return higher(read(existing[key]), read(incoming[key]))
    return None


def dotted(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def higher(existing: Any, incoming: Any) -> str | None:
    if existing == incoming:
        return None
    return EXISTING if existing > incoming else INCOMING


SURVIVOR_RULES: dict[str, Callable[[Metadata, Metadata], str | None]] = {
    "newest": newest,
    "authority": lambda one, other: higher(one.get("authority", 0), other.get("authority", 0)),
    "richest": lambda one, other: higher(len(one), len(other)),
    "first": lambda *_: EXISTING,
}


def survivor(rules: Sequence[str], existing: Metadata, incoming: Metadata) -> str | None:
    """What the first rule says that decides."""
    decided = (SURVIVOR_RULES[name](existing, incoming) for name in rules)
    return next((kept for kept in decided if kept), None)


# What is known.


@dataclass(frozen=True)
class First:
    """What a text was told when it was registered; a replay tells it again."""

    verdict: str = "new"
    kind: str | None = None
    match: str | None = None
    score: float | None = None


@dataclass(eq=False)
class Text:
    """A registered text. `rests_on` is what it was dropped for, `kept_by` the entry that keeps it
    since it last left, `family` the number of the text that its family began with."""

    number: int
    id: str
    posted: str
    metadata: Metadata
    seen: int
    first: First
    family: int = 0
    state: str = GONE
    rests_on: "Text | None" = None
    kept_by: "Entry | None" = None
    erased: bool = False

    def __repr__(self) -> str:
        return f"{self.id}#{self.number} {self.state}"


@dataclass(eq=False)
class Conflict:
    """Two near copies whose facts differ."""

    existing: Text
    incoming: Text
    status: str = OPEN
    keep: str | None = None

    @property
    def pair(self) -> frozenset[str]:
        return frozenset((normalized(self.existing.posted), normalized(self.incoming.posted)))

    def __repr__(self) -> str:
        return f"<{self.incoming!r}> {self.status} with <{self.existing!r}>"


@dataclass(eq=False)
class Entry:
    """An entry of the log. `text` is what a revert of it brings back, `other` the other side of
    that pair. Of a ruling, `was_held` tells what its incoming text was before, and `main` is the
    main text that it took the place of, if it was a pending update. `erased`: it names an id of
    which every word was taken out."""

    kind: str
    document: str
    twin: str | None = None
    ingest: tuple[str, ...] = ()
    retire: tuple[str, ...] = ()
    text: Text | None = None
    other: Text | None = None
    conflict: Conflict | None = None
    was_held: bool = False
    main: Text | None = None
    reverted: bool = False
    erased: bool = False


@dataclass(frozen=True)
class Outcome:
    """A row of the table of checks: what the posted text becomes, what it is in conflict with
    then, whether the match is dropped for it, and which side a rule chose, if one did."""

    state: str = ACTIVE
    match: Text | None = None
    against: Text | None = None
    wins: bool = False
    rule: str | None = None


@dataclass(frozen=True)
class Told:
    """The answer to a check. `text` is what it is about (None for a dry run that would register
    one), `state` what that is after this check and before anything is checked anew, `retire` what
    was active until then, `supersedes` how alike it is to the main text. Where the words stood
    under this id there is no `outcome`."""

    first: First
    state: str
    text: Text | None = None
    outcome: Outcome | None = None
    replayed: bool = False
    conflict: Conflict | None = None
    retire: tuple[str, ...] = ()
    supersedes: float | None = None
    entry: "Entry | None" = None


@dataclass
class Model:
    """One collection, and what is promised of it."""

    on_conflict: str = "review"
    survivor_rules: Sequence[str] = SETTINGS.survivor
    ttl_days: int | None = None
    day: int = 0
    texts: list[Text] = field(default_factory=list)
    main: dict[str, Text] = field(default_factory=dict)
    pending: dict[str, Text] = field(default_factory=dict)
    conflicts: list[Conflict] = field(default_factory=list)
    log: list[Entry] = field(default_factory=list)
    rulings: dict[frozenset[str], str] = field(default_factory=dict)
    reverted_pairs: set[frozenset[tuple[str, str]]] = field(default_factory=set)
    waiting: list[Conflict] = field(default_factory=list)
    kin: dict[int, int] = field(default_factory=dict)

    # Looking.

    def active(self) -> dict[str, Text]:
        """What downstream has."""
        return {id: text for id, text in self.main.items() if text.state == ACTIVE}

    def indexed(self) -> Iterator[Text]:
        """What a look sees: main and pending texts that are active or held."""
        standing = (*self.main.values(), *self.pending.values())
        return (text for text in standing if text.state in INDEXED)

    def anchor(self, text: Text) -> Text | None:
        """What a text rests on, followed along replacements: itself where it was not dropped,
        None where that ends at nothing."""
        at: Text | None = text
        while at is not None and at.state == DROPPED:
            at = at.rests_on
        return at if at is not None and at.state in INDEXED else None

    def conflict_of(self, text: Text) -> Conflict | None:
        """The open conflict in which a text is the incoming one."""
        found = (c for c in self.conflicts if c.incoming is text and c.status == OPEN)
        return next(found, None)

    def waits_for(self, text: Text) -> list[Text]:
        """What rules on a held text have to come after, one behind the other, and last the active
        text that the first of them is about."""
        found: list[Text] = []
        while text.state == HELD and text not in found[:-1]:
            conflict = self.conflict_of(text)
            if conflict is None:
                break
            text = conflict.existing
            found.append(text)
        return found

    def copies_of(self, id: str) -> tuple[set[str], set[str]]:
        """The documents once dropped for one of this id; and with those that rest on it too."""
        own = [text for text in (self.main.get(id), self.pending.get(id)) if text is not None]
        copies = [copy for copy in self.main.values() if copy.state == DROPPED and copy.id != id]
        direct = {copy.id for copy in copies if copy.rests_on in own}
        return direct, direct | {copy.id for copy in copies if self.anchor(copy) in own}

    def standing(self, id: str, posted: str) -> Text | None:
        """The text of this id that has these words, where what it rests on is there."""
        for text in (self.main.get(id), self.pending.get(id)):
            if text is not None and equal(text.posted, posted) and self.anchor(text):
                return text
        return None

    # A check.

    def check(self, id: str, posted: str, metadata: Metadata) -> Told:
        """A check, with all that follows from it."""
        told = self.predict(id, posted, metadata)
        if told.text is None:
            told = self.register(id, posted, metadata, told)
        else:
            self.post_again(told.text, posted, metadata)
        self.check_waiting_ones_anew()
        return told

    def predict(self, id: str, posted: str, metadata: Metadata) -> Told:
        """The answer to a dry run: nothing is changed."""
        text = self.standing(id, posted)
        if text is not None:
            replayed = text.posted == posted
            return Told(
                text.first, text.state, text, replayed=replayed, conflict=self.conflict_of(text)
            )
        outcome = self.decide(id, posted, metadata)
        retire = tuple(self.retired_by(id, outcome))
        main = self.main.get(id)
        alike = likeness(main.posted, posted) if main and main.posted != posted else None
        first = self.first_answer(posted, outcome)
        return Told(first, outcome.state, None, outcome, retire=retire, supersedes=alike)

    def post_again(self, text: Text, posted: str, metadata: Metadata) -> None:
        """A replay, or other bytes of the same words. The main text takes a pending one back."""
        rewritten, id = text.posted != posted, text.id
        text.posted, text.metadata = posted, metadata or text.metadata
        for seen in (text, self.anchor(text)):
            if seen is not None:
                seen.seen = self.day
        with self.step():
            if text is self.main[id] and id in self.pending:
                self.leave(self.pending.pop(id))
                self.note("voided", id)
        if rewritten:
            self.note("updated", id, ingest=[id] if text.state == ACTIVE else [])

    def register(self, id: str, posted: str, metadata: Metadata, told: Told) -> Told:
        """A text that does not stand under this id gets a number, and its place."""
        outcome = told.outcome or Outcome()
        text = Text(len(self.texts) + 1, id, posted, metadata, self.day, told.first)
        text.family = self.kin[text.number] = text.number
        self.texts.append(text)
        with self.step():
            if told.supersedes is not None and not (outcome.state == HELD and id in self.active()):
                self.note("updated", id)
            entry = self.settle(text, outcome)
        if outcome.match is not None:
            outcome.match.seen = self.day
        return replace(told, text=text, conflict=self.conflict_of(text), entry=entry)

    def first_answer(self, posted: str, outcome: Outcome) -> First:
        match = outcome.match
        if match is None:
            return First()
        score = likeness(match.posted, posted)
        if not equal(match.posted, posted):
            return First("near_duplicate", "near", match.id, score)
        kind = "bytes" if match.posted == posted else "normalized"
        return First("exact_duplicate", kind, match.id, score)

    # The table of a check.

    def decide(self, id: str, posted: str, metadata: Metadata, anew: Text | None = None) -> Outcome:
        """The first row that applies. A text that is checked `anew` looks only at such held ones
        as were registered before it, and do not wait for it."""
        match, stay_both = self.match(id, posted, anew)
        if match is None or stay_both:
            return Outcome(ACTIVE, match)
        if equal(match.posted, posted):
            return Outcome(DROPPED, match, rule=EXISTING)
        stays = self.ruled(match, posted)
        if stays is None and not facts_differ(match.posted, posted):
            stays = survivor(self.survivor_rules, match.metadata, metadata)
        if stays is None:
            return self.differing(id, match, metadata)
        return self.chosen(id, match, stays)

    def match(self, id: str, posted: str, anew: Text | None) -> tuple[Text | None, bool]:
        """The text of another id that this one is a copy of, and whether both are to stay."""

        def rank(text: Text) -> tuple[bool, bool, float, bool, int]:
            near = not equal(text.posted, posted)
            differ = near and facts_differ(text.posted, posted)
            alike = likeness(text.posted, posted)
            return near, differ, -alike, text.state == HELD, text.number

        others = [
            text
            for text in self.indexed()
            if text.id != id
            and likeness(text.posted, posted) >= SETTINGS.threshold
            and (anew is None or text.state == ACTIVE or self.may_wait_for(anew, text))
        ]
        asked = [text for text in others if not self.both_stay(id, posted, text)]
        return min(asked or others, key=rank, default=None), not asked

    def may_wait_for(self, text: Text, held: Text) -> bool:
        """Whether no two would wait for each other."""
        return held.number < text.number and text not in self.waits_for(held)

    def both_stay(self, id: str, posted: str, other: Text) -> bool:
        words = normalized(posted), normalized(other.posted)
        ids = frozenset(((id, words[0]), (other.id, words[1])))
        return self.rulings.get(frozenset(words)) == BOTH or ids in self.reverted_pairs

    def ruled(self, match: Text, posted: str) -> str | None:
        """What a ruling on these two texts says, whoever posted them."""
        kept = self.rulings.get(frozenset((normalized(match.posted), normalized(posted))))
        if kept is None:
            return None
        return EXISTING if kept == normalized(match.posted) else INCOMING

    def differing(self, id: str, match: Text, metadata: Metadata) -> Outcome:
        """Near copies whose facts differ, and nobody has ruled on them."""
        held = Outcome(HELD, match, against=match)
        if self.on_conflict == "skip":
            return Outcome(DROPPED, match)
        if match.state == HELD or self.on_conflict == "review":
            return held
        if self.on_conflict == "ingest":
            return Outcome(ACTIVE, match, against=match)
        stays = survivor(("newest", "authority"), match.metadata, metadata)
        return held if stays is None else self.chosen(id, match, stays)

    def chosen(self, id: str, match: Text, stays: str) -> Outcome:
        """A rule chose one of two. Who wins against a held text is held in its place, unless that
        would be against a text of its own id."""
        if stays == EXISTING:
            return Outcome(DROPPED, match, rule=EXISTING)
        conflict = self.conflict_of(match) if match.state == HELD else None
        if conflict is None or conflict.existing.id == id:
            return Outcome(ACTIVE, match, wins=True, rule=INCOMING)
        return Outcome(HELD, match, conflict.existing, wins=True, rule=INCOMING)

    def retired_by(self, id: str, outcome: Outcome) -> list[str]:
        """What is not active any more once a text of this id is settled."""
        losers = [id] if outcome.state == DROPPED else []
        if outcome.wins and outcome.match is not None:
            losers.append(outcome.match.id)
        return [loser for loser in losers if loser in self.active()]

    # How texts come and go.

    def settle(self, text: Text, outcome: Outcome) -> Entry | None:
        """Gives a text the place that was decided; the entry that tells of it."""
        self.place(text, outcome.state)
        match, held_by = outcome.match, outcome.against
        if match is None:
            return None
        self.join(text, match)
        if held_by is not None:
            self.conflicts.append(Conflict(held_by, text))
        entry = None
        if outcome.wins:
            self.lose(match, text)
            entry = self.note("replaced", match.id, text.id, text=match, other=text)
        if text.state == DROPPED:
            text.rests_on = match
            entry = self.note("dropped", text.id, match.id, text=text, other=match)
        if text.state == HELD and held_by is not None:
            held = self.note("held", text.id, held_by.id)
            entry = entry or held
        return entry

    def place(self, text: Text, state: str) -> None:
        """Puts a text under its id: a held one beside an active one, any other as the main text.
        What stood in its place leaves."""
        text.state, text.rests_on, text.kept_by = state, None, None
        main, pending = self.main.get(text.id), self.pending.pop(text.id, None)
        leaving = [pending]
        if state == HELD and main is not None and main is not text and main.state == ACTIVE:
            self.pending[text.id] = text
        else:
            self.main[text.id] = text
            leaving.append(main)
        for other in leaving:
            if other is not None and other is not text:
                self.leave(other)
        if state == DROPPED:
            self.void_conflicts_of(text)

    def leave(self, text: Text) -> None:
        """A text leaves the index; a dropped one is not there, and stays with its entry."""
        if text.state in INDEXED:
            text.state = GONE
            self.void_conflicts_of(text)

    def lose(self, text: Text, winner: Text) -> None:
        """A text that stood is dropped for another one. With a pending text the main one leaves
        too; after a main text the pending one is the main one, still held."""
        update = self.pending.get(text.id)
        if update is not None and update is not text:
            self.main[text.id] = self.pending.pop(text.id)
            text.state = DROPPED
            self.void_conflicts_of(text)
        else:
            self.place(text, DROPPED)
        text.rests_on = winner

    def void_conflicts_of(self, text: Text) -> None:
        """Whoever was held by a text that left is to be checked anew."""
        for conflict in self.conflicts:
            if conflict.status == OPEN and text in (conflict.existing, conflict.incoming):
                conflict.status = VOID
                self.waiting.append(conflict)

    def check_waiting_ones_anew(self) -> None:
        """The oldest first, until no copy is held by nothing."""
        while self.waiting:
            conflict = min(self.waiting, key=lambda void: void.incoming.number)
            self.waiting.remove(conflict)
            text = conflict.incoming
            if text.state != HELD or self.conflict_of(text) is not None:
                continue
            with self.step():
                outcome = self.decide(text.id, text.posted, text.metadata, text)
                self.note("voided", text.id, (outcome.match or conflict.existing).id)
                self.settle(text, outcome)

    def join(self, text: Text, match: Text) -> None:
        """Whatever was matched shares a family; `kin` tells which families ever met."""
        one, other = self.kin[text.family], self.kin[match.family]
        self.kin = {family: one if kin == other else kin for family, kin in self.kin.items()}
        text.family = match.family

    @contextmanager
    def step(self) -> Iterator[None]:
        """One event: each of its entries says of its own two ids what is active with a text that
        it had not, and what was active and is not. An update leaves the latter to the entry that
        says why."""
        before, first = self.active(), len(self.log)
        yield
        now = self.active()
        for entry in self.log[first:]:
            ids = [id for id in (entry.document, entry.twin) if id is not None]
            entry.ingest = tuple(id for id in ids if id in now and now[id] is not before.get(id))
            if entry.kind != "updated":
                entry.retire = tuple(id for id in ids if id in before and id not in now)

    def note(
        self,
        kind: str,
        document: str,
        twin: str | None = None,
        *,
        ingest: Sequence[str] = (),
        text: Text | None = None,
        **more: Any,
    ) -> Entry:
        """Writes an entry, which keeps `text`."""
        entry = Entry(kind, document, twin, tuple(ingest), text=text, **more)
        self.log.append(entry)
        if text is not None:
            text.kept_by = entry
        return entry

    # What else happens.

    def delete(self, id: str, erase: bool) -> tuple[set[str], set[str]]:
        """The copies once dropped for the document, and all that rest on it in the end."""
        named = [entry for entry in self.log if id in (entry.document, entry.twin)]
        if id not in self.main and not (erase and named):
            raise UnknownDocument("")
        copies = self.copies_of(id)
        if id in self.main:
            text, pending = self.main[id], self.pending.pop(id, None)
            by = text.kept_by if text.state == DROPPED else None
            with self.step():
                for left in (self.main.pop(id), pending):
                    if left is not None:
                        self.leave(left)
                        left.state = GONE
                named.append(self.note("deleted", id, text=text, other=by.other if by else None))
        if erase:
            for entry in named:
                entry.erased = True
            for known in self.texts:
                known.erased = known.erased or known.id == id
        self.check_waiting_ones_anew()
        return copies

    def expire(self) -> None:
        """Active and dropped documents that nobody posted or matched for too long."""
        for id, text in list(self.main.items()):
            old = self.ttl_days is not None and self.day - text.seen > self.ttl_days
            if old and text.state != HELD:
                del self.main[id]
                self.leave(text)

    def resolve(self, conflict: Conflict, keep: str) -> Entry | None:
        """A ruling; None where the same one was given before."""
        if conflict.status == VOID:
            raise ConflictVoid("")
        if conflict.status == RESOLVED:
            if conflict.keep != keep:
                raise AlreadyResolved("")
            return None
        existing, incoming = conflict.existing, conflict.incoming
        if existing.state == HELD:
            raise EarlierConflict("")
        conflict.status, conflict.keep = RESOLVED, keep
        kept = {EXISTING: existing, INCOMING: incoming}.get(keep)
        self.rulings[conflict.pair] = normalized(kept.posted) if kept else BOTH
        was_held, update = incoming.state == HELD, incoming is self.pending.get(incoming.id)
        main = self.main[incoming.id] if update else None
        with self.step():
            entry = self.note("resolved", incoming.id, existing.id, conflict=conflict)
            entry.was_held, entry.main = was_held, main
            if keep == EXISTING:
                self.lose(incoming, existing)
            elif was_held:
                self.place(incoming, ACTIVE)
            if keep == INCOMING:
                self.lose(existing, incoming)
        for left in (existing, incoming, main):
            if left is not None and left.state not in INDEXED:
                left.kept_by = entry
        self.check_waiting_ones_anew()
        return entry

    def revert(self, entry: Entry) -> Entry:
        """Takes a decision back; gives the new entry."""
        if entry.reverted:
            raise AlreadyReverted("")
        if entry.kind in ("dropped", "replaced", "deleted"):
            new = self.bring_back(entry)
        elif entry.kind == "resolved":
            new = self.open_again(entry)
        else:
            raise NotRevertible("")
        entry.reverted = True
        return new

    def bring_back(self, entry: Entry) -> Entry:
        """A dropped, replaced or deleted text is active again, beside its twin for good."""
        text, twin = entry.text, entry.other
        if text is None or text.kept_by is not entry or text.erased:
            raise NotRevertible("")
        if self.main.get(text.id, text) is not text:
            raise NotRevertible("")
        if twin is not None:
            sides = [(side.id, normalized(side.posted)) for side in (text, twin)]
            self.reverted_pairs.add(frozenset(sides))
        with self.step():
            self.place(text, ACTIVE)
            return self.note("reverted", text.id, entry.twin)

    def open_again(self, entry: Entry) -> Entry:
        """Both sides of a ruling as before, where they stand as it left them."""
        conflict = entry.conflict
        assert conflict is not None
        existing, incoming, main = conflict.existing, conflict.incoming, entry.main
        loser = {EXISTING: incoming, INCOMING: existing}.get(conflict.keep or "")
        for side in (existing, incoming):
            as_left = side.kept_by is entry if side is loser else side.state == ACTIVE
            if self.main.get(side.id) is not side or not as_left:
                raise NotRevertible("")
        if entry.was_held and incoming.id in self.pending:
            raise NotRevertible("")
        conflict.status, conflict.keep = OPEN, None
        self.rulings.pop(conflict.pair, None)
        with self.step():
            existing.state, incoming.state = ACTIVE, HELD if entry.was_held else ACTIVE
            for text in (existing, incoming):
                text.rests_on = text.kept_by = None
            if main is not None:
                main.state, main.kept_by = ACTIVE, None
                self.main[main.id], self.pending[main.id] = main, incoming
            return self.note("reverted", incoming.id, existing.id)

    # Itself.

    def __str__(self) -> str:
        """The documents in a line, for whoever reads why a test failed."""
        return ", ".join(
            " + ".join(repr(text) for text in (main, self.pending.get(id)) if text is not None)
            for id, main in sorted(self.main.items())
        )

    def contradictions(self) -> list[str]:
        """What must never be, whatever happens: in words, where it is."""
        found = []
        for id, text in self.pending.items():
            if text.state != HELD or id not in self.active():
                found.append(f"{text!r} is pending beside {self.main.get(id)!r}")
        indexed = list(self.indexed())
        for text in self.texts:
            if (text.state in INDEXED) != (text in indexed):
                found.append(f"{text!r} is out of place")
            first = self.waits_for(text)[-1:]
            if text.state == HELD and (not first or first[0].state != ACTIVE):
                found.append(f"no ruling can decide about {text!r}")
        for conflict in self.conflicts:
            sides = conflict.existing, conflict.incoming
            if conflict.status == OPEN and (
                any(side.state not in INDEXED for side in sides) or sides[0].id == sides[1].id
            ):
                found.append(repr(conflict))
        return found
