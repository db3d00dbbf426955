"""Does the index find what is there? Verdicts through the real store, beside brute force.

    python -m bench.recall [--data DIRECTORY] [--partitions 1]

Real texts are posted in order at 0.6, and each is compared with all that were kept. For each
threshold, made-up pairs are spread evenly from the threshold to 1: the first of each is posted,
then all the second ones; every second one has to be told its first.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from random import Random

from bench.figures import Row, at_least, show
from bench.filling import check
from bench.made_up_texts import SEED, changed, common_words, words_of, written
from bench.processes import StoreServer
from bench.real_texts import FILE, load
from bench.verdicts import Kept, Tally
from service.checker import Checker
from service.dedup.scheme import CollectionSettings
from service.dedup.shingles import jaccard
from service.dedup.verdict import Answer, Document, Posted, Verdict
from service.preparing import shingles_of

WANTED_REAL = 0.995
WANTED_MADE_UP = 0.99
THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
PAIRS = 2000
WORDS = 200
SECONDS = 100_000_000
COLLECTION = "recall"
SETTINGS = CollectionSettings()


def measure(data: Path | None, partitions: int = 1) -> list[Row]:
    """The rows of this question."""
    with StoreServer() as store:
        rows = _of_texts(store, data, partitions)
    wrong = 0
    for threshold in THRESHOLDS:
        with StoreServer() as store:
            row, mistaken = _of_pairs(store, threshold, partitions)
        rows.append(row)
        wrong += mistaken
    how = f"reported where the exact similarity says otherwise, of {len(THRESHOLDS) * PAIRS:,}"
    rows.append(Row("wrong duplicates among the made-up pairs", f"{wrong}", "0", wrong == 0, how))
    return rows


def _of_texts(store: StoreServer, data: Path | None, partitions: int) -> list[Row]:
    texts, kept, tally = load(data), Kept(), Tally()
    checker = _checker(store, 0.6, partitions)
    for id, text in texts.pairs:
        answer = checker.check(Document(id, Posted(text, None), COLLECTION))
        _judge(id, answer, kept, tally)
    how = f"{texts.told}; {tally.found:,} of {tally.true:,} found, best match {_best(tally)}"
    return [
        at_least(
            "recall against brute force at 0.6",
            tally.found / tally.true,
            WANTED_REAL,
            "{:.4f}",
            how,
        ),
        Row("wrong duplicates among them", f"{tally.wrong}", "0", tally.wrong == 0),
    ]


def _judge(id: str, answer: Answer, kept: Kept, tally: Tally) -> None:
    """Compares an answer with all texts that were kept before it."""
    shingles = shingles_of(answer.cleaned.text, SETTINGS)
    similarities = kept.similarities(shingles)
    best = max(similarities.values(), default=0.0)
    tally.true += best >= SETTINGS.threshold
    if answer.match is None:
        kept.add(id, shingles)
        return
    score = similarities.get(kept.ids[answer.match.id], 0.0)
    right = score >= SETTINGS.threshold and abs(score - answer.match.score) < 1e-9
    tally.wrong += not right
    tally.found += right
    tally.not_the_best += right and best > score


def _best(tally: Tally) -> str:
    return f"named in {(tally.found - tally.not_the_best) / tally.found:.2%}"


def _of_pairs(store: StoreServer, threshold: float, partitions: int) -> tuple[Row, int]:
    checker, source = _checker(store, threshold, partitions), Random(SEED)
    found = wrong = 0
    for number in range(PAIRS):
        answer = check(checker, number, written(words_of(number, WORDS)), COLLECTION)
        wrong += answer.verdict is not Verdict.NEW
    for number in range(PAIRS):
        wanted = threshold + (1 - threshold) * (number + source.random()) / PAIRS
        first = words_of(number, WORDS)
        second = changed(first, common_words(wanted, WORDS), SECONDS + number)
        answer = check(checker, SECONDS + number, written(second), COLLECTION)
        if answer.match is None:
            continue
        if _is_right(answer, number, first, second, threshold):
            found += 1
        else:
            wrong += 1
    banding = store.store().collection(COLLECTION).scheme.banding
    how = f"{found:,} of {PAIRS:,} pairs of {WORDS} words; {banding.bands} bands x {banding.rows}"
    figure = f"recall of made-up pairs from {threshold} to 1"
    return at_least(figure, found / PAIRS, WANTED_MADE_UP, "{:.4f}", how), wrong


def _is_right(
    answer: Answer, number: int, first: list[str], second: list[str], threshold: float
) -> bool:
    assert answer.match is not None
    if answer.match.id != f"text-{number:09d}":
        return False
    score = jaccard(*(shingles_of(written(words), SETTINGS) for words in (first, second)))
    return score >= threshold and abs(score - answer.match.score) < 1e-9


def _checker(store: StoreServer, threshold: float, partitions: int) -> Checker:
    settings = {"threshold": threshold, "on_conflict": "skip", "partitions": partitions}
    store.store().configure(COLLECTION, settings)
    return store.checker()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help=f"directory with {FILE}")
    parser.add_argument("--partitions", type=int, default=1, help="of the collections")
    asked = parser.parse_args()
    show(measure(asked.data, asked.partitions))


if __name__ == "__main__":
    main()
