"""The contract in its machine form, made from the schemas and the table of operations.

`python -m service.web.openapi > openapi.yaml` writes the file at the project's root.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from typing import Any

import orjson
from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from marshmallow import Schema, fields, missing

import service
from service.web import schemas
from service.web.body import NDJSON
from service.web.examples import EXAMPLES, PROBLEM_EXAMPLE
from service.web.fields import Parts, Value
from service.web.json_schemas import Json, ref
from service.web.operations import OPERATIONS, Operation
from service.web.parameters import NO_PARAMETERS
from service.web.problems import INTERNAL, MEDIA_TYPE, PROBLEMS, TITLES
from service.web.request_ids import HEADER
from service.web.responses import RESPONSES
from service.web.strict_json import MOST_VALUES

OPENAPI_VERSION = "3.1.0"

_INFO = {
    "description": (
        "Tells an ingestion worker whether a text is new, or a duplicate of one it has already. "
        "Fields may be added to answers, never renamed. Every answer carries `X-Request-Id`. "
        "A body of JSON has at most "
        f"{MOST_VALUES:,} values, those of lists and objects counted: more are 413 `too_large`. "
        "What names no call of this document is told as a Problem too, 404 `not_found` or 405 "
        "`method_not_allowed`; so is what is no request of HTTP/1.1, with the connection closed: "
        "400 `malformed_request`, 414 `uri_too_long`, 417 `expectation_failed`, "
        "431 `headers_too_large`."
    ),
}

_TEXT_OR_PAGES: Json = {"oneOf": [{"required": ["text"]}, {"required": ["pages"]}]}
# What a schema demands beyond its single fields; `posted.py` and `texts.py` check it.
_BEYOND_FIELDS: dict[str, Json] = {
    "CheckRequest": _TEXT_OR_PAGES,
    "CleanRequest": {**_TEXT_OR_PAGES, "not": {"required": ["collection", "cleaning"]}},
}
_NAMES: dict[type[Schema], str] = {
    schemas.CheckShape: "CheckRequest",
    schemas.BatchShape: "BatchRequest",
    schemas.CleanShape: "CleanRequest",
    schemas.CompareShape: "CompareRequest",
    schemas.CollectionShape: "CollectionSettings",
    schemas.CleaningShape: "CleaningSettings",
    schemas.RepeatedLinesShape: "RepeatedLinesSettings",
    schemas.ShinglesShape: "ShinglesSettings",
    schemas.CalibrationShape: "CalibrationRequest",
    schemas.PairShape: "LabelledPair",
    schemas.RunShape: "Shingles",
    schemas.CostsShape: "Costs",
    schemas.RulingShape: "RulingRequest",
    schemas.RevertShape: "RevertRequest",
}
_HEADERS: Json = {HEADER: {"$ref": f"#/components/headers/{HEADER}"}}
_STATUSES = {problem.code: problem.status for problem in (*PROBLEMS.values(), INTERNAL)}


@cache
def document() -> Json:
    """The whole document; made once, not to be changed."""
    plugin = MarshmallowPlugin(schema_name_resolver=_name)
    spec = APISpec("twinsift", service.__version__, OPENAPI_VERSION, plugins=[plugin], info=_INFO)
    plugin.converter.add_attribute_function(_described)  # type: ignore[union-attr]
    for schema, name in _NAMES.items():
        if name not in spec.components.schemas:
            spec.components.schema(name, schema=schema)
    for name, response in RESPONSES.items():
        spec.components.schema(name, response)
    for operation in OPERATIONS:
        told = {operation.method.lower(): _operation(operation)}
        spec.path(operation.path, operations=told)
    whole: Json = spec.to_dict()
    for name, demand in _BEYOND_FIELDS.items():
        whole["components"]["schemas"][name] |= demand
    whole["components"]["responses"] = _problem_responses()
    whole["components"]["securitySchemes"] = {
        "token": {
            "type": "http",
            "scheme": "bearer",
            "description": "needed where the service has a tokens file; the scope is named by call",
        }
    }
    whole["components"]["headers"] = {
        HEADER: {
            "description": "the id that was sent where it is plain, else one made here",
            "schema": {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,128}$"},
        }
    }
    return {part: whole[part] for part in ("openapi", "info", "paths", "components")}


def main() -> None:
    """Print the document as YAML."""
    import yaml  # noqa: PLC0415 - a tool for developers, not part of the service

    plain = orjson.loads(orjson.dumps(document()))  # no object twice, so no YAML anchors
    sys.stdout.write(yaml.safe_dump(plain, sort_keys=False, allow_unicode=True, width=100))


def _name(schema: Any) -> str:
    return _NAMES[schema if isinstance(schema, type) else type(schema)]


def _described(_converter: Any, field: fields.Field[Any], ret: Json) -> Json:
    """Each field tells its own JSON schema: apispec would take exclusive bounds for inclusive."""
    if isinstance(field, Parts):
        return {"minItems": 1, "maxItems": field.most}
    if not isinstance(field, Value):
        return {}
    schema = field.json_schema()
    if field.allow_none:
        schema["type"] = [schema["type"], "null"]
    return ret | schema


def _operation(operation: Operation) -> Json:
    told: Json = {
        "operationId": _operation_id(operation),
        "summary": operation.summary,
        "parameters": [
            *_parameters(operation.path_schema, "path"),
            *_parameters(operation.query, "query"),
        ],
        "responses": {
            **{
                str(status): _answer(status, name, operation.media_type)
                for status, name in operation.answers.items()
            },
            **{
                str(status): {"$ref": f"#/components/responses/{_response_name(codes)}"}
                for status, codes in sorted(_failures(operation).items())
            },
        },
    }
    told["security"] = [] if operation.scope is None else [{"token": [operation.scope.value]}]
    if operation.body is not None:
        name = _name(operation.body)
        content = {"schema": ref(name), **_examples(name)}
        told["requestBody"] = {"required": True, "content": {"application/json": content}}
    if operation.stream:
        # One request a line, and one result a line: no schema can say that.
        a_line = "one CheckRequest a line"
        a_result = "one result a line, each as those of BatchAnswer"
        told["requestBody"]["content"][NDJSON] = {
            "schema": {"type": "string", "description": a_line}
        }
        told["responses"]["200"]["content"][NDJSON] = {
            "schema": {"type": "string", "description": a_result}
        }
    return told


def _operation_id(operation: Operation) -> str:
    words = operation.path.strip("/").replace("{", "by_").replace("}", "")
    return f"{operation.method.lower()}_{re.sub('[/.-]', '_', words)}"


def _parameters(schema: Schema | None, place: str) -> list[Json]:
    if schema is None or schema is NO_PARAMETERS:
        return []
    return [_parameter(name, field, place) for name, field in schema.fields.items()]


def _parameter(name: str, field: fields.Field[Any], place: str) -> Json:
    if not isinstance(field, Value):
        raise TypeError(f"the parameter {name} has no JSON schema")
    schema = field.json_schema()
    if field.load_default is not missing:
        schema["default"] = field.load_default
    told: Json = {"name": name, "in": place, "required": field.required, "schema": schema}
    return told | {key: field.metadata[key] for key in ("description",) if key in field.metadata}


def _answer(status: int, name: str, media_type: str) -> Json:
    parts = name.split(" or ")
    schema = ref(name) if len(parts) == 1 else {"anyOf": [ref(part) for part in parts]}
    return {
        "description": TITLES[status],
        "headers": _HEADERS,
        "content": {media_type: {"schema": schema, **_examples(name)}},
    }


def _failures(operation: Operation) -> dict[int, list[str]]:
    """The codes of an operation by their status."""
    by_status: dict[int, list[str]] = {}
    for code in operation.codes:
        by_status.setdefault(_STATUSES[code], []).append(code)
    return by_status


def _response_name(codes: list[str]) -> str:
    return "-or-".join(codes)


def _problem_responses() -> Json:
    """One component for each set of codes that some operation has under one status."""
    found = [pair for operation in OPERATIONS for pair in _failures(operation).items()]
    return {_response_name(codes): _failure(status, codes) for status, codes in sorted(found)}


def _failure(status: int, codes: list[str]) -> Json:
    code = {"properties": {"code": {"type": "string", "enum": codes}}}
    content: Json = {"schema": {"allOf": [ref("Problem"), code]}}
    if status == PROBLEM_EXAMPLE["status"]:
        content["example"] = PROBLEM_EXAMPLE
    retry: Json = {"Retry-After": {"description": "in seconds", "schema": {"type": "integer"}}}
    return {
        "description": TITLES[status],
        "headers": _HEADERS | (retry if status in (429, 503) else {}),
        "content": {MEDIA_TYPE: content},
    }


def _examples(name: str) -> Json:
    return {"example": EXAMPLES[name]} if name in EXAMPLES else {}


if __name__ == "__main__":
    main()
