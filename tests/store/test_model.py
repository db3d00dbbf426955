"""The index against a model in plain Python: whatever the order of calls, both answer the same."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
import redis
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from service.catalogue import Catalogue
from service.checker import Checker
from service.dedup.scheme import CollectionSettings
from service.dedup.shingles import ShingleSet, jaccard
from service.dedup.stored import DocumentFilter
from service.dedup.verdict import Document, Posted
from service.errors import UnknownDocument
from service.preparing import shingles_of
from service.store.connection import Connection
from service.store.redis_store import RedisStore
from service.text.normalization import normalize

IDS = ["a", "b", "c", "d"]
WORDS = [f"word{number}" for number in range(60)]
SETTINGS = CollectionSettings()
TTL_DAYS = 3
DAY = 86_400


def variant(*changed: int) -> str:
    """One text of sixty words with some of them replaced: near copies are 0.8 alike and more."""
    return " ".join(f"other{n}" if n in changed else word for n, word in enumerate(WORDS))


TEXTS = [
    variant(),
    variant().upper(),
    variant(5),
    variant(5, 50),
    variant(50),
    "something else that has nothing to do with it",
    "Something  else that has nothing to do with it",
    "a third thing",
]


@dataclass
class Known:
    """A document as the model has it. `twin` is the number of what it was dropped for."""

    number: int
    text: str
    answer: tuple[str, str | None, float | None]
    seen: int
    dropped: bool = False
    twin: int | None = None

    @property
    def normalized(self) -> str:
        return normalize(self.text, SETTINGS.normalization)

    @property
    def shingles(self) -> ShingleSet:
        return shingles_of(self.text, SETTINGS)


class Model:
    """What `POST /check` promises, by brute force."""

    def __init__(self) -> None:
        self.known: dict[str, Known] = {}
        self.next = 1
        self.day = 0

    def expire(self) -> None:
        """What nobody posted or matched for longer than its days is as if it had never been."""
        for id, known in list(self.known.items()):
            if self.day - known.seen > TTL_DAYS:
                del self.known[id]

    def check(self, id: str, text: str) -> tuple[str, str | None, float | None, bool]:
        old = self.known.get(id)
        rests = old is not None and self.rests(old)
        if old is not None and rests and old.normalized == normalize(text, "words"):
            replayed = old.text == text
            old.text, old.seen = text, self.day
            self.keep_alive(old.twin)
            return (*old.answer, replayed)
        fresh = Known(self.next, text, ("new", None, None), self.day)
        best = max(
            (
                (self.likeness(fresh, other), -other.number, other_id)
                for other_id, other in self.known.items()
                if other_id != id and not other.dropped
            ),
            default=(0.0, 0, ""),
        )
        score, number, match_id = best
        if score >= SETTINGS.threshold:
            exact = self.known[match_id].normalized == fresh.normalized
            fresh.answer = ("exact_duplicate" if exact else "near_duplicate", match_id, score)
            fresh.dropped, fresh.twin = True, -number
            self.keep_alive(fresh.twin)
        self.known[id] = fresh
        self.next += 1
        return (*fresh.answer, False)

    def keep_alive(self, number: int | None) -> None:
        for known in self.known.values():
            if known.number == number:
                known.seen = self.day

    def likeness(self, one: Known, other: Known) -> float:
        return 1.0 if one.normalized == other.normalized else jaccard(one.shingles, other.shingles)

    def rests(self, known: Known) -> bool:
        active = {other.number for other in self.known.values() if not other.dropped}
        return not known.dropped or known.twin in active

    def delete(self, id: str) -> set[str] | None:
        leaving = self.known.pop(id, None)
        if leaving is None:
            return None
        return {other_id for other_id, other in self.known.items() if other.twin == leaving.number}


class IndexMachine(RuleBasedStateMachine):
    client: redis.Redis
    url: str
    scan: object

    @initialize()
    def start(self) -> None:
        self.client.flushall()
        connection = Connection(self.url, threads=1, deadline=10.0)
        store = RedisStore(connection, clock=self.now)
        self.checker = Checker(store, deadline=10.0, clock=self.now)
        self.catalogue = Catalogue(store)
        self.catalogue.configure("default", {"ttl_days": TTL_DAYS})
        self.model = Model()

    def now(self) -> float:
        return (1000 + self.model.day) * DAY

    @rule(days=st.integers(1, 2))
    def wait(self, days: int) -> None:
        self.model.day += days
        self.model.expire()

    @rule(id=st.sampled_from(IDS), text=st.sampled_from(TEXTS))
    def check(self, id: str, text: str) -> None:
        answer = self.checker.check(Document(id, Posted(text, None)))
        match = answer.match
        got = (
            str(answer.verdict),
            match.id if match else None,
            match.score if match else None,
            answer.replayed,
        )
        assert got == self.model.check(id, text)

    @rule(id=st.sampled_from(IDS))
    def delete(self, id: str) -> None:
        try:
            copies = {twin.id for twin in self.catalogue.delete("default", id)}
        except UnknownDocument:
            copies = None
        assert copies == self.model.delete(id)

    @rule()
    def forget_scripts(self) -> None:
        self.client.script_flush()

    @invariant()
    def documents_stand_as_the_model_says(self) -> None:
        for id, known in self.model.known.items():
            document = self.catalogue.document("default", id)
            assert document.text == known.text.replace("  ", " ")
            assert (document.state == "dropped") == known.dropped
            assert document.orphaned != self.model.rests(known)

    @invariant()
    def nothing_else_is_listed(self) -> None:
        listed = self.catalogue.documents("default", DocumentFilter(), 50, None)
        assert {document.id for document in listed.items} == set(self.model.known)

    def teardown(self) -> None:
        assert self.scan() == []  # type: ignore[operator]


def test_any_order_of_checks_updates_deletes_and_days_is_as_the_model_says(
    redis_url: str, redis_client: redis.Redis, index_faults: Callable[[str], list[str]]
):
    machine = type(
        "Machine",
        (IndexMachine,),
        {"client": redis_client, "url": redis_url, "scan": staticmethod(index_faults)},
    )
    case = machine.TestCase  # type: ignore[attr-defined]
    case.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
    case().runTest()


@pytest.mark.parametrize(("one", "other"), [(0, 2), (0, 3), (2, 4)])
def test_the_near_copies_of_the_model_are_so_alike_that_none_is_missed(one: int, other: int):
    alike = jaccard(shingles_of(TEXTS[one], SETTINGS), shingles_of(TEXTS[other], SETTINGS))
    assert alike > 0.8
