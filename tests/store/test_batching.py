"""Batches: whatever is in them, they are answered as if one text came after the other."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.batching import WINDOW, Batches
from service.dedup.verdict import Answer, Document, Posted
from service.errors import EmptyText, StoreUnavailable, TwinsiftError, UnknownCollection
from service.store.base import Collection
from service.store.spread.planning import Transaction

SOAK = os.environ.get("SOAK") == "1"
EXAMPLES, SEEDS = (60, 5) if SOAK else (15, 1)

DESK = (
    "The returns desk {} every request for a spare key within {} hours and sends parts by courier."
)
TEXTS = [
    DESK.format("answers", 2),
    DESK.format("answers", 2).upper(),
    DESK.format("handles", 2),
    DESK.format("answers", 3),
    DESK.format("handles", 3),
    "Bicycles are stored in the yard behind the office over the winter.",
    "Something else that has nothing to do with any of it.",
]
Documents = st.lists(
    st.tuples(st.sampled_from("abcde"), st.sampled_from(TEXTS), st.booleans()),
    max_size=2 * WINDOW + 5,
)


@pytest.fixture
def batches(store, checker) -> Batches:
    return Batches(store, checker)


def document(
    id: str,
    text: str,
    authority: int = 0,
    *,
    collection: str = "default",
    dry_run: bool = False,
) -> Document:
    metadata = {"authority": authority} if authority else {}
    return Document(id, Posted(text, None), collection, metadata, dry_run)


def alone(n: int) -> str:
    """A text that has no word in common with the others."""
    return " ".join(f"text{n}word{place}" for place in range(8))


def of_a_family(drawn: Random) -> str:
    """One of very many near copies, some with other facts."""
    words = DESK.format("answers", 2).split()
    for _ in range(drawn.randrange(5)):
        words[drawn.randrange(len(words))] = drawn.choice(["one", "two", "2", "3", "other"])
    return " ".join(words)


def told(answer: Answer | TwinsiftError) -> object:
    """What two collections tell alike: all but their own names."""
    if isinstance(answer, TwinsiftError):
        return type(answer)
    match = answer.match and (answer.match.id, answer.match.kind, answer.match.score)
    return (
        answer.id,
        answer.verdict,
        answer.action,
        match,
        answer.changes.facts_differ,
        answer.retire,
        answer.replayed,
        answer.survivor,
        answer.conflict is not None,
    )


@pytest.mark.cluster
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(posts=Documents)
def test_a_batch_is_answered_as_if_one_text_came_after_the_other(
    posts, checker, catalogue, batches, index_faults
):
    for name in ("one", "all"):
        with suppress(UnknownCollection):
            catalogue.drop(name)
    for name in ("one", "all"):
        catalogue.configure(name, {})
    one_by_one = [
        checker.check(document(id, text, collection="one", dry_run=dry)) for id, text, dry in posts
    ]
    at_once = list(
        batches.check(document(id, text, collection="all", dry_run=dry) for id, text, dry in posts)
    )
    assert [told(answer) for answer in at_once] == [told(answer) for answer in one_by_one]
    assert index_faults("all") == []


@pytest.mark.parametrize("on_conflict", ["review", "survivor", "ingest", "skip"])
@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_batch_of_a_family_whose_texts_replace_each_other_is_answered_so_too(
    checker, catalogue, batches, index_faults, *, seed, on_conflict
):
    for name in ("one", "all"):
        catalogue.configure(name, {"threshold": 0.5, "on_conflict": on_conflict})
    drawn = Random(seed)
    posts = [
        document(
            f"d{drawn.randrange(60)}",
            of_a_family(drawn),
            drawn.randrange(6),
            collection="one",
            dry_run=drawn.random() < 0.03,
        )
        for _ in range(120)
    ]
    one_by_one = [checker.check(post) for post in posts]
    at_once = list(batches.check(replace(post, collection="all") for post in posts))
    assert [told(answer) for answer in at_once] == [told(answer) for answer in one_by_one]
    assert index_faults("all") == []


def test_what_an_update_frees_is_free_for_a_later_text_though_the_update_must_wait(
    checker, batches
):
    checker.check(document("a", TEXTS[5]))
    posts = [document("x", TEXTS[0]), document("a", TEXTS[1]), document("b", TEXTS[5])]
    assert [answer.match and answer.match.id for answer in batches.check(posts)] == [
        None,
        "x",
        None,
    ]


def test_who_has_seen_a_text_that_was_replaced_before_looks_again(checker, batches):
    words = [f"word{n}" for n in range(20)]
    checker.check(document("x", " ".join(words)))
    wins = document("wins", " ".join(["other", *words]), authority=1)
    equal = document("equal", " ".join(words))
    posts = [document("first", "other " + alone(1)), wins, equal]
    answers = list(batches.check(posts))
    assert answers[1].retire == ("x",)
    assert answers[2].match.id == "wins"


def test_a_step_that_comes_too_late_is_decided_anew(
    store, checker, catalogue, batches, monkeypatch
):
    checker.check(document("a", TEXTS[0]))
    apply = store.apply

    def after_a_deletion(*arguments: object) -> object:
        monkeypatch.undo()
        catalogue.delete("default", "a")
        return apply(*arguments)

    monkeypatch.setattr(store, "apply", after_a_deletion)
    (answer,) = batches.check([document("b", TEXTS[2])])
    assert (answer.verdict, answer.match) == ("new", None)


@pytest.mark.parametrize("partitions", [3])
def test_texts_that_are_new_together_are_one_transaction(store, batches, monkeypatch):
    run, published = store._spread.sequencer.run, []

    def counted(collection: Collection, transaction: Transaction, **more: bool) -> object:
        published.append(transaction.new)
        return run(collection, transaction, **more)

    monkeypatch.setattr(store._spread.sequencer, "run", counted)
    answers = list(batches.check(document(f"d{n}", alone(n)) for n in range(WINDOW)))
    assert [answer.verdict for answer in answers] == ["new"] * WINDOW
    assert published == [WINDOW]


@pytest.mark.parametrize("partitions", [3])
@pytest.mark.parametrize("first", ["the same id", "another id"])
def test_what_another_one_registers_meanwhile_is_found_by_the_batch(
    store, checker, batches, monkeypatch, first
):
    looks = store._spread._looker.looks

    def overtaken(*arguments: object) -> object:
        monkeypatch.undo()
        found = looks(*arguments)
        checker.check(document("d1" if first == "the same id" else "other", alone(1)))
        return found

    monkeypatch.setattr(store._spread._looker, "looks", overtaken)
    answers = list(batches.check(document(f"d{n}", alone(n)) for n in range(3)))
    told = [(answer.verdict, answer.replayed) for answer in answers]
    late = ("new", True) if first == "the same id" else ("exact_duplicate", False)
    assert told == [("new", False), late, ("new", False)]


@pytest.mark.parametrize("partitions", [1])  # with several, nothing is sent before it is waited for
def test_replies_that_are_lost_with_their_connection_never_come_over_the_next_one(store, checker):
    first, second = (checker.begin(document(f"d{n}", alone(n))) for n in range(2))
    receive_first = store.begin_checks([(first.case.collection, first.entry)])
    store._connection.close()
    receive_second = store.begin_checks([(second.case.collection, second.entry)])
    with pytest.raises(StoreUnavailable):
        receive_first()
    assert len(receive_second()) == 1


def test_one_bad_text_spoils_no_other(batches):
    posts: list[Document | TwinsiftError] = [
        document("a", "one text"),
        document("b", ""),
        EmptyText("found before"),
        document("c", "another text", collection="unknown"),
        document("d", "a third text"),
    ]
    answers = list(batches.check(posts))
    assert [type(answer) for answer in answers] == [
        Answer,
        EmptyText,
        EmptyText,
        UnknownCollection,
        Answer,
    ]


def test_what_has_come_is_answered_before_more_is_waited_for(batches):
    asked: list[str] = []

    def slowly() -> Iterator[Document | None]:
        for id in "abc":
            asked.append(id)
            yield document(id, f"a text of its own for {id}")
            yield None

    answers = batches.check(slowly())
    for id in "abc":
        answer = next(answers)
        assert isinstance(answer, Answer)
        assert (answer.id, asked[-1]) == (id, id)


def test_a_batch_that_nobody_reads_to_its_end_leaves_the_connection_whole(batches, checker):
    posts = (document(f"d{n}", alone(n)) for n in range(200))
    answers = batches.check(posts)
    next(answers)
    answers.close()
    assert checker.check(document("after", "quite another text")).verdict == "new"


def test_an_error_while_the_next_texts_are_read_leaves_the_connection_whole(batches, checker):
    def broken() -> Iterator[Document]:
        for n in range(WINDOW):
            yield document(f"d{n}", alone(n))
        raise RuntimeError

    checker.check(document("first", "so that the server knows the script"))
    with pytest.raises(RuntimeError):
        list(batches.check(broken()))
    assert checker.check(document("d0", alone(0))).replayed


def test_a_store_that_fails_gives_each_item_its_error(batches, store, monkeypatch):
    def down(*_: object, **__: object) -> None:
        raise StoreUnavailable("down")

    monkeypatch.setattr(store._connection, "send", down)
    monkeypatch.setattr(store._connection, "run", down)
    answers = list(batches.check(document(f"d{n}", f"text {n} of many {n}") for n in range(40)))
    assert [type(answer) for answer in answers] == [StoreUnavailable] * 40


def test_other_metadata_of_a_replay_replaces_the_old(batches, catalogue):
    first = document("a", "one text of some words")
    again = replace(first, metadata={"source": "web"})
    list(batches.check([first, again, document("b", "another text of words")]))
    assert catalogue.document("default", "a").metadata == {"source": "web"}
