"""Few documents are posted, deleted, ruled on and taken back from many processes at once, while one
more follows the log."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from multiprocessing import get_context
from random import Random
from typing import Any

import pytest

from tests.e2e.running import Service
from tests.fire.clients import Client, checks_counted, documents
from tests.fire.deciding import REVERTIBLE, Call, decide, follow
from tests.fire.forms import CHURN_SECONDS
from tests.store.index_walk import faults_at

Json = dict[str, Any]

PROCESSES = 8
FAMILIES, WORDS = 10, 40
# So many that there is always a pair on which nobody has ruled yet.
NUMBERS = range(2, 7)
SYLLABLES = ("ba", "de", "fi", "go", "lu", "ma", "ne", "pi", "ro", "tu")


def family(number: int) -> list[str]:
    """Texts of which any two are near copies: they differ in a fact, or in a word, or in both. Two
    of each fact differ in a capital letter alone."""
    drawn = Random(number)
    words = ["".join(drawn.choices(SYLLABLES, k=3)) for _ in range(WORDS)]
    return [
        " ".join([*words[:10], f"within {fact} hours", *words[10:30], word, *words[30:]])
        for fact in NUMBERS
        for word in ("gladly", "slowly", "early", "rarely", "Rarely")
    ]


TEXTS = [text for number in range(FAMILIES) for text in family(number)]
NO_ERROR = (200, None)
UNAVAILABLE = (503, "store_unavailable")
EXPECTED: dict[str, set[tuple[int, str | None]]] = {
    "check": {NO_ERROR, UNAVAILABLE},
    "show": {NO_ERROR, (404, "unknown_document")},
    "delete": {NO_ERROR, UNAVAILABLE, (404, "unknown_document")},
    "conflicts": {NO_ERROR},
    "decisions": {NO_ERROR},
    "resolve": {
        NO_ERROR,
        UNAVAILABLE,
        (409, "already_resolved"),
        (409, "earlier_conflict"),
        (409, "conflict_void"),
    },
    "revert": {NO_ERROR, UNAVAILABLE, (409, "already_reverted"), (409, "not_revertible")},
}
# What an entry tells as long as it lasts: its words may be erased, its text may leave.
LASTING = ("id", "kind", "at", "document", "twin", "score", "rule", "ingest", "retire", "by")
# An entry of these kinds may ingest a document that is active already, with another text.
RENEWING = ("updated", "resolved", "voided")


NO_ENTRY: Json = {"kind": None}


def number_of(id: str) -> int:
    """The place of an entry or a conflict among all of its collection."""
    return int(id.rpartition("-")[2], 16)


def lasting(entries: list[Json]) -> list[Json]:
    return [{name: entry[name] for name in LASTING} for entry in entries]


def listed(port: int, path: str) -> Iterator[Json]:
    """All items of a list, page by page."""
    cursor = ""
    with closing(Client(port)) as client:
        while True:
            status, page = client.call("GET", f"{path}?collection=default&limit=100{cursor}")
            assert status == 200, page
            yield from page["items"]
            if page["next"] is None:
                return
            cursor = f"&cursor={page['next']}"


def is_told_by_no_entry(call: Call) -> bool:
    """Whether a check ingested a text under an id that was not active, and nothing else changed:
    it was like no other text, or like one that was to stay beside it."""
    told = call.answer
    is_first = not told["replayed"] and told["supersedes"] is None
    return is_first and told["action"] == "ingest" and told["decision"] is None


def is_first_answer(call: Call) -> bool:
    """Whether a check surely registered a text. Where only the bytes differ it may have rewritten
    one, and then it names the entry that had decided on that."""
    told, superseded = call.answer, call.answer["supersedes"]
    same_words = superseded and superseded["normalized"] == told["hashes"]["normalized"]
    return not told["replayed"] and not same_words


@dataclass
class Decided:
    """What was asked and answered, what the follower was told, and what is left in the end: the
    whole log, all conflicts, all documents by id, and what was counted."""

    calls: list[Call]
    followed: list[Json]
    log: list[Json]
    conflicts: list[Json]
    left: dict[str, Json]
    counted: Any

    def answered(self, name: str) -> list[Call]:
        return [call for call in self.calls if call.name == name and call.status == 200]

    def unsure(self, name: str) -> Counter[str]:
        """By id, the calls that did what they were to do or did not: the answer does not tell."""
        return Counter(
            call.asked["id"] for call in self.calls if call.name == name and call.status >= 500
        )

    @cached_property
    def asked_by(self) -> dict[str, Json]:
        """What was asked for under each name."""
        return {call.asked["by"]: call.asked for call in self.calls if "by" in call.asked}

    @cached_property
    def entries(self) -> dict[str, Json]:
        return {entry["id"]: entry for entry in self.log}

    @cached_property
    def rulings(self) -> dict[str, list[tuple[Json, str]]]:
        """What became of each conflict: the entries of its rulings, and those that took one back,
        each with the ruling that it is about."""
        found = defaultdict(list)
        conflict_of = {}
        for entry in self.log:
            if entry["kind"] == "resolved":
                conflict_of[entry["id"]] = self.asked_by[entry["by"]]["conflict"]
                found[conflict_of[entry["id"]]].append((entry, entry["id"]))
            if entry["kind"] == "reverted" and entry["rule"] == "resolved":
                ruling = self.asked_by[entry["by"]]["decision"]
                found[conflict_of[ruling]].append((entry, ruling))
        return dict(found)


@pytest.fixture(scope="module")
def decided(service: Service, figure: Callable[[str], None]) -> Decided:
    context, port = get_context("spawn"), service.port
    with context.Manager() as manager, context.Pool(PROCESSES + 1) as pool:
        barrier, stopped = manager.Barrier(PROCESSES), manager.Event()
        following = pool.apply_async(follow, (port, PROCESSES, stopped))
        jobs = [(port, seed, TEXTS, CHURN_SECONDS, barrier) for seed in range(PROCESSES)]
        calls = [call for each in pool.starmap(decide, jobs, chunksize=1) for call in each]
        stopped.set()
        followed = following.get()
        pool.close()
        pool.join()
    decided = Decided(
        calls=calls,
        followed=followed,
        log=list(listed(port, "/decisions")),
        conflicts=list(listed(port, "/conflicts")),
        left={document["id"]: document for document in documents(port)},
        counted=checks_counted(port),
    )
    statuses = Counter((call.name, call.status) for call in calls)
    figure(
        f"decisions: {len(calls)} calls from {PROCESSES} processes in {CHURN_SECONDS} s, "
        f"{statuses['check', 200]} checks, {statuses['resolve', 200]} rulings, "
        f"{statuses['revert', 200]} reverts; {len(decided.log)} entries, "
        f"{len(decided.conflicts)} conflicts, "
        f"{sum(by for (_, status), by in statuses.items() if status == 503)} times 503"
    )
    return decided


def test_every_call_is_answered_as_is_documented(decided: Decided) -> None:
    wrong = [
        call
        for call in decided.calls
        if (call.status, call.answer.get("code")) not in EXPECTED[call.name]
    ]
    assert wrong == []


def test_all_that_can_be_decided_was_decided_meanwhile(decided: Decided) -> None:
    kinds = {entry["kind"] for entry in decided.log}
    assert kinds == {*REVERTIBLE, "held", "updated", "reverted", "voided"}
    taken_back = {entry["rule"] for entry in decided.log if entry["kind"] == "reverted"}
    assert taken_back == set(REVERTIBLE)
    assert {conflict["status"] for conflict in decided.conflicts} >= {"resolved", "void"}


def test_the_index_agrees_with_itself_after_the_decisions(
    decided: Decided, service: Service
) -> None:
    assert faults_at(service.store_url) == []


# The log.


def test_whoever_follows_the_log_gets_all_of_it_once_and_in_order(decided: Decided) -> None:
    assert lasting(decided.followed) == lasting(decided.log)


def test_the_entries_of_the_log_are_numbered_without_a_gap(decided: Decided) -> None:
    numbers = [number_of(entry["id"]) for entry in decided.log]
    assert numbers == list(range(1, len(numbers) + 1))


def test_a_decision_that_a_check_names_is_an_entry_about_its_document(decided: Decided) -> None:
    for call in decided.answered("check"):
        if call.answer["decision"] is not None:
            entry = decided.entries[call.answer["decision"]]
            assert call.asked["id"] in (entry["document"], entry["twin"]), call


def test_no_two_first_answers_name_the_same_entry(decided: Decided) -> None:
    first = [call for call in decided.answered("check") if is_first_answer(call)]
    named = Counter(call.answer["decision"] for call in first)
    assert [entry for entry, by in named.items() if entry is not None and by > 1] == []


def test_what_was_told_to_no_check_was_decided_on_a_copy_that_waited(decided: Decided) -> None:
    told = {call.answer["decision"] for call in decided.answered("check")}
    unsure = decided.unsure("check")
    for before, entry in pairwise([NO_ENTRY, *decided.log]):
        if entry["kind"] not in ("dropped", "replaced", "held") or entry["id"] in told:
            continue
        # The text that was placed; where it takes the place of a held one, by two entries.
        placed = entry["twin"] if entry["kind"] == "replaced" else entry["document"]
        after_voided = before["kind"] == "voided" and before["document"] == placed
        after_replaced = before["kind"] == "replaced" and before["twin"] == placed
        assert after_voided or (entry["kind"] == "held" and after_replaced) or unsure[placed], entry


def test_every_update_has_its_entry(decided: Decided) -> None:
    logged = Counter(entry["document"] for entry in decided.log if entry["kind"] == "updated")
    updates = [
        call
        for call in decided.answered("check")
        if call.answer["supersedes"] is not None and not call.answer["replayed"]
    ]
    # A held text may stand beside the one that it is to take the place of.
    least = Counter(c.asked["id"] for c in updates if c.answer["action"] != "review")
    most = Counter(c.asked["id"] for c in updates) + decided.unsure("check")
    for id in logged | most:
        assert least[id] <= logged[id] <= most[id], id


def test_every_deletion_has_its_entry(decided: Decided) -> None:
    logged = Counter(entry["document"] for entry in decided.log if entry["kind"] == "deleted")
    least = Counter(c.asked["id"] for c in decided.answered("delete") if not c.asked["erase"])
    # What is erased may have been deleted before.
    most = Counter(c.asked["id"] for c in decided.answered("delete")) + decided.unsure("delete")
    for id in logged | most:
        assert least[id] <= logged[id] <= most[id], id


def test_every_revert_has_its_entry(decided: Decided) -> None:
    logged = {entry["by"]: entry["id"] for entry in decided.log if entry["kind"] == "reverted"}
    for call in decided.answered("revert"):
        assert logged.pop(call.asked["by"]) == call.answer["decision"]["id"]
    # It may have been done, and the document deleted before that could be told.
    unsure = [call for call in decided.calls if call.name == "revert" and call.status >= 500]
    assert set(logged) <= {call.asked["by"] for call in unsure}


def test_no_decision_is_taken_back_twice(decided: Decided) -> None:
    reverts = [entry for entry in decided.log if entry["kind"] == "reverted"]
    taken_back = Counter(decided.asked_by[entry["by"]]["decision"] for entry in reverts)
    assert set(taken_back.values()) == {1}
    for entry in reverts:
        decision = decided.entries[decided.asked_by[entry["by"]]["decision"]]
        assert number_of(decision["id"]) < number_of(entry["id"])
        assert decision["kind"] == entry["rule"]
        assert decision["document"] == entry["document"]


# Conflicts.


def test_the_conflicts_are_numbered_without_a_gap(decided: Decided) -> None:
    numbers = [number_of(conflict["id"]) for conflict in decided.conflicts]
    assert numbers == list(range(len(numbers), 0, -1))


def test_a_conflict_is_resolved_once_until_that_is_taken_back(decided: Decided) -> None:
    for conflict, entries in decided.rulings.items():
        kinds = [entry["kind"] for entry, _ in entries]
        assert kinds == [("resolved", "reverted")[at % 2] for at in range(len(kinds))], conflict
        for (_, ruling), (_, taken_back) in zip(entries[::2], entries[1::2], strict=False):
            assert taken_back == ruling


def test_every_ruling_that_was_answered_is_in_the_log(decided: Decided) -> None:
    for call in decided.answered("resolve"):
        entries = [entry for entry, _ in decided.rulings.get(call.asked["conflict"], ())]
        ruled = {entry["rule"] for entry in entries if entry["kind"] == "resolved"}
        assert call.asked["keep"] in ruled, call


def test_all_rulings_on_a_conflict_that_were_answered_keep_the_same(decided: Decided) -> None:
    kept = defaultdict(set)
    for call in decided.answered("resolve"):
        if len(decided.rulings.get(call.asked["conflict"], ())) == 1:  # never taken back
            kept[call.asked["conflict"]].add(call.asked["keep"])
            assert call.answer["status"] == "resolved"
            assert call.answer["resolution"]["keep"] == call.asked["keep"]
    assert {len(keeps) for keeps in kept.values()} == {1}


def test_a_conflict_stands_as_its_last_entry_says(decided: Decided) -> None:
    for conflict in decided.conflicts:
        last, _ = decided.rulings.get(conflict["id"], [(NO_ENTRY, "")])[-1]
        assert (conflict["status"] == "resolved") == (last["kind"] == "resolved"), conflict["id"]
        resolution = conflict["resolution"]
        told = resolution and {"rule": resolution["keep"], "by": resolution["by"]}
        if last["kind"] == "resolved":
            assert told == {"rule": last["rule"], "by": last["by"]}
        else:
            assert told is None


def test_what_is_held_waits_in_an_open_conflict_and_nothing_else_does(decided: Decided) -> None:
    waiting = {
        conflict["incoming"]["id"]: conflict["id"]
        for conflict in decided.conflicts
        if conflict["status"] == "open"
    }
    held = {
        id: document["conflict"]["id"]
        for id, document in decided.left.items()
        if document["state"] == "held"
    }
    pending = {
        id: document["pending"]["conflict"]
        for id, document in decided.left.items()
        if document["pending"] is not None
    }
    assert waiting == held | pending


# Downstream.


def in_the_end(log: list[Json]) -> dict[str, bool]:
    """Which ids one has, and which one has no more, who does what the log says and nothing else."""
    has: dict[str, bool] = {}
    for entry in log:
        has |= dict.fromkeys(entry["ingest"], True) | dict.fromkeys(entry["retire"], False)
    return has


def test_what_the_log_had_ingested_last_is_active(decided: Decided) -> None:
    for id, has in in_the_end(decided.log).items():
        if has:
            assert id in decided.left, f"{id} is to be active, and is not there"
            assert decided.left[id]["state"] == "active", id


def test_what_is_active_without_an_entry_has_a_text_that_a_check_ingested(decided: Decided) -> None:
    has = in_the_end(decided.log)
    ingested = {
        (call.asked["id"], call.asked["text"])
        for call in decided.calls
        if call.name == "check" and (call.status >= 500 or is_told_by_no_entry(call))
    }
    for id, document in decided.left.items():
        if document["state"] == "active" and not has.get(id, False):
            assert (id, document["text"]) in ingested, id


def test_each_ingestion_that_only_an_answer_told_of_is_active_or_retired_once(
    decided: Decided,
) -> None:
    """Entries and answers are in no order, but they can be counted: a document goes out by an entry
    only, and it comes in between two of these once, by an entry or by an answer."""
    without_entry, either = Counter[str](), Counter[str]()
    has: dict[str, bool] = {}
    for entry in decided.log:
        # What follows upon a `voided` entry has one of its own, which retires the same.
        for id in entry["retire"] if entry["kind"] != "voided" else ():
            without_entry[id] += not has.get(id, False)
            has[id] = False
        for id in entry["ingest"]:
            either[id] += not has.get(id, False) and entry["kind"] in RENEWING
            has[id] = True
    for id, document in decided.left.items():
        without_entry[id] += document["state"] == "active" and not has.get(id, False)
    told = Counter(c.asked["id"] for c in decided.answered("check") if is_told_by_no_entry(c))
    unsure = decided.unsure("check")
    for id in without_entry | told:
        assert without_entry[id] <= told[id] + unsure[id], id
        assert told[id] <= without_entry[id] + either[id], id


# Counters.


def test_documents_are_counted_as_they_are_listed(decided: Decided) -> None:
    states = Counter(document["state"] for document in decided.left.values())
    assert decided.counted["documents"] == {
        state: states[state] for state in ("active", "held", "dropped")
    }


def test_conflicts_are_counted_as_they_are_listed(decided: Decided) -> None:
    statuses = Counter(conflict["status"] for conflict in decided.conflicts)
    assert decided.counted["conflicts"] == {
        status: statuses[status] for status in ("open", "resolved", "void")
    }


def test_every_check_among_the_decisions_is_counted_once(decided: Decided) -> None:
    total, answered = decided.counted["checks"]["total"], len(decided.answered("check"))
    assert answered <= total <= answered + sum(decided.unsure("check").values())
