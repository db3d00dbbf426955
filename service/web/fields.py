"""The kinds of values a request is made of: strict about types, and each with its JSON schema.

Nothing is converted: a boolean is no number, a number no string; but 2.0 is the whole number 2, as
in JSON Schema. A message is `kind: words`, and `loading.py` takes the two apart.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, ValidationError, fields

INVALID_TYPE, INVALID_VALUE = "invalid_type", "invalid_value"
MISSING, UNKNOWN_FIELD = "missing", "unknown_field"

# Of any object in a request: far more than any has, few enough to name the unknown ones.
MOST_FIELDS = 1000

CONTROL_CHARACTER = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def wrong(kind: str, words: str) -> ValidationError:
    """The error for one value; `words` continue the name of the field and never quote the value."""
    return ValidationError(f"{kind}: {words}")


class Value(fields.Field[Any]):
    """A value that is checked and passed on as it is; `about` describes it in openapi.yaml."""

    def __init__(self, *, about: str | None = None, **kwargs: Any) -> None:
        super().__init__(metadata={} if about is None else {"description": about}, **kwargs)

    default_error_messages = {
        "required": f"{MISSING}: is required",
        "null": f"{INVALID_TYPE}: must not be null",
    }

    def json_schema(self) -> dict[str, Any]:
        """How openapi.yaml describes the value."""
        raise NotImplementedError


class Text(Value):
    """Any string, or any of at most `longest` characters."""

    def __init__(self, *, longest: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.longest = longest

    def _deserialize(self, value: Any, *_args: Any, **_kwargs: Any) -> str:
        if type(value) is not str:
            raise wrong(INVALID_TYPE, "must be a string")
        if self.longest is not None and len(value) > self.longest:
            raise wrong(INVALID_VALUE, f"must have at most {self.longest} characters")
        return value

    def json_schema(self) -> dict[str, Any]:
        """See `Value`."""
        schema: dict[str, Any] = {"type": "string"}
        return schema if self.longest is None else schema | {"maxLength": self.longest}


class Word(Value):
    """A string that matches a pattern from its first character to its last."""

    def __init__(self, pattern: str, words: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.pattern = pattern
        self.words = words
        self.matches = re.compile(rf"(?:{pattern})\Z", re.DOTALL).match

    def _deserialize(self, value: Any, *_args: Any, **_kwargs: Any) -> str:
        if type(value) is not str:
            raise wrong(INVALID_TYPE, "must be a string")
        if not self.matches(value):
            raise wrong(INVALID_VALUE, self.words)
        return value

    def json_schema(self) -> dict[str, Any]:
        """See `Value`."""
        return {"type": "string", "pattern": f"^(?:{self.pattern})$"}


class Flag(Value):
    """`true` or `false`, and nothing that is merely like them."""

    def _deserialize(self, value: Any, *_args: Any, **_kwargs: Any) -> bool:
        if type(value) is not bool:
            raise wrong(INVALID_TYPE, "must be true or false")
        return value

    def json_schema(self) -> dict[str, Any]:
        """See `Value`."""
        return {"type": "boolean"}


class Number(Value):
    """A number from `low` to `high`; `above_low` leaves `low` itself out, `below_high` `high`."""

    def __init__(
        self,
        low: float,
        high: float,
        *,
        whole: bool = False,
        above_low: bool = False,
        below_high: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.low, self.high, self.whole = low, high, whole
        self.above_low, self.below_high = above_low, below_high

    def _deserialize(self, value: Any, *_args: Any, **_kwargs: Any) -> float:
        if self.whole and type(value) is float and value.is_integer():
            value = int(value)  # to JSON 2.0 is the integer 2, however it is written
        if type(value) is not int and (self.whole or type(value) is not float):
            raise wrong(INVALID_TYPE, f"must be a {'whole ' if self.whole else ''}number")
        too_low = value <= self.low if self.above_low else value < self.low
        too_high = value >= self.high if self.below_high else value > self.high
        if too_low or too_high:
            raise wrong(INVALID_VALUE, self._range())
        return value

    def _range(self) -> str:
        lower = f"above {self.low}" if self.above_low else f"at least {self.low}"
        upper = f"below {self.high}" if self.below_high else f"at most {self.high}"
        return f"must be {lower} and {upper}"

    def json_schema(self) -> dict[str, Any]:
        """See `Value`."""
        return {
            "type": "integer" if self.whole else "number",
            "exclusiveMinimum" if self.above_low else "minimum": self.low,
            "exclusiveMaximum" if self.below_high else "maximum": self.high,
        }


class Choice(Value):
    """One of a few words."""

    def __init__(self, *choices: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.choices = choices

    def _deserialize(self, value: Any, *_args: Any, **_kwargs: Any) -> str:
        if type(value) is not str:
            raise wrong(INVALID_TYPE, "must be a string")
        if value not in self.choices:
            raise wrong(INVALID_VALUE, f"must be one of {', '.join(self.choices)}")
        return value

    def json_schema(self) -> dict[str, Any]:
        """See `Value`."""
        return {"type": "string", "enum": list(self.choices)}


class Ranking(Choice):
    """Some of a few words, each once, in an order that counts."""

    def _deserialize(self, value: Any, *_args: Any, **_kwargs: Any) -> list[str]:  # type: ignore[override]
        if type(value) is not list:
            raise wrong(INVALID_TYPE, "must be a list")
        if not value:
            raise wrong(INVALID_VALUE, "must not be empty")
        known = all(type(word) is str and word in self.choices for word in value)
        if not known or len(set(value)) != len(value):
            raise wrong(INVALID_VALUE, f"must name some of {', '.join(self.choices)}, each once")
        return value

    def json_schema(self) -> dict[str, Any]:
        """See `Value`."""
        words = {"type": "string", "enum": list(self.choices)}
        return {"type": "array", "items": words, "minItems": 1, "uniqueItems": True}


class Texts(Value):
    """A list of strings. One loop, not a field an item: a document may have a great many pages."""

    def __init__(self, most: int, *, longest: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.most = most
        self.longest = longest

    def _deserialize(self, value: Any, *_args: Any, **_kwargs: Any) -> list[str]:
        if type(value) is not list:
            raise wrong(INVALID_TYPE, "must be a list")
        if len(value) > self.most:
            raise wrong(INVALID_VALUE, f"must have at most {self.most} items")
        for index, item in enumerate(value):
            if type(item) is not str:
                raise ValidationError({index: [f"{INVALID_TYPE}: must be a string"]})
            if self.longest is not None and not 1 <= len(item) <= self.longest:
                words = f"must have 1 to {self.longest} characters"
                raise ValidationError({index: [f"{INVALID_VALUE}: {words}"]})
        return value

    def json_schema(self) -> dict[str, Any]:
        """See `Value`."""
        item: dict[str, Any] = {"type": "string"}
        if self.longest is not None:
            item |= {"minLength": 1, "maxLength": self.longest}
        return {"type": "array", "items": item, "maxItems": self.most}


class Items(Value):
    """A list of checks. Each is looked at by itself later on: a bad one spoils no other."""

    def __init__(self, most: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.most = most

    def _deserialize(self, value: Any, *_args: Any, **_kwargs: Any) -> list[Any]:
        return _listed(value, self.most)

    def json_schema(self) -> dict[str, Any]:
        """See `Value`."""
        item = {"$ref": "#/components/schemas/CheckRequest"}
        return {"type": "array", "items": item, "minItems": 1, "maxItems": self.most}


def _listed(value: Any, most: int) -> list[Any]:
    """The value, if it is a list that is neither empty nor too long."""
    if type(value) is not list:
        raise wrong(INVALID_TYPE, "must be a list")
    if not 1 <= len(value) <= most:
        raise wrong(INVALID_VALUE, f"must have 1 to {most} items")
    return value


class Part(fields.Nested):
    """An object inside the request, with a schema of its own."""

    default_error_messages = Value.default_error_messages

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(value, Mapping):
            raise wrong(INVALID_TYPE, "must be an object")
        if len(value) > MOST_FIELDS:
            raise wrong(INVALID_VALUE, f"must have at most {MOST_FIELDS} fields")
        return super()._deserialize(value, *args, **kwargs)


class Parts(fields.Nested):
    """A list of objects, each with the same schema."""

    default_error_messages = Value.default_error_messages

    def __init__(self, shape: type[Schema], most: int, **kwargs: Any) -> None:
        super().__init__(shape, many=True, **kwargs)
        self.most = most

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        for index, item in enumerate(_listed(value, self.most)):
            if not isinstance(item, Mapping) or len(item) > MOST_FIELDS:
                raise ValidationError({index: [f"{INVALID_TYPE}: must be an object"]})
        return super()._deserialize(value, *args, **kwargs)


class Numbers(Number):
    """A list of numbers, each in the range."""

    def __init__(self, low: float, high: float, *, most: int, **kwargs: Any) -> None:
        super().__init__(low, high, **kwargs)
        self.most = most

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> list[float]:  # type: ignore[override]
        numbers = _listed(value, self.most)
        for index, item in enumerate(numbers):
            try:
                super()._deserialize(item, *args, **kwargs)
            except ValidationError as error:
                raise ValidationError({index: error.messages}) from None
        return numbers

    def json_schema(self) -> dict[str, Any]:
        """See `Value`."""
        number = super().json_schema()
        return {"type": "array", "items": number, "minItems": 1, "maxItems": self.most}
