"""What a calibration answers: plain dictionaries, of the call and of `twinsift calibrate`."""

from __future__ import annotations

from collections.abc import Iterable

from service.dedup.calibration import ScoredPair, Step, Sweep
from service.web.wire_values import Json, rounded


def calibration(sweeps: Iterable[Sweep], normalization: str) -> Json:
    """The sweeps of all shingle settings."""
    return {"settings": [_setting(sweep, normalization) for sweep in sweeps]}


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
