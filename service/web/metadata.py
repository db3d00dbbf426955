"""What a document may carry beside its text."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from marshmallow import ValidationError

from service.web.fields import CONTROL_CHARACTER, INVALID_TYPE, INVALID_VALUE, Value, wrong

_RFC_3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?"
    r"([Zz]|[+-][0-9]{2}:[0-9]{2})"
)


class Metadata(Value):
    """Up to 64 keys with a string, a number or a boolean each; five of them have a meaning."""

    MOST_KEYS, LONGEST_KEY, LONGEST_STRING = 64, 128, 4096
    STRINGS = ("source", "version", "split", "updated_at")

    def _deserialize(self, value: Any, *_args: Any, **_kwargs: Any) -> dict[str, Any]:
        if type(value) is not dict:
            raise wrong(INVALID_TYPE, "must be an object")
        if len(value) > self.MOST_KEYS:
            raise wrong(INVALID_VALUE, f"must have at most {self.MOST_KEYS} keys")
        faults = {key: [fault] for key, item in value.items() if (fault := self._fault(key, item))}
        if faults:
            raise ValidationError(faults)
        return value

    def _fault(self, key: str, value: Any) -> str | None:
        if not 1 <= len(key) <= self.LONGEST_KEY or CONTROL_CHARACTER.search(key):
            words = f"a key has 1 to {self.LONGEST_KEY} characters, no control characters"
            return f"{INVALID_VALUE}: {words}"
        kind = type(value)
        if key in self.STRINGS and kind is not str:
            return f"{INVALID_TYPE}: must be a string"
        if key == "authority" and kind is not int and kind is not float:
            return f"{INVALID_TYPE}: must be a number"
        if kind is str:
            if len(value) > self.LONGEST_STRING:
                return f"{INVALID_VALUE}: must have at most {self.LONGEST_STRING} characters"
            if key == "updated_at" and not is_time(value):
                return f"{INVALID_VALUE}: must be an RFC 3339 time"
            return None
        if kind is bool or kind is int or kind is float:
            return None
        return f"{INVALID_TYPE}: must be a string, a number or a boolean"

    def json_schema(self) -> dict[str, Any]:
        """See `Value`."""
        text = {"type": "string", "maxLength": self.LONGEST_STRING}
        return {
            "type": "object",
            "maxProperties": self.MOST_KEYS,
            "propertyNames": {"pattern": rf"^[^\x00-\x1f\x7f-\x9f]{{1,{self.LONGEST_KEY}}}$"},
            "properties": {
                "source": text,
                "version": text,
                "split": text,
                "updated_at": {**text, "format": "date-time"},
                "authority": {"type": "number"},
            },
            "additionalProperties": {"anyOf": [text, {"type": "number"}, {"type": "boolean"}]},
        }


def is_time(written: str) -> bool:
    """Whether this is an RFC 3339 time that can be told in UTC. Leap seconds cannot be."""
    if not _RFC_3339.fullmatch(written):
        return False
    try:
        datetime.fromisoformat(written.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        return False
    return True
