"""From a request to checked values: one decorator that every view carries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Any, NamedTuple, TypeVar
from urllib.parse import parse_qsl

from flask import Response, request
from marshmallow import Schema, ValidationError

from service.errors import Fault, InvalidRequest
from service.stages import PARSING
from service.tokens import Scope
from service.web.access import authorize
from service.web.body import read_json, receive
from service.web.fields import INVALID_TYPE, INVALID_VALUE, MOST_FIELDS
from service.web.parameters import NO_PARAMETERS
from service.web.wiring import wiring

Loaded = dict[str, Any]
View = TypeVar("View", bound=Callable[..., Response])


class Takes(NamedTuple):
    """What a view takes; openapi.yaml is held against it."""

    path: Schema | None
    query: Schema
    body: Schema | None
    stream: str | None = None
    scope: Scope | None = None


_MOST_FAULTS = 20
_MOST_PARAMETERS = 32
_LONGEST_NAME = 64
_MOST_WORDS = 3
_NO_NAME = "(a name of many words)"


def takes(
    *,
    scope: Scope | None,
    path: Schema | None = None,
    query: Schema = NO_PARAMETERS,
    body: Schema | None = None,
    stream: str | None = None,
) -> Callable[[View], View]:
    """Give the view what it takes, checked, if the caller has a token of this scope.

    The parts of the path come by their names, the rest as `query` and `body`, where the view
    says what they are. A body of the content type `stream` is left to the view, which gets None.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def loaded(**parts: str) -> Response:
            authorize(scope)
            arguments: dict[str, Any] = parts if path is None else load(path, parts)
            parameters = read_query(query)
            if query is not NO_PARAMETERS:
                arguments["query"] = parameters
            if scope is None:  # health is told whoever works
                return view(**arguments)
            return _in_turn(view, arguments, body, stream)

        loaded.takes = Takes(path, query, body, stream, scope)  # type: ignore[attr-defined]
        return loaded  # type: ignore[return-value]

    return decorate


def _in_turn(
    view: Callable[..., Response],
    arguments: dict[str, Any],
    body: Schema | None,
    stream: str | None,
) -> Response:
    """What the view answers, made in a turn; its body has come before, and was read in the turn."""
    settings, turns = wiring().settings, wiring().turns
    room = turns.room()
    try:
        received = None
        if body is not None and request.mimetype != stream:
            received = receive(settings.max_body, room)
        with turns.turn():
            if received is not None and body is not None:
                with PARSING:
                    json = read_json(received, settings.max_body, settings.max_text)
                    arguments["body"] = load(body, json)
            elif body is not None:
                arguments["body"] = None
            response = view(**arguments)
    except BaseException:
        room.leave()
        raise
    response.call_on_close(room.leave)
    return response


def load(schema: Schema, value: Any) -> Loaded:
    """`value` as the schema has it.

    Raises:
        InvalidRequest: with a fault for each thing that is wrong, up to a number of them.
    """
    if type(value) is not dict:
        raise refusal([Fault("", INVALID_TYPE, "must be a JSON object")])
    if len(value) > MOST_FIELDS:
        raise refusal([Fault("", INVALID_VALUE, f"must have at most {MOST_FIELDS} fields")])
    try:
        loaded: Loaded = schema.load(value)
    except ValidationError as error:
        raise refusal(list(_faults(error.messages, ""))) from None
    return loaded


def refusal(faults: list[Fault]) -> InvalidRequest:
    """The error that names these faults, the first of them in its own words."""
    first, more = faults[0], len(faults) - 1
    words = f"{first.pointer or 'The body'} {first.detail}"
    detail = f"{words}, and {more} more" if more else words
    return InvalidRequest(f"{detail}.", tuple(faults[:_MOST_FAULTS]))


def read_query(schema: Schema) -> Loaded:
    """The query parameters of the request at hand, as the schema has them.

    Werkzeug's own reading replaces what is not UTF-8, and an id must come as it was sent.
    """
    written = request.environ.get("QUERY_STRING", "")
    if not written and schema is NO_PARAMETERS:
        return {}
    return load(schema, _parameters(written))


def _parameters(written: str) -> dict[str, str]:
    try:
        raw = written.encode("latin-1").decode()  # WSGI hands bytes over as Latin-1
        pairs = parse_qsl(
            raw, keep_blank_values=True, errors="strict", max_num_fields=_MOST_PARAMETERS
        )
    except UnicodeError:
        raise InvalidRequest("The query is not UTF-8.") from None
    except ValueError:
        raise InvalidRequest(f"There are more than {_MOST_PARAMETERS} parameters.") from None
    parameters = dict(pairs)
    if len(parameters) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise refusal([Fault(f"/{_safe(twice)}", INVALID_VALUE, "must be given once")])
    return parameters


def _faults(messages: Mapping[Any, Any] | list[str], pointer: str) -> Iterator[Fault]:
    """Marshmallow's tree of messages as a list of pointers; every message is `kind: words`."""
    if isinstance(messages, Mapping):
        for name, inner in messages.items():
            yield from _faults(inner, f"{pointer}/{_safe(str(name))}")
        return
    for message in messages:
        kind, _, words = message.partition(": ")
        yield Fault(pointer, kind, words)


def _safe(name: str) -> str:
    """A name the caller chose, fit for a JSON pointer and a terminal. One of many words is no name
    but posted text in the wrong place, which no error repeats."""
    if len(name.split()) > _MOST_WORDS:
        return _NO_NAME
    short = name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"
    visible = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in short)
    return visible.replace("~", "~0").replace("/", "~1")
