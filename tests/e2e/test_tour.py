"""docs/tour.md says what the service answers, and a worker that does what it says is right.

After a change of the page or of an answer: `python -m tests.e2e.tour` writes the answers anew.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.running import Service, services
from tests.e2e.tour import (
    CHECK,
    COMMAND,
    CONFLICT,
    DOCUMENT,
    PAGE,
    Names,
    Refused,
    Told,
    calls,
    follow,
    pretty,
    things,
    with_answers,
)

TOUR = PAGE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    directory: Path = tmp_path_factory.mktemp("tour")
    with services(directory) as start:
        yield start(TWINSIFT_REDIS_URL="").ready()


@pytest.fixture(scope="module")
def told(service: Service) -> list[Told]:
    return follow(TOUR, service)


@pytest.fixture(scope="module")
def checks(told: list[Told]) -> dict[str, dict[str, Any]]:
    return {check["id"]: check for one in told for check in things(one.answer, CHECK)}


def decisions(told: list[Told]) -> list[dict[str, Any]]:
    """What the worker's questions to the log were answered, one list after the other."""
    return [
        decision
        for one in told
        if one.call.path.startswith("/decisions") and one.call.method == "GET"
        for decision in one.answer["items"]
    ]


def test_every_answer_of_the_tour_is_the_one_that_the_service_gives(told: list[Told]) -> None:
    assert with_answers(TOUR, told) == TOUR, f"run: {COMMAND}"


def test_every_command_of_the_tour_is_a_call_with_an_answer() -> None:
    assert len(calls(TOUR)) == TOUR.count("curl")


def test_the_tour_meets_every_verdict_with_every_action_that_it_may_have(
    checks: dict[str, dict[str, Any]],
) -> None:
    assert {(check["verdict"], check["action"]) for check in checks.values()} == {
        ("new", "ingest"),
        ("exact_duplicate", "skip"),
        ("near_duplicate", "ingest"),
        ("near_duplicate", "skip"),
        ("near_duplicate", "review"),
    }


def test_a_reworded_passage_takes_the_place_of_the_older_one(
    checks: dict[str, dict[str, Any]],
) -> None:
    helmets = checks["handbook-2025-helmets"]
    assert (helmets["facts_differ"], helmets["survivor"]) == (False, "incoming")
    assert helmets["retire"] == ["handbook-2024-helmets"]


def test_a_changed_rule_is_held_with_its_conflict_open(checks: dict[str, dict[str, Any]]) -> None:
    refunds = checks["handbook-2025-refunds"]
    assert [(change["before"], change["after"]) for change in refunds["changes"]] == [
        ("2 hours", "3 hours")
    ]
    assert (refunds["survivor"], refunds["retire"]) == (None, [])
    assert refunds["conflict"]["status"] == "open"


def test_an_older_copy_loses_to_the_newer_one(checks: dict[str, dict[str, Any]]) -> None:
    flyer = checks["flyer-helmets"]
    assert (flyer["facts_differ"], flyer["survivor"]) == (False, "existing")


def test_a_copy_of_what_was_ruled_out_is_dropped_without_a_question(
    checks: dict[str, dict[str, Any]],
) -> None:
    late = checks["web-refunds"]
    assert (late["facts_differ"], late["action"]) == (True, "skip")


def test_the_conflict_is_open_before_its_ruling_and_after_the_ruling_is_taken_back(
    told: list[Told],
) -> None:
    seen = [
        (one.call.path.rpartition("/")[2], conflict["status"])
        for one in told
        for conflict in things(one.answer, CONFLICT)
    ]
    assert seen == [
        ("conflicts?status=open", "open"),
        ("resolve", "resolved"),
        ("conflicts?status=open", "open"),
        ("resolve", "resolved"),
    ]


def test_a_ruling_and_a_drop_are_taken_back(told: list[Told]) -> None:
    reverted = [one.answer for one in told if one.call.path.endswith("/revert")]
    documents = [(one["document"]["id"], one["document"]["state"]) for one in reverted]
    assert documents == [("handbook-2025-refunds", "held"), ("flyer-helmets", "active")]


def test_the_log_gives_every_decision_once_to_a_worker_that_follows_it(told: list[Told]) -> None:
    assert [(one["kind"], one["document"]) for one in decisions(told)] == [
        ("dropped", "handbook-2025-hours"),
        ("replaced", "handbook-2024-helmets"),
        ("held", "handbook-2025-refunds"),
        ("dropped", "flyer-helmets"),
        ("resolved", "handbook-2025-refunds"),
        ("reverted", "handbook-2025-refunds"),
        ("resolved", "handbook-2025-refunds"),
        ("dropped", "web-refunds"),
        ("reverted", "flyer-helmets"),
    ]


def test_a_worker_that_does_what_it_is_told_has_the_active_documents(told: list[Told]) -> None:
    embedded: set[str] = set()
    for one in told:
        for check in things(one.answer, CHECK):
            embedded |= {check["id"]} if check["action"] == "ingest" else set()
            embedded -= set(check["retire"])
        for decision in decisions([one]):
            embedded = embedded - set(decision["retire"]) | set(decision["ingest"])
    assert embedded == {document["id"] for document in things(told[-1].answer, DOCUMENT)}


# How answers are shown, on made-up ones.

MADE_UP = """\
```console
$ curl -s 127.0.0.1:8000/conflicts
```

```json
```

```console
$ curl -s '127.0.0.1:8000/decisions?after=after-1'
```

```json
```
"""


def shown(*answers: Any) -> str:
    [first, second] = calls(MADE_UP)
    given = [*answers, {}][:2]
    return with_answers(MADE_UP, [Told(first, given[0]), Told(second, given[1])])


def test_an_id_that_comes_again_has_the_same_name() -> None:
    page = shown({"family": "f-1-7", "twins": [{"family": "f-1-9"}]}, {"family": "f-1-7"})
    assert page.count('"family-1"') == 2
    assert page.count('"family-2"') == 1


def test_a_decision_is_named_by_its_kind_before_the_log_has_told_it() -> None:
    entry = {"id": "d-88", "kind": "held", "at": "2031-05-04T10:00:00Z", "document": "a"}
    assert '"decision": "held-1"' in shown({"decision": "d-88"}, {"items": [entry]})


def test_an_id_within_a_reason_is_named() -> None:
    page = shown({"conflict": {"id": "c-1-88", "status": "open"}}, {"reason": "ruled in c-1-88"})
    assert '"reason": "ruled in conflict-1"' in page


def test_the_words_of_a_change_are_no_place_in_the_log() -> None:
    assert '"after": "3 hours"' in shown({"changes": [{"before": "2 hours", "after": "3 hours"}]})


def test_metadata_is_shown_as_it_was_posted() -> None:
    posted = '"metadata": {"updated_at": "2031-05-04", "family": "bikes"}'
    assert posted in shown({"metadata": {"updated_at": "2031-05-04", "family": "bikes"}})


def test_times_and_hashes_are_cut() -> None:
    page = shown({"updated_at": "2031-05-04T10:00:00Z", "bytes": "sha256:0123456789abcdef"})
    assert '"updated_at": "…"' in page
    assert '"bytes": "sha256:01234567…"' in page


def test_of_a_second_document_the_known_and_the_empty_fields_are_only_counted() -> None:
    document = {"id": "a", "registered_at": "…", "text": "Oil the chain.", "twins": []}
    first, second = shown(document, document).split("after=after-1")
    assert all(f'"{field}": ' in first for field in document)
    assert '{\n  "id": "a",\n  "…": "3 more fields"\n}' in second


def test_what_is_false_or_zero_is_not_empty() -> None:
    document = {"registered_at": "…", "orphaned_twins": 0, "kept": False}
    _, second = shown(document, document).split("after=after-1")
    assert '"orphaned_twins": 0' in second
    assert '"kept": false' in second


def test_a_name_in_an_address_stands_for_the_id_that_was_given() -> None:
    assert Names([{"items": [], "after": "b64=="}]).id("after-1") == "b64=="


def test_a_name_that_no_answer_has_given_is_refused() -> None:
    with pytest.raises(Refused, match="after-2"):
        Names([{"items": [], "after": "b64=="}]).id("after-2")


def test_what_fits_stands_on_one_line() -> None:
    assert pretty({"a": [1, 2], "b": ["x" * 70, "y" * 70]}) == "\n".join(
        ["{", '  "a": [1, 2],', '  "b": [', f'    "{"x" * 70}",', f'    "{"y" * 70}"', "  ]", "}"]
    )
