"""Collections: made, configured, frozen, removed."""

import threading

import pytest

from service.catalogue import Catalogue
from service.checker import Checker
from service.dedup.stored import DocumentFilter
from service.dedup.verdict import Document, Posted
from service.errors import FrozenSetting, StoreUnavailable, UnknownCollection
from service.store.any_store import AnyStore
from service.store.connection import Connection
from service.store.keys import REGISTRY, partition

pytestmark = pytest.mark.cluster


def test_the_default_collection_exists_always(catalogue):
    assert catalogue.collection("default").settings.threshold == 0.6


def test_a_collection_is_made_once_and_changed_after(catalogue):
    assert catalogue.configure("rules", {})[1]
    assert not catalogue.configure("rules", {"threshold": 0.7})[1]


def test_settings_that_signatures_depend_on_freeze_at_the_first_document(catalogue, post):
    catalogue.configure("rules", {})
    catalogue.configure("rules", {"shingles": {"size": 2}})
    post("a", "some words here", collection="rules")
    with pytest.raises(FrozenSetting) as refused:
        catalogue.configure("rules", {"shingles": {"size": 3}})
    assert refused.value.faults[0].pointer == "/shingles"


def test_a_threshold_may_rise_and_come_back_but_not_fall_below_its_first(catalogue, post):
    catalogue.configure("rules", {"threshold": 0.7})
    post("a", "some words here", collection="rules")
    catalogue.configure("rules", {"threshold": 0.9})
    catalogue.configure("rules", {"threshold": 0.7})
    with pytest.raises(FrozenSetting):
        catalogue.configure("rules", {"threshold": 0.6})


def test_settings_are_free_again_once_the_last_document_has_left(catalogue, post, index_faults):
    catalogue.configure("rules", {})
    post("a", "some words here", collection="rules")
    catalogue.delete("rules", "a")
    catalogue.configure("rules", {"threshold": 0.3, "normalization": "squish"})
    assert catalogue.collection("rules").scheme.threshold == 0.3
    post("b", "some words here", collection="rules")
    assert index_faults("rules") == []


def test_a_new_setting_counts_for_the_next_check_of_every_process(post, elsewhere):
    post("a", "one two three four five six")
    elsewhere.catalogue.configure("default", {"threshold": 1.0})
    assert post("b", "one two three four five six seven").verdict == "new"


def test_a_removed_collection_leaves_nothing(catalogue, post, redis_client):
    catalogue.configure("rules", {})
    for number in range(50):
        post(f"id{number}", f"text {number} of the rules", collection="rules")
    catalogue.drop("rules")
    assert list(redis_client.scan_iter("ts1:{*")) == []
    with pytest.raises(UnknownCollection):
        catalogue.collection("rules")


def test_a_collection_made_anew_is_empty(catalogue, post):
    catalogue.configure("rules", {})
    post("a", "some words here", collection="rules")
    catalogue.drop("rules")
    catalogue.configure("rules", {})
    assert post("b", "some words here", collection="rules").verdict == "new"


def test_a_removal_that_was_cut_off_is_finished_by_whoever_meets_it(
    catalogue, post, redis_client, store
):
    catalogue.configure("rules", {})
    post("a", "some words here", collection="rules")
    uid = store.collection("rules").uid
    redis_client.hdel(partition(uid).settings, "revision")
    assert catalogue.configure("rules", {})[1]
    assert list(redis_client.scan_iter(f"ts1:{{{uid}.*")) == []


def test_ten_threads_make_one_collection(catalogue, redis_client, partitions):
    made = []
    threads = [
        threading.Thread(target=lambda: made.append(catalogue.configure("rules", {})[1]))
        for _ in range(10)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made.count(True) == 1
    assert len(list(redis_client.scan_iter("ts1:{*:m"))) == partitions


@pytest.fixture
def other_scheme(catalogue, redis_client):
    """A collection `old` whose signatures were made in another way."""
    catalogue.configure("old", {})
    uid = redis_client.hget(REGISTRY, "old").decode()
    redis_client.hset(
        partition(uid).settings, mapping={"scheme": OTHER_SCHEME, "revision": "another"}
    )


def test_a_collection_of_another_scheme_takes_no_checks(other_scheme, post):
    with pytest.raises(StoreUnavailable, match="another scheme"):
        post("a", "some words here", collection="old")


def test_a_collection_of_another_scheme_is_listed_and_can_be_removed(other_scheme, catalogue):
    assert "old" in {info.name for info in catalogue.collections(50, None).items}
    catalogue.drop("old")
    with pytest.raises(UnknownCollection):
        catalogue.collection("old")


OTHER_SCHEME = (
    '{"version": 0, "cleaning_version": 1, "normalization_version": 1, "algorithm": "x", '
    '"threshold": 0.6, '
    '"banding": {"bands": 32, "rows": 4}}'
)


def test_a_collection_whose_making_was_not_confirmed_is_made_all_the_same(
    catalogue, store, post, monkeypatch
):
    client = store._connection.client
    hsetnx = client.hsetnx

    def answered_for_the_second_try(*arguments):
        hsetnx(*arguments)
        return hsetnx(*arguments)

    monkeypatch.setattr(client, "hsetnx", answered_for_the_second_try)
    catalogue.configure("rules", {})
    assert post("a", "some words here", collection="rules").verdict == "new"


class Elsewhere:
    """Another process over the same store, which remembers collections as they were."""

    def __init__(self, redis_url):
        self.store = AnyStore(Connection(redis_url, deadline=5.0))
        self.catalogue, self.checker = Catalogue(self.store), Checker(self.store)


@pytest.fixture
def elsewhere(redis_url, redis_client):
    return Elsewhere(redis_url)


def test_a_collection_that_was_removed_elsewhere_is_unknown_here(catalogue, post, elsewhere):
    catalogue.configure("rules", {})
    post("a", "some words here", collection="rules")
    elsewhere.catalogue.drop("rules")
    with pytest.raises(UnknownCollection):
        catalogue.document("rules", "a")
    with pytest.raises(UnknownCollection):
        post("b", "some words here", collection="rules")


def test_a_collection_that_was_made_anew_elsewhere_is_read_anew_here(catalogue, post, elsewhere):
    catalogue.configure("rules", {})
    post("a", "some words here", collection="rules")
    elsewhere.catalogue.drop("rules")
    elsewhere.catalogue.configure("rules", {})
    elsewhere.checker.check(Document("b", Posted("other words there", None), "rules"))
    assert catalogue.document("rules", "b").id == "b"
    assert [document.id for document in documents_of(catalogue, "rules")] == ["b"]
    catalogue.delete("rules", "b")


def test_a_threshold_that_was_changed_elsewhere_counts_for_comparing_here(
    catalogue, checker, elsewhere
):
    a, b = "one two three four five six", "one two three four five six seven"
    assert checker.compare(a, b, "default").verdict == "near_duplicate"
    elsewhere.catalogue.configure("default", {"threshold": 1.0})
    assert checker.compare(a, b, "default").verdict == "new"


def documents_of(catalogue, name):
    return catalogue.documents(name, DocumentFilter(), 50, None).items
