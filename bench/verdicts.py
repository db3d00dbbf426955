"""Are the verdicts right? Posts real texts to a running service and compares with brute force.

    python bench/verdicts.py TEXTS.jsonl [--url http://127.0.0.1:8000]

Each line of the file has an `id` and a `text`. They are posted in order into a collection of their
own, which is removed afterwards. Brute force compares each text with all that were kept, by the
exact Jaccard similarity of their shingles. Exit status 1 where a duplicate was reported wrongly or
fewer than 99.5 % of the true ones were found.
"""

from __future__ import annotations

import argparse
import http.client
import json
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from service.dedup.scheme import CollectionSettings
from service.dedup.shingles import ShingleSet
from service.preparing import shingles_of

COLLECTION = "bench-verdicts"
LEAST_FOUND = 0.995


class Service:
    """One keep-alive connection to the service."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port or 80)

    def call(self, method: str, path: str, body: object = None) -> Any:
        """The JSON that the service answers; ends the script where it answers with an error."""
        payload = None if body is None else json.dumps(body)
        self._connection.request(method, path, payload, {"Content-Type": "application/json"})
        response = self._connection.getresponse()
        content = response.read()
        if response.status >= 400:
            raise SystemExit(f"{method} {path}: {response.status} {content.decode()}")
        return json.loads(content)


@dataclass
class Kept:
    """All kept texts, by shingle, so that brute force over them takes seconds."""

    sets: list[ShingleSet] = field(default_factory=list)
    ids: dict[str, int] = field(default_factory=dict)
    holders: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    def add(self, id: str, shingles: ShingleSet) -> None:
        """Keeps a text."""
        number = len(self.sets)
        self.sets.append(shingles)
        self.ids[id] = number
        for shingle in shingles:
            self.holders[shingle].append(number)

    def similarities(self, shingles: ShingleSet) -> dict[int, float]:
        """The Jaccard similarity to every kept text that shares a shingle, by its number."""
        shared = Counter(n for shingle in shingles for n in self.holders.get(shingle, ()))
        size = len(shingles)
        return {n: both / (size + len(self.sets[n]) - both) for n, both in shared.items()}


@dataclass
class Tally:
    """What brute force says of the verdicts."""

    true: int = 0
    found: int = 0
    wrong: int = 0
    not_the_best: int = 0


def post_all(service: Service, documents: list[dict[str, str]]) -> tuple[list[Any], float]:
    """Posts the documents in order; the answers, and the seconds that it took."""
    started = time.perf_counter()
    answers = [
        service.call("POST", "/check", {**document, "collection": COLLECTION})
        for document in documents
    ]
    return answers, time.perf_counter() - started


def judge(documents: list[dict[str, str]], answers: list[Any]) -> Tally:
    """Compares each answer with all texts that were kept before it."""
    settings, kept, tally = CollectionSettings(), Kept(), Tally()
    for document, answer in zip(documents, answers, strict=True):
        shingles = shingles_of(answer["text"], settings)
        similarities = kept.similarities(shingles)
        best = max(similarities.values(), default=0.0)
        match = answer["match"]
        tally.true += best >= settings.threshold
        if match is None:
            kept.add(document["id"], shingles)
            continue
        true_score = similarities.get(kept.ids[match["id"]], 0.0)
        right = true_score >= settings.threshold and round(true_score, 6) == match["score"]
        tally.wrong += not right
        tally.found += right
        tally.not_the_best += right and round(best, 6) > match["score"]
    return tally


def main() -> int:
    """Posts, judges and prints; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("texts", type=Path)
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    options = parser.parse_args()
    documents = [
        {"id": row["id"], "text": row["text"]}
        for row in map(json.loads, options.texts.read_text("utf-8").splitlines())
    ]
    service = Service(options.url)
    service.call("PUT", f"/collections/{COLLECTION}", {"on_conflict": "skip"})
    try:
        answers, seconds = post_all(service, documents)
    finally:
        service.call("DELETE", f"/collections/{COLLECTION}")
    tally = judge(documents, answers)
    share = tally.found / tally.true if tally.true else 1.0
    print(f"texts posted                 {len(documents)}")
    print(f"true duplicates              {tally.true}")
    print(f"found                        {tally.found} ({share:.4%})")
    print(f"reported wrongly             {tally.wrong}")
    print(f"matched with less than best  {tally.not_the_best}")
    print(f"checks per second            {len(documents) / seconds:.0f} (one client, in order)")
    return int(tally.wrong > 0 or share < LEAST_FOUND)


if __name__ == "__main__":
    sys.exit(main())
