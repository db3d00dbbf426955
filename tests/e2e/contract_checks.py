"""Two of schemathesis's checks, told what no schema can say; `test_openapi.py` hands them to it.

An answer may be 422 to a request that is as the schema says, where it is the meaning that fails: a
text with nothing visible in it, a cursor that no list gave, two parameters that exclude each other.
And a batch is answered whatever its items are: what is wrong with one is told in its place.
"""

from typing import Any

import schemathesis
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

MEANING = {"empty_text", "invalid_cursor"}


@schemathesis.check
def a_request_of_the_schema_is_answered(ctx: Any, response: Any, case: Any) -> bool | None:
    if response.status_code == 422 and all(map(_is_of_meaning, response.json()["errors"])):
        return None
    return positive_data_acceptance(ctx, response, case)


@schemathesis.check
def a_request_that_is_not_of_the_schema_is_refused(
    ctx: Any, response: Any, case: Any
) -> bool | None:
    if case.operation.path == "/check/batch" and response.status_code == 200:
        return None
    return negative_data_rejection(ctx, response, case)


def _is_of_meaning(error: dict[str, str]) -> bool:
    excludes = error["detail"].startswith("must not be given together with")
    return error["code"] in MEANING or excludes
