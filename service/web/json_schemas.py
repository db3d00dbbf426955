"""What JSON schemas of answers are made of, and the values that many answers share."""

from __future__ import annotations

from typing import Any

from service.text.changes import ChangeKind

Json = dict[str, Any]


def ref(name: str) -> Json:
    """A reference to a component."""
    return {"$ref": f"#/components/schemas/{name}"}


def an_object(**properties: Json) -> Json:
    """An object that has all of these."""
    return {"type": "object", "required": list(properties), "properties": properties}


def with_optional(schema: Json, **properties: Json) -> Json:
    """The object, which may have these too."""
    return {**schema, "properties": {**schema["properties"], **properties}}


def list_of(item: Json) -> Json:
    """A list of any length."""
    return {"type": "array", "items": item}


def part_of(item: Json) -> Json:
    """A part of a list, and where the next part begins."""
    return an_object(items=list_of(item), next=or_null(TEXT))


def or_null(schema: Json) -> Json:
    """What the schema says, or null."""
    if isinstance(schema.get("type"), str) and "enum" not in schema:
        return {**schema, "type": [schema["type"], "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


def one_of(*words: str) -> Json:
    """One of a few words."""
    return {"type": "string", "enum": list(words)}


def about(schema: Json, description: str) -> Json:
    """The schema with a description."""
    return {**schema, "description": description}


TEXT: Json = {"type": "string"}
FLAG: Json = {"type": "boolean"}
COUNT: Json = {"type": "integer", "minimum": 0}
SCORE: Json = {"type": "number", "minimum": 0, "maximum": 1}
TIME: Json = {"type": "string", "format": "date-time"}
HASH: Json = {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}
HASHES = an_object(bytes=HASH, normalized=HASH)
IDS = list_of(TEXT)

CHANGE = an_object(
    kind=one_of(*ChangeKind),
    before=about(or_null(TEXT), "in the matched text; null where there is nothing"),
    after=about(or_null(TEXT), "in the posted text; null where there is nothing"),
    fact=about(FLAG, "whether a fact differs, and not the wording alone"),
)
CHANGES = list_of(CHANGE)
CHANGES_CUT = about(FLAG, "true where there are more changes than are told")
