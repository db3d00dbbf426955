"""The log of decisions: how long it keeps what, how it is read, and what is erased from it."""

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import zstandard

from service.checker import Checker
from service.dedup.decisions import (
    ConflictFilter,
    ConflictStatus,
    DecisionFilter,
    DecisionKind,
    Keep,
)
from service.dedup.verdict import Answer, Document, Posted
from service.errors import NotRevertible, UnknownDecision, UnknownDocument

LOG_DAYS = 2
DESK = (
    "The returns desk answers every request for a spare {} within {} hours and sends the parts by "
    "courier. Customers keep the old lock until the new one arrives, and a technician calls before "
    "each visit."
)
KEY = DESK.format("key", 2)
LAMP = DESK.format("lamp", 2)
OTHER = "Bicycles are stored in the yard behind the office over the winter."
TRAM = "The first tram leaves the depot at ten past five on every working day of the year."


class World:
    """A store whose log is kept for two days, and what a test may have happen in it."""

    def __init__(self, store, catalogue, reviewer, clock):
        self.checker = Checker(store, deadline=10.0, clock=clock, log_days=LOG_DAYS)
        self.catalogue, self.reviewer, self.clock = catalogue, reviewer, clock

    def post(self, id, text, collection="default", **metadata):
        return self.checker.check(Document(id, Posted(text, None), collection, metadata))

    def delete(self, id, *, erase=False):
        return self.catalogue.delete("default", id, erase=erase)

    def conflicts(self, collection=None, **wanted):
        return self.reviewer.conflicts(collection, ConflictFilter(**wanted), 50, None).items

    def decisions(self, collection=None, **wanted):
        return self.reviewer.decisions(collection, DecisionFilter(**wanted), 50, None).items

    def rule(self, keep, note=None):
        (conflict,) = self.conflicts(status=ConflictStatus.OPEN)
        return self.reviewer.resolve(conflict.id, Keep(keep), "somebody", note)

    def revert_last(self, kind, note=None):
        last = self.decisions(kind=DecisionKind(kind))[-1]
        return self.reviewer.revert(last.id, "somebody", note)

    def statistics(self):
        return self.catalogue.statistics("default").collections["default"]

    def pass_log_days(self):
        self.clock.move_on(days=LOG_DAYS + 0.5)

    def post_what_has_a_match(self, id="last"):
        """A check that looks at more than whether its text is like nothing."""
        self.post(f"{id}'s original", f"{TRAM} {id}")
        self.post(id, f"{TRAM} {id}")


@pytest.fixture
def world(store, catalogue, reviewer, clock) -> World:
    return World(store, catalogue, reviewer, clock)


# What leaves, and when.


def test_a_dropped_copy_leaves_with_its_log_entry(world, index_faults):
    world.post("a", KEY)
    world.post("b", LAMP)
    world.pass_log_days()
    world.post_what_has_a_match()
    with pytest.raises(UnknownDocument):
        world.catalogue.document("default", "b")
    assert world.catalogue.document("default", "a").twins == ()
    assert [entry.document for entry in world.decisions()] == ["last"]
    assert world.statistics().log_trimmed == 1
    assert world.statistics().documents.dropped == 1
    assert index_faults() == []


def test_a_dropped_copy_stays_for_as_long_as_the_log_is_kept(world, index_faults):
    world.post("a", KEY)
    world.post("b", LAMP)
    world.clock.move_on(days=LOG_DAYS - 0.5)
    world.post_what_has_a_match()
    assert world.catalogue.document("default", "b").text == LAMP
    assert world.statistics().log_trimmed == 0
    assert index_faults() == []


def test_a_copy_whose_entry_has_left_is_checked_for_the_first_time(world):
    world.post("a", KEY)
    world.post("b", LAMP)
    world.pass_log_days()
    world.post_what_has_a_match()
    answer = world.post("b", LAMP)
    assert (answer.replayed, answer.action, answer.match.id) == (False, "skip", "a")


def test_the_log_of_a_collection_that_gets_nothing_but_new_texts_is_trimmed_too(world):
    world.post("a", KEY)
    world.post("b", KEY)
    world.pass_log_days()
    for number in range(5):
        world.post(f"new{number}", f"text number {number} stands for itself alone, {number} times")
    assert world.statistics().log_trimmed == 1


def test_many_entries_leave_a_few_at_a_time(world, index_faults):
    world.post("a", KEY)
    for number in range(70):
        world.post(f"b{number}", KEY)
    world.pass_log_days()
    for turn in range(3):
        world.post_what_has_a_match(f"last{turn}")
    assert world.statistics().log_trimmed == 70
    assert world.statistics().documents.dropped == 3
    assert index_faults() == []


def test_who_reads_on_after_entries_have_left_misses_nothing(world):
    world.post("a", KEY)
    for number in range(5):
        world.post(f"b{number}", KEY)
    page = world.reviewer.decisions("default", DecisionFilter(), 2, None)
    assert [entry.document for entry in page.items] == ["b0", "b1"]
    world.pass_log_days()
    world.post_what_has_a_match()
    rest = world.reviewer.decisions("default", DecisionFilter(), 50, page.after)
    assert [entry.document for entry in rest.items] == ["last"]
    world.post("c", KEY)
    more = world.reviewer.decisions("default", DecisionFilter(), 50, rest.after)
    assert [entry.document for entry in more.items] == ["c"]


def test_a_decision_that_has_left_cannot_be_taken_back(world):
    world.post("a", KEY)
    decision = world.post("b", LAMP).decision
    world.pass_log_days()
    world.post_what_has_a_match()
    with pytest.raises(UnknownDecision):
        world.reviewer.revert(decision, None, None)


def test_resolved_and_void_conflicts_leave_with_what_closed_them_and_open_ones_stay(
    world, index_faults
):
    world.post("a", KEY)
    world.post("b", DESK.format("key", 3))
    world.rule("both")
    world.post("void", DESK.format("key", 4))
    world.delete("void")
    held = world.post("c", DESK.format("key", 5))
    world.pass_log_days()
    world.post_what_has_a_match()
    assert [(one.incoming.id, one.status) for one in world.conflicts()] == [("c", "open")]
    again = world.post("c", DESK.format("key", 5))
    assert (again.replayed, again.action, again.conflict) == (True, "review", held.conflict)
    assert again.decision is None
    assert world.rule("incoming").ingest == ("c",)
    assert index_faults() == []


def test_what_was_deleted_twice_stays_with_the_second_deletion(world, index_faults):
    world.post("a", KEY)
    world.post("b", LAMP)
    world.delete("b")
    world.revert_last("deleted")
    world.clock.move_on(days=LOG_DAYS - 0.5)
    world.delete("b")
    world.clock.move_on(days=1)
    world.post_what_has_a_match()
    assert [entry.kind for entry in world.decisions(document="b")] == ["deleted"]
    assert world.revert_last("deleted").document.text == LAMP
    assert index_faults() == []


def test_what_a_ruling_keeps_leaves_with_it(world, where_it_stands, index_faults):
    world.post("a", KEY)
    world.post("b", OTHER)
    world.post("b", DESK.format("zanzibar", 3))
    world.rule("existing")
    world.pass_log_days()
    world.post_what_has_a_match()
    assert where_it_stands("bicycles") == []
    assert where_it_stands("zanzibar") == []
    assert index_faults() == []


def test_a_pending_text_leaves_with_its_deletion_though_that_was_reverted(
    world, where_it_stands, index_faults
):
    world.post("a", KEY)
    world.post("b", OTHER)
    world.post("b", DESK.format("zanzibar", 3))
    world.delete("b")
    world.revert_last("deleted")
    assert index_faults() == []
    world.pass_log_days()
    world.post_what_has_a_match()
    world.post_what_has_a_match("very last")
    assert where_it_stands("zanzibar") == []


def test_a_text_that_is_taken_back_after_its_days_is_as_if_it_had_just_been_posted(world, clock):
    world.catalogue.configure("default", {"ttl_days": 1})
    world.post("a", KEY)
    world.delete("a")
    clock.move_on(days=1.5)
    reverted = world.revert_last("deleted")
    assert reverted.ingest == ("a",)
    assert world.catalogue.document("default", "a").state == "active"


# What is erased.


@pytest.fixture
def where_it_stands(redis_client, store):
    """Every key and field of the server whose value has a word; texts are read as they are."""
    expand = zstandard.ZstdDecompressor().decompress

    def entries_of(key: bytes) -> dict[bytes, bytes]:
        kind = redis_client.type(key)
        if kind == b"hash":
            return dict(redis_client.hgetall(key))
        if kind == b"zset":
            return dict.fromkeys(redis_client.zrange(key, 0, -1), b"")
        if kind == b"list":
            return dict.fromkeys(redis_client.lrange(key, 0, -1), b"")
        return {b"": redis_client.get(key)}

    def find(word: str) -> list[tuple[bytes, bytes]]:
        store.settle()
        found = []
        for key in redis_client.scan_iter("*", count=1000):
            for field, value in entries_of(key).items():
                words = expand(value) if key.endswith(b":x") else value
                if word.encode() in (field + b" " + words).lower():
                    found.append((key, field))
        return found

    return find


MINE = DESK.format("zanzibar", 2)
MINE_CHANGED = DESK.format("zanzibar", 3)
MINE_ALONE = "Zanzibar has bicycles in the yard behind the office over the winter."


def updated(world):
    world.post("mine", MINE)
    world.post("mine", MINE.upper())
    world.post("mine", MINE_CHANGED)
    world.post("mine", OTHER)


def dropped(world):
    world.post("a", KEY)
    world.post("mine", MINE)


def dropped_and_orphaned(world):
    dropped(world)
    world.delete("a")


def dropped_before_it_was_updated(world):
    dropped(world)
    world.post("mine", MINE_ALONE)


def replaced(world):
    world.post("mine", MINE, version="1.9")
    world.post("a", KEY, version="1.10")


def winning(world):
    world.post("a", KEY, version="1.9")
    world.post("mine", MINE, version="1.10")


def held(world):
    world.post("a", KEY)
    world.post("mine", MINE_CHANGED)


def held_by_it(world):
    world.post("mine", MINE)
    world.post("a", DESK.format("key", 3))


def held_before_it_was_updated(world):
    held(world)
    world.post("mine", MINE_ALONE)


def in_a_void_conflict(world):
    held(world)
    world.delete("a")


def pending(world):
    world.post("mine", MINE_ALONE)
    held(world)


def pending_and_withdrawn(world):
    pending(world)
    world.post("mine", MINE_ALONE)


def pending_and_replaced(world):
    pending(world)
    world.post("mine", DESK.format("zanzibar", 4))


def ruled(keep, before) -> Callable[[World], None]:
    def happen(world):
        before(world)
        world.rule(keep)

    happen.__name__ = f"{before.__name__}_and_{keep}_stays"
    return happen


def ruled_and_reverted(world):
    ruled("existing", pending)(world)
    world.revert_last("resolved")


def ruled_and_reverted_and_updated(world):
    ruled_and_reverted(world)
    world.post("mine", OTHER)


def drop_reverted(world):
    dropped(world)
    world.revert_last("dropped")


def deleted(world):
    world.post("mine", MINE)
    world.delete("mine")


def deleted_and_reverted_with_a_pending_text(world):
    pending(world)
    world.delete("mine")
    world.revert_last("deleted")


def deleted_and_posted_anew(world):
    deleted(world)
    world.post("mine", OTHER)


def both_ingested(world):
    world.catalogue.configure("default", {"on_conflict": "ingest"})
    held(world)


def both_ingested_and_updated(world):
    both_ingested(world)
    world.post("mine", OTHER)


def both_ingested_and_the_other_updated(world):
    both_ingested(world)
    world.post("a", OTHER)


def a_near_miss(world):
    world.post("mine", MINE)
    world.post("a", DESK.format("key", 2).replace("courier", "train").replace("visit", "call"))


def named_by_others_only(world):
    """One was dropped for it, another one held by it, and a third checked anew since it left."""
    world.post("mine", MINE)
    world.post("a", KEY)
    world.post("b", DESK.format("key", 3))
    world.post("mine", OTHER)


@pytest.mark.cluster
@pytest.mark.parametrize(
    "happen",
    [
        updated,
        dropped,
        dropped_and_orphaned,
        dropped_before_it_was_updated,
        replaced,
        winning,
        held,
        held_by_it,
        held_before_it_was_updated,
        in_a_void_conflict,
        pending,
        pending_and_withdrawn,
        pending_and_replaced,
        *(ruled(keep, before) for keep in Keep for before in (held, held_by_it, pending)),
        ruled_and_reverted,
        ruled_and_reverted_and_updated,
        drop_reverted,
        deleted,
        deleted_and_reverted_with_a_pending_text,
        deleted_and_posted_anew,
        both_ingested,
        both_ingested_and_updated,
        both_ingested_and_the_other_updated,
        a_near_miss,
        named_by_others_only,
    ],
    ids=lambda happen: happen.__name__,
)
def test_erasing_leaves_no_word_of_a_document(world, where_it_stands, index_faults, happen):
    happen(world)
    entries = [(entry.id, entry.kind, entry.document) for entry in world.decisions()]
    world.delete("mine", erase=True)
    assert where_it_stands("zanzibar") == []
    told = [(entry.id, entry.kind, entry.document) for entry in world.decisions()]
    assert told[: len(entries)] == entries, "the log is as long as before, and in order"
    assert index_faults() == []


@pytest.mark.parametrize(
    "happen",
    [dropped, held, pending, replaced, updated, ruled("both", pending), both_ingested_and_updated],
    ids=lambda happen: happen.__name__,
)
def test_a_document_that_was_deleted_before_is_erased_too(
    world, where_it_stands, index_faults, happen
):
    happen(world)
    world.delete("mine")
    world.delete("mine", erase=True)
    assert where_it_stands("zanzibar") == []
    assert index_faults() == []


def test_notes_are_erased_too_as_they_may_quote_a_text(world, where_it_stands):
    held(world)
    world.rule("existing", note="Zanzibar is no spare part")
    world.revert_last("resolved", note="Zanzibar may be one")
    world.rule("both", note="Zanzibar is one")
    world.delete("mine", erase=True)
    assert where_it_stands("zanzibar") == []


def test_a_document_that_never_was_is_unknown_to_an_erasure(world):
    world.post("a", KEY)
    with pytest.raises(UnknownDocument):
        world.delete("mine", erase=True)


def test_what_others_said_stays_when_one_is_erased(world):
    world.post("a", KEY)
    world.post("mine", MINE_CHANGED)
    world.post("b", LAMP)
    world.delete("mine", erase=True)
    assert world.catalogue.document("default", "a").text == KEY
    (entry,) = world.decisions(kind=DecisionKind.DROPPED)
    assert (entry.text, [change.after for change in entry.changes.items]) == (LAMP, ["lamp"])


def test_what_was_erased_cannot_be_taken_back(world):
    world.post("a", KEY)
    decision = world.post("mine", MINE).decision
    world.delete("mine", erase=True)
    for id in (decision, world.decisions(kind=DecisionKind.DELETED)[-1].id):
        with pytest.raises(NotRevertible):
            world.reviewer.revert(id, None, None)


def test_a_copy_rests_on_what_replaced_an_erased_text(world, redis_client, index_faults):
    world.post("mine", MINE, version="1.0")
    world.post("copy", MINE)
    world.post("a", KEY, version="1.1")
    world.post("mine", OTHER)
    world.delete("mine", erase=True)
    assert not world.catalogue.document("default", "copy").orphaned
    assert world.post("copy", MINE).replayed
    assert index_faults() == []


def test_a_document_that_is_posted_anew_while_it_is_erased_is_whole(
    world, store, monkeypatch, index_faults
):
    world.post("a", KEY)
    world.post("mine", OTHER)
    erase = store.erase
    overtaken: list[Answer] = []

    def after_another(collection, id, until):
        if not overtaken:
            overtaken.append(world.post("mine", KEY))
        return erase(collection, id, until)

    monkeypatch.setattr(store, "erase", after_another)
    world.delete("mine", erase=True)
    assert overtaken[0].action == "skip"
    assert index_faults() == []
    assert world.catalogue.document("default", "mine").text == KEY


# How it is read.


def all_of(ask: Callable[[str | None], Any]) -> list[Any]:
    """The items of all pages, one after the other."""
    items, cursor = [], None
    while True:
        page = ask(cursor)
        items += page.items
        cursor = page.next
        if cursor is None:
            return items


TOPICS = (
    DESK.replace("{}", "key", 1),
    "A rented bike is yours for {} hours, with a helmet and a lock, and comes back to its shop.",
    "Cargo bikes carry {} children, are booked by phone a day ahead and explained by the staff.",
)


@pytest.fixture
def collections(world) -> list[str]:
    """Three collections with three conflicts each, and one that is empty."""
    names = ["default", "docs", "empty", "rules"]
    for name in names[1:]:
        world.catalogue.configure(name, {})
    for name in ("rules", "default", "docs"):
        for number, topic in enumerate(TOPICS):
            world.post(f"{name} {number}", topic.format(2), collection=name)
            world.post(f"{name} {number} held", topic.format(3), collection=name)
    return names


@pytest.mark.cluster
@pytest.mark.parametrize("limit", [1, 2, 4, 50])
def test_conflicts_of_all_collections_come_page_by_page_each_once(world, collections, limit):
    found = all_of(lambda cursor: world.reviewer.conflicts(None, ConflictFilter(), limit, cursor))
    assert [(one.collection, one.incoming.id) for one in found] == [
        (name, f"{name} {number} held")
        for name in ("default", "docs", "rules")
        for number in (2, 1, 0)
    ]


@pytest.mark.cluster
@pytest.mark.parametrize("limit", [1, 2, 4, 50])
def test_decisions_of_all_collections_come_page_by_page_each_once(world, collections, limit):
    after, found = None, []
    while True:
        page = world.reviewer.decisions(None, DecisionFilter(), limit, after)
        assert len(page.items) <= limit
        found += [(entry.collection, entry.document) for entry in page.items]
        after = page.after
        assert page.next in (None, after)
        if page.next is None:
            break
    assert found == [
        (name, f"{name} {number} held")
        for name in ("default", "docs", "rules")
        for number in range(3)
    ]
    world.post("late", TOPICS[0].format(9), collection="docs")
    page = world.reviewer.decisions(None, DecisionFilter(), limit, after)
    assert [(entry.collection, entry.document) for entry in page.items] == [("docs", "late")]


def test_a_place_in_the_log_of_one_collection_holds_for_all_of_them(world, collections):
    page = world.reviewer.decisions("docs", DecisionFilter(), 50, None)
    assert len(page.items) == 3
    rest = world.reviewer.decisions(None, DecisionFilter(), 50, page.after)
    assert {entry.collection for entry in rest.items} == {"default", "rules"}


@pytest.mark.cluster
def test_near_misses_of_all_collections_come_page_by_page(world):
    for name in ("docs", "rules"):
        world.catalogue.configure(name, {"threshold": 0.9})
        for number in range(2):
            world.post(f"{name} {number}", f"{KEY} {number} of {name}", collection=name)
    found = all_of(lambda cursor: world.reviewer.near_misses(None, 1, cursor))
    assert [(miss.a.id, miss.b.id) for miss in found] == [
        ("docs 0", "docs 1"),
        ("rules 0", "rules 1"),
    ]


def test_who_reads_on_while_others_write_misses_nothing_and_gets_nothing_twice(world, index_faults):
    names = ["default", "docs"]
    world.catalogue.configure("docs", {})
    for name in names:
        world.post("a", KEY, collection=name)
    writers = [threading.Thread(target=write, args=(world, part, names)) for part in range(4)]
    for writer in writers:
        writer.start()
    found, after = [], None
    while True:
        ended = not any(writer.is_alive() for writer in writers)
        page = world.reviewer.decisions(None, DecisionFilter(), 7, after)
        found += page.items
        after = page.after
        if ended and page.next is None:
            break
    for writer in writers:
        writer.join()
    told = Counter(entry.id for entry in found)
    assert [id for id, times in told.items() if times > 1] == []
    everything = all_of(lambda after: world.reviewer.decisions(None, DecisionFilter(), 500, after))
    assert set(told) == {entry.id for entry in everything}
    assert len(told) == 4 * 12 * 3
    for name in names:
        of_one = [entry.id for entry in found if entry.collection == name]
        assert of_one == [entry.id for entry in everything if entry.collection == name]
        assert index_faults(name) == []


def write(world, part, names):
    """Three entries a turn: a copy is dropped, updated to a text of its own, and deleted."""
    for turn in range(12):
        name, id = names[turn % 2], f"{part}.{turn}"
        world.post(id, KEY, collection=name)
        world.post(id, f"a text of {part} alone, posted at its turn {turn}", collection=name)
        world.catalogue.delete(name, id)
