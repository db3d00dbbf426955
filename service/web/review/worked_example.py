"""The pairs of docs/threshold.md: four of six sentences say the same; nothing separates them."""

from __future__ import annotations

from itertools import combinations
from typing import Final

import orjson

_PAID: Final = "The employer pays for certification training."
_SENTENCES: Final = (
    (_PAID, True),
    (_PAID, True),
    ("  THE employer   pays for certification   TRAINING. ", True),
    ("The employer covers certification training.", True),
    ("The employer pays for certification exam.", False),
    ("Applicants need basic spreadsheet skills.", False),
)

PAIRS: Final = "\n".join(
    orjson.dumps({"a": a, "b": b, "duplicate": same and also}).decode()
    for (a, same), (b, also) in combinations(_SENTENCES, 2)
)
THRESHOLDS: Final = "0.01 0.3 0.65 0.7 0.8 1"
