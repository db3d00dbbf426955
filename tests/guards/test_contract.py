"""Code and openapi.yaml say the same: each route is walked, none is trusted to memory."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from flask import Flask
from openapi_schema_validator import OAS31Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from service.app import create_app
from service.settings import Settings
from service.web.examples import EXAMPLES, PROBLEM_EXAMPLE
from service.web.openapi import document
from service.web.operations import OPERATIONS, Operation
from service.web.problems import INTERNAL, MEDIA_TYPE, NO_SUCH_CALL, PROBLEMS
from service.web.refusals import REFUSED

ROOT = Path(__file__).parents[2]
MAX_BODY = 2_000
BEFORE_CALLS = (*REFUSED, *NO_SUCH_CALL)

# Nothing here reaches a store: the address is never connected to.
APP = create_app(Settings(redis_url="redis://127.0.0.1:1/0", max_body=MAX_BODY))


def routes(app: Flask) -> dict[tuple[str, str], Any]:
    """Every call of the app as (method, path), with its view; the pages for people are no calls."""
    return {
        (method, re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule)): app.view_functions[rule.endpoint]
        for rule in app.url_map.iter_rules()
        if not rule.endpoint.startswith("review.")
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }


each_operation = pytest.mark.parametrize(
    "operation", [pytest.param(one, id=f"{one.method} {one.path}") for one in OPERATIONS]
)


def address(operation: Operation) -> str:
    return operation.path.replace("{id}", "a").replace("{name}", "a")


def test_the_file_is_what_the_code_says() -> None:
    written = yaml.safe_load((ROOT / "openapi.yaml").read_text(encoding="utf-8"))
    assert written == document(), "run: python -m service.web.openapi > openapi.yaml"


def test_the_document_is_valid_openapi() -> None:
    assert [error.message for error in OpenAPIV31SpecValidator(document()).iter_errors()] == []


def test_every_route_is_documented_and_every_documented_call_is_a_route() -> None:
    documented = {
        (method.upper(), path) for path, calls in document()["paths"].items() for method in calls
    }
    assert documented == set(routes(APP))


@each_operation
def test_a_view_takes_what_is_documented(operation: Operation) -> None:
    takes = routes(APP)[operation.method, operation.path].takes
    documented = (operation.path_schema, operation.query, operation.body)
    assert (takes.path, takes.query, takes.body) == documented


@each_operation
def test_a_call_needs_the_scope_that_is_documented(operation: Operation) -> None:
    view = routes(APP)[operation.method, operation.path].takes
    assert view.scope == operation.scope
    told = document()["paths"][operation.path][operation.method.lower()]["security"]
    assert told == ([] if operation.scope is None else [{"token": [operation.scope]}])


def test_only_these_calls_need_no_token() -> None:
    open_calls = {operation.path for operation in OPERATIONS if operation.scope is None}
    assert open_calls == {"/healthz", "/readyz", "/openapi.json"}


@each_operation
def test_a_call_is_described_and_so_is_each_answer(operation: Operation) -> None:
    told = document()["paths"][operation.path][operation.method.lower()]
    assert told["summary"] == operation.summary != ""
    responses = document()["components"]["responses"]
    for response in told["responses"].values():
        whole = responses[response["$ref"].rpartition("/")[2]] if "$ref" in response else response
        assert all("schema" in content for content in whole["content"].values())


@each_operation
def test_a_call_whose_method_takes_a_body_says_of_what_shape(operation: Operation) -> None:
    told = document()["paths"][operation.path][operation.method.lower()]
    assert (operation.method in ("POST", "PUT", "PATCH")) == ("requestBody" in told)


@each_operation
def test_a_call_has_an_error_contract(operation: Operation) -> None:
    responses = document()["paths"][operation.path][operation.method.lower()]["responses"]
    expected = {"413", "422", "500"} | ({"400", "415"} if operation.body is not None else set())
    assert expected <= set(responses)


@each_operation
def test_a_call_refuses_a_body_over_the_limit(operation: Operation) -> None:
    response = APP.test_client().open(
        address(operation), method=operation.method, data=b" " * (MAX_BODY + 1)
    )
    assert (response.status_code, response.get_json()["code"]) == (413, "too_large")
    assert response.content_type == MEDIA_TYPE
    assert response.headers["Connection"] == "close"


@each_operation
def test_a_call_refuses_a_parameter_that_is_not_documented(operation: Operation) -> None:
    response = APP.test_client().open(
        address(operation), method=operation.method, query_string={"undocumented": "1"}
    )
    assert (response.status_code, response.get_json()["code"]) == (422, "invalid_request")


@each_operation
def test_a_call_with_a_body_refuses_fields_that_are_not_documented(operation: Operation) -> None:
    if operation.body is None:
        return
    response = APP.test_client().open(
        address(operation), method=operation.method, json={"undocumented": 1}
    )
    pointers = [error["pointer"] for error in response.get_json()["errors"]]
    assert (response.status_code, "/undocumented" in pointers) == (422, True)


def test_every_code_of_the_service_is_documented_somewhere() -> None:
    documented = {code for operation in OPERATIONS for code in operation.codes}
    assert {problem.code for problem in PROBLEMS.values()} <= documented


def test_what_is_refused_before_any_call_is_documented_too() -> None:
    told = document()["info"]["description"]
    assert [problem.code for problem in BEFORE_CALLS if f"`{problem.code}`" not in told] == []


def test_the_page_of_errors_has_every_code_with_its_status() -> None:
    page = (ROOT / "docs/errors.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([0-9]{3}) \| `([a-z_]+)` \| .+ \|$", page, re.MULTILINE)
    every = (*PROBLEMS.values(), *BEFORE_CALLS, INTERNAL)
    assert sorted(rows) == sorted((str(problem.status), problem.code) for problem in every)


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_an_example_is_what_its_schema_says(name: str) -> None:
    whole = document()
    schema = {"$ref": f"#/components/schemas/{name}", "components": whole["components"]}
    assert [error.message for error in OAS31Validator(schema).iter_errors(EXAMPLES[name])] == []


def test_the_example_of_a_problem_is_what_the_service_answers() -> None:
    response = APP.test_client().post("/check", json={"text": "a"})
    assert response.get_json() == PROBLEM_EXAMPLE


def test_exclusive_bounds_are_told_as_such() -> None:
    threshold = document()["components"]["schemas"]["CollectionSettings"]["properties"]["threshold"]
    assert (threshold["exclusiveMinimum"], threshold["maximum"]) == (0, 1)
    assert "minimum" not in threshold


def enums(schema: Any) -> list[dict[str, Any]]:
    if isinstance(schema, list):
        return [found for item in schema for found in enums(item)]
    if not isinstance(schema, dict):
        return []
    here = [schema] if isinstance(schema.get("enum"), list) else []
    return here + [found for item in schema.values() for found in enums(item)]


def test_every_choice_has_a_type() -> None:
    assert [found for found in enums(document()["components"]) if "type" not in found] == []
