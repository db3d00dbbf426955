"""Try it: what a check would answer, with nothing stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from flask import Blueprint, Response, render_template, request
from markupsafe import Markup

from service.dedup.scheme import DEFAULT_COLLECTION
from service.dedup.verdict import Answer as CheckAnswer
from service.dedup.verdict import Document, Match, State
from service.errors import (
    Forbidden,
    RequestError,
    StoreError,
    TwinsiftError,
    UnknownCollection,
    UnknownDocument,
)
from service.text.changes import Change
from service.text.cleaning_trace import trace
from service.web import errors
from service.web.access import permit
from service.web.request_log import note
from service.web.review.fitting import Excerpt, excerpt, with_typed
from service.web.review.guard import Answer, form, page, visitor
from service.web.review.refusals import told
from service.web.review.traced import NAMES, Traced, traced
from service.web.review.trying_form import Typed
from service.web.wire_values import hash_of
from service.web.wiring import wiring

_MOST_SUGGESTED: Final = 200
_MOST_TRACED: Final = 24_000  # bytes, as are the next two
_MOST_TEXT: Final = 12_000
_MOST_WORDS: Final = 600
_MOST_CHANGES: Final = 40
_SHORTEST: Final = 160

blueprint = Blueprint("trying", __name__)


@dataclass(frozen=True, slots=True)
class Found:
    """What a check would answer, made ready to be shown. `match` is the text of the match, None
    where there is none or it has left since."""

    answer: CheckAnswer
    has_id: bool
    traced: Traced
    match: Excerpt | None
    changes: tuple[Change, ...]
    more_changes: int


@blueprint.get("/try")
@page
def show() -> Answer:
    """The empty form."""
    allowed = visitor().collections
    first = min(allowed) if allowed and DEFAULT_COLLECTION not in allowed else DEFAULT_COLLECTION
    return _page(Typed(collection=request.args.get("collection", first)[:64]), {}, None)


@blueprint.post("/try")
@form
def attempt() -> Answer:
    """What a check of the text in the form would answer."""
    typed = Typed.of(request.form)
    try:
        document = typed.document(wiring().settings.max_text)
        permit(document.collection)
        return _page(typed, {}, _found(document, has_id=bool(typed.id)))
    except (RequestError, StoreError) as error:
        problem = errors.counted(error)
        answer = Response(_page(typed, _refusals(error), None), problem.status)
        answer.headers.update(problem.headers)
        return answer


def _found(document: Document, *, has_id: bool) -> Found:
    answer = wiring().checker.check(document)
    note(verdict=answer.verdict.value, action=answer.action.value, dry_run=True)
    rules = wiring().catalogue.collection(document.collection).settings.cleaning
    pages = document.posted.pages or (document.posted.text or "",)
    pieces = trace(pages, rules, most=_MOST_TRACED)
    # A change of fact is never behind the last one that is shown, while there is room for it.
    changes = sorted(answer.changes.items, key=lambda change: not change.fact)
    return Found(
        answer=answer,
        has_id=has_id,
        traced=traced(pieces, sum(map(len, pages)), _MOST_TRACED),
        match=None if answer.match is None else _text_of(document.collection, answer.match),
        changes=tuple(changes[:_MOST_CHANGES]),
        more_changes=len(changes[_MOST_CHANGES:]),
    )


def _text_of(collection: str, match: Match) -> Excerpt | None:
    try:
        document = wiring().catalogue.document(collection, match.id)
    except UnknownDocument:
        return None
    is_pending = match.state is State.HELD and document.pending is not None
    text = document.pending.text if is_pending and document.pending else document.text
    return excerpt(text, _MOST_TEXT)


def _refusals(error: TwinsiftError) -> Mapping[str, str]:
    if not isinstance(error, RequestError):
        words = f"{str(error)[:1].upper()}{str(error)[1:]}. Nothing was stored: try again."
        return {"store": words}
    is_of_collection = isinstance(error, Forbidden | UnknownCollection)
    words_of = told(error, "collection" if is_of_collection else "text")
    if "pages" in words_of:
        words_of["text"] = words_of.pop("pages")
    return words_of


def _suggested() -> list[str]:
    """Names of collections that the visitor may look at."""
    allowed = visitor().collections
    if allowed is not None:
        return sorted(allowed)[:_MOST_SUGGESTED]
    try:
        return [info.name for info in wiring().catalogue.collections(_MOST_SUGGESTED, None).items]
    except StoreError:  # the form does without; what is asked by it tells of the store
        return []


def _words(text: str) -> Markup:
    """Ids and the like: whole, but for such as no reader reads to their end."""
    part = excerpt(text, _MOST_WORDS)
    return part.text + "…" if part.left_out else part.text


def _part(text: str) -> Markup:
    """One side of a change."""
    part = excerpt(text, _SHORTEST)
    return part.text + "…" if part.left_out else part.text


def _page(typed: Typed, faults: Mapping[str, str], found: Found | None) -> str:
    suggested = _suggested()

    def render(text: str | None) -> str:
        return render_template(
            "review/trying.html",
            typed=replace(typed, text=text or ""),
            left_out=text is None,
            faults=faults,
            found=found,
            suggested=suggested,
            names=NAMES,
            hash_of=hash_of,
            words=_words,
            part=_part,
            cleaned=None if found is None else excerpt(found.answer.cleaned.text, _MOST_TEXT),
        )

    return with_typed(render, typed.text)
