"""The history of what the last transactions touched: who rests on what has changed is refused, and
nobody else, however much came in between."""

import pytest
import redis

from service.store.any_store import AnyStore
from service.store.base import Collection, Snapshot
from service.store.spread import items
from service.store.spread.placement import places
from service.store.spread.planning import Transaction
from service.store.spread.sequencing import Sequencer
from tests.store.conftest import Post

PARTITIONS = 3
LEAST_KEPT, MOST_KEPT = 512, 1024
MOST_SEARCHED, MOST_BYTES = 256 * 1024, 1024 * 1024
AN_END, A_NOTE = 12, 9  # bytes
A_LOT = 16_000
WORDS = "Whoever is the first to come finds the key in the box beside the door."


@pytest.fixture
def partitions() -> int:
    return PARTITIONS


@pytest.fixture
def collection(post: Post, store: AnyStore) -> Collection:
    """One with a transaction in it, which is done."""
    post("first", WORDS)
    store.settle()
    return store.collection("default")


@pytest.fixture
def sequencer(store: AnyStore) -> Sequencer:
    return store._spread.sequencer


def tags(*texts: str) -> list[bytes]:
    """Tags of texts, each named by a letter a band: 'aab' has one in its first two bands."""
    return [letter.encode() * 4 for text in texts for letter in text]


class Touching:
    """Transactions that touch and do nothing else."""

    def __init__(self, sequencer: Sequencer, collection: Collection) -> None:
        self.sequencer = sequencer
        self.collection = collection

    def item(self, item: bytes) -> None:
        self._publish(Transaction(touches={item}))

    def others(self, count: int) -> None:
        for number in range(count):
            self.item(items.text_item(1_000_000 + number))

    def large(self, size: int) -> None:
        """Touches more bytes than these."""
        for _ in range(size // (4 * A_LOT) + 1):
            self.texts("a" * A_LOT)

    def texts(self, *texts: str) -> None:
        self._publish(Transaction(brings=[b"".join(tags(text)) for text in texts]))

    def _publish(self, transaction: Transaction) -> None:
        assert self.sequencer.run(self.collection, transaction) is not None

    def snapshot(self) -> Snapshot:
        return self.sequencer.home(self.collection).snapshot

    def allows(self, at: Snapshot, item: bytes) -> bool:
        return self.sequencer.validate(self.collection, at, {item})

    def allows_texts(self, at: Snapshot, *texts: str) -> bool:
        looked = Transaction(at_look=at, tags_at_look=tags(*texts), only_validates=True)
        return self.sequencer.run(self.collection, looked) is not None


@pytest.fixture
def touching(sequencer: Sequencer, collection: Collection) -> Touching:
    return Touching(sequencer, collection)


READ, OTHER = items.id_item("read"), items.id_item("other")


@pytest.mark.parametrize("between", [0, 1, 62, 63, 64, 65, 500])
def test_what_was_touched_since_is_refused_however_much_came_behind_it(touching, between):
    before = touching.snapshot()
    touching.item(READ)
    touching.others(between)
    assert not touching.allows(before, READ)


@pytest.mark.parametrize("between", [0, 1, 62, 63, 64, 65, 500])
def test_what_was_touched_before_is_not_refused(touching, between):
    touching.item(READ)
    before = touching.snapshot()
    touching.others(between)
    assert touching.allows(before, READ)


def test_what_another_one_touched_is_nobody_elses_refusal(touching):
    before = touching.snapshot()
    touching.item(READ)
    assert touching.allows(before, OTHER)


def test_what_was_read_before_all_that_the_history_has_is_refused(touching):
    before = touching.snapshot()
    touching.others(MOST_KEPT + 1)
    assert not touching.allows(before, OTHER)


def test_what_was_read_before_more_than_is_searched_at_once_is_refused(touching):
    before = touching.snapshot()
    touching.large(MOST_SEARCHED)
    assert not touching.allows(before, OTHER)
    assert touching.allows(touching.snapshot(), OTHER)


def test_the_history_has_the_last_ones_after_the_first_have_left(touching):
    touching.others(MOST_KEPT - LEAST_KEPT)
    before = touching.snapshot()
    touching.item(READ)
    touching.others(LEAST_KEPT - 2)
    assert touching.allows(before, OTHER)
    assert not touching.allows(before, READ)


def test_the_history_does_not_grow_for_ever(touching, collection: Collection, redis_client):
    home = places(collection.uid, PARTITIONS).home
    touching.others(MOST_KEPT + LEAST_KEPT)
    kept = redis_client.strlen(home.history_ends) // AN_END
    assert LEAST_KEPT < kept <= MOST_KEPT
    assert redis_client.strlen(home.history) == (kept - 1) * A_NOTE


def test_what_is_not_done_is_done_before_the_history_loses_it(
    touching: Touching, post: Post, redis_client: redis.Redis, monkeypatch: pytest.MonkeyPatch
):
    home = places(touching.collection.uid, PARTITIONS).home
    monkeypatch.setattr(touching.sequencer._applier, "add", lambda *_: None)
    post("second", "Bicycles are stored in the yard behind the office over the winter.")
    (second,) = redis_client.hkeys(home.redo)
    touching.others(2 * MOST_KEPT)
    assert not redis_client.hexists(home.redo, second)


def test_a_text_that_shares_a_tag_with_one_that_came_since_is_refused(touching):
    before = touching.snapshot()
    touching.texts("abc")
    assert not touching.allows_texts(before, "xbz")


def test_the_same_bytes_in_another_band_are_another_tag(touching):
    before = touching.snapshot()
    touching.texts("abc")
    assert touching.allows_texts(before, "bca")


def test_where_only_the_hash_counts_only_the_last_tag_does(touching, collection):
    before = touching.snapshot()
    touching.texts("abc")
    for text, is_allowed in (("abz", True), ("xyc", False)):
        looked = Transaction(
            at_look=before,
            tags_at_look=tags(text),
            only_equal=True,
            at=before,
            reads={OTHER},
            only_validates=True,
        )
        assert (touching.sequencer.run(collection, looked) is not None) is is_allowed


@pytest.mark.parametrize(("count", "place"), [(3, 0), (3, 1), (3, 2), (300, 0), (300, 299)])
def test_of_several_texts_each_counts_for_itself(touching, count, place):
    before = touching.snapshot()
    touching.item(OTHER)
    touching.texts("abc", "def", "ghi")
    texts = ["jkl"] * count
    assert touching.allows_texts(before, *texts)
    texts[place] = "zez"
    assert not touching.allows_texts(before, *texts)


@pytest.mark.parametrize("count", [1, 300])
def test_items_count_however_many_texts_are_looked_for_with_them(touching, collection, count):
    before = touching.snapshot()
    touching.texts("abc")
    touching.item(READ)
    looked = Transaction(at_look=before, tags_at_look=tags(*["jkl"] * count), only_validates=True)
    assert touching.sequencer.run(collection, looked) is not None
    looked.reads_at_look = [OTHER, READ]
    assert touching.sequencer.run(collection, looked) is None


def test_the_history_is_no_larger_than_it_may_be(touching, collection, redis_client):
    home = places(collection.uid, PARTITIONS).home
    touching.large(2 * MOST_BYTES)
    assert redis_client.strlen(home.history) < MOST_BYTES + 5 * A_LOT


def test_who_meets_one_that_was_left_finishes_it_however_much_came_behind_it(
    touching: Touching, post: Post, redis_client: redis.Redis, monkeypatch: pytest.MonkeyPatch
):
    home = places(touching.collection.uid, PARTITIONS).home
    with monkeypatch.context() as left:
        left.setattr(touching.sequencer._applier, "add", lambda *_: None)
        post("second", "Bicycles are stored in the yard behind the office over the winter.")
    (second,) = redis_client.hkeys(home.redo)
    touching.large(MOST_SEARCHED)
    assert not touching.allows(touching.snapshot(), OTHER)
    assert not redis_client.hexists(home.redo, second)
    assert touching.allows(touching.snapshot(), OTHER)
