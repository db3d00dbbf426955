"""Thresholds: what each would do to labelled pairs. Nothing is stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import orjson
from flask import Blueprint, Response, render_template, request

from service.calibrating import calibrate
from service.dedup.calibration import Sweep
from service.errors import EmptyText, Fault, InvalidRequest, RequestError
from service.web import errors
from service.web.fields import INVALID_VALUE
from service.web.review.fitting import Excerpt, excerpt, with_typed
from service.web.review.guard import Answer, form, page
from service.web.review.refusals import told
from service.web.review.sweep_chart import SweepChart, sweep_chart
from service.web.review.threshold_form import EXAMPLE, Typed, Wanted, read_form
from service.web.wiring import wiring

_MOST_TEXT: Final = 16_000  # bytes of all texts that the page shows
_FEWEST: Final = 120  # of each

blueprint = Blueprint("thresholds", __name__)


@dataclass(frozen=True, slots=True)
class Tried:
    """A setting that was tried: its sweep, its chart, and the body that a collection takes."""

    sweep: Sweep
    chart: SweepChart
    settings: str

    @property
    def name(self) -> str:
        """What texts were compared by."""
        shingles = self.sweep.shingles
        unit = "word" if shingles.unit == "word" else "character"
        return f"{unit}s, one by one" if shingles.size == 1 else f"runs of {shingles.size} {unit}s"


@blueprint.get("/thresholds")
@page
def show() -> Answer:
    """The empty form, or the worked example."""
    return _answer(EXAMPLE) if "example" in request.args else _page(Typed(), {}, None)


@blueprint.post("/thresholds")
@form
def sweep() -> Answer:
    """What thresholds do to the pairs of the form."""
    typed = Typed.of(request.form)
    file = request.files.get("file")
    if file is None or not file.filename:
        return _answer(typed)
    try:
        written = file.stream.read().decode()
    except UnicodeDecodeError:
        words = "the file is not UTF-8"
        error = InvalidRequest(words, (Fault("/file", INVALID_VALUE, words),))
        return _refused(typed, error)
    return _answer(replace(typed, pairs=written))


def _answer(typed: Typed) -> Answer:
    wanted = None
    try:
        wanted = read_form(typed, wiring().settings.max_text)
        sweeps = calibrate(
            wanted.found.pairs,
            wanted.normalization,
            wanted.shingles,
            wanted.thresholds,
            wanted.costs,
        )
    except EmptyText as error:
        return _refused(typed, error if wanted is None else _by_line(error, wanted))
    except RequestError as error:
        return _refused(typed, error)
    return _page(typed, {}, wanted, [_tried(one, wanted) for one in sweeps])


def _by_line(error: EmptyText, wanted: Wanted) -> EmptyText:
    """The error with the line that the pair stands in."""
    _, _, place, side = error.faults[0].pointer.split("/")
    words = f"line {wanted.found.lines[int(place)]}: {error} {side}"
    return EmptyText(words, (Fault("/pairs", error.faults[0].code, words),))


def _tried(sweep: Sweep, wanted: Wanted) -> Tried:
    settings = {
        "normalization": wanted.normalization,
        "shingles": {"unit": sweep.shingles.unit, "size": sweep.shingles.size},
        "threshold": sweep.best.threshold,
    }
    written = orjson.dumps(settings, option=orjson.OPT_INDENT_2).decode()
    return Tried(sweep, sweep_chart(sweep), written)


def _refused(typed: Typed, error: RequestError) -> Answer:
    status = errors.counted(error).status
    return Response(_page(typed, told(error, "pairs"), None), status)


def _page(
    typed: Typed, faults: dict[str, str], wanted: Wanted | None, tried: Sequence[Tried] = ()
) -> str:
    shown_texts = sum(2 * sum(map(len, one.sweep.nearest())) + 4 for one in tried)
    most = max(_FEWEST, _MOST_TEXT // max(1, shown_texts))

    def beginning(text: str) -> Excerpt:
        return excerpt(text, most)

    def render(pairs: str | None) -> str:
        return render_template(
            "review/thresholds.html",
            typed=replace(typed, pairs=pairs or ""),
            left_out=pairs is None,
            faults=faults,
            wanted=wanted,
            tried=tried,
            best=min(tried, key=lambda one: one.sweep.best.cost, default=None),
            beginning=beginning,
        )

    return with_typed(render, typed.pairs)
