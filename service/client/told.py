"""How an answer in JSON becomes a frozen dataclass: by the names and types of its fields."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from datetime import datetime
from functools import cache
from typing import Any, Self, Union, get_args, get_origin, get_type_hints

from service.client.errors import Refused

Reader = Callable[[Any], Any]


@dataclass(frozen=True, kw_only=True)
class Told:
    """Something that the service told. `raw` is all of it, with the fields that were added to the
    contract after this client was made."""

    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def read(cls, raw: Any) -> Self:
        """Raises Refused where the contract's fields are not there."""
        if not isinstance(raw, Mapping):
            raise unexpected()
        values: dict[str, Any] = {"raw": raw}
        try:
            for name, reader, is_required in _fields(cls):  # type: ignore[arg-type] # mypy and `Self`
                if is_required or name in raw:
                    value = raw[name]
                    values[name] = value if value is None else reader(value)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise unexpected() from None
        return cls(**values)


def unexpected() -> Refused:
    """An answer that is not one of this service."""
    return Refused("the answer is not one of twinsift's", code="unexpected_answer")


@cache
def _fields(kind: type[Told]) -> tuple[tuple[str, Reader, bool], ...]:
    """Each field's name, how it is read, and whether it must be there."""
    hints = get_type_hints(kind)
    return tuple(
        (one.name, _reader(hints[one.name]), one.default is MISSING)
        for one in fields(kind)
        if one.name != "raw"
    )


def _reader(hint: Any) -> Reader:
    """How a value of this type is read where it is not null."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        kinds = [one for one in inner if one is not types.NoneType]
        return _reader(kinds[0]) if len(kinds) == 1 else _as_it_is
    if origin is tuple:
        item = _reader(inner[0])
        return lambda value: tuple(map(item, value))
    if origin is Mapping:
        return _named(_reader(inner[1]))
    if hint is datetime:
        return datetime.fromisoformat
    if isinstance(hint, type) and issubclass(hint, Told):
        return hint.read
    return _as_it_is


def _named(item: Reader) -> Reader:
    return lambda value: {name: item(one) for name, one in value.items()}


def _as_it_is(value: Any) -> Any:
    return value
