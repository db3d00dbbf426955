"""The state at a glance: what was checked, what was found, what waits, what cleaning took out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Final

from flask import Blueprint, render_template, request

from service.dedup.decisions import ConflictStatus
from service.dedup.queue import Queued, QueueFilter
from service.dedup.stored import CollectionStatistics, DocumentCounts
from service.dedup.verdict import Action, Verdict
from service.errors import UnknownCollection
from service.text.cleaning_report import RULES
from service.web.access import permit
from service.web.review.charts import histogram, shares
from service.web.review.guard import Answer, page, visitor
from service.web.review.rules import examples
from service.web.wiring import wiring

MOST_COLLECTIONS: Final = 500
VERDICTS: Final = (
    ("New", Verdict.NEW),
    ("Exact duplicate", Verdict.EXACT_DUPLICATE),
    ("Near duplicate", Verdict.NEAR_DUPLICATE),
)
ACTIONS: Final = (
    ("Ingest: embed it", Action.INGEST),
    ("Skip: drop it", Action.SKIP),
    ("Review: a person decides", Action.REVIEW),
)

blueprint = Blueprint("overview", __name__)


@dataclass(slots=True)
class Sums:
    """The counters of several collections together."""

    documents: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    actions: Counter[str] = field(default_factory=Counter)
    conflicts: Counter[str] = field(default_factory=Counter)
    removed: Counter[str] = field(default_factory=Counter)
    scores: Counter[float] = field(default_factory=Counter)
    replayed: int = 0
    leaks: int = 0
    chars_before: int = 0
    chars_after: int = 0
    bytes_kept: int = 0

    def add(self, one: CollectionStatistics) -> None:
        """Adds those of one collection."""
        documents = _by_state(one.documents)
        self.documents.update(documents)
        self.verdicts.update(one.verdicts)
        self.actions.update(one.actions)
        self.conflicts.update(one.conflicts)
        self.removed.update(one.removed)
        self.scores.update(one.scores)
        self.replayed += one.replayed
        self.leaks += one.leaks
        self.chars_before += one.chars_before
        self.chars_after += one.chars_after
        self.bytes_kept += (one.bytes_per_document or 0) * sum(documents.values())

    @property
    def checks(self) -> int:
        """Checks answered, replays too."""
        return self.verdicts.total() + self.replayed

    @property
    def duplicates(self) -> int:
        """Checks that found a duplicate."""
        return self.verdicts.total() - self.verdicts[Verdict.NEW]

    @property
    def bytes_per_document(self) -> int | None:
        """What a document takes in the store; None where there is none."""
        count = self.documents.total()
        return self.bytes_kept // count if count else None


@blueprint.get("")
@page
def show() -> Answer:
    """The page, for one collection or all that the visitor may look at."""
    infos = wiring().catalogue.collections(MOST_COLLECTIONS, None).items
    allowed = visitor().collections
    offered = [info for info in infos if allowed is None or info.name in allowed]
    known = offered
    chosen = request.args.get("collection") or None
    if chosen is not None:
        permit(chosen)
        known = [info for info in offered if info.name == chosen]
        if not known:
            raise UnknownCollection("there is no collection of this name")
    names = [info.name for info in known]
    counted = wiring().catalogue.statistics(chosen)
    sums = Sums()
    for name in names:
        if name in counted.collections:
            sums.add(counted.collections[name])
    return render_template(
        "review/overview.html",
        collections=[info.name for info in offered],
        chosen=chosen,
        sums=sums,
        waiting=sums.conflicts[ConflictStatus.OPEN],
        oldest=_oldest(names),
        verdicts=shares([(words, sums.verdicts[one]) for words, one in VERDICTS]),
        actions=shares([(words, sums.actions[one]) for words, one in ACTIONS]),
        removed=shares([(rule, sums.removed[rule]) for rule in RULES]),
        examples=examples(),
        histogram=histogram(sums.scores, [info.settings.threshold for info in known]),
        store=counted.store if allowed is None else None,
    )


def _oldest(names: Collection[str]) -> Queued | None:
    """The conflict that waits longest."""
    items: Sequence[Queued] = wiring().reviewer.queue(names, QueueFilter(), 1).items
    return items[0] if items else None


def _by_state(documents: DocumentCounts) -> dict[str, int]:
    return {
        "active": documents.active,
        "held": documents.held,
        "dropped": documents.dropped,
    }
