"""Decisions: search them, look at one beside its twin, take it back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from urllib.parse import urlencode

from flask import Blueprint, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from service.dedup.decisions import Decision, DecisionFilter, DecisionKind
from service.errors import (
    AlreadyReverted,
    InvalidRequest,
    NotRevertible,
    StoreFull,
)
from service.text.changes import Change
from service.web.access import permit
from service.web.review.chosen import collections
from service.web.review.guard import Answer, form, page, visitor
from service.web.review.marking import Piece, Place, cut, place, within
from service.web.wiring import wiring

PAGE: Final = 50
WEIGHT_OF_A_TEXT: Final = 20_000  # bytes of it on the page
CHANGES_SHOWN: Final = 40
LONGEST_NOTE: Final = 4096
LONGEST_NAME: Final = 256
# What each kind of entry tells, about its document and its twin.
KINDS: Final = {
    DecisionKind.DROPPED: "dropped for its twin",
    DecisionKind.REPLACED: "replaced by its twin",
    DecisionKind.HELD: "held for a person",
    DecisionKind.UPDATED: "updated",
    DecisionKind.RESOLVED: "ruled on",
    DecisionKind.DELETED: "deleted",
    DecisionKind.REVERTED: "taken back",
    DecisionKind.VOIDED: "conflict void",
    DecisionKind.EXPIRED: "expired",
}
# What taking an entry back does, said before it is done.
_AGAIN: Final = "workers are told to ingest it"
_NEVER_ASKED: Final = "These two are not asked about again with these texts."
OUTLOOK: Final = {
    DecisionKind.DROPPED: f"The copy is an active document again, beside its twin: {_AGAIN}. "
    + _NEVER_ASKED,
    DecisionKind.REPLACED: f"The replaced text is active again, beside its twin: {_AGAIN}. "
    + _NEVER_ASKED,
    DecisionKind.DELETED: f"The document is active again with the text that it had: {_AGAIN}.",
    DecisionKind.RESOLVED: "The conflict is open again, with both texts as they were before the "
    "ruling; the ruling is forgotten, and workers are told what to ingest and retire.",
}

blueprint = Blueprint("decisions", __name__)


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for; None means any."""

    document: str | None = None
    kind: DecisionKind | None = None
    collection: str | None = None
    least: float | None = None
    most: float | None = None

    @property
    def wanted(self) -> DecisionFilter:
        """What the log is asked for."""
        about = self.document is not None
        return DecisionFilter(self.document, self.kind, self.least, self.most, or_twin=about)

    @property
    def query(self) -> dict[str, Any]:
        """What an address says of it."""
        said = {
            "document": self.document,
            "kind": self.kind,
            "collection": self.collection,
            "min_score": self.least,
            "max_score": self.most,
        }
        return {name: value for name, value in said.items() if value is not None}

    @property
    def names(self) -> frozenset[str] | None:
        """The collections that are asked, None: all."""
        return visitor().collections if self.collection is None else frozenset((self.collection,))


@blueprint.get("/decisions")
@page
def show() -> Answer:
    """The newest entries, or those that are looked for; a document's own oldest first."""
    search, refusal = _search()
    place = request.args.get("place") or None
    known = collections(search.collection)
    items, onward = _found(search, place)
    return render_template(
        "review/decisions.html",
        search=search,
        refusal=refusal,
        items=items,
        onward=onward,
        is_first=place is None,
        collections=known,
        kinds=KINDS,
    )


@blueprint.get("/decisions/<id>")
@page
def show_one(id: str) -> Answer:
    """One entry beside its twin."""
    permit(wiring().reviewer.collection_of(id))
    return _one(id)


@blueprint.post("/decisions/<id>/revert")
@form
def revert(id: str) -> Answer:
    """Takes an entry back, and leads to the page that says what came of it."""
    permit(wiring().reviewer.collection_of(id))
    note = request.form.get("note", "").strip() or None
    by = visitor().name or " ".join(request.form.get("by", "").split()) or None
    if len(note or "") > LONGEST_NOTE or len(by or "") > LONGEST_NAME:
        return _one(id, f"A note has at most {LONGEST_NOTE} characters, a name {LONGEST_NAME}.")
    try:
        reverted = wiring().reviewer.revert(id, by, note)
    except (AlreadyReverted, NotRevertible, StoreFull) as error:
        return _one(id, f"It was not taken back: {error}.")
    return _led_to(url_for("review.decisions.show_one", id=reverted.decision.id, done=1))


def _one(id: str, refusal: str | None = None) -> str:
    shown = wiring().reviewer.shown(id)
    decision = shown.decision
    return render_template(
        "review/decision.html",
        decision=decision,
        twin=shown.twin,
        obstacle=shown.obstacle,
        refusal=refusal,
        is_done=request.args.get("done") == "1" and decision.kind is DecisionKind.REVERTED,
        words=KINDS[decision.kind],
        outlook=OUTLOOK.get(decision.kind),
        changes=decision.changes.items[:CHANGES_SHOWN],
        pieces_of=partial(_pieces, decision.changes.items),
    )


def _pieces(changes: Sequence[Change], text: str) -> list[Piece]:
    """A text with marks where it differs, as much of it as there is room. Which side of the changes
    it is depends on what was decided: the one whose words stand in it."""
    as_before = [(change.before, change.before_span, change.fact) for change in changes]
    as_after = [(change.after, change.after_span, change.fact) for change in changes]
    marks = max((_places(text, side) for side in (as_before, as_after)), key=len)
    return within(cut(text, marks), WEIGHT_OF_A_TEXT)


def _places(
    text: str, side: Sequence[tuple[str | None, tuple[int, int] | None, bool]]
) -> dict[int, Place]:
    found = (place(text, words, span, fact=fact) for words, span, fact in side)
    return {number: one for number, one in enumerate(found) if one is not None}


def _found(search: Search, place: str | None) -> tuple[tuple[Decision, ...], str | None]:
    """The entries, and the address of those that follow."""
    try:
        if search.document is not None:
            told = _of_document(search, place)
        else:
            latest = wiring().reviewer.latest(search.names, search.wanted, PAGE, place)
            told = latest.items, latest.place
    except InvalidRequest:  # a place that no page gave: from the beginning
        return _found(search, None)
    items, onward = told
    query = None if onward is None else urlencode({**search.query, "place": onward})
    return items, query


def _of_document(search: Search, place: str | None) -> tuple[tuple[Decision, ...], str | None]:
    """A document's own entries, the oldest first, of each collection that may be looked at."""
    allowed = search.names
    if allowed is None or len(allowed) == 1:
        only = None if allowed is None else next(iter(allowed))
        found = wiring().reviewer.decisions(only, search.wanted, PAGE, place)
        return found.items, found.next
    items: list[Decision] = []
    for name in sorted(allowed & frozenset(collections(None))):
        items += wiring().reviewer.decisions(name, search.wanted, PAGE, None).items
    return tuple(items), None


def _search() -> tuple[Search, str | None]:
    """What the address asks for, and what of it cannot be."""
    refusal = None
    bounds: list[float | None] = []
    for name in ("min_score", "max_score"):
        written = request.args.get(name, "").strip()
        try:
            bound = float(written) if written else None
        except ValueError:
            bound = None
            refusal = "A score is a number from 0 to 1."
        if bound is not None and not 0 <= bound <= 1:
            bound = None
            refusal = "A score is a number from 0 to 1."
        bounds.append(bound)
    kind = request.args.get("kind")
    collection = request.args.get("collection") or None
    if collection is not None:
        permit(collection)
    return (
        Search(
            document=request.args.get("document") or None,
            kind=DecisionKind(kind) if kind in list(DecisionKind) else None,
            collection=collection,
            least=bounds[0],
            most=bounds[1],
        ),
        refusal,
    )


def _led_to(address: str) -> AnyResponse:
    return redirect(address, 303)
