"""Whatever JSON is sent to whatever call, the answer is one that openapi.yaml names."""

from typing import Any

import pytest
from flask.testing import FlaskClient
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from service.web.openapi import document
from service.web.operations import OPERATIONS, Operation

ENOUGH = examples(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])

texts = st.text(st.characters(codec="utf-8"), max_size=40)
scalars = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | texts
anything = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(texts, inner), max_leaves=8
)


def nearly(operation: Operation) -> st.SearchStrategy[Any]:
    """Objects with the fields of the call, each right or anything at all, and perhaps another."""
    fields = [] if operation.body is None else list(operation.body.fields)
    known = st.dictionaries(st.sampled_from(fields or ["x"]), anything | texts, max_size=5)
    return anything | st.builds(lambda a, b: {**a, **b}, known, st.dictionaries(texts, scalars))


with_bodies = pytest.mark.parametrize(
    "operation",
    [pytest.param(one, id=f"{one.method} {one.path}") for one in OPERATIONS if one.body],
)


@with_bodies
@ENOUGH
@given(data=st.data())
def test_any_json_gets_a_documented_answer(
    client: FlaskClient, operation: Operation, data: st.DataObject
) -> None:
    body = data.draw(nearly(operation))
    response = client.open(
        operation.path.replace("{name}", "docs"), method=operation.method, json=body
    )
    call = document()["paths"][operation.path][operation.method.lower()]
    assert str(response.status_code) in call["responses"]
    assert response.status_code != 500


@ENOUGH
@given(raw=st.binary(max_size=60))
def test_any_bytes_get_a_documented_answer(client: FlaskClient, raw: bytes) -> None:
    response = client.post("/check", data=raw, content_type="application/json")
    assert response.status_code in (400, 422)


@ENOUGH
@given(query=st.dictionaries(st.sampled_from(["id", "limit", "cursor", "state", "x"]), texts))
def test_any_parameters_get_a_documented_answer(client: FlaskClient, query: dict[str, str]) -> None:
    response = client.get("/documents", query_string=query)
    assert response.status_code in (200, 404, 422)
