"""Several services over one store: any process of them may be killed at any time."""

import http.client
import os
import signal
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from random import Random
from time import monotonic, sleep
from typing import Any

from tests.e2e.running import Service

KILL_EVERY = 1.0
ONE_SERVICE_IN = 8
REFUSED = ("store_unavailable", "unconfirmed")
PAUSE = 0.1
SECONDS = 90


class Replicas:
    """So many services, made by `start`. `counted` tells of all calls: `answered`, `cut` (sent, and
    no answer came) and the codes of 503; and of what was killed: `workers`, `services`."""

    def __init__(self, start: Callable[[], Service], number: int, seed: int) -> None:
        self.counted: Counter[str] = Counter()
        self._start = start
        self._drawn = Random(seed)
        self.services = [start() for _ in range(number)]
        for service in self.services:
            service.ready()

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Asks one of them, and asks again, one or another, as long as it is cut or told 503;
        AssertionError where that never ends, or what it is told is no known refusal."""
        give_up = monotonic() + SECONDS
        while monotonic() < give_up:
            try:
                status, answer = self._drawn.choice(self.services).call(method, path, body)
            except TimeoutError:
                self.counted["no answer in time"] += 1
            except (OSError, http.client.HTTPException):
                self.counted["cut"] += 1
            else:
                if status != 503:
                    self.counted["answered"] += 1
                    return status, answer
                assert answer["code"] in REFUSED, answer
                self.counted[answer["code"]] += 1
            sleep(PAUSE)
        raise AssertionError(f"never answered: {method} {path}")

    def check(self, request: dict[str, Any]) -> Any:
        """The answer to a check."""
        status, answer = self.call("POST", "/check", request)
        assert status == 200, answer
        return answer

    def kill_until(self, over: threading.Event) -> None:
        """Kills a worker every now and then, or all of a service, which is started anew."""
        while not over.wait(KILL_EVERY):
            if self._drawn.randrange(ONE_SERVICE_IN) == 0:
                self._kill_service()
            else:
                self._kill_worker()

    def _kill_worker(self) -> None:
        workers = sorted(self._drawn.choice(self.services).workers())
        if not workers:  # a service that has just begun
            return
        with suppress(ProcessLookupError):
            os.kill(self._drawn.choice(workers), signal.SIGKILL)
            self.counted["workers"] += 1

    def _kill_service(self) -> None:
        place = self._drawn.randrange(len(self.services))
        self.services[place].clean_up()
        self.counted["services"] += 1
        self.services[place] = self._start().ready()
