"""Members of families that are posted at the same instant, what was told of each, and what of it
contradicts the promises."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import count
from random import Random
from typing import Any

from tests.e2e.running import wait_until
from tests.fire.clients import Told, told
from tests.fire.near_copies import COPIES, family
from tests.fire.replicas import Replicas

MEMBERS = 8
"""So many are posted at the same instant, by as many clients."""
OTHERS = 1_000_000
"""The texts that ids are updated to are of families from here on."""
SECONDS = 60


class Fate(StrEnum):
    """What happens to the first of a family before the second half of it is posted."""

    STAYS = "stays"
    IS_DELETED = "is deleted"
    IS_UPDATED = "is updated"
    IS_DELETED_MEANWHILE = "is deleted while the others are posted"


DELETED = (Fate.IS_DELETED, Fate.IS_DELETED_MEANWHILE)


@dataclass
class Family:
    """One family of one collection, and what was told of it, by id."""

    collection: str
    number: int
    fate: Fate
    first_wave: dict[str, Told] = field(default_factory=dict)
    second_wave: dict[str, Told] = field(default_factory=dict)
    updated: Told | None = None

    def requests(self, wave: int) -> list[dict[str, str]]:
        """What half of it is posted with."""
        places = range(wave * MEMBERS, (wave + 1) * MEMBERS)
        texts = family(self.number)
        return [self._request(f"f{self.number}-{at}", texts[at % COPIES]) for at in places]

    def probe(self) -> dict[str, Any]:
        """A copy that is only asked about."""
        return {**self._request("probe", family(self.number)[0]), "dry_run": True}

    def update(self) -> dict[str, str]:
        """The first one's id with a text that is like nothing."""
        return self._request(self.first, family(OTHERS + self.number)[0])

    @property
    def first(self) -> str:
        """Which of the first half was told that it is new; "" where that is not one."""
        return _new(self.first_wave)

    @property
    def active(self) -> str:
        """Which one the family's text is active under, "" for none."""
        return self.first if self.fate is Fate.STAYS else _new(self.second_wave)

    def _request(self, id: str, text: str) -> dict[str, str]:
        return {"id": id, "text": text, "collection": self.collection}


def _new(wave: dict[str, Told]) -> str:
    found = [id for id, answer in wave.items() if answer["match"] is None]
    return found[0] if len(found) == 1 else ""


class Race:
    """Clients that post family after family of each collection, some families at a time. It is
    over when it is stopped and all that was begun is answered."""

    def __init__(self, replicas: Replicas, collections: list[str], lanes: int, seed: int) -> None:
        self.families: list[Family] = []
        self._replicas = replicas
        self._lanes = [name for name in collections for _ in range(lanes)]
        self._numbers = count(seed * 10_000)
        self._drawn = Random(seed)

    @property
    def confirmed(self) -> int:
        """How many checks were confirmed."""
        return sum(self._confirmed_in(name) for name in set(self._lanes))

    def of(self, collection: str) -> list[Family]:
        """The families of one collection."""
        return [one for one in self.families if one.collection == collection]

    def wait_for_answers(self, more: int) -> None:
        """So many in each collection."""
        least = {name: self._confirmed_in(name) + more for name in self._lanes}
        wait_until(lambda: all(self._confirmed_in(name) >= n for name, n in least.items()))

    def _confirmed_in(self, collection: str) -> int:
        return sum(len(one.first_wave) + len(one.second_wave) for one in self.of(collection))

    def run_until(self, over: threading.Event) -> None:
        """Posts; raises what any client met."""
        with ThreadPoolExecutor(len(self._lanes)) as pool:
            for lane in [pool.submit(self._lane, name, over) for name in self._lanes]:
                lane.result()

    def _lane(self, collection: str, over: threading.Event) -> None:
        with ThreadPoolExecutor(MEMBERS + 1) as clients:
            while not over.is_set():
                fate = self._drawn.choice(list(Fate))
                one = Family(collection, next(self._numbers), fate)
                self.families.append(one)
                self._go_through(one, clients)

    def _go_through(self, one: Family, clients: ThreadPoolExecutor) -> None:
        self._post(one.requests(0), one.first_wave, clients)
        if not one.first:
            return  # that is told of as a contradiction
        if one.fate is Fate.IS_UPDATED:
            one.updated = self._check(one.update())
        if one.fate is Fate.IS_DELETED:
            self._delete(one)
        deleting = one.fate is Fate.IS_DELETED_MEANWHILE and clients.submit(self._delete, one)
        self._post(one.requests(1), one.second_wave, clients)
        if deleting:
            deleting.result()

    def _post(
        self, requests: list[dict[str, str]], wave: dict[str, Told], clients: ThreadPoolExecutor
    ) -> None:
        start = threading.Barrier(len(requests))
        self._drawn.shuffle(requests)

        def post(request: dict[str, str]) -> None:
            start.wait(SECONDS)
            wave[request["id"]] = self._check(request)

        list(clients.map(post, requests))

    def _check(self, request: dict[str, Any]) -> Told:
        return told(self._replicas.check(request))

    def _delete(self, one: Family) -> None:
        path = f"/documents?id={one.first}&collection={one.collection}"
        status, answer = self._replicas.call("DELETE", path)
        assert status == 200 or answer["code"] == "unknown_document", answer
