"""What clients were told while something broke, written down and compared with the store."""

import http.client
import json
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import Any, NamedTuple

from tests.e2e.running import Service, wait_until
from tests.fire.clients import Client, Told, at_once, documents, told
from tests.fire.near_copies import COPIES, family_of, request_for
from tests.store.index_walk import faults_at

FAMILIES_AT_ONCE = 4
PAUSE = 0.1
SECONDS = 120
STATES = {"new": "active", "exact_duplicate": "dropped", "near_duplicate": "dropped"}


class Refusal(NamedTuple):
    """An answer that was no success: when it came, and how long that took, in seconds."""

    at: float
    took: float
    status: int
    media_type: str
    retry_after: str | None
    code: str


@dataclass
class Ledger:
    """Clients that post near copies into a collection of their own, and ask again until each is
    answered; `acknowledged` is what they were told of each id, `refusals` what came before, `cuts`
    what was sent and got no answer. Where the service takes no connections they go `elsewhere`."""

    service: Service
    collection: str
    pause: float = PAUSE
    elsewhere: Service | None = None
    acknowledged: dict[str, Told] = field(default_factory=dict)
    answered_at: list[float] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    cuts: list[Exception] = field(default_factory=list)
    sent: int = 0
    _is_over: bool = False

    @contextmanager
    def posting(self, clients: int) -> Iterator["Ledger"]:
        """Posts while the block runs, and until all that was begun is answered."""
        self.service.call("PUT", f"/collections/{self.collection}", {})
        numbers = count()
        with ThreadPoolExecutor(clients) as pool:
            working = [pool.submit(self._work, numbers) for _ in range(clients)]
            try:
                self.wait_for_answers(clients)
                yield self
            finally:
                self._is_over = True
        for each in working:
            each.result()

    def wait_for_answers(self, more: int) -> None:
        answered = len(self.answered_at)
        wait_until(lambda: len(self.answered_at) >= answered + more)

    def wait_for_refusals(self, more: int, code: str = "store_unavailable") -> None:
        def so_many() -> int:
            return sum(refusal.code == code for refusal in self.refusals)

        refused = so_many()
        wait_until(lambda: so_many() >= refused + more)

    def first_answer_after(self, moment: float) -> float:
        """How long after a moment the next success came, which is waited for."""
        wait_until(lambda: self.answered_at[-1] > moment)
        return min(at for at in self.answered_at if at > moment) - moment

    def contradictions(self, store_url: str) -> list[str]:
        """In words, what was acknowledged and is not so, or does not fit together."""
        return [
            *self._that_two_are_new(),
            *self._with_the_documents(),
            *self._with_replays(),
            *self._with_the_counters(),
            *faults_at(store_url, self.collection),
        ]

    def request(self, place: int) -> dict[str, str]:
        """An endless row of requests: the copies of a few families, shuffled, then of the next."""
        window, at = divmod(place, FAMILIES_AT_ONCE * COPIES)
        order = Random(window).sample(range(FAMILIES_AT_ONCE * COPIES), FAMILIES_AT_ONCE * COPIES)
        number, copy = divmod(order[at], COPIES)
        asked = request_for(window * FAMILIES_AT_ONCE + number, copy)
        return {**asked, "collection": self.collection}

    def _work(self, numbers: Iterator[int]) -> None:
        with closing(_Connection(self.service.port)) as connection:
            while not self._is_over:
                request = self.request(next(numbers))
                give_up = time.monotonic() + SECONDS
                while not self._is_answered(connection, request):
                    assert time.monotonic() < give_up, "never answered"
                    time.sleep(self.pause)

    def _is_answered(self, connection: "_Connection", request: dict[str, str]) -> bool:
        began = time.monotonic()
        self.sent += 1
        try:
            answer = connection.post("/check", request)
        except ConnectionRefusedError as error:
            if self.elsewhere is None:
                self.cuts.append(error)
            else:
                connection.go_to(self.elsewhere.port)
            return False
        except (OSError, http.client.HTTPException) as error:
            self.cuts.append(error)
            return False
        now = time.monotonic()
        if answer.status != 200:
            self.refusals.append(
                Refusal(
                    at=now,
                    took=now - began,
                    status=answer.status,
                    media_type=answer.media_type,
                    retry_after=answer.retry_after,
                    code=str(answer.body.get("code")),
                )
            )
            return False
        self.acknowledged[request["id"]] = told(answer.body)
        self.answered_at.append(now)
        return True

    def _that_two_are_new(self) -> Iterator[str]:
        new = Counter(family_of(i) for i, a in self.acknowledged.items() if a["match"] is None)
        for name in {family_of(id) for id in self.acknowledged}:
            if new[name] != 1:
                yield f"{new[name]} of {name} were told new"

    def _with_the_documents(self) -> Iterator[str]:
        kept = {d["id"]: d for d in documents(self.service.port, collection=self.collection)}
        for id, answer in self.acknowledged.items():
            found = kept.get(id)
            wanted = (STATES[answer["verdict"]], answer["family"])
            if found is None:
                yield f"{id} is not there"
            elif (found["state"], found["family"]) != wanted:
                yield f"{id} is {found['state']} in {found['family']}, not as told: {wanted}"
        yield from (f"{id} was never acknowledged" for id in kept.keys() - self.acknowledged.keys())

    def _with_replays(self) -> Iterator[str]:
        requests = [self.request(place) for place in range(len(self.acknowledged))]
        again, _ = at_once(self.service.port, requests, Client.check, clients=8)
        for answer in again:
            if not answer["replayed"]:
                yield f"{answer['id']} was checked anew"
            elif told(answer) != self.acknowledged.get(answer["id"]):
                yield f"{answer['id']} is answered otherwise now"

    def _with_the_counters(self) -> Iterator[str]:
        path = f"/stats?collection={self.collection}"
        counted = self.service.call("GET", path)[1]["collections"][self.collection]
        for name, wanted in (
            ("verdicts", Counter(a["verdict"] for a in self.acknowledged.values())),
            ("actions", Counter(a["action"] for a in self.acknowledged.values())),
        ):
            found = {key: n for key, n in counted["checks"][name].items() if n}
            if found != wanted:
                yield f"counted {found}, answered {dict(wanted)}"
        # A check whose answer was lost may be counted, or not: no more can be known of it.
        again = len(self.acknowledged)
        least, most = len(self.acknowledged) + again, self.sent + again
        if not least <= counted["checks"]["total"] <= most:
            yield f"counted {counted['checks']['total']} checks of {least} to {most}"


class _Answer(NamedTuple):
    status: int
    media_type: str
    retry_after: str | None
    body: dict[str, Any]


class _Connection:
    """A connection that is opened again when it was cut."""

    def __init__(self, port: int) -> None:
        self.go_to(port)

    def go_to(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    def post(self, path: str, body: Any) -> _Answer:
        headers = {"Content-Type": "application/json"}
        try:
            self._connection.request("POST", path, json.dumps(body), headers)
            answer = self._connection.getresponse()
            read = json.loads(answer.read())
        except (OSError, http.client.HTTPException):
            self.close()
            raise
        media_type = answer.headers.get_content_type()
        return _Answer(answer.status, media_type, answer.headers.get("Retry-After"), read)

    def close(self) -> None:
        self._connection.close()
