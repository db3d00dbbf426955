"""POST /check/batch: many checks, as one JSON body or as a stream of lines both ways."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson
from flask import Blueprint, Response, stream_with_context

from service.dedup.verdict import Document
from service.errors import TwinsiftError
from service.tokens import Scope
from service.web import answers, errors, posted
from service.web.access import permit
from service.web.body import NDJSON, encoding_of
from service.web.loading import Loaded, load, takes
from service.web.schemas import BATCH, CHECK
from service.web.streaming import lines
from service.web.strict_json import parse
from service.web.wire_values import Json
from service.web.wiring import wiring

blueprint = Blueprint("batch", __name__)


class _Names:
    """The ids of items on their way: each item's result names it, whatever became of it."""

    def __init__(self) -> None:
        self._ids: list[str | None] = []
        self._given = 0

    def keep(self, item: Any) -> None:
        """Remembers the id of the next item, where it has one."""
        name = item.get("id") if isinstance(item, dict) else None
        self._ids.append(name if isinstance(name, str) else None)

    def next(self) -> tuple[int, str | None]:
        """Place and id of the item whose result comes next."""
        name = self._ids.pop(0)
        self._given += 1
        return self._given - 1, name


@blueprint.post("/check/batch")
@takes(scope=Scope.CHECK, body=BATCH, stream=NDJSON)
def batch(body: Loaded | None) -> Response:
    """Check many texts, as if they came one after the other."""
    names = _Names()
    if body is None:
        stream = wiring().turns.each_in_turn(_results(_streamed(names), names))
        written = (orjson.dumps(result) + b"\n" for result in stream)
        return Response(stream_with_context(written), content_type=NDJSON)
    listed = _results(_listed(body["items"], names), names)
    return answers.dump({"results": list(listed)})


def _results(documents: Iterator[Document | TwinsiftError | None], names: _Names) -> Iterator[Json]:
    for result in wiring().batches.check(documents):
        index, name = names.next()
        if isinstance(result, TwinsiftError):
            yield {"index": index, "id": name, "problem": errors.problem(result)}
        else:
            yield {"index": index, **answers.check(result)}


def _listed(items: list[Any], names: _Names) -> Iterator[Document | TwinsiftError | None]:
    for item in items:
        names.keep(item)
        yield _document(item)


def _streamed(names: _Names) -> Iterator[Document | TwinsiftError | None]:
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
        names.keep(item)
        yield document


def _document(item: Any) -> Document | TwinsiftError:
    """The document that an item tells of, or what is wrong with it."""
    try:
        loaded = load(CHECK, item)
        permit(loaded["collection"])
        return posted.document(loaded, wiring().settings.max_text)
    except TwinsiftError as error:
        return error
