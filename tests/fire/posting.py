"""What processes of their own do to a service: contend for ids, check and delete at random.

They import no more than they need: eight of them start for a test.
"""

from contextlib import closing
from dataclasses import dataclass, field
from random import Random
from threading import Barrier
from time import monotonic
from typing import Any

from tests.fire.clients import Client

PROCESSES = 8
POSTS_EACH = 3
IDS = 50
ONE_DELETE_IN = 3
SECONDS = 60


def contend(
    port: int, seed: int, contests: list[tuple[str, tuple[str, str]]], barrier: Barrier
) -> None:
    """Posts one or the other text of each contest, in step with the other processes."""
    drawn = Random(seed)
    with closing(Client(port)) as client:
        for id, texts in contests:
            barrier.wait(SECONDS)
            for _ in range(POSTS_EACH):
                one = drawn.randrange(2)
                client.check({"id": id, "text": texts[one], "metadata": {"version": str(one)}})


@dataclass
class Churn:
    """What one process asked for, and what it was answered that must not be."""

    checks: int = 0
    deletes: int = 0
    wrong: list[Any] = field(default_factory=list)


def churn(port: int, seed: int, texts: list[str], seconds: float, barrier: Barrier) -> Churn:
    """Checks and deletes a few ids at random for a while."""
    drawn, done = Random(seed), Churn()
    barrier.wait(SECONDS)
    end = monotonic() + seconds
    with closing(Client(port)) as client:
        while monotonic() < end:
            id = f"id{drawn.randrange(IDS)}"
            if drawn.randrange(ONE_DELETE_IN) == 0:
                status, answer = client.call("DELETE", f"/documents?id={id}")
                done.deletes += 1
                as_it_must = status == 200 or answer.get("code") == "unknown_document"
            else:
                request = {"id": id, "text": drawn.choice(texts)}
                status, answer = client.call("POST", "/check", request)
                done.checks += 1
                as_it_must = status == 200 and (answer["match"] or {}).get("id") != id
            if not as_it_must:
                done.wrong.append(answer)
    return done
