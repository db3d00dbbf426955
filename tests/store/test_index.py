"""The index through its use case: what a check finds, keeps and leaves behind."""

import os
import random
import threading
from collections import Counter

import pytest

from service.dedup.decisions import ConflictFilter, DecisionFilter, Keep
from service.dedup.stored import DocumentFilter
from service.dedup.verdict import Document, Posted
from service.errors import StoreFull, UnknownCollection, UnknownDocument
from service.store import listing
from service.store.base import Replay
from service.store.keys import partition
from service.store.step import Step

SOAK = os.environ.get("SOAK") == "1"
CROWD = 1500 if SOAK else 800

# Sixty words without a digit, which would be a fact: a near copy differs in its wording only.
WORDS = [
    first + last
    for first in ("bran", "clov", "dorm", "fern", "glim", "hask", "jolt", "kelp", "lund", "morv")
    for last in ("adel", "ebin", "ilor", "otun", "umel", "aspe")
]
TEXT = " ".join(WORDS)
NEAR = TEXT.replace(WORDS[30], "other")
OTHER = "another text altogether"
DIFFERING = TEXT.replace(WORDS[30], "17")


def shuffled(seed: int) -> str:
    """A text of the same words that is like no other one."""
    return " ".join(random.Random(seed).sample(WORDS, 30))


def test_a_first_text_is_new(post):
    answer = post("a", TEXT)
    assert (answer.verdict, answer.action, answer.match) == ("new", "ingest", None)


def test_the_same_bytes_under_another_id_are_an_exact_duplicate(post):
    post("a", TEXT)
    answer = post("b", TEXT)
    assert (answer.verdict, answer.action) == ("exact_duplicate", "skip")
    assert (answer.match.id, answer.match.kind, answer.match.score) == ("a", "bytes", 1.0)


def test_the_same_words_in_other_form_are_an_exact_duplicate(post):
    post("a", TEXT)
    assert post("b", TEXT.upper()).match.kind == "normalized"


@pytest.mark.cluster
def test_a_near_copy_is_found_with_its_exact_score(post):
    post("a", TEXT)
    answer = post("b", NEAR)
    assert answer.verdict == "near_duplicate"
    assert answer.match.score == pytest.approx(55 / 61)


def test_a_score_at_the_threshold_is_a_duplicate(post, catalogue):
    catalogue.configure("exact", {"threshold": 0.6, "shingles": {"size": 1}})
    post("a", "one two three four", collection="exact")
    assert post("b", "one two three five", collection="exact").match.score == 0.6


@pytest.mark.cluster
def test_the_same_id_and_text_is_a_replay_of_the_first_answer(post):
    post("a", TEXT)
    first = post("b", NEAR)
    again = post("b", NEAR)
    assert again.replayed
    assert not first.replayed
    assert (again.verdict, again.match, again.family) == (first.verdict, first.match, first.family)


def test_a_document_is_never_a_duplicate_of_itself(post):
    post("a", TEXT)
    assert post("a", NEAR).verdict == "new"


def test_an_update_tells_what_it_supersedes(post):
    first = post("a", TEXT)
    answer = post("a", NEAR)
    assert answer.supersedes.normalized == first.hashes.normalized
    assert answer.supersedes.score == pytest.approx(55 / 61)


@pytest.mark.cluster
def test_after_an_update_nothing_of_the_old_text_is_matched(post):
    post("a", TEXT)
    post("a", OTHER)
    assert post("b", TEXT).verdict == "new"


def test_an_update_that_turns_out_a_duplicate_retires_its_own_id(post):
    post("a", TEXT)
    post("b", OTHER)
    answer = post("b", NEAR)
    assert (answer.action, answer.retire) == ("skip", ("b",))


def test_other_bytes_with_the_same_words_keep_the_answer(post):
    post("a", TEXT)
    post("b", NEAR)
    answer = post("b", NEAR.upper())
    assert (answer.verdict, answer.match.id, answer.replayed) == ("near_duplicate", "a", False)
    assert answer.supersedes.score == 1.0


def test_copies_stay_dropped_when_their_twin_changes_its_bytes_alone(post):
    post("a", TEXT)
    post("b", NEAR)
    post("a", TEXT.upper())
    assert post("b", NEAR).replayed


def test_a_dropped_copy_is_checked_anew_once_its_twin_has_left(post, catalogue):
    post("a", TEXT)
    post("b", NEAR)
    catalogue.delete("default", "a")
    assert catalogue.document("default", "b").orphaned
    answer = post("b", NEAR)
    assert (answer.verdict, answer.replayed) == ("new", False)


def test_a_delete_names_the_copies_once_dropped_for_it(post, catalogue):
    post("a", TEXT)
    post("b", NEAR)
    post("c", TEXT)
    assert {twin.id: twin.score for twin in catalogue.delete("default", "a")} == {
        "b": pytest.approx(55 / 61),
        "c": 1.0,
    }


def test_a_deleted_document_is_unknown(post, catalogue):
    post("a", TEXT)
    catalogue.delete("default", "a")
    with pytest.raises(UnknownDocument):
        catalogue.document("default", "a")


def test_what_was_matched_is_of_one_family(post):
    families = {post("a", TEXT).family, post("b", NEAR).family, post("c", TEXT).family}
    assert len(families) == 1
    assert post("d", OTHER).family not in families


def test_a_dry_run_leaves_no_trace(post, catalogue, store):
    post("a", TEXT)
    store.settle()
    before = catalogue.statistics("default").collections
    answer = post("b", NEAR, dry_run=True)
    assert answer.verdict == "near_duplicate"
    assert catalogue.statistics("default").collections == before
    with pytest.raises(UnknownDocument):
        catalogue.document("default", "b")


def test_a_split_that_its_match_does_not_share_is_a_leak(post):
    post("a", TEXT, metadata={"split": "train"})
    assert post("b", NEAR, metadata={"split": "eval"}).leak == ("eval", "train")
    assert post("c", TEXT, metadata={"split": "train"}).leak is None


def test_a_replay_replaces_the_metadata_where_it_brings_any(post, catalogue):
    post("a", TEXT, metadata={"source": "one"})
    post("a", TEXT)
    assert catalogue.document("default", "a").metadata == {"source": "one"}
    post("a", TEXT, metadata={"version": "2"})
    assert catalogue.document("default", "a").metadata == {"version": "2"}


@pytest.mark.cluster
def test_statistics_count_what_was_answered(post, catalogue):
    post("a", TEXT)
    post("a", TEXT)
    post("b", NEAR)
    post("c", TEXT)
    counted = catalogue.statistics("default").collections["default"]
    assert counted.verdicts == {"new": 1, "exact_duplicate": 1, "near_duplicate": 1}
    assert counted.actions == {"ingest": 1, "skip": 2, "review": 0}
    assert counted.replayed == 1
    assert counted.scores == {0.9: 1}
    assert (counted.documents.active, counted.documents.dropped) == (1, 2)


@pytest.mark.cluster
def test_the_script_cache_may_be_flushed_at_any_time(post, redis_client):
    post("a", TEXT)
    redis_client.script_flush()
    assert post("b", NEAR).verdict == "near_duplicate"


@pytest.mark.cluster
def test_the_index_agrees_with_itself_after_all_that_can_happen(
    world, post, catalogue, index_faults
):
    post("b", NEAR)
    post("b", OTHER)
    post("a", NEAR)
    post("c", TEXT)
    post("c", TEXT.upper())
    catalogue.delete("default", "a")
    post("c", OTHER)
    post("d", NEAR)
    post("e", DIFFERING)
    world.rule()
    world.revert()
    post("b", DIFFERING)
    catalogue.delete("default", "e")
    catalogue.delete("default", "d", erase=True)
    post("d", DIFFERING)
    assert index_faults() == []


@pytest.mark.long_when_spread
def test_an_index_that_grows_finds_all_that_it_holds(post, words, index_faults):
    texts = [words(12) for _ in range(2600)]
    for number, text in enumerate(texts):
        post(f"t{number}", text)
    assert index_faults() == []
    assert {post(f"copy {n}", texts[n] + " more").match.id for n in range(0, 2600, 100)} == {
        f"t{n}" for n in range(0, 2600, 100)
    }


@pytest.mark.long_when_spread
def test_a_bucket_that_half_the_texts_share_stays_bounded_and_true(
    post, words, index_faults, catalogue, redis_client
):
    catalogue.configure("wide", {"threshold": 0.8})
    shared = words(20)
    for number in range(600):
        post(f"t{number}", f"{shared} {words(10)}", collection="wide")
    own = words(10)
    post("original", f"{shared} {own}", collection="wide")
    answer = post("copy", f"{shared} {own} again", collection="wide")
    assert answer.match.id == "original"
    assert answer.candidates.cut
    for number in range(600):
        catalogue.delete("wide", f"t{number}")
    assert index_faults("wide") == []


@pytest.mark.cluster
def test_twenty_threads_with_one_text_get_exactly_one_new(checker, index_faults):
    answers = []
    barrier = threading.Barrier(20)

    def work(number: int) -> None:
        barrier.wait()
        answers.append(checker.check(Document(f"id{number}", Posted(TEXT, None))))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Counter(answer.verdict for answer in answers)["new"] == 1
    winner = next(answer.id for answer in answers if answer.verdict == "new")
    assert {answer.match.id for answer in answers if answer.match} == {winner}
    assert index_faults() == []


@pytest.mark.cluster
def test_a_full_store_takes_nothing_new_and_still_gives_and_deletes(
    post, catalogue, redis_client, index_faults, limit_memory
):
    post("a", TEXT)
    used = redis_client.info("memory")["used_memory"]
    limit_memory(used // 2)  # it varies with the connections there are
    with pytest.raises(StoreFull):
        post("b", OTHER)
    assert post("a", TEXT).replayed
    assert catalogue.readiness().store == "full"
    catalogue.delete("default", "a")
    limit_memory(0)
    assert index_faults() == []


def test_documents_are_listed_in_order_of_registration_page_by_page(post, catalogue):
    for number in range(7):
        post(f"id{number}", f"text number {number} stands alone")
    seen, cursor = [], None
    while True:
        page = catalogue.documents("default", DocumentFilter(), 3, cursor)
        seen += [document.id for document in page.items]
        cursor = page.next
        if cursor is None:
            break
    assert seen == [f"id{number}" for number in range(7)]


def test_documents_are_listed_by_state_family_and_orphanhood(post, catalogue):
    family = post("a", TEXT).family
    post("b", NEAR)
    post("c", OTHER)

    def ids(**wanted):
        page = catalogue.documents("default", DocumentFilter(**wanted), 50, None)
        return [document.id for document in page.items]

    assert ids(state="dropped") == ["b"]
    assert ids(family=family) == ["a", "b"]
    assert ids(family="f-nobody-1") == []
    catalogue.delete("default", "a")
    assert ids(orphaned=True) == ["b"]


def test_an_unknown_collection_is_said_to_be_unknown(post):
    with pytest.raises(UnknownCollection):
        post("a", TEXT, collection="nowhere")


class World:
    """A store with one document `a`, and what a test may have happen in it."""

    def __init__(self, post, catalogue, reviewer, clock):
        self.post, self.catalogue, self.reviewer, self.clock = post, catalogue, reviewer, clock
        post("a", TEXT)

    def copy(self):
        self.post("b", NEAR)

    def hold(self):
        self.post("b", DIFFERING)

    def hold_an_update(self):
        self.post("b", OTHER)
        self.post("b", DIFFERING)

    def rule(self):
        (conflict,) = self.reviewer.conflicts(None, ConflictFilter(), 50, None).items
        self.reviewer.resolve(conflict.id, Keep.INCOMING, "somebody", None)

    def hold_and_rule(self):
        self.hold()
        self.rule()

    def delete(self):
        self.catalogue.delete("default", "a")

    def revert(self):
        last = self.reviewer.decisions(None, DecisionFilter(), 50, None).items[-1]
        self.reviewer.revert(last.id, None, None)

    def post_other_bytes(self):
        self.post("a", TEXT.upper())

    def post_again(self):
        self.post("b", OTHER)

    def update(self):
        self.post("a", OTHER)

    def let_expire(self):
        self.catalogue.configure("default", {"ttl_days": 1})
        self.clock.move_on(days=2)


@pytest.fixture
def world(post, catalogue, reviewer, clock) -> World:
    return World(post, catalogue, reviewer, clock)


@pytest.mark.parametrize(
    "happenings",
    [
        (World.copy,),
        (World.hold,),
        (World.update,),
        (World.post_other_bytes,),
        (World.delete,),
        (World.hold, World.rule),
        (World.hold, World.delete),
        (World.hold, World.update),
        (World.hold_an_update, World.rule),
        (World.hold_an_update, World.post_again),
        (World.copy, World.revert),
        (World.delete, World.revert),
        (World.hold_and_rule, World.revert),
        (World.let_expire, World.copy),
    ],
    ids=lambda happenings: ", ".join(happening.__name__ for happening in happenings),
)
def test_a_step_that_is_applied_twice_is_refused_the_second_time(
    world, store, monkeypatch, index_faults, happenings
):
    *before, act = happenings
    for prepare in before:
        prepare(world)
    applied = []
    apply = store.apply

    def twice(collection, step, **more):
        applied.append((apply(collection, step, **more), apply(collection, step, **more)))
        return applied[-1][0]

    monkeypatch.setattr(store, "apply", twice)
    act(world)
    assert applied
    assert all(first is not None for first, _ in applied)
    assert [second for _, second in applied if second is not None] == []
    assert index_faults() == []


def test_a_check_that_is_run_twice_finds_its_own_text_the_second_time(
    checker, store, monkeypatch, index_faults
):
    told = []
    check = store.check

    def twice(collection, entry):
        told.extend([check(collection, entry), check(collection, entry)])
        return told[0]

    monkeypatch.setattr(store, "check", twice)
    checker.check(Document("a", Posted(TEXT, None)))
    assert told[0].number == 1
    assert isinstance(told[1], Replay)
    assert index_faults() == []


def test_numbers_that_are_used_up_are_said_to_be_and_change_nothing(
    post, store, redis_client, index_faults
):
    post("a", TEXT)
    settings = partition(store.collection("default").uid).settings
    redis_client.hset(settings, "next", 2**32)
    with pytest.raises(StoreFull, match="numbers"):
        post("b", OTHER)
    assert index_faults() == []


HALF_ALIKE = " ".join(f"un{word}" if at % 8 == 0 else word for at, word in enumerate(WORDS))


@pytest.fixture
def overtaken(store, monkeypatch):
    """Has something happen between the look and the step of the text `late`, once:
    `overtaken(lambda: …)`. What it gives holds the step that was overtaken."""
    apply = store.apply

    def overtake(happen):
        steps: list[Step] = []

        def after_others(collection, step, **more):
            if not steps and step.new is not None and step.new.stored.id == "late":
                steps.append(step)
                happen()
            return apply(collection, step, **more)

        monkeypatch.setattr(store, "apply", after_others)
        return steps

    return overtake


@pytest.mark.parametrize("others", [0, 3, 20])
def test_newcomers_are_noticed_however_many_came_since_the_look(post, overtaken, others: int):
    """A text that shares a bucket with another and is yet new: its commit must see who came."""
    post("half alike", HALF_ALIKE)

    def come():
        post("twin", TEXT)
        for number in range(others):
            post(f"other{number}", f"a text of its own, the {number} of {others}")

    steps = overtaken(come)
    answer = post("late", NEAR)
    assert steps
    assert (answer.verdict, answer.match.id) == ("near_duplicate", "twin")


@pytest.mark.parametrize("others", [0, 3, 20])
def test_a_newcomer_of_the_same_words_is_noticed_by_a_copy_that_is_to_be_dropped(
    post, catalogue, overtaken, others: int
):
    """It will not be matched itself, so only an equal text counts; and that has another answer."""
    catalogue.configure("default", {"on_conflict": "ingest"})
    post("a", TEXT)

    def come():
        catalogue.configure("default", {"threshold": 1.0})
        post("twin", NEAR)
        catalogue.configure("default", {"threshold": 0.6})
        for number in range(others):
            post(f"other{number}", f"a text of its own, the {number} of {others}")

    steps = overtaken(come)
    answer = post("late", NEAR)
    assert steps
    assert (answer.verdict, answer.match.id) == ("exact_duplicate", "twin")


def test_of_two_equal_held_copies_that_come_at_once_one_is_held(post, overtaken, index_faults):
    post("a", TEXT)
    steps = overtaken(lambda: post("first", DIFFERING))
    answer = post("late", DIFFERING)
    assert steps
    assert (answer.verdict, answer.match.id) == ("exact_duplicate", "first")
    assert (answer.action, answer.match.state) == ("skip", "held")
    assert index_faults() == []


def test_a_text_that_came_back_since_the_look_is_noticed(world, post, overtaken):
    """It comes back under an old number, so it is no newcomer."""
    post("half alike", HALF_ALIKE)
    world.delete()
    steps = overtaken(world.revert)
    answer = post("late", NEAR)
    assert steps
    assert (answer.verdict, answer.match.id) == ("near_duplicate", "a")


@pytest.mark.cluster
def test_a_match_that_left_since_the_look_is_not_named(world, post, overtaken):
    steps = overtaken(world.delete)
    answer = post("late", NEAR)
    assert steps
    assert (answer.verdict, answer.match) == ("new", None)


@pytest.mark.long_when_spread
def test_a_family_that_shares_half_its_words_does_not_crowd_a_shard(
    post, words, redis_client, index_faults
):
    """They share half their rows too, so a shard must not be chosen by one row."""
    shared = words(60)
    for number in range(CROWD):
        post(f"t{number}", f"{shared} {words(28)}")
    assert index_faults() == []
    sizes = [redis_client.hlen(key) for key in redis_client.scan_iter("ts1:{*:b*", count=1000)]
    assert max(sizes) < 200


@pytest.mark.long_when_spread
def test_shards_keep_up_when_many_threads_add_at_once(checker, words, store, index_faults):
    texts = [words(12) for _ in range(3000)]

    def work(part: int) -> None:
        for number in range(part, len(texts), 8):
            checker.check(Document(f"t{number}", Posted(texts[number], None)))

    threads = [threading.Thread(target=work, args=(part,)) for part in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    collection = store.collection("default")
    growth = store._growth.of(collection)
    assert growth.splits_due(collection.scheme.banding.bands + 1) < 200
    assert index_faults() == []


def test_an_id_that_was_never_active_is_not_retired(post):
    post("a", TEXT)
    post("b", NEAR)
    post("c", "another text altogether that stands here")
    assert post("b", NEAR.upper()).retire == ()
    assert post("b", "another text altogether that stands here").retire == ()


def test_a_replay_tells_again_which_id_is_retired(post):
    post("a", TEXT)
    post("b", OTHER)
    post("b", NEAR)
    assert post("b", NEAR).retire == ("b",)


@pytest.mark.parametrize("copy", [TEXT, NEAR, DIFFERING])
def test_a_replay_without_metadata_tells_the_leak_again(post, copy):
    post("a", TEXT, metadata={"split": "train"})
    assert post("b", copy, metadata={"split": "eval"}).leak == ("eval", "train")
    assert post("b", copy).leak == ("eval", "train")


def test_other_bytes_of_the_same_words_keep_the_metadata(post, catalogue):
    post("a", TEXT, metadata={"source": "one"})
    post("a", TEXT.upper())
    assert catalogue.document("default", "a").metadata == {"source": "one"}


def test_pages_that_hold_form_feeds_are_no_replay_of_the_text_with_the_same_bytes(checker):
    pages = checker.check(Document("a", Posted(None, ("one\ftwo three",))))
    text = checker.check(Document("a", Posted("one\ftwo three", ("one", "two three"))))
    same_words = pages.hashes.normalized == text.hashes.normalized
    assert text.replayed == same_words


def test_a_dry_run_of_a_new_text_names_a_family_that_never_comes_again(post):
    names = {post("a", TEXT, dry_run=True).family, post("b", TEXT, dry_run=True).family}
    names.add(post("c", TEXT).family)
    assert len(names) == 3


def test_a_sparse_collection_is_listed_without_empty_pages(
    post, catalogue, store, redis_client, monkeypatch
):
    monkeypatch.setattr(listing, "SECONDS_A_PAGE", 60.0)  # a busy machine may need more than it has
    settings = partition(store.collection("default").uid).settings
    redis_client.hset(settings, "next", 50_000)
    post("a", TEXT)
    assert [d.id for d in catalogue.documents("default", DocumentFilter(), 50, None).items] == ["a"]


def test_a_family_has_one_name(post, catalogue):
    family = post("a", TEXT).family
    for other in (family.upper(), family.replace("-1-1", "-1-01"), "f-1-\u0661"):
        assert catalogue.documents("default", DocumentFilter(family=other), 50, None).items == ()


@pytest.mark.cluster
def test_what_has_expired_leaves_a_full_store_too(
    catalogue, post, clock, index_faults, limit_memory
):
    catalogue.configure("default", {"ttl_days": 1})
    for number in range(20):
        post(f"t{number}", shuffled(number))
    clock.move_on(days=3)
    limit_memory(1)
    for number in range(20):
        with pytest.raises(StoreFull):
            post(f"new{number}", shuffled(100 + number))
    limit_memory(0)
    assert catalogue.statistics("default").collections["default"].documents.active == 0
    assert index_faults() == []
