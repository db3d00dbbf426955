"""The shape of what stands in an address: query parameters and the parts of paths.

A parameter that a call does not name is refused. Each schema is made once, here.
"""

from __future__ import annotations

import re
from typing import Any

from service.dedup.decisions import ConflictStatus, DecisionKind
from service.errors import RequestError, UnknownConflict, UnknownDecision
from service.text.changes import ChangeKind
from service.web.fields import Choice, Flag, Number, Word
from service.web.schemas import QueryShape, Shape, collection_name, identifier

DEFAULT_LIMIT = 50
STATES = ("active", "held", "dropped")
GIVEN_ID_PATTERN = r"[A-Za-z0-9_-]{1,64}"

_DECIMAL = re.compile(r"-?[0-9]{1,32}(\.[0-9]{1,32})?([eE][+-]?[0-9]{1,3})?", re.ASCII)


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


class QueryScore(Number):
    """A similarity, as a query parameter writes it: any way in which JSON may write a number."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(0, 1, **kwargs)

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> float:
        number = float(value) if _DECIMAL.fullmatch(value) else value
        return super()._deserialize(number, *args, **kwargs)


class GivenId(Word):
    """An id that the service gave. Whatever cannot be one names nothing, and is answered so."""

    def __init__(self, unknown: type[RequestError], words: str, **kwargs: Any) -> None:
        super().__init__(GIVEN_ID_PATTERN, words, **kwargs)
        self.unknown = unknown

    def _deserialize(self, value: Any, *_args: Any, **_kwargs: Any) -> str:
        if type(value) is not str or not self.matches(value):
            raise self.unknown(self.words)
        return value


class NoParameters(QueryShape):
    """For calls that take none."""


class ListParameters(QueryShape):
    """Where a list goes on, and how far."""

    limit = QueryNumber(1, 500, whole=True, about=f"{DEFAULT_LIMIT} where it is not given")
    cursor = Word(r".{1,4096}", "must be the `next` of an answer", about="the `next` of an answer")


class DocumentsParameters(ListParameters):
    """Which documents to list; or, with `id`, which one to show."""

    id = identifier()
    collection = collection_name()
    state = Choice(*STATES)
    family = Word(r"[^\x00-\x1f\x7f-\x9f]{1,128}", "must be the `family` of an answer")
    orphaned = QueryFlag()


class ConflictsParameters(ListParameters):
    """Which conflicts to list."""

    collection = collection_name()
    status = Choice(*ConflictStatus)
    kind = Choice(*ChangeKind, about="what at least one of the changes is")


class DecisionsParameters(ListParameters):
    """Which entries of the log to list; `after` and `cursor` are two names for one thing."""

    after = Word(r".{1,4096}", "must be the `after` of an answer", about="the `after` of an answer")
    collection = collection_name()
    document = identifier(about="the incoming or leaving one")
    kind = Choice(*DecisionKind)
    min_score = QueryScore(about="entries of this score or a higher one")
    max_score = QueryScore(about="entries of this score or a lower one")


class NearMissesParameters(ListParameters):
    """Which near-misses to list."""

    collection = collection_name()


class OfCollection(QueryShape):
    """The collection in which a document is looked for."""

    collection = collection_name(load_default="default")


class DeletionOf(OfCollection):
    """How to delete a document."""

    erase = QueryFlag(
        load_default=False,
        about="take what quotes it out of the log, conflicts and near-misses too",
    )


class Deletion(DeletionOf):
    """Which document to delete, and how."""

    id = identifier(required=True)


class StatsParameters(QueryShape):
    """Which collection to count; all of them where none is named."""

    collection = collection_name()


class DocumentPath(Shape):
    """The id of a document in a path."""

    id = identifier(required=True)


class CollectionPath(Shape):
    """The name of a collection in a path."""

    name = collection_name(required=True)


class ConflictPath(Shape):
    """The id of a conflict in a path."""

    id = GivenId(UnknownConflict, "there is no conflict of this id", required=True)


class DecisionPath(Shape):
    """The id of a log entry in a path."""

    id = GivenId(UnknownDecision, "the log has no entry of this id", required=True)


NO_PARAMETERS = NoParameters()
LIST = ListParameters()
DOCUMENTS = DocumentsParameters()
CONFLICTS = ConflictsParameters()
DECISIONS = DecisionsParameters()
NEAR_MISSES = NearMissesParameters()
OF_COLLECTION = OfCollection()
DELETION_OF = DeletionOf()
DELETION = Deletion()
STATS = StatsParameters()
DOCUMENT_PATH = DocumentPath()
COLLECTION_PATH = CollectionPath()
CONFLICT_PATH = ConflictPath()
DECISION_PATH = DecisionPath()
