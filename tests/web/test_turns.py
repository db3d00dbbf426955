"""Who works and who waits."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import pytest

from service.web.turns import SMALL, Turns

SOON = 10  # seconds; far more than anything here takes
NOT_YET = 0.1


@pytest.fixture
def run() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as pool:
        yield pool


def hold(turns: Turns, until: Event, there: Callable[[], object]) -> None:
    with turns.turn():
        there()
        assert until.wait(SOON)


def test_as_many_work_at_once_as_there_are_turns(run: ThreadPoolExecutor) -> None:
    turns, both = Turns(2), Barrier(2)
    done = Event()
    done.set()
    for held in [run.submit(hold, turns, done, lambda: both.wait(SOON)) for _ in range(2)]:
        held.result(SOON)


def test_one_more_waits_until_a_turn_is_over(run: ThreadPoolExecutor) -> None:
    turns, there, over, later = Turns(1), Event(), Event(), Event()
    first = run.submit(hold, turns, over, there.set)
    assert there.wait(SOON)
    second = run.submit(hold, turns, over, later.set)
    assert not later.wait(NOT_YET)
    over.set()
    first.result(SOON)
    second.result(SOON)


def test_who_waits_for_a_client_lets_others_work(run: ThreadPoolExecutor) -> None:
    turns, over = Turns(1), Event()
    over.set()
    with turns.turn(), turns.waiting():
        run.submit(hold, turns, over, lambda: None).result(SOON)


def test_between_the_steps_of_a_stream_others_work(run: ThreadPoolExecutor) -> None:
    turns, over = Turns(1), Event()
    over.set()
    for _ in turns.each_in_turn(iter(range(3))):
        run.submit(hold, turns, over, lambda: None).result(SOON)


def test_a_step_that_fails_ends_its_turn(run: ThreadPoolExecutor) -> None:
    failing = (int(word) for word in ["no number"])
    turns, over = Turns(1), Event()
    over.set()
    with pytest.raises(ValueError, match="no number"):
        next(turns.each_in_turn(failing))
    run.submit(hold, turns, over, lambda: None).result(SOON)


def test_a_small_body_needs_no_room() -> None:
    turns = Turns(1)
    for _ in range(5):
        turns.room().take_for(SMALL)


def test_a_large_body_waits_for_room(run: ThreadPoolExecutor) -> None:
    turns = Turns(1)
    room, other = turns.room(), turns.room()
    room.take_for(SMALL + 1)
    room.take_for(SMALL + 2)
    waiting = run.submit(other.take_for, SMALL + 1)
    with pytest.raises(TimeoutError):
        waiting.result(NOT_YET)
    room.leave()
    room.leave()
    waiting.result(SOON)
    other.leave()
