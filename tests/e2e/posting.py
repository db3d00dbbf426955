"""One check from a process of its own, which imports no more than that: twenty start at once."""

import http.client
import json
from contextlib import closing
from typing import Any


def post_check(port: int, request: dict[str, Any], barrier: Any) -> dict[str, Any]:
    """Posts one check once all that wait at the barrier are there; the answer."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.connect()
        barrier.wait()
        body = json.dumps(request)
        connection.request("POST", "/check", body, {"Content-Type": "application/json"})
        answer: dict[str, Any] = json.loads(connection.getresponse().read())
        return answer
