"""Conflicts: the queue, one conflict on a screen, its texts in full, ruling and taking it back."""

from __future__ import annotations

from typing import Any, Final

from flask import Blueprint, Response, redirect, render_template, request, url_for

from service.dedup.decisions import Conflict, ConflictStatus, Keep
from service.dedup.queue import Case, Order
from service.errors import (
    AlreadyResolved,
    ConflictVoid,
    EarlierConflict,
    InvalidRequest,
    NotRevertible,
    RequestError,
    TwinsiftError,
    UnknownConflict,
)
from service.text.changes import ChangeKind
from service.web import errors
from service.web.access import permit
from service.web.review.chosen import Chosen, chosen, collections
from service.web.review.consequences import consequences
from service.web.review.guard import AT_HOME, Answer, form, page, visitor
from service.web.review.marking import cut, part_of, reach
from service.web.review.screen import clipped_words, mentioned, metadata, numbered, places, screen
from service.web.review.signing_in import LONGEST_NAME
from service.web.schemas import LONGEST_NOTE
from service.web.wiring import wiring

ON_A_PAGE: Final = 25
NAME_COOKIE: Final = "twinsift_name"
WEIGHT_OF_A_TEXT_PART: Final = 30_000
_A_YEAR: Final = 365 * 86_400

blueprint = Blueprint("conflicts", __name__)
blueprint.add_app_template_filter(mentioned)


@blueprint.get("/conflicts")
@page
def show() -> Answer:
    """The queue."""
    queue = chosen()
    known = collections(queue.collection)
    reviewer = wiring().reviewer
    after = request.args.get("after")
    part = reviewer.queue(queue.names, queue.wanted, ON_A_PAGE, after)
    return render_template(
        "review/conflicts.html",
        queue=queue,
        rows=[(one, *clipped_words(one.changes)) for one in part.items],
        behind=part.behind,
        after=after,
        counts=reviewer.conflict_counts(queue.names),
        collections=known,
        kinds=list(ChangeKind),
        orders=list(Order),
        ruled=_ruled(),
        name=_known_name(),
    )


@blueprint.get("/conflicts/<id>")
@page
def one(id: str) -> Answer:
    """One conflict on one screen."""
    return _case_page(_case(id))


@blueprint.get("/conflicts/<id>/text")
@page
def text(id: str) -> Answer:
    """One of the texts in full, part by part."""
    conflict = _case(id).conflict
    before = request.args.get("side") != "incoming"
    side = conflict.existing if before else conflict.incoming
    whole = side.text or ""
    start = min(_whole_number("from"), max(0, len(whole) - 1))
    end = reach(whole, start, WEIGHT_OF_A_TEXT_PART)
    pieces = part_of(cut(whole, places(side, numbered(conflict), before=before)), start, end)
    return render_template(
        "review/conflict_text.html",
        conflict=conflict,
        side=side,
        before=before,
        pieces=pieces,
        changes=dict(numbered(conflict)),
        start=start,
        end=end,
        length=len(whole),
        earlier=reach(whole, start, WEIGHT_OF_A_TEXT_PART, back=True) if start else None,
        queue=chosen(),
    )


@blueprint.post("/conflicts/<id>/rule")
@form
def rule(id: str) -> Answer:
    """Rules on the conflict as it was shown, and leads to the next one."""
    _case(id)
    queue = chosen(request.form)
    try:
        by, keep = _by(), _keep()
        note = _note()
        following = queue.next_id(id)
        wiring().reviewer.resolve(id, keep, by, note, seen=request.form.get("seen", ""))
    except UnknownConflict:
        raise
    except TwinsiftError as error:
        again = _case(id)
        if not (isinstance(error, AlreadyResolved) and _was_ruled_so(again.conflict)):
            return _refusal_page(again, error)
    answer = redirect(_address(following, queue, ruled=id), 303)
    if visitor().name is None:
        answer.set_cookie(
            NAME_COOKIE,
            by,
            max_age=_A_YEAR,
            path=AT_HOME,
            httponly=True,
            samesite="Strict",
            secure=request.is_secure,
        )
    return answer


@blueprint.post("/conflicts/<id>/undo")
@form
def undo(id: str) -> Answer:
    """Takes the ruling back that the form names, and leads to the conflict, which is open again."""
    ruled = _case(id).conflict.resolution
    queue = chosen(request.form)
    try:
        by = _by()
        if ruled is None or ruled.decision != request.form.get("decision"):
            raise NotRevertible("this ruling does not stand any more")
        wiring().reviewer.revert(ruled.decision, by, None)
    except TwinsiftError as error:
        return _refusal_page(_case(id), error)
    return redirect(_address(id, queue, undone=1), 303)


def _case(id: str) -> Case:
    """A conflict that the visitor may look at; raises UnknownConflict or Forbidden."""
    case = wiring().reviewer.case(id)
    permit(case.conflict.collection)
    return case


def _case_page(case: Case, refusal: str | None = None, note: str = "") -> str:
    conflict, queue = case.conflict, chosen(request.values)
    if refusal is None and request.args.get("undone") and case.conflict.resolution is None:
        told = "The ruling was taken back: the conflict is open again."
    else:
        told = None
    values, left_out = metadata(conflict.existing, conflict.incoming)
    others, others_left_out = metadata(conflict.incoming, conflict.existing)
    return render_template(
        "review/conflict.html",
        conflict=conflict,
        outlook=case.outlook,
        screen=screen(conflict, _whole_number("part")),
        changes=dict(numbered(conflict)),
        sides=(
            ("existing", conflict.existing, values, left_out),
            ("incoming", conflict.incoming, others, others_left_out),
        ),
        consequences=None if case.outlook is None else consequences(case.outlook),
        queue=queue,
        next_id=queue.next_id(conflict.id),
        previous_id=queue.next_id(conflict.id, back=True),
        ruled=_ruled() if refusal is None else None,
        told=told,
        refusal=refusal,
        note=note,
        name=_known_name(),
        longest_note=LONGEST_NOTE,
        longest_name=LONGEST_NAME,
    )


def _refusal_page(case: Case, error: TwinsiftError) -> Response:
    """The conflict as it is now, with why nothing was done; what was written stays in the form."""
    problem = errors.counted(error)
    written = request.form.get("note", "")[:LONGEST_NOTE]
    page = _case_page(case, _why(case.conflict, error), written)
    answer = Response(page, problem.status)
    answer.headers.update(problem.headers)
    return answer


def _why(conflict: Conflict, error: TwinsiftError) -> str:
    """Why nothing was done, in words for who wanted to."""
    if conflict.status is ConflictStatus.VOID or isinstance(error, ConflictVoid):
        return (
            "Not ruled: one of the two texts left in the meantime (deleted, updated or replaced), "
            "so there is nothing to rule on any more. What was held is checked anew by itself."
        )
    if isinstance(error, AlreadyResolved) and conflict.resolution is None:
        return (
            "Not ruled: the conflict has changed since this page was loaded. Below is how it is "
            "now; look again, then rule."
        )
    if isinstance(error, AlreadyResolved):
        return (
            "Not ruled: somebody else ruled in the meantime. Their ruling stands, as you see "
            "below; nothing of it was changed."
        )
    if isinstance(error, EarlierConflict):
        return (
            "Not ruled: the existing text waits for a ruling of its own. Rule on that conflict "
            "first."
        )
    if isinstance(error, InvalidRequest):
        return f"Not ruled: {error}"
    if isinstance(error, RequestError):
        return f"Nothing was done: {error}."
    return f"Nothing was done, and trying again later is safe: {error}."


def _was_ruled_so(conflict: Conflict) -> bool:
    """Whether it stands as this form asks, by the same person: the form was sent twice."""
    ruled = conflict.resolution
    if ruled is None:
        return False
    return (ruled.keep, ruled.by, ruled.note) == (request.form.get("keep"), _by(), _note())


def _ruled() -> Conflict | None:
    """The conflict whose ruling the banner tells, if one stands and the visitor may see it."""
    id = request.args.get("ruled")
    if not id:
        return None
    try:
        conflict = _case(id).conflict
    except RequestError:
        return None
    return conflict if conflict.resolution is not None else None


def _address(id: str | None, queue: Chosen, **more: Any) -> str:
    if id is None:
        return url_for("review.conflicts.show", **queue.query, **more)
    return url_for("review.conflicts.one", id=id, **queue.query, **more)


def _whole_number(name: str) -> int:
    digits = request.args.get(name, "")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else 0


def _by() -> str:
    """Whose ruling it is; raises InvalidRequest where nobody is named."""
    known = visitor().name
    if known is not None:
        return known
    name = " ".join(request.form.get("by", "").split())
    if not name:
        raise InvalidRequest("write your name first: rulings go by it.")
    if len(name) > LONGEST_NAME or not name.isprintable():
        raise InvalidRequest(f"a name has at most {LONGEST_NAME} characters, all of them visible.")
    return name


def _known_name() -> str:
    """What the name field has already."""
    return request.form.get("by") or request.cookies.get(NAME_COOKIE, "")


def _keep() -> Keep:
    said = request.form.get("keep")
    if said not in list(Keep):
        raise InvalidRequest("choose which text stays.")
    return Keep(said)


def _note() -> str | None:
    note = request.form.get("note", "").replace("\r\n", "\n").strip()
    if len(note) > LONGEST_NOTE:
        raise InvalidRequest(f"a note has at most {LONGEST_NOTE} characters.")
    return note or None
