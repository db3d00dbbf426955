"""What contradicts the promises after a race, in words: among what was told, and between that and
what is there now."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.fire.clients import Told, told
from tests.fire.racing import DELETED, MEMBERS, Family, Fate
from tests.fire.replicas import Replicas

CLIENTS = 8
PAGE = 100
MOST_ASKED = 4
"""So many of a family are asked for again."""


def among_the_answers(one: Family) -> Iterator[str]:
    """In every half that finds nothing of its family exactly one is new, and the others name it."""
    name = f"family {one.number} of {one.collection}, whose first {one.fate}"
    if not one.first:
        yield f"{name}: told new are {_told_new(one.first_wave)}"
        return
    yield from _of_matches(name, one.first_wave, {one.first})
    if len(one.first_wave) < MEMBERS or len(one.second_wave) < MEMBERS:
        yield f"{name}: not all were answered"
    new = _told_new(one.second_wave)
    if one.fate is Fate.STAYS:
        expected, named = [0], {one.first}
    elif one.fate is Fate.IS_DELETED_MEANWHILE:
        expected, named = [0, 1], {one.first, *new}
    else:
        expected, named = [1], set(new)
    if len(new) not in expected:
        yield f"{name}: in the second half told new are {new}"
    yield from _of_matches(name, one.second_wave, named)
    if one.updated is not None and one.updated["match"] is not None:
        yield f"{name}: an update that is like nothing matched {one.updated['match']['id']}"


def with_the_documents(
    replicas: Replicas, collection: str, families: list[Family]
) -> Iterator[str]:
    """Of each family the one that was told so is active, and what was deleted is not there."""
    state = {found["id"]: found["state"] for found in _documents(replicas, collection)}
    for one in families:
        active = {id for id in _ids(one) if state.get(id) == "active"}
        expected = {id for id in (one.active, one.first if one.updated else "") if id}
        if active != expected:
            yield f"family {one.number} of {collection}: active is {active}, not {expected}"
        gone = {one.first} if one.first and one.fate in DELETED else set()
        there = {id for id in _ids(one) if id in state}
        if there != set(_ids(one)) - gone:
            yield f"family {one.number} of {collection}: not there {set(_ids(one)) - gone - there}"


def _documents(replicas: Replicas, collection: str) -> Iterator[Any]:
    """All that the list has, page by page."""
    cursor = ""
    while True:
        path = f"/documents?limit={PAGE}&collection={collection}{cursor}"
        status, page = replicas.call("GET", path)
        assert status == 200, page
        yield from page["items"]
        if page["next"] is None:
            return
        cursor = f"&cursor={page['next']}"


def with_what_is_answered_now(replicas: Replicas, families: list[Family]) -> list[str]:
    """What was told of what still stands is told again as a replay, and a copy that nobody has
    posted finds what is active, and nothing else."""
    with ThreadPoolExecutor(CLIENTS) as pool:
        found = pool.map(lambda one: list(_asked_again(replicas, one)), families)
        return [words for each in found for words in each]


def _asked_again(replicas: Replicas, one: Family) -> Iterator[str]:
    name = f"family {one.number} of {one.collection}"
    matched = replicas.check(one.probe())["match"]
    if (matched or {"id": ""})["id"] != one.active:
        yield f"{name}: a copy is like {matched}, not {one.active or 'nothing'}"
    requests = {request["id"]: request for wave in (0, 1) for request in one.requests(wave)}
    standing = [id for id, answer in _answers(one).items() if _stands(one, id, answer)]
    standing.sort(key=lambda id: id != one.active)
    asked = [(requests[id], _answers(one)[id]) for id in standing[:MOST_ASKED]]
    if one.updated is not None:
        asked.append((one.update(), one.updated))
    for request, answer in asked:
        again = replicas.check(request)
        if not again["replayed"]:
            yield f"{name}: {request['id']} was checked anew"
        elif told(again) != answer:
            yield f"{name}: {request['id']} is answered otherwise now"


def _answers(one: Family) -> dict[str, Told]:
    return one.first_wave | one.second_wave


def _ids(one: Family) -> list[str]:
    return list(_answers(one))


def _stands(one: Family, id: str, answer: Told) -> bool:
    """Whether it is active, or was dropped for what is."""
    matched = answer["match"]
    return one.active == (id if matched is None else matched["id"])


def _told_new(wave: dict[str, Told]) -> list[str]:
    return sorted(id for id, answer in wave.items() if answer["match"] is None)


def _of_matches(name: str, wave: dict[str, Told], named: set[str]) -> Iterator[str]:
    for id, answer in wave.items():
        if answer["match"] is not None and answer["match"]["id"] not in named:
            yield f"{name}: {id} matched {answer['match']['id']}, not one of {sorted(named)}"
