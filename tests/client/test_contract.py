"""The client's types have the fields of the contract: none too many, none too few."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml

from service import client
from service.client.told import Told

ROOT = Path(__file__).parents[2]
SCHEMAS = yaml.safe_load((ROOT / "openapi.yaml").read_text("utf-8"))["components"]["schemas"]

TYPES: dict[str, type[Told]] = {
    "CheckAnswer": client.Answer,
    "CleanAnswer": client.Cleaned,
    "CompareAnswer": client.Comparison,
    "Document": client.Document,
    "DeletedDocument": client.Deleted,
    "Collection": client.Collection,
    "Stats": client.Statistics,
    "Conflict": client.Conflict,
    "Ruling": client.Ruling,
    "Decision": client.Decision,
    "DecisionList": client.DecisionPage,
    "Reverted": client.Reverted,
    "NearMiss": client.NearMiss,
}


def properties(schema: dict[str, Any]) -> set[str]:
    """All fields of an object, those that it has from another one too."""
    if "$ref" in schema:
        return properties(SCHEMAS[schema["$ref"].rpartition("/")[2]])
    named = set(schema.get("properties", {}))
    return named.union(*(properties(part) for part in schema.get("allOf", [])))


@pytest.mark.parametrize("name", TYPES)
def test_a_type_has_the_fields_of_the_contract(name: str) -> None:
    told = {one.name for one in fields(TYPES[name])} - {"raw"}
    assert told == properties(SCHEMAS[name])
