"""The shape of every request: types, ranges and names, no look at anything stored.

Unknown fields are refused, nested ones too. Each schema is made once, here.
"""

from __future__ import annotations

from typing import Any

from marshmallow import RAISE, Schema

from service.web.fields import (
    UNKNOWN_FIELD,
    Choice,
    Flag,
    Number,
    Part,
    Ranking,
    Text,
    Texts,
    Word,
)
from service.web.metadata import Metadata

COLLECTION_PATTERN = r"[a-z0-9][a-z0-9._-]{0,63}"
ID_PATTERN = r"[^\x00-\x1f\x7f-\x9f]{1,512}"
MOST_PAGES = 100_000

DEFAULT_LIMIT = 50
STATES = ("active", "held", "dropped")


def _identifier(**kwargs: Any) -> Word:
    words = "must have 1 to 512 characters, no control characters"
    return Word(ID_PATTERN, words, **kwargs)


def _collection(**kwargs: Any) -> Word:
    words = "must be 1 to 64 of a-z, 0-9, '.', '_' and '-', the first a letter or digit"
    return Word(COLLECTION_PATTERN, words, **kwargs)


class Shape(Schema):
    """A request or a part of one; a field that it does not name is an error."""

    class Meta:
        """See `Shape`."""

        unknown = RAISE

    error_messages = {"unknown": f"{UNKNOWN_FIELD}: is not a field of this call"}


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


class CheckShape(Shape):
    """One text under one id: exactly one of `text` and `pages`."""

    id = _identifier(required=True)
    text = Text()
    pages = Texts(MOST_PAGES, about="as with `text` and form feeds between the pages")
    collection = _collection(load_default="default")
    metadata = Metadata(about="kept and given back; the five named keys have a meaning")
    dry_run = Flag(load_default=False, about="answer without writing anything")


class CleanShape(Shape):
    """A text to clean: exactly one of `text` and `pages`, at most one of the others."""

    text = Text()
    pages = Texts(MOST_PAGES)
    collection = _collection()
    cleaning = Part(CleaningShape)


class CompareShape(Shape):
    """Two texts to compare under the settings of a collection."""

    a = Text(required=True)
    b = Text(required=True)
    collection = _collection(load_default="default")


class QueryFlag(Flag):
    """`true` or `false`, as a query parameter writes them."""

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> bool:
        written = {"true": True, "false": False}.get(value, value)
        return super()._deserialize(written, *args, **kwargs)


class QueryNumber(Number):
    """A whole number, as a query parameter writes it."""

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> float:
        digits = value.isascii() and value.isdigit() and len(value) < 16
        return super()._deserialize(int(value) if digits else value, *args, **kwargs)


class QueryShape(Shape):
    """The parameters of a call; one that it does not name is an error."""

    error_messages = {"unknown": f"{UNKNOWN_FIELD}: is not a parameter of this call"}


class NoParameters(QueryShape):
    """For calls that take none."""


class ListParameters(QueryShape):
    """Where a list goes on, and how far."""

    limit = QueryNumber(1, 500, whole=True, about=f"{DEFAULT_LIMIT} where it is not given")
    cursor = Word(r".{1,4096}", "must be the `next` of an answer", about="the `next` of an answer")


class DocumentsParameters(ListParameters):
    """Which documents to list; or, with `id`, which one to show."""

    id = _identifier()
    collection = _collection()
    state = Choice(*STATES)
    family = Word(r"[^\x00-\x1f\x7f-\x9f]{1,128}", "must be the `family` of an answer")
    orphaned = QueryFlag()


class OfCollection(QueryShape):
    """The collection in which a document is looked for."""

    collection = _collection(load_default="default")


class DeletionOf(OfCollection):
    """How to delete a document. All that is kept of it goes, with `erase` and without."""

    erase = QueryFlag(
        load_default=False, about="nothing of a deleted document is kept, with this and without"
    )


class Deletion(DeletionOf):
    """Which document to delete, and how."""

    id = _identifier(required=True)


class StatsParameters(QueryShape):
    """Which collection to count; all of them where none is named."""

    collection = _collection()


class DocumentPath(Shape):
    """The id of a document in a path."""

    id = _identifier(required=True)


class CollectionPath(Shape):
    """The name of a collection in a path."""

    name = _collection(required=True)


CHECK = CheckShape()
CLEAN = CleanShape()
COMPARE = CompareShape()
COLLECTION = CollectionShape()
NO_PARAMETERS = NoParameters()
LIST = ListParameters()
DOCUMENTS = DocumentsParameters()
OF_COLLECTION = OfCollection()
DELETION_OF = DeletionOf()
DELETION = Deletion()
STATS = StatsParameters()
DOCUMENT_PATH = DocumentPath()
COLLECTION_PATH = CollectionPath()
