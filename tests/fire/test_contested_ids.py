"""Two texts at once under one id, from many processes: in the end the document is one of them."""

from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from multiprocessing import get_context
from time import monotonic
from typing import Any
from urllib.parse import quote

import pytest

from tests.e2e.running import Service
from tests.fire.clients import Client, documents
from tests.fire.forms import CONTESTED_IDS
from tests.fire.near_copies import family
from tests.fire.posting import POSTS_EACH, PROCESSES, contend
from tests.store.index_walk import faults_at


def pair(kind: str, number: int) -> tuple[str, str]:
    """Two texts for the contest of this number; no two contests share a text."""
    text = family(number)[0]
    return text, {
        "unlike": family(number + 1_000_000)[0],
        "alike": family(number)[4],
        "equal in words": family(number)[2],
    }[kind]


KINDS = ("unlike", "alike", "equal in words")
CONTESTS = [
    (f"{kind} {n}", pair(kind, place * CONTESTED_IDS + n))
    for place, kind in enumerate(KINDS)
    for n in range(CONTESTED_IDS)
]


@pytest.fixture(scope="module")
def contested(service: Service, figure: Callable[[str], None]) -> dict[str, list[Any]]:
    """The documents that the contests have left, by id."""
    began = monotonic()
    context = get_context("spawn")
    with context.Manager() as manager, context.Pool(PROCESSES) as pool:
        barrier = manager.Barrier(PROCESSES)
        jobs = [(service.port, seed, CONTESTS, barrier) for seed in range(PROCESSES)]
        pool.starmap(contend, jobs, chunksize=1)
        pool.close()
        pool.join()
    figure(
        f"contested ids: {len(CONTESTS)} ids, {PROCESSES * POSTS_EACH} posts each, from "
        f"{PROCESSES} processes in {monotonic() - began:.1f} s"
    )
    left: dict[str, list[Any]] = {}
    for document in documents(service.port):
        left.setdefault(document["id"], []).append(document)
    return left


def test_each_contested_id_is_one_document(contested: dict[str, list[Any]]) -> None:
    assert {id: len(found) for id, found in contested.items()} == {id: 1 for id, _ in CONTESTS}


@pytest.mark.parametrize("kind", KINDS)
def test_a_contested_document_is_one_of_the_two_whole(
    contested: dict[str, list[Any]], kind: str
) -> None:
    mixed = []
    for id, texts in CONTESTS:
        whole = [
            (text, f"sha256:{sha256(text.encode()).hexdigest()}", {"version": str(one)})
            for one, text in enumerate(texts)
        ]
        for found in contested[id]:
            is_now = (found["text"], found["hashes"]["bytes"], found["metadata"])
            if id.startswith(kind) and is_now not in whole:
                mixed.append(f"{id}: text {texts.index(found['text'])}, {found['metadata']}")
    assert mixed == []


def test_a_contested_document_is_found_by_its_id_as_it_is_listed(
    contested: dict[str, list[Any]], service: Service
) -> None:
    with closing(Client(service.port)) as client:
        for id, [document] in contested.items():
            assert client.call("GET", f"/documents?id={quote(id)}") == (200, document)


def test_the_index_agrees_with_itself_after_the_contests(
    contested: dict[str, list[Any]], service: Service
) -> None:
    assert faults_at(service.store_url) == []
