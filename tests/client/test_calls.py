"""Each call of the client, put to a real service."""

import math
from concurrent.futures import ThreadPoolExecutor

import pytest

from service.client import Answer, Problem, Refused, Twinsift, Unavailable
from tests.e2e.running import Service, free_port

TEXT = "Every bike is washed and oiled on 3 days of each week before it is rented out again."
NEAR = TEXT.replace("washed", "cleaned")
OTHER_FACT = TEXT.replace("3 days", "4 days")


def test_a_text_is_checked_and_its_copy_is_skipped(client: Twinsift) -> None:
    first = client.check("a", TEXT, metadata={"source": "x"})
    copy = client.check("b", TEXT)
    assert (first.verdict, first.action, first.match) == ("new", "ingest", None)
    assert copy.match is not None
    assert (copy.action, copy.match.id, copy.match.score) == ("skip", "a", 1.0)


def test_pages_come_back_as_pages(client: Twinsift) -> None:
    assert client.check("a", pages=["One page.", "Another one."]).pages == (
        "One page.",
        "Another one.",
    )


def test_a_dry_run_stores_nothing(client: Twinsift) -> None:
    client.check("a", TEXT, dry_run=True)
    assert list(client.documents()) == []


def test_many_have_their_results_in_order_over_batches(client: Twinsift) -> None:
    items = [{"id": str(n), "text": f"Text {n} about wheel number {n}."} for n in range(25)]
    results = list(client.check_many(items, batch_items=4))
    assert [result.id for result in results] == [str(n) for n in range(25)]
    assert {type(result) for result in results} == {Answer}


def test_what_is_wrong_with_one_item_stands_in_its_place(client: Twinsift) -> None:
    items = [
        {"id": "a", "text": TEXT},
        {"id": "b"},
        {"id": "c", "text": "\ud800"},
        {"id": "d", "text": TEXT},
    ]
    first, without, unsendable, copy = client.check_many(items)
    assert isinstance(without, Problem)
    assert (without.index, without.id, without.code) == (1, "b", "invalid_request")
    assert isinstance(unsendable, Problem)
    assert (unsendable.index, unsendable.code) == (2, "unsendable")
    assert isinstance(first, Answer)
    assert isinstance(copy, Answer)
    assert copy.verdict == "exact_duplicate"


def test_a_batch_that_is_too_large_for_the_service_is_halved(client: Twinsift) -> None:
    items = [{"id": str(n), "text": f"{n} wheel " * 2000} for n in range(12)]  # 200 KB of 64 KiB
    results = list(client.check_many([*items, {"id": "large", "text": "wheel " * 20000}]))
    assert [result.id for result in results[:12]] == [str(n) for n in range(12)]
    assert isinstance(results[12], Problem)
    assert (results[12].code, results[12].status) == ("too_large", 413)


def test_threads_share_a_client(client: Twinsift) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: client.check(f"id-{n}", TEXT), range(32)))
    assert [answer.verdict for answer in answers].count("new") == 1


def test_cleaning_and_comparing_store_nothing(client: Twinsift) -> None:
    cleaned = client.clean("One line.\t\n\n\nAnother.")
    compared = client.compare(TEXT, OTHER_FACT)
    assert "whitespace" in {removal.rule for removal in cleaned.cleaning.removed}
    assert compared.facts_differ
    assert {one.unit for one in compared.similarity} == {"word", "char"}
    assert list(client.documents()) == []


def test_documents_are_listed_over_pages_shown_and_deleted(client: Twinsift) -> None:
    list(client.check_many({"id": f"/{n}/..", "text": f"Bike {n * n}."} for n in range(501)))
    assert {one.id for one in client.documents(state="active")} == {f"/{n}/.." for n in range(501)}
    assert client.document("/7/..").text == "Bike 49."
    assert client.delete("/7/..", erase=True).deleted == "/7/.."
    with pytest.raises(Refused) as refused:
        client.document("/7/..")
    assert (refused.value.code, refused.value.status) == ("unknown_document", 404)
    assert refused.value.request_id


def test_collections_are_made_changed_listed_and_dropped(client: Twinsift) -> None:
    made = client.configure("handbook", {"threshold": 0.7})
    assert made.settings["threshold"] == 0.7
    assert {one.name for one in client.collections()} == {"default", "handbook"}
    assert client.collection("handbook").documents.active == 0
    assert client.drop("handbook").deleted == "handbook"


def test_a_conflict_is_listed_ruled_on_and_taken_back(client: Twinsift) -> None:
    client.check("a", TEXT)
    held = client.check("b", OTHER_FACT)
    assert held.conflict is not None
    (open_one,) = client.conflicts(status="open")
    assert client.conflict(held.conflict.id) == open_one
    ruling = client.resolve(open_one.id, "incoming", by="ann", note="newer")
    assert (ruling.ingest, ruling.retire) == (("b",), ("a",))
    assert client.resolve(open_one.id, "incoming", by="bob").resolution == ruling.resolution
    (resolved,) = client.decisions(kind="resolved")
    reverted = client.revert(resolved.id, by="ann")
    assert (reverted.ingest, reverted.retire) == (("a",), ("b",))
    with pytest.raises(Refused, match="already_reverted"):
        client.revert(resolved.id)


def test_the_log_is_followed_from_where_it_was_left(client: Twinsift) -> None:
    client.check("a", TEXT)
    client.check("b", TEXT)
    (page,) = client.follow(every=None)
    assert [one.document for one in page.items] == ["b"]
    client.check("c", TEXT)
    (page,) = client.follow(page.after, every=None)
    assert [(one.kind, one.document, one.twin) for one in page.items] == [("dropped", "c", "a")]


def test_following_waits_for_what_comes(client: Twinsift) -> None:
    followed = client.follow(every=0.01)
    assert next(followed).items == ()
    client.check("a", TEXT)
    client.check("b", TEXT)
    assert next(page for page in followed if page.items).items[0].document == "b"


def test_near_misses_and_figures_are_told(client: Twinsift) -> None:
    client.check("a", TEXT)
    client.check("b", NEAR)
    figures = client.stats().collections["default"]
    assert figures.checks["total"] == 2
    assert figures.embedding_calls_saved == figures.documents.dropped
    assert all(isinstance(pair.score, float) for pair in client.near_misses())


def test_it_tells_whether_the_service_is_there(client: Twinsift) -> None:
    assert client.healthy()
    assert client.ready()
    assert not Twinsift(f"http://127.0.0.1:{free_port()}").ready()


def test_an_error_names_the_field_and_quotes_no_text(client: Twinsift) -> None:
    with pytest.raises(Refused) as refused:
        client.check("a", "A secret sentence.", metadata={"updated_at": "A secret sentence."})
    assert [fault.pointer for fault in refused.value.faults] == ["/metadata/updated_at"]
    assert "secret" not in str(refused.value)


def test_a_number_that_is_none_is_refused_by_the_service(client: Twinsift) -> None:
    with pytest.raises(Refused, match="invalid_request"):
        client.check("a", TEXT, metadata={"authority": math.nan})


@pytest.mark.parametrize("url", ["ftp://host", "host:8000", "http://"])
def test_an_address_that_is_none_is_refused_at_once(url: str) -> None:
    with pytest.raises(ValueError, match="must be as http"):
        Twinsift(url)


def test_a_token_is_sent_and_never_shown(service: Service) -> None:
    client = Twinsift(f"http://127.0.0.1:{service.port}", token="tw_secret")
    assert "tw_secret" not in repr(client) + repr(vars(client))
    assert client.ready()


def test_nothing_that_listens_is_unavailable() -> None:
    from service.client import Patience

    client = Twinsift(f"http://127.0.0.1:{free_port()}", patience=Patience(attempts=2))
    with pytest.raises(Unavailable) as unavailable:
        client.check("a", TEXT)
    assert (unavailable.value.code, unavailable.value.attempts) == ("unreachable", 2)
