"""The service as its callers see it: Flask's client over a real, empty store."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from openapi_schema_validator import OAS31Validator

from service.app import create_app
from service.settings import Settings
from service.web.openapi import document

MAX_BODY = 20_000
MAX_TEXT = 10_000

Post = Callable[..., dict[str, Any]]


@pytest.fixture
def settings(redis_url: str) -> Settings:
    # Of a machine that is busy with other tests no more is asked than that it answers at all.
    return Settings(redis_url=redis_url, max_body=MAX_BODY, max_text=MAX_TEXT, deadline=20.0)


@pytest.fixture
def app(settings: Settings, redis_client: object) -> Flask:
    return create_app(settings)


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.fixture
def check(client: FlaskClient) -> Post:
    """Post a check that is expected to be answered; gives the answer."""

    def post(id: str, text: str | None = None, **fields: Any) -> dict[str, Any]:
        body = {"id": id, **({} if text is None else {"text": text}), **fields}
        response = client.post("/check", json=body)
        assert response.status_code == 200, response.text
        answer: dict[str, Any] = response.get_json()
        return answer

    return post


@pytest.fixture
def expect_problem() -> Callable[..., dict[str, Any]]:
    """Hold an answer to be a problem of this status and code, and well formed."""

    def expect(response: Any, status: int, code: str) -> dict[str, Any]:
        assert (response.status_code, response.content_type) == (status, "application/problem+json")
        problem: dict[str, Any] = response.get_json()
        expect_schema(problem, "Problem")
        assert (problem["status"], problem["code"]) == (status, code)
        return problem

    return expect


@pytest.fixture
def expect_documented() -> Callable[[Any, str], None]:
    """Hold an answer against a schema of openapi.yaml: every field there, and none beside."""
    return expect_schema


def expect_schema(answer: Any, name: str) -> None:
    components = _closed(copy.deepcopy(document()["components"]))
    schema = {"$ref": f"#/components/schemas/{name}", "components": components}
    errors = [
        f"{'/'.join(map(str, error.absolute_path))}: {error.message}"
        for error in OAS31Validator(schema).iter_errors(answer)
    ]
    assert errors == []


def _closed(schema: Any) -> Any:
    """The schema with every object refusing what it does not name."""
    if isinstance(schema, list):
        return [_closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: _closed(value) for key, value in schema.items()}
    if schema.get("type") in ("object", ["object", "null"]) and "properties" in schema:
        inner.setdefault("additionalProperties", False)
    return inner
