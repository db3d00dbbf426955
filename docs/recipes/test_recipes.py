"""Each recipe against a real service: `make test-recipes`."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import langchain_documents
import llama_index_pipeline
import plain
import pytest
import redis
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.schema import TextNode
from llama_index.core.vector_stores import SimpleVectorStore

from service.client import Twinsift
from tests.e2e.running import Service, services

TEXT = "Every bike is washed and oiled on 3 days of each week before it is rented out again."
WORDING = TEXT.replace("washed", "cleaned")
OTHER_FACT = TEXT.replace("3 days", "4 days")
OLD, NEW = {"version": "1"}, {"version": "2"}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with services(tmp_path_factory.mktemp("recipes")) as start:
        yield start().ready()


@pytest.fixture
def address(shared: Service) -> str:
    with closing(redis.Redis.from_url(shared.store_url)) as store:
        store.flushall()
    return f"http://127.0.0.1:{shared.port}"


@pytest.fixture
def twinsift(address: str) -> Iterator[Twinsift]:
    with Twinsift(address) as client:
        yield client


class Plain:
    def __init__(self, twinsift: Twinsift, kept: Path) -> None:
        self.twinsift, self.kept, self.store = twinsift, kept, plain.Store()

    def add(self, *passages: tuple[str, str, dict[str, Any]]) -> list[Any]:
        items = [{"id": id, "text": text, "metadata": data} for id, text, data in passages]
        return plain.ingest(self.twinsift, self.store, items)

    def follow(self) -> None:
        plain.follow(self.twinsift, self.store, self.kept)

    def ids(self) -> set[str]:
        return set(self.store.texts)


class LangChain:
    def __init__(self, twinsift: Twinsift, kept: Path) -> None:
        self.twinsift, self.kept = twinsift, kept
        self.store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))

    def add(self, *passages: tuple[str, str, dict[str, Any]]) -> list[Any]:
        documents = [Document(id=id, page_content=text, metadata={**data, "nested": []})
                     for id, text, data in passages]  # fmt: skip
        return langchain_documents.add_documents(self.twinsift, self.store, documents)

    def follow(self) -> None:
        langchain_documents.follow(self.twinsift, self.store, self.kept)

    def ids(self) -> set[str]:
        return set(self.store.store)


class LlamaIndex:
    def __init__(self, twinsift: Twinsift, kept: Path) -> None:
        self.twinsift, self.kept, self.store = twinsift, kept, SimpleVectorStore()
        self.gate = llama_index_pipeline.OnlyNew(twinsift, self.store)
        self.embedding = MockEmbedding(embed_dim=8)

    def add(self, *passages: tuple[str, str, dict[str, Any]]) -> list[Any]:
        pipeline = IngestionPipeline(
            transformations=[self.gate, self.embedding],
            vector_store=self.store,
            disable_cache=True,
        )
        pipeline.run(nodes=[TextNode(id_=id, text=text, metadata=data)
                            for id, text, data in passages])  # fmt: skip
        return self.gate.refused

    def follow(self) -> None:
        llama_index_pipeline.follow(self.twinsift, self.store, self.embedding, self.kept)

    def ids(self) -> set[str]:
        return set(self.store.data.embedding_dict)


Recipe = Plain | LangChain | LlamaIndex


@pytest.fixture(params=[Plain, LangChain, LlamaIndex])
def recipe(request: Any, twinsift: Twinsift, tmp_path: Path) -> Recipe:
    made: Callable[[Twinsift, Path], Recipe] = request.param
    return made(twinsift, tmp_path / "after")


def test_copies_are_not_embedded_and_asking_again_changes_nothing(recipe: Recipe) -> None:
    passages = [("a", TEXT, {}), ("b", TEXT, {}), ("c", "A text of its own.", {})]
    recipe.add(*passages)
    assert recipe.ids() == {"a", "c"}
    recipe.add(*passages)
    assert recipe.ids() == {"a", "c"}


def test_what_a_newer_copy_takes_the_place_of_is_removed(recipe: Recipe) -> None:
    recipe.add(("old", TEXT, OLD))
    recipe.add(("new", WORDING, NEW))
    assert recipe.ids() == {"new"}


def test_so_it_is_within_one_batch(recipe: Recipe) -> None:
    recipe.add(("old", TEXT, OLD), ("new", WORDING, NEW))
    assert recipe.ids() == {"new"}


def test_a_ruling_reaches_the_store(recipe: Recipe) -> None:
    recipe.add(("old", TEXT, {}), ("new", OTHER_FACT, {}))
    assert recipe.ids() == {"old"}
    recipe.follow()
    (conflict,) = recipe.twinsift.conflicts(status="open")
    recipe.twinsift.resolve(conflict.id, "incoming", by="ann")
    recipe.follow()
    assert recipe.ids() == {"new"}
    (ruling,) = recipe.twinsift.decisions(kind="resolved")
    recipe.twinsift.revert(ruling.id)
    recipe.follow()
    assert recipe.ids() == {"old"}


def test_a_deletion_reaches_the_store(recipe: Recipe) -> None:
    recipe.add(("a", TEXT, {}))
    recipe.twinsift.delete("a")
    recipe.follow()
    assert recipe.ids() == set()


def test_what_is_refused_is_given_back(recipe: Recipe) -> None:
    refused = recipe.add(("a", "\u200b", {}), ("b", TEXT, {}))
    assert [problem.code for problem in refused] == ["empty_text"]
    assert recipe.ids() == {"b"}


@pytest.mark.parametrize("name", ["plain", "langchain_documents", "llama_index_pipeline"])
def test_a_recipe_runs_as_it_stands(address: str, tmp_path: Path, name: str) -> None:
    here = Path(__file__).parent
    passages = tmp_path / "passages.jsonl"
    lines = [{"id": id, "text": TEXT} for id in "ab"] + [{"id": "c", "text": "Return by 9 pm."}]
    passages.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    arguments = [str(passages), address] if name == "plain" else [address]
    ran = subprocess.run(
        [sys.executable, here / f"{name}.py", *arguments],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(here.parents[1])},
        check=False,
    )
    assert ran.stdout.startswith("2 "), ran.stderr
