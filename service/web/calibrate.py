"""POST /calibrate: what would thresholds have done to labelled pairs?"""

from __future__ import annotations

from flask import Blueprint, Response

from service.calibrating import calibrate
from service.dedup.calibration import Costs, Pair, ScoredPair, Step, Sweep
from service.dedup.shingles import Shingles
from service.tokens import Scope
from service.web.answers import dump
from service.web.loading import Loaded, takes
from service.web.posted import expect_size
from service.web.schemas import CALIBRATION
from service.web.wire_values import Json, rounded
from service.web.wiring import wiring

blueprint = Blueprint("calibrate", __name__)


@blueprint.post("/calibrate")
@takes(scope=Scope.ADMIN, body=CALIBRATION)
def sweeps(body: Loaded) -> Response:
    """Sweep the thresholds over the pairs, for each shingle setting."""
    pairs = [Pair(**pair) for pair in body["pairs"]]
    texts = [text for pair in pairs for text in (pair.a, pair.b)]
    expect_size(texts, wiring().settings.max_text)
    normalization = body["normalization"]
    shingles = [Shingles(**one) for one in body["shingles"]]
    costs = Costs(**body.get("costs", {}))
    found = calibrate(pairs, normalization, shingles, body["thresholds"], costs)
    return dump({"settings": [_setting(sweep, normalization) for sweep in found]})


def _setting(sweep: Sweep, normalization: str) -> Json:
    above, below = sweep.nearest()
    witness = sweep.witness
    return {
        "unit": sweep.shingles.unit,
        "size": sweep.shingles.size,
        "normalization": normalization,
        "sweep": [_step(step) for step in sweep.steps],
        "separable": witness is None,
        "statement": sweep.statement,
        "witness": None
        if witness is None
        else {"duplicate": _texts(witness.duplicate), "distinct": _texts(witness.distinct)},
        "nearest": {
            "threshold": sweep.best.threshold,
            "above": [_labelled(one) for one in above],
            "below": [_labelled(one) for one in below],
        },
    }


def _step(step: Step) -> Json:
    interval = step.recall_interval
    return {
        "threshold": step.threshold,
        "caught": step.caught,
        "wrongly_joined": step.wrongly_joined,
        "missed": step.missed,
        "precision": None if step.precision is None else rounded(step.precision),
        "recall": None if step.recall is None else rounded(step.recall),
        "recall_interval": None if interval is None else [rounded(bound) for bound in interval],
        "cost": step.cost,
    }


def _texts(one: ScoredPair) -> Json:
    return {"a": one.pair.a, "b": one.pair.b, "score": rounded(one.score)}


def _labelled(one: ScoredPair) -> Json:
    return {**_texts(one), "duplicate": one.pair.duplicate}
