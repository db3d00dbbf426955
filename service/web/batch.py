"""POST /check/batch: many checks, as one JSON body or as a stream of lines both ways."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from typing import Any, NamedTuple

import orjson
from flask import Blueprint, Response, stream_with_context

from service.dedup.verdict import Document
from service.errors import TwinsiftError
from service.tokens import Scope
from service.web import answers, errors, metrics, posted
from service.web.access import permit
from service.web.body import NDJSON, encoding_of
from service.web.loading import Loaded, load, takes
from service.web.request_log import note
from service.web.schemas import BATCH, CHECK
from service.web.streaming import lines
from service.web.strict_json import parse
from service.web.wire_values import Json
from service.web.wiring import wiring

blueprint = Blueprint("batch", __name__)


class _Kept(NamedTuple):
    """What is remembered of an item until its result comes."""

    id: str | None
    dry_run: bool


class _Underway:
    """The items on their way: each item's result names it, whatever became of it."""

    def __init__(self) -> None:
        self._items: deque[_Kept] = deque()
        self.given = 0

    def keep(self, item: Any) -> None:
        """Remembers the next item, and its id where it has one."""
        fields = item if isinstance(item, dict) else {}
        name = fields.get("id")
        dry_run = fields.get("dry_run") is True
        self._items.append(_Kept(name if isinstance(name, str) else None, dry_run))

    def next(self) -> tuple[int, _Kept]:
        """The item whose result comes next, and its place."""
        self.given += 1
        return self.given - 1, self._items.popleft()


@blueprint.post("/check/batch")
@takes(scope=Scope.CHECK, body=BATCH, stream=NDJSON)
def batch(body: Loaded | None) -> Response:
    """Check many texts, as if they came one after the other."""
    underway = _Underway()
    if body is None:
        stream = wiring().turns.each_in_turn(_results(_streamed(underway), underway))
        written = (orjson.dumps(result) + b"\n" for result in stream)
        return Response(stream_with_context(written), content_type=NDJSON)
    listed = _results(_listed(body["items"], underway), underway)
    return answers.dump({"results": list(listed)})


def _results(
    documents: Iterator[Document | TwinsiftError | None], underway: _Underway
) -> Iterator[Json]:
    counted: Counter[str] = Counter()
    try:
        for result in wiring().batches.check(documents):
            index, item = underway.next()
            if isinstance(result, TwinsiftError):
                counted["problem"] += 1
                yield {"index": index, "id": item.id, "problem": errors.problem(result)}
                continue
            counted["replayed" if result.replayed else result.verdict.value] += 1
            if not item.dry_run:
                metrics.check(result)
            yield {"index": index, **answers.check(result)}
    finally:  # a stream may end early
        metrics.batch(underway.given)
        note(items=underway.given, results=dict(counted))


def _listed(items: list[Any], underway: _Underway) -> Iterator[Document | TwinsiftError | None]:
    for item in items:
        underway.keep(item)
        yield _document(item)


def _streamed(underway: _Underway) -> Iterator[Document | TwinsiftError | None]:
    settings = wiring().settings
    for line in lines(settings.max_body, encoding_of()):
        if line is None:
            yield None
            continue
        item: Any = None
        document: Document | TwinsiftError
        if isinstance(line, TwinsiftError):
            document = line
        else:
            try:
                item = parse(line, settings.max_text)
                document = _document(item)
            except TwinsiftError as error:
                document = error
        underway.keep(item)
        yield document


def _document(item: Any) -> Document | TwinsiftError:
    """The document that an item tells of, or what is wrong with it."""
    try:
        loaded = load(CHECK, item)
        permit(loaded["collection"])
        return posted.document(loaded, wiring().settings.max_text)
    except TwinsiftError as error:
        return error
