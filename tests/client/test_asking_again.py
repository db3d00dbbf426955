"""When a call is asked again, how long it waits, and when it is not."""

import time
from collections.abc import Callable

import pytest

from service.client import Patience, Refused, Twinsift, Unavailable
from tests.client.answering import Answering, http, problem

Start = Callable[..., Answering]
STATS = http(200, '{"collections": {}, "store": null, "added_later": 7}')


def client_of(answering: Answering, patience: Patience | None = None) -> Twinsift:
    return Twinsift(answering.url, patience=patience)


@pytest.mark.parametrize(
    "bad",
    [None, problem(503, "store_unavailable"), problem(429, "rate_limited"), http(502, "<html>")],
    ids=["cut", "503", "429", "proxy"],
)
def test_what_may_pass_is_asked_again(answering: Start, bad: bytes | None) -> None:
    listener = answering(bad, bad, STATS)
    assert client_of(listener).stats().store is None
    assert listener.asked == 3


def test_an_answer_that_does_not_come_in_time_is_asked_for_again(answering: Start) -> None:
    late = Twinsift(answering().url, timeout=0.1, patience=Patience(attempts=2))
    with pytest.raises(Unavailable) as unavailable:
        late.stats()
    assert unavailable.value.attempts == 2


@pytest.mark.parametrize(
    ("status", "code"),
    [(400, "malformed_json"), (404, "unknown_conflict"), (409, "already_resolved"),
     (422, "invalid_request"), (500, "internal_error")],
)  # fmt: skip
def test_a_refusal_is_not_asked_again(answering: Start, status: int, code: str) -> None:
    listener = answering(problem(status, code, X_Request_Id="r-1"), STATS)
    with pytest.raises(Refused) as refused:
        client_of(listener).stats()
    error = refused.value
    assert (error.status, error.code, error.request_id) == (status, code, "r-1")
    assert listener.asked == 1


def test_it_waits_as_long_as_the_service_says(answering: Start) -> None:
    listener = answering(problem(429, "rate_limited", Retry_After="1"), STATS)
    begun = time.monotonic()
    client_of(listener).stats()
    assert time.monotonic() - begun >= 1


def test_a_wait_beyond_its_patience_is_not_begun(answering: Start) -> None:
    listener = answering(problem(503, "store_full", Retry_After="10"), STATS)
    with pytest.raises(Unavailable) as unavailable:
        client_of(listener, Patience(seconds=5)).stats()
    assert (unavailable.value.code, listener.asked) == ("store_full", 1)


def test_attempts_are_bounded(answering: Start) -> None:
    listener = answering(None, None, None, None)
    with pytest.raises(Unavailable):
        client_of(listener, Patience(attempts=3)).stats()
    assert listener.asked == 3


def test_a_revert_whose_reply_was_lost_tells_that_it_was_asked_twice(answering: Start) -> None:
    listener = answering(None, problem(409, "already_reverted"))
    with pytest.raises(Refused) as refused:
        client_of(listener).revert("d-1-1")
    assert (refused.value.code, refused.value.attempts) == ("already_reverted", 2)


def test_an_item_that_the_store_failed_is_asked_again(answering: Start) -> None:
    failed = '{"status": 503, "code": "store_unavailable", "detail": "-", "errors": []}'
    refused = failed.replace("503", "422").replace("store_unavailable", "empty_text")
    one = f'{{"index": 0, "id": "a", "problem": {refused}}}'
    two = f'{{"index": 1, "id": "b", "problem": {failed}}}'
    listener = answering(
        http(200, f'{{"results": [{one}, {two}]}}'),
        http(200, f'{{"results": [{two.replace(failed, refused)}]}}'),
    )
    items = [{"id": "a", "text": "…"}, {"id": "b", "text": "…"}]
    results = list(client_of(listener).check_many(items))
    assert [(result.index, result.code) for result in results] == [  # type: ignore[union-attr]
        (0, "empty_text"),
        (1, "empty_text"),
    ]


@pytest.mark.parametrize("body", ["<html>", "[]", '{"collections": 1}', '{"store": null}'])
def test_an_answer_of_something_else_is_an_error(answering: Start, body: str) -> None:
    with pytest.raises(Refused) as refused:
        client_of(answering(http(200, body))).stats()
    assert refused.value.code == "unexpected_answer"


def test_fields_that_were_added_later_are_kept(answering: Start) -> None:
    assert client_of(answering(STATS)).stats().raw["added_later"] == 7
