"""The queue of conflicts: every order is whole and the same both ways, whatever it is made of."""

import pytest

from service.dedup.decisions import ConflictStatus, Keep
from service.dedup.queue import Order, QueueFilter
from service.errors import AlreadyResolved
from service.text.changes import ChangeKind

RENTAL = (
    "A rented bike is yours for {} hours from {}, with a helmet, a lamp and a lock, "
    "and it comes back to the same shop before closing time."
)
TOPICS = (
    "The returns desk answers every request for a spare key within {} hours.",
    "Cargo bikes carry {} children, are booked by phone a day ahead and explained by the staff.",
    "The first tram leaves the depot at {} past five on every working day of the whole long year.",
)
NAMES = ["default", "docs", "empty"]
UNTIL_ALL = 50


@pytest.fixture
def opened(post, catalogue) -> list[tuple[str, str]]:
    """Collection and id of held copies in two of three collections, as they were opened."""
    for name in NAMES[1:]:
        catalogue.configure(name, {})
    made = []
    for topic in TOPICS:
        for name in ("docs", "default"):
            post(f"{topic[4:9]} old", topic.format(2), collection=name)
            post(f"{topic[4:9]} new", topic.format(3), collection=name)
            made.append((name, f"{topic[4:9]} new"))
    return made


def walked(reviewer, wanted, limit, *, back=False, place=None):
    """A whole queue, part by part, each from behind the conflict that the part before named."""
    found = []
    for _ in range(UNTIL_ALL):
        part = reviewer.queue(None, wanted, limit, place, back=back)
        found += part.items
        if part.behind is None:
            return found
        place = part.behind
    raise AssertionError("the queue has no end")


def names(items):
    return [(one.collection, one.incoming) for one in items]


@pytest.mark.parametrize("limit", [1, 3, 50])
def test_the_oldest_come_first_from_all_collections(reviewer, opened, limit):
    assert names(walked(reviewer, QueueFilter(Order.OLDEST), limit)) == opened


@pytest.mark.parametrize("limit", [1, 3, 50])
def test_the_most_alike_come_first_and_of_equal_ones_the_oldest(reviewer, opened, limit):
    found = walked(reviewer, QueueFilter(Order.HIGHEST), limit)
    assert len(found) == len(opened)
    assert found == sorted(found, key=lambda one: (-one.score, one.opened_at))


@pytest.mark.parametrize("order", Order)
def test_a_queue_is_the_same_from_behind(reviewer, catalogue, opened, order):
    first = walked(reviewer, QueueFilter(Order.OLDEST), 50)
    for one in first[:2]:
        reviewer.resolve(one.id, Keep.EXISTING, "dana", None)
    for one in first[2:4]:
        catalogue.delete(one.collection, one.existing)
    there = walked(reviewer, QueueFilter(order), 50)
    assert len(there) == 2
    assert names(walked(reviewer, QueueFilter(order), 2, back=True)) == names(there)[::-1]
    for at, one in enumerate(there):
        assert walked(reviewer, QueueFilter(order), 2, place=one.id) == there[at + 1 :]


def test_a_kind_is_found_by_itself_in_every_order(reviewer, post):
    post("old", RENTAL.format(2, "Monday"))
    for hours in range(3, 9):
        post(f"{hours} hours", RENTAL.format(hours, "Monday"))
    post("friday", RENTAL.format(2, "Friday"))
    for order in (Order.OLDEST, Order.HIGHEST):
        dates, times = (QueueFilter(order, kind) for kind in (ChangeKind.DATE, ChangeKind.QUANTITY))
        assert names(walked(reviewer, dates, 2)) == [("default", "friday")]
        assert len(walked(reviewer, times, 2)) == 6
        assert walked(reviewer, QueueFilter(order, ChangeKind.NEGATION), 2) == []


def test_closed_conflicts_leave_the_open_lists_and_come_back_with_a_revert(
    reviewer, post, catalogue, index_faults
):
    post("old", RENTAL.format(2, "Monday"))
    id = post("new", RENTAL.format(3, "Monday")).conflict.id
    oldest, resolved = QueueFilter(Order.OLDEST), QueueFilter(Order.RESOLVED)
    ruling = reviewer.resolve(id, Keep.EXISTING, "dana", None)
    assert [one.id for one in walked(reviewer, resolved, 9)] == [id]
    assert walked(reviewer, oldest, 9) == []
    reviewer.revert(ruling.conflict.resolution.decision, "dana", None)
    assert [one.id for one in walked(reviewer, oldest, 9)] == [id]
    assert walked(reviewer, resolved, 9) == []
    catalogue.delete("default", "old")
    assert [one.id for one in walked(reviewer, QueueFilter(Order.VOID), 9)] == [id]
    assert reviewer.conflict_counts(None)[ConflictStatus.VOID] == 1
    assert index_faults() == []


def test_a_ruling_on_what_was_not_seen_is_refused(reviewer, post):
    post("old", RENTAL.format(2, "Monday"))
    id = post("new", RENTAL.format(3, "Monday")).conflict.id
    seen = reviewer.case(id).outlook.seen
    reviewer.revert(
        reviewer.resolve(id, Keep.BOTH, "noa", None).conflict.resolution.decision, None, None
    )
    with pytest.raises(AlreadyResolved):
        reviewer.resolve(id, Keep.BOTH, "dana", None, seen=seen)
    assert reviewer.conflict(id).status is ConflictStatus.OPEN
