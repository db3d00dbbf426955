"""Conflicts are ruled on, decisions followed and taken back, as the contract says."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient

Json = dict[str, Any]
Post = Callable[..., Json]
Expect = Callable[..., Json]
Documented = Callable[[Any, str], None]

JSON = "application/json"
RENTAL = (
    "A rented bike is yours for {} hours from {}, with a helmet, a lamp and a lock, "
    "and it comes back to the same shop before closing time."
)
TWO_HOURS, THREE_HOURS = RENTAL.format(2, "Monday"), RENTAL.format(3, "Monday")
THREE_FROM_FRIDAY = RENTAL.format(3, "Friday")
SCORE = 24 / 30  # of TWO_HOURS and THREE_HOURS: 27 shingles each, 3 of them with the number
TRAM = "The first tram {} leaves the depot at ten past five on every working day of the year."
OTHER = "An entirely different sentence about the price of tickets for students in winter."


class Api:
    """Calls that are expected to be answered."""

    def __init__(self, client: FlaskClient) -> None:
        self.client = client

    def get(self, path: str, **query: object) -> Json:
        return answered(self.client.get(path, query_string=query))

    def post(self, path: str, **body: object) -> Json:
        return answered(self.client.post(path, json=body))

    def delete(self, id: str, **query: str) -> Json:
        return answered(self.client.delete("/documents", query_string={"id": id, **query}))

    def states(self, *names: str) -> list[str]:
        return [self.get("/documents", id=name)["state"] for name in names]


def answered(response: Any) -> Json:
    assert response.status_code == 200, response.text
    answer: Json = response.get_json()
    return answer


def ids(answer: Json) -> list[str]:
    return [item["id"] for item in answer["items"]]


@pytest.fixture
def api(client: FlaskClient) -> Api:
    return Api(client)


@pytest.fixture
def held(check: Post) -> Json:
    """The answer to `new`, which differs from `old` in a fact."""
    check("old", TWO_HOURS, metadata={"source": "intranet"})
    return check("new", THREE_HOURS, metadata={"authority": 2})


@pytest.fixture
def address(held: Json) -> str:
    """Where the conflict of `new` and `old` is."""
    return f"/conflicts/{held['conflict']['id']}"


def test_a_held_copy_names_its_conflict_and_its_decision(
    api: Api, held: Json, expect_documented: Documented
) -> None:
    expect_documented(held, "CheckAnswer")
    assert (held["action"], held["conflict"]["status"]) == ("review", "open")
    document = api.get("/documents", id="new")
    expect_documented(document, "Document")
    assert (document["state"], document["conflict"]) == ("held", held["conflict"])
    (entry,) = api.get("/decisions", kind="held")["items"]
    assert (entry["id"], entry["document"], entry["twin"]) == (held["decision"], "new", "old")


def test_a_conflict_is_shown_in_full(
    api: Api, held: Json, address: str, expect_documented: Documented
) -> None:
    conflict = api.get(address)
    expect_documented(conflict, "Conflict")
    assert conflict["id"] == held["conflict"]["id"]
    assert (conflict["collection"], conflict["status"]) == ("default", "open")
    assert (conflict["score"], conflict["resolution"]) == (SCORE, None)
    source, authority = {"source": "intranet"}, {"authority": 2}
    assert conflict["existing"] == {"id": "old", "text": TWO_HOURS, "metadata": source}
    assert conflict["incoming"] == {"id": "new", "text": THREE_HOURS, "metadata": authority}
    assert conflict["opened_at"].endswith("Z")
    listed = api.get("/conflicts")
    expect_documented(listed, "ConflictList")
    assert listed == {"items": [conflict], "next": None}


def test_a_change_says_where_in_both_texts_it_is(check: Post, api: Api) -> None:
    bike = "\U0001f6b2"  # one code point, two UTF-16 units, four bytes
    check("old", f"{bike} {TWO_HOURS}")
    id = check("new", f"{bike} {THREE_HOURS} Dogs ride free on Sundays.")["conflict"]["id"]
    conflict = api.get(f"/conflicts/{id}")
    for change in conflict["changes"]:
        for words, place, side in (
            (change["before"], change["before_range"], conflict["existing"]),
            (change["after"], change["after_range"], conflict["incoming"]),
        ):
            assert words == (None if place is None else side["text"][slice(*place)])
    assert [change["kind"] for change in conflict["changes"]] == ["quantity", "added"]
    assert conflict["changes"][1]["before_range"] is None


def test_the_list_of_conflicts_can_be_narrowed(check: Post, client: FlaskClient, api: Api) -> None:
    client.put("/collections/docs", json={})
    check("a", TWO_HOURS)
    hours = check("b", THREE_HOURS)["conflict"]["id"]
    check("a", THREE_HOURS, collection="docs")
    day = check("b", THREE_FROM_FRIDAY, collection="docs")["conflict"]["id"]
    api.post(f"/conflicts/{hours}/resolve", keep="existing", by="dana")
    assert set(ids(api.get("/conflicts"))) == {hours, day}
    assert ids(api.get("/conflicts", collection="docs")) == [day]
    assert ids(api.get("/conflicts", status="resolved")) == [hours]
    assert ids(api.get("/conflicts", kind="date")) == [day]
    assert ids(api.get("/conflicts", kind="date", status="resolved")) == []
    assert ids(api.get("/conflicts", status="void")) == []


def test_conflicts_are_given_part_by_part_the_newest_first(check: Post, api: Api) -> None:
    check("old", TWO_HOURS)
    opened = [
        check(f"d{hours}", RENTAL.format(hours, "Monday"))["conflict"]["id"] for hours in (3, 4, 5)
    ]
    first = api.get("/conflicts", limit=2)
    rest = api.get("/conflicts", limit=2, cursor=first["next"])
    assert [*ids(first), *ids(rest)] == opened[::-1]
    assert rest["next"] is None


@pytest.mark.parametrize(
    ("keep", "follows"),
    [
        ("incoming", (["new"], ["old"], ["dropped", "active"])),
        ("existing", ([], [], ["active", "dropped"])),
        ("both", (["new"], [], ["active", "active"])),
    ],
)
def test_a_ruling_says_what_follows(
    api: Api,
    expect_documented: Documented,
    address: str,
    keep: str,
    follows: tuple[list[str], list[str], list[str]],
) -> None:
    ingest, retire, old_and_new = follows
    ruling = api.post(f"{address}/resolve", keep=keep, by="dana", note="seen\ntwice")
    expect_documented(ruling, "Ruling")
    assert (ruling["status"], ruling["ingest"], ruling["retire"]) == ("resolved", ingest, retire)
    resolution = ruling["resolution"]
    (entry,) = api.get("/decisions", kind="resolved")["items"]
    told = {"by": "dana", "note": "seen\ntwice"}
    assert resolution == {"keep": keep, **told, "at": entry["at"], "decision": entry["id"]}
    assert api.states("old", "new") == old_and_new
    told = {name: ruling[name] for name in ruling if name not in ("ingest", "retire")}
    assert api.get(address) == told
    (entry,) = api.get("/decisions", kind="resolved")["items"]
    assert (entry["ingest"], entry["retire"], entry["by"]) == (ingest, retire, "dana")


def test_the_same_ruling_again_is_answered_to_anyone(api: Api, address: str) -> None:
    first = api.post(f"{address}/resolve", keep="both", by="dana")
    again = api.post(f"{address}/resolve", keep="both", by="somebody else", note="me too")
    assert (again["status"], again["resolution"]) == ("resolved", first["resolution"])
    assert first["resolution"]["note"] is None


def test_another_ruling_is_refused_and_told_who_ruled(
    client: FlaskClient, api: Api, expect_problem: Expect, address: str
) -> None:
    api.post(f"{address}/resolve", keep="incoming", by="dana")
    response = client.post(f"{address}/resolve", json={"keep": "existing", "by": "noa"})
    assert "dana" in expect_problem(response, 409, "already_resolved")["detail"]


def test_a_conflict_that_lost_a_text_cannot_be_ruled_on(
    client: FlaskClient, api: Api, expect_problem: Expect, address: str
) -> None:
    api.delete("old")
    assert api.get(address)["status"] == "void"
    response = client.post(f"{address}/resolve", json={"keep": "incoming", "by": "dana"})
    expect_problem(response, 409, "conflict_void")
    (entry,) = api.get("/decisions", kind="voided")["items"]
    assert (entry["ingest"], api.states("new")) == (["new"], ["active"])


def test_a_conflict_with_a_held_text_waits_for_the_earlier_one(
    check: Post, client: FlaskClient, expect_problem: Expect, held: Json
) -> None:
    later = check("third", THREE_FROM_FRIDAY)
    assert (later["match"]["id"], later["match"]["state"]) == ("new", "held")
    response = client.post(
        f"/conflicts/{later['conflict']['id']}/resolve", json={"keep": "both", "by": "dana"}
    )
    expect_problem(response, 409, "earlier_conflict")


def test_a_held_update_is_pending_beside_the_active_text(
    check: Post, api: Api, expect_documented: Documented
) -> None:
    check("old", TWO_HOURS)
    check("a", OTHER)
    answer = check("a", THREE_HOURS, metadata={"version": "2"})
    document = api.get("/documents", id="a")
    expect_documented(document, "Document")
    assert (document["state"], document["text"]) == ("active", OTHER)
    pending = document["pending"]
    assert (pending["text"], pending["metadata"]) == (THREE_HOURS, {"version": "2"})
    assert (pending["hashes"], pending["conflict"]) == (answer["hashes"], answer["conflict"]["id"])


def test_every_entry_of_the_log_has_every_field(
    check: Post, api: Api, expect_documented: Documented, address: str
) -> None:
    check("copy", TWO_HOURS)
    api.post(f"{address}/resolve", keep="incoming", by="dana", note="the new rules")
    check("new", OTHER)
    api.delete("new")
    log = api.get("/decisions")
    expect_documented(log, "DecisionList")
    kinds = [entry["kind"] for entry in log["items"]]
    assert kinds == ["held", "dropped", "resolved", "updated", "deleted"]
    assert log["next"] is None


def test_the_log_can_be_narrowed(check: Post, client: FlaskClient, api: Api, held: Json) -> None:
    client.put("/collections/docs", json={})
    dropped = check("copy", TWO_HOURS)["decision"]
    assert ids(api.get("/decisions", document="copy")) == [dropped]
    assert ids(api.get("/decisions", kind="dropped")) == [dropped]
    assert ids(api.get("/decisions", min_score=SCORE)) == [held["decision"], dropped]
    assert ids(api.get("/decisions", min_score="0.81", max_score="1")) == [dropped]
    assert ids(api.get("/decisions", max_score=SCORE)) == [held["decision"]]
    assert ids(api.get("/decisions", collection="docs")) == []


@pytest.mark.parametrize("name", ["after", "cursor"])
def test_the_log_is_followed_without_gaps_and_without_repeats(
    check: Post, api: Api, name: str
) -> None:
    check("old", TWO_HOURS)
    made = [check(f"d{i}", TWO_HOURS)["decision"] for i in range(5)]
    first = api.get("/decisions", limit=3)
    assert first["next"] == first["after"]
    rest = api.get("/decisions", limit=3, **{name: first["after"]})
    assert ([*ids(first), *ids(rest)], rest["next"]) == (made, None)
    nothing = api.get("/decisions", **{name: rest["after"]})
    assert (nothing["items"], nothing["next"]) == ([], None)
    newest = check("d5", TWO_HOURS)["decision"]
    assert ids(api.get("/decisions", **{name: nothing["after"]})) == [newest]


def test_a_dropped_copy_is_brought_back_beside_its_twin(
    check: Post, api: Api, expect_documented: Documented
) -> None:
    check("old", TWO_HOURS)
    decision = check("copy", TWO_HOURS)["decision"]
    reverted = api.post(f"/decisions/{decision}/revert")
    expect_documented(reverted, "Reverted")
    assert (reverted["ingest"], reverted["retire"]) == (["copy"], [])
    assert (reverted["document"]["id"], reverted["document"]["state"]) == ("copy", "active")
    assert api.states("old", "copy") == ["active", "active"]
    assert (reverted["decision"]["kind"], reverted["decision"]["by"]) == ("reverted", None)
    assert ids(api.get("/decisions"))[-1] == reverted["decision"]["id"]


def test_a_reverted_ruling_opens_the_conflict_again(api: Api, address: str) -> None:
    before = api.get(address)
    api.post(f"{address}/resolve", keep="incoming", by="dana")
    (entry,) = api.get("/decisions", kind="resolved")["items"]
    reverted = api.post(f"/decisions/{entry['id']}/revert", by="noa", note="too early")
    assert (reverted["decision"]["by"], reverted["decision"]["note"]) == ("noa", "too early")
    assert (reverted["ingest"], reverted["retire"]) == (["old"], ["new"])
    assert api.get(address) == before


def test_a_decision_is_taken_back_once(
    check: Post, client: FlaskClient, api: Api, expect_problem: Expect
) -> None:
    check("old", TWO_HOURS)
    address = f"/decisions/{check('copy', TWO_HOURS)['decision']}/revert"
    api.post(address)
    expect_problem(client.post(address, json={}), 409, "already_reverted")


def test_a_decision_about_an_id_with_another_text_now_cannot_be_taken_back(
    check: Post, client: FlaskClient, expect_problem: Expect
) -> None:
    check("old", TWO_HOURS)
    decision = check("copy", TWO_HOURS)["decision"]
    check("copy", OTHER)
    response = client.post(f"/decisions/{decision}/revert", json={})
    expect_problem(response, 409, "not_revertible")


def test_pairs_just_below_the_threshold_can_be_looked_at(
    check: Post, api: Api, expect_documented: Documented
) -> None:
    check("north", TRAM.format("north"))
    assert check("south", TRAM.format("south, by the river,"))["verdict"] == "new"
    listed = api.get("/near-misses", collection="default")
    expect_documented(listed, "NearMissList")
    (pair,) = listed["items"]
    assert ({pair["a"]["id"], pair["b"]["id"]}, pair["score"]) == ({"north", "south"}, 0.590909)


@pytest.mark.parametrize(("erase", "is_kept"), [("false", True), ("true", False)])
def test_erasing_takes_the_text_out_of_log_and_conflicts(
    check: Post, api: Api, erase: str, is_kept: bool
) -> None:
    check("old", TWO_HOURS)
    check("new", f"{THREE_HOURS} Zanzibar rides free.", metadata={"source": "Zanzibar"})
    api.delete("new", erase=erase)
    for path in ("/decisions", "/conflicts"):
        assert ("Zanzibar" in str(api.get(path))) == is_kept
    assert "Zanzibar" not in str(api.get("/near-misses"))


def test_conflicts_are_counted_by_status(
    check: Post, api: Api, expect_documented: Documented, address: str
) -> None:
    check("third", RENTAL.format(4, "Monday"))
    check("fourth", RENTAL.format(5, "Monday"))
    api.delete("fourth")
    api.post(f"{address}/resolve", keep="both", by="dana")
    stats = api.get("/stats")
    expect_documented(stats, "Stats")
    counted = stats["collections"]["default"]
    assert counted["conflicts"] == {"open": 1, "resolved": 1, "void": 1}
    assert counted["log_trimmed"] == 0


@pytest.mark.parametrize("id", ["nobody", "a.b", "%C3%A4", "a%20b", "a:b", "%00", "a%0A", "x" * 65])
def test_an_unknown_id_is_not_found(client: FlaskClient, expect_problem: Expect, id: str) -> None:
    ruling = {"keep": "both", "by": "dana"}
    expect_problem(client.get(f"/conflicts/{id}"), 404, "unknown_conflict")
    resolve = client.post(f"/conflicts/{id}/resolve", json=ruling)
    expect_problem(resolve, 404, "unknown_conflict")
    revert = client.post(f"/decisions/{id}/revert", json={})
    expect_problem(revert, 404, "unknown_decision")


@pytest.mark.parametrize("path", ["/conflicts/", "/conflicts/a%2Fb", "/decisions/a"])
def test_an_address_that_is_none_is_not_found(
    client: FlaskClient, expect_problem: Expect, path: str
) -> None:
    expect_problem(client.get(path), 404, "not_found")


@pytest.mark.parametrize("path", ["/conflicts", "/decisions", "/near-misses"])
def test_an_unknown_collection_is_not_found(
    client: FlaskClient, expect_problem: Expect, path: str
) -> None:
    expect_problem(client.get(f"{path}?collection=nowhere"), 404, "unknown_collection")


@pytest.mark.parametrize("cursor", ["x", "bm9uc2Vuc2U", "%00", "..", "0", "\U0001f600", "-"])
@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/conflicts", "cursor"),
        ("/decisions", "cursor"),
        ("/decisions", "after"),
        ("/near-misses", "cursor"),
    ],
)
def test_a_cursor_that_no_answer_gave_is_invalid(
    client: FlaskClient, expect_problem: Expect, path: str, name: str, cursor: str
) -> None:
    response = client.get(path, query_string={name: cursor})
    expect_problem(response, 422, "invalid_request")


@pytest.mark.parametrize(
    ("address", "pointer"),
    [
        ("/conflicts?status=closed", "/status"),
        ("/conflicts?status=", "/status"),
        ("/conflicts?kind=colour", "/kind"),
        ("/conflicts?kind=Date", "/kind"),
        ("/conflicts?limit=0", "/limit"),
        ("/conflicts?limit=501", "/limit"),
        ("/conflicts?cursor=", "/cursor"),
        ("/conflicts?collection=A", "/collection"),
        ("/conflicts?document=a", "/document"),
        ("/conflicts/a?status=open", "/status"),
        ("/decisions?after=a&cursor=a", "/cursor"),
        ("/decisions?after=", "/after"),
        ("/decisions?kind=resolve", "/kind"),
        ("/decisions?document=", "/document"),
        ("/decisions?document=a%00", "/document"),
        ("/decisions?min_score=-0.1", "/min_score"),
        ("/decisions?max_score=1.000001", "/max_score"),
        ("/decisions?max_score=1e999", "/max_score"),
        ("/decisions?min_score=nan", "/min_score"),
        ("/decisions?min_score=inf", "/min_score"),
        ("/decisions?min_score=0,5", "/min_score"),
        ("/decisions?min_score=.5", "/min_score"),
        ("/decisions?min_score=1_0", "/min_score"),
        ("/decisions?min_score=%D9%A0", "/min_score"),
        ("/decisions?min_score=", "/min_score"),
        (f"/decisions?min_score={'0' * 5000}", "/min_score"),
        ("/decisions?limit=a", "/limit"),
        ("/decisions?status=open", "/status"),
        ("/near-misses?limit=1.0", "/limit"),
        ("/near-misses?kind=date", "/kind"),
        ("/near-misses?collection=", "/collection"),
    ],
)
def test_a_wrong_parameter_is_invalid_and_named(
    client: FlaskClient, expect_problem: Expect, address: str, pointer: str
) -> None:
    problem = expect_problem(client.get(address), 422, "invalid_request")
    assert [error["pointer"] for error in problem["errors"]] == [pointer]


RULING: Json = {"keep": "both", "by": "dana"}


@pytest.mark.parametrize(
    ("address", "body", "pointer"),
    [
        ("/conflicts/a/resolve", [RULING], ""),
        ("/conflicts/a/resolve", None, ""),
        ("/conflicts/a/resolve", {"by": "dana"}, "/keep"),
        ("/conflicts/a/resolve", {"keep": "both"}, "/by"),
        ("/conflicts/a/resolve", {**RULING, "keep": "neither"}, "/keep"),
        ("/conflicts/a/resolve", {**RULING, "keep": None}, "/keep"),
        ("/conflicts/a/resolve", {**RULING, "keep": ["both"]}, "/keep"),
        ("/conflicts/a/resolve", {**RULING, "by": ""}, "/by"),
        ("/conflicts/a/resolve", {**RULING, "by": "x" * 513}, "/by"),
        ("/conflicts/a/resolve", {**RULING, "by": "a\nb"}, "/by"),
        ("/conflicts/a/resolve", {**RULING, "by": 7}, "/by"),
        ("/conflicts/a/resolve", {**RULING, "note": "x" * 4097}, "/note"),
        ("/conflicts/a/resolve", {**RULING, "note": None}, "/note"),
        ("/conflicts/a/resolve", {**RULING, "note": ["a"]}, "/note"),
        ("/conflicts/a/resolve", {**RULING, "at": "now"}, "/at"),
        ("/decisions/a/revert", [], ""),
        ("/decisions/a/revert", {"by": ""}, "/by"),
        ("/decisions/a/revert", {"by": "a\x00"}, "/by"),
        ("/decisions/a/revert", {"by": None}, "/by"),
        ("/decisions/a/revert", {"note": 1}, "/note"),
        ("/decisions/a/revert", {"note": "x" * 4097}, "/note"),
        ("/decisions/a/revert", {"keep": "both"}, "/keep"),
    ],
)
def test_a_wrong_body_is_invalid_and_says_where(
    client: FlaskClient, expect_problem: Expect, address: str, body: Any, pointer: str
) -> None:
    response = client.post(address, data=json.dumps(body), content_type=JSON)
    problem = expect_problem(response, 422, "invalid_request")
    assert [error["pointer"] for error in problem["errors"]] == [pointer]


@pytest.mark.parametrize("address", ["/conflicts/a/resolve", "/decisions/a/revert"])
def test_a_body_is_json_or_refused(
    client: FlaskClient, expect_problem: Expect, address: str
) -> None:
    expect_problem(client.post(address), 415, "unsupported_media_type")
    broken = client.post(address, data=b'{"by": "a', content_type=JSON)
    expect_problem(broken, 400, "malformed_json")


@pytest.mark.parametrize(
    ("path", "allowed"),
    [("/conflicts", {"GET"}), ("/conflicts/a/resolve", {"POST"}), ("/near-misses", {"GET"})],
)
def test_a_method_that_is_not_taken_names_those_that_are(
    client: FlaskClient, expect_problem: Expect, path: str, allowed: set[str]
) -> None:
    response = client.put(path)
    expect_problem(response, 405, "method_not_allowed")
    assert allowed <= set(response.headers["Allow"].split(", "))
