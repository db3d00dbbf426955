"""The shape of every body: types, ranges and names, no look at anything stored. What stands in an
address is in `parameters.py`.

Unknown fields are refused, nested ones too. Each schema is made once, here.
"""

from __future__ import annotations

from typing import Any

from marshmallow import RAISE, Schema

from service.dedup.decisions import Keep
from service.web.fields import (
    UNKNOWN_FIELD,
    Choice,
    Flag,
    Items,
    Number,
    Numbers,
    Part,
    Parts,
    Ranking,
    Text,
    Texts,
    Word,
)
from service.web.metadata import Metadata

COLLECTION_PATTERN = r"[a-z0-9][a-z0-9._-]{0,63}"
ID_PATTERN = r"[^\x00-\x1f\x7f-\x9f]{1,512}"
MOST_PAGES = 100_000
MOST_ITEMS = 1000
MOST_PAIRS = 10_000
MOST_RUNS = 6
MOST_THRESHOLDS = 200
LONGEST_NOTE = 4096


def identifier(**kwargs: Any) -> Word:
    """What callers name documents and people by."""
    words = "must have 1 to 512 characters, no control characters"
    return Word(ID_PATTERN, words, **kwargs)


def collection_name(**kwargs: Any) -> Word:
    """The name of a collection."""
    words = "must be 1 to 64 of a-z, 0-9, '.', '_' and '-', the first a letter or digit"
    return Word(COLLECTION_PATTERN, words, **kwargs)


class Shape(Schema):
    """A request or a part of one; a field that it does not name is an error."""

    class Meta:
        """See `Shape`."""

        unknown = RAISE

    error_messages = {"unknown": f"{UNKNOWN_FIELD}: is not a field of this call"}


class QueryShape(Shape):
    """The parameters of a call; one that it does not name is an error."""

    error_messages = {"unknown": f"{UNKNOWN_FIELD}: is not a parameter of this call"}


class RepeatedLinesShape(Shape):
    """When a line counts as a running header or footer."""

    share = Number(0, 1, below_high=True, about="the line stands on more than this share")
    min_pages = Number(2, 10_000, whole=True, about="and on at least so many pages")


class CleaningShape(Shape):
    """The cleaning rules; what is left out stays as it is."""

    control_characters = Flag()
    invisible_characters = Flag()
    whitespace = Flag()
    empty_lines = Flag()
    repeated_lines = Part(RepeatedLinesShape, allow_none=True)
    page_numbers = Flag()
    protect = Texts(1000, longest=1000, about="plain substrings of lines that stay")


class ShinglesShape(Shape):
    """What texts are compared by: runs of so many words or characters."""

    unit = Choice("word", "char")
    size = Number(1, 100, whole=True)


class CollectionShape(Shape):
    """A collection's settings; what is left out stays as it is."""

    cleaning = Part(CleaningShape)
    normalization = Choice("words", "squish", about="frozen at the first document")
    shingles = Part(ShinglesShape)
    threshold = Number(0, 1, above_low=True, about="a similarity; at it is a duplicate")
    survivor = Ranking("newest", "authority", "richest", "first", about="in the order tried")
    on_conflict = Choice("review", "survivor", "ingest", "skip")
    ttl_days = Number(1, 36_500, whole=True, allow_none=True)
    partitions = Number(
        1,
        64,
        whole=True,
        about="over how many slots of a cluster it lies, for good; as many as there are primaries "
        "(16 at most) where it is not said",
    )


class CheckShape(Shape):
    """One text under one id: exactly one of `text` and `pages`."""

    id = identifier(required=True)
    text = Text()
    pages = Texts(MOST_PAGES, about="as with `text` and form feeds between the pages")
    collection = collection_name(load_default="default")
    metadata = Metadata(about="kept and given back; the five named keys have a meaning")
    dry_run = Flag(load_default=False, about="answer without writing anything")


class BatchShape(Shape):
    """Checks, each as `POST /check` takes it; what is wrong with one is told in its place."""

    items = Items(MOST_ITEMS, required=True)


class CleanShape(Shape):
    """A text to clean: exactly one of `text` and `pages`, at most one of the others."""

    text = Text()
    pages = Texts(MOST_PAGES)
    collection = collection_name()
    cleaning = Part(CleaningShape)


class CompareShape(Shape):
    """Two texts to compare under the settings of a collection."""

    a = Text(required=True)
    b = Text(required=True)
    collection = collection_name(load_default="default")


class PairShape(Shape):
    """Two texts, and whether a person calls them duplicates."""

    a = Text(required=True)
    b = Text(required=True)
    duplicate = Flag(required=True)


class RunShape(Shape):
    """One shingle setting to try."""

    unit = Choice("word", "char", required=True)
    size = Number(1, 100, whole=True, required=True)


class CostsShape(Shape):
    """What one error of each kind costs, in any unit."""

    missed = Number(0, 1_000_000, load_default=1, about="a duplicate that is not joined")
    wrongly_joined = Number(0, 1_000_000, load_default=1, about="a distinct pair that is")


class CalibrationShape(Shape):
    """Labelled pairs, and the settings and thresholds to try on them."""

    pairs = Parts(PairShape, MOST_PAIRS, required=True)
    normalization = Choice("words", "squish", load_default="words")
    shingles = Parts(RunShape, MOST_RUNS, required=True)
    thresholds = Numbers(
        0,
        1,
        above_low=True,
        most=MOST_THRESHOLDS,
        required=True,
        about="similarities: a pair is joined at or above one",
    )
    costs = Part(CostsShape)


class RulingShape(Shape):
    """What a ruling keeps, and who says so."""

    keep = Choice(*Keep, required=True)
    by = identifier(required=True, about="who rules; told to whoever asks")
    note = Text(longest=LONGEST_NOTE)


class RevertShape(Shape):
    """Who takes a decision back, and why."""

    by = identifier()
    note = Text(longest=LONGEST_NOTE)


CHECK = CheckShape()
BATCH = BatchShape()
CLEAN = CleanShape()
COMPARE = CompareShape()
COLLECTION = CollectionShape()
CALIBRATION = CalibrationShape()
RULING = RulingShape()
REVERT = RevertShape()
