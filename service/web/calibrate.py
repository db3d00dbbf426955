"""POST /calibrate: what would thresholds have done to labelled pairs?"""

from __future__ import annotations

from flask import Blueprint, Response

from service.calibrating import calibrate
from service.dedup.calibration import Costs, Pair
from service.dedup.shingles import Shingles
from service.tokens import Scope
from service.web.answers import dump
from service.web.calibration_answers import calibration
from service.web.loading import Loaded, takes
from service.web.posted import expect_size
from service.web.schemas import CALIBRATION
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
    return dump(calibration(found, normalization))
