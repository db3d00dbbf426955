"""Checks that meet in one process: they go to the store as one, and nobody waits for nothing."""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from service.dedup.scheme import CollectionSettings, scheme_for
from service.dedup.verdict import Document, Hashes, Posted, State
from service.errors import StoreFull, StoreUnavailable
from service.store.base import Collection, Look, Probe, Registered, Registration, StoredText
from service.store.spread.grouping import LONG, Groups
from tests.e2e.running import wait_until

MOST = 3


def collection(uid: str) -> Collection:
    settings = CollectionSettings()
    return Collection("c", uid, "1", settings, scheme_for(settings.threshold), is_current=True)


COLLECTION = collection("one")


def entry(id: str, *, tag: str = "", text: str = "words") -> Registration:
    probe = Probe(id, b"bytes", b"normal", [(tag or id).encode()], shingles=1, now=0)
    hashes = Hashes(b"bytes", b"normal")
    stored = StoredText(id, State.ACTIVE, 1, hashes, b"", registered_at=0, updated_at=0, seen_at=0)
    return Registration(probe, stored, text, {})


class Checks:
    """What groups are made of. Each waits until it `may_go`, as all but the first may by
    themselves, and fails with `error`."""

    def __init__(self) -> None:
        self.groups: list[list[str]] = []
        self.may_go = [threading.Event() for _ in range(5)]
        for one in self.may_go[1:]:
            one.set()
        self.error: Exception | None = None
        self.pool = ThreadPoolExecutor(16)
        self.patience = 10.0
        self.waiting = threading.Semaphore(0)
        self.made = Groups(self.check, self.wait, MOST)

    def check(self, _: Collection, entries: Sequence[Registration]) -> list[Look]:
        self.groups.append([one.probe.id for one in entries])
        assert self.may_go[len(self.groups) - 1].wait(10)
        if self.error is not None:
            raise self.error
        return [Registered(len(self.groups), None) for _ in entries]

    def wait(self, event: threading.Event) -> bool:
        self.waiting.release()
        return event.wait(self.patience)

    def begin(self, *entries: Registration) -> list[Future[Look]]:
        """Each in a thread of its own, in this order; when it gives, all but the first wait."""
        begun = []
        for one in entries:
            is_first = not self.groups
            begun.append(self.pool.submit(self.made.check, COLLECTION, one))
            if is_first:
                wait_until(lambda: bool(self.groups), pause=0.001)
            else:
                assert self.waiting.acquire(timeout=10)
        return begun


@pytest.fixture
def checks() -> Iterator[Checks]:
    made = Checks()
    yield made
    for one in made.may_go:
        one.set()
    made.pool.shutdown()


def results(begun: Sequence[Future[Look]]) -> list[int | None]:
    """In which group each was checked; None for one that is to be checked by itself."""
    looks = [one.result(10) for one in begun]
    return [look.number if isinstance(look, Registered) else None for look in looks]


def test_one_that_comes_alone_goes_at_once(checks):
    checks.may_go[0].set()
    assert results([*checks.begin(entry("a"))]) == [1]


def test_those_that_come_meanwhile_go_together(checks):
    begun = checks.begin(*map(entry, "abcd"))
    checks.may_go[0].set()
    assert results(begun) == [1, 2, 2, 2]
    assert checks.groups == [["a"], ["b", "c", "d"]]


@pytest.mark.parametrize(
    "other", [entry("b", tag="x"), entry("d", tag="b")], ids=["one id", "one tag"]
)
def test_of_two_that_may_have_to_do_with_each_other_the_later_goes_by_itself(checks, other):
    begun = checks.begin(entry("a"), entry("b"), other, entry("c"))
    checks.may_go[0].set()
    assert results(begun) == [1, 2, None, 2]


def test_it_does_so_behind_the_other(checks):
    begun = checks.begin(entry("a"), entry("b"), entry("d", tag="b"))
    checks.may_go[1].clear()
    checks.may_go[0].set()
    wait_until(lambda: len(checks.groups) == 2, pause=0.001)
    assert not begun[2].done()
    checks.may_go[1].set()
    assert results(begun) == [1, 2, None]


def test_so_do_those_for_which_a_group_has_no_place(checks):
    begun = checks.begin(*map(entry, "abcdef"))
    checks.may_go[0].set()
    assert results(begun) == [1, 2, 2, 2, None, None]


def test_a_long_text_keeps_nobody_waiting(checks):
    (first,) = checks.begin(entry("a"))
    assert checks.made.check(COLLECTION, entry("b", text="x" * LONG)) is None
    assert not first.done()


def test_that_the_store_cannot_be_reached_is_told_to_each_of_a_group(checks):
    begun = checks.begin(*map(entry, "abc"))
    checks.error = StoreUnavailable("it is gone", kind="connection")
    checks.may_go[0].set()
    for one in begun:
        with pytest.raises(StoreUnavailable, match="it is gone") as raised:
            one.result(10)
        assert raised.value.kind == "connection"
    assert len(checks.groups) == 2


def test_that_the_store_is_silent_is_told_to_those_who_wait_too(checks):
    """They would wait for it twice."""
    begun = checks.begin(*map(entry, "abc"))
    checks.error = StoreUnavailable("no answer", kind="timeout")
    checks.may_go[0].set()
    for one in begun:
        with pytest.raises(StoreUnavailable, match="no answer"):
            one.result(10)
    assert len(checks.groups) == 1


@pytest.mark.parametrize("error", [StoreFull("no place"), ZeroDivisionError()])
def test_whose_another_error_is_shows_where_each_of_a_group_goes_by_itself(checks, error):
    (_, *others) = checks.begin(*map(entry, "abc"))
    checks.error = error
    checks.may_go[0].set()
    assert results(others) == [None, None]


def test_it_is_told_at_once_to_one_that_is_alone_and_leaves_nobody_behind(checks):
    begun = checks.begin(*map(entry, "ab"))
    checks.error = ZeroDivisionError()
    checks.may_go[0].set()
    for one in begun:
        with pytest.raises(ZeroDivisionError):
            one.result(10)
    checks.error = None
    assert isinstance(checks.made.check(COLLECTION, entry("c")), Registered)


def test_one_whose_time_is_up_leaves(checks):
    checks.patience = 0.01
    (first, impatient) = checks.begin(*map(entry, "ab"))
    with pytest.raises(StoreUnavailable):
        impatient.result(10)
    checks.patience = 10.0
    (last,) = checks.begin(entry("c"))
    checks.may_go[0].set()
    assert results([first, last]) == [1, 2]
    assert checks.groups == [["a"], ["c"]]


def test_collections_do_not_wait_for_each_other(checks):
    (first,) = checks.begin(entry("a"))
    assert isinstance(checks.made.check(collection("other"), entry("b")), Registered)
    assert not first.done()


@pytest.mark.cluster
def test_of_many_that_meet_one_of_a_family_is_new(checker, catalogue, index_faults):
    catalogue.configure("many", {})
    families = 40

    def check(number: int) -> str:
        words = " ".join(f"text{number % families}word{place}" for place in range(8))
        answer = checker.check(Document(f"d{number}", Posted(words, None), "many"))
        return str(answer.verdict)

    with ThreadPoolExecutor(24) as pool:
        verdicts = list(pool.map(check, range(3 * families)))
    assert verdicts.count("new") == families
    assert index_faults("many") == []
