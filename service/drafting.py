"""Drafts a step of the life of documents: who leaves, who comes, under which id, and what is told.

A draft knows the texts under each id it touches, before and after. From that come the counters of
documents and what downstream ingests and retires. `docs/life.md` has the events.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from service.dedup.decisions import ConflictStatus, DecisionKind
from service.dedup.verdict import State
from service.store.base import Standing, StoredText
from service.store.step import Closing, LogEntry, Move, Step, StoredConflict, entry_ref


class Draft:
    """A step in the making; `now` is milliseconds since 1970."""

    def __init__(self, now: int) -> None:
        self.step = Step(now)
        self._before: dict[str, Standing] = {}
        self._after: dict[str, Standing] = {}
        self._refreshed: set[str] = set()

    def knows(self, standing: Standing) -> None:
        """The step rests on what stands under this id, and may change it."""
        if standing.id in self._before:
            return
        self._before[standing.id] = self._after[standing.id] = standing
        self.step.is_standing.append(standing)

    def rests_on(self, text: StoredText) -> None:
        """The step rests on this text standing as it was read."""
        self.step.is_text[text.number] = text

    def standing(self, id: str) -> Standing:
        """What stands under an id once the step is applied."""
        return self._after[id]

    def binds(self, id: str, main: StoredText | None, pending: StoredText | None = None) -> None:
        """From now on these texts stand under the id."""
        self._after[id] = Standing(id, main, pending)

    def leaves(self, text: StoredText, *, kept_by: int = 0, erase: bool = False) -> None:
        """A text leaves. `kept_by`: the log entry that keeps it, so that it can be brought back.
        One that was dropped stays as it is otherwise, for its entry and for what rests on it."""
        self.rests_on(text)
        if text.state is State.DROPPED and not erase and not kept_by:
            return
        gone = None
        if kept_by:
            gone = replace(text, state=State.GONE, signature=b"", decision=kept_by)
        self.step.moves.append(Move(text, gone, forget=not kept_by))

    def becomes(self, text: StoredText, changed: StoredText) -> None:
        """A text changes; where it stands under an id that is known, it does so there too."""
        self.rests_on(text)
        self.step.moves.append(Move(text, changed))
        for id, standing in self._after.items():
            main, pending = standing.main, standing.pending
            if main is not None and main.number == text.number:
                self._after[id] = Standing(id, changed, pending)
            if pending is not None and pending.number == text.number:
                self._after[id] = Standing(id, main, changed)

    def was_active(self) -> list[str]:
        """Ids that were active before."""
        return [id for id, before in self._before.items() if _active(before) is not None]

    def refreshes(self, text: StoredText) -> None:
        """A text gets other bytes with the same words: downstream takes it again, if active."""
        if text.state is State.ACTIVE:
            self._refreshed.add(text.id)

    def drops(
        self, text: StoredText, survivor: int, score: float, entry: int, family: int = 0
    ) -> StoredText:
        """A text is dropped for another one; `entry` is the log entry that says so."""
        own_score = text.kind is not None and text.score == score
        dropped = replace(
            text,
            state=State.DROPPED,
            signature=b"",
            survivor=survivor,
            drop_score=None if own_score else score,
            decision=entry,
            family=family or text.family,
        )
        self.becomes(text, dropped)
        return dropped

    def closes(self, conflict: StoredConflict, status: ConflictStatus) -> None:
        """A conflict is over, or open again; it is as it was read until then."""
        self.step.is_conflict.setdefault(conflict.number, conflict.status)
        self.step.closed.append(Closing(conflict.number, status, replace(conflict, status=status)))

    def logs(self, entry: LogEntry) -> int:
        """Adds a log entry; what it gives stands for the entry's number."""
        self.step.entries.append(entry)
        return entry_ref(len(self.step.entries) - 1)

    def ingested(self) -> list[str]:
        """Ids that are active with a text they had not."""
        return [
            id
            for id, after in self._after.items()
            if _active(after) is not None and _active(after) != _active(self._before[id])
        ]

    def retired(self) -> list[str]:
        """Ids that were active and are not any more."""
        return [
            id
            for id, before in self._before.items()
            if _active(before) is not None and _active(self._after[id]) is None
        ]

    def finished(self) -> Step:
        """The step, with what follows from all of it: which ids have other texts, how many
        documents of each state there are, and what each entry has downstream do."""
        step = self.step
        counters = step.counters
        for id, before in self._before.items():
            after = self._after[id]
            if _numbers(after) != _numbers(before):
                step.standing.append(after)
            if before.main is not None:
                _count(counters, before.main.state, -1)
            if after.main is not None:
                _count(counters, after.main.state, 1)
        ingested, retired = set(self.ingested()), set(self.retired())
        for entry in step.entries:
            named = [id for id in (entry.document, entry.twin) if id is not None]
            entry.ingest = tuple(id for id in named if id in ingested)
            entry.retire = tuple(id for id in named if id in retired)
            if entry.kind is DecisionKind.UPDATED:
                # An update that is dropped has an entry for that too, which retires it.
                entry.retire = ()
                if entry.document in self._refreshed:
                    entry.ingest = (entry.document,)
        return step


def downstream(
    entries: Sequence[LogEntry], was_active: Collection[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is to be ingested and retired in the end, by entries in their order: what one ingests
    and a later one retires is ingested by neither. `was_active`: ids known to have been before."""
    was: dict[str, bool] = dict.fromkeys(was_active, True)
    now: dict[str, bool] = {}
    for entry in entries:
        for id in entry.retire:
            was.setdefault(id, True)
            now[id] = False
        for id in entry.ingest:
            was.setdefault(id, False)
            now[id] = True
    ingest = tuple(id for id, active in now.items() if active)
    return ingest, tuple(id for id, active in now.items() if not active and was[id])


def _active(standing: Standing) -> int | None:
    main = standing.main
    return main.number if main is not None and main.state is State.ACTIVE else None


def _numbers(standing: Standing) -> tuple[int, ...]:
    return tuple(text.number for text in standing.texts)


def _count(counters: dict[str, int], state: State, by: int) -> None:
    counters[state.value] = counters.get(state.value, 0) + by
