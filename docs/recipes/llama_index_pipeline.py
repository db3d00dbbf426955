"""LlamaIndex: the gate as a step of an `IngestionPipeline`, between the splitter and the embedding.

    python docs/recipes/llama_index_pipeline.py [ADDRESS]

Nodes need ids that stay the same, of the document and the place in it say: a splitter takes
`id_func=lambda place, document: f"{document.node_id}#{place}"`. The pipeline's own cache must be
off: it would answer for the gate.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from following import catch_up
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.schema import BaseNode, MetadataMode, TextNode, TransformComponent
from llama_index.core.vector_stores import SimpleVectorStore
from llama_index.core.vector_stores.types import BasePydanticVectorStore
from pydantic import PrivateAttr

from service.client import Document, Problem, Twinsift


class OnlyNew(TransformComponent):
    """Lets through the nodes that are to be embedded, and deletes from the vector store what they
    take the place of. `refused` has what could not be checked."""

    _twinsift: Twinsift = PrivateAttr()
    _store: BasePydanticVectorStore = PrivateAttr()
    _refused: list[Problem] = PrivateAttr(default_factory=list)

    def __init__(self, twinsift: Twinsift, store: BasePydanticVectorStore) -> None:
        super().__init__()
        self._twinsift = twinsift
        self._store = store

    @property
    def refused(self) -> list[Problem]:
        """All that was refused so far."""
        return self._refused

    def __call__(self, nodes: Sequence[BaseNode], **_options: Any) -> list[BaseNode]:
        """The nodes to embed, with their cleaned texts."""
        through: dict[str, BaseNode] = {}
        retired: set[str] = set()
        for node, result in zip(nodes, self._twinsift.check_many(map(_item, nodes)), strict=True):
            if isinstance(result, Problem):
                self._refused.append(result)
                continue
            for id in result.retire:  # perhaps one of those that were just let through
                through.pop(id, None)
                retired.add(id)
            if result.action == "ingest":
                node.set_content(result.text)
                through[result.id] = node
        # What is put in again is taken out first: the stores of LlamaIndex differ in what they
        # do with an id that they have.
        gone = sorted(retired | through.keys())
        if gone:
            self._store.delete_nodes(gone)
        return list(through.values())


def follow(
    twinsift: Twinsift, store: BasePydanticVectorStore, embedding: TransformComponent, kept: Path
) -> None:
    """Does what was decided since; to be called from time to time."""

    def embed(document: Document) -> None:
        store.delete_nodes([document.id])
        node = TextNode(id_=document.id, text=document.text or "", metadata=dict(document.metadata))
        store.add(list(embedding([node])))

    catch_up(twinsift, kept, embed=embed, remove=lambda id: store.delete_nodes([id]))


def _item(node: BaseNode) -> dict[str, Any]:
    """The check of a node. twinsift takes metadata that is a string, a number or a boolean."""
    metadata = {
        name: value for name, value in node.metadata.items() if isinstance(value, str | int | float)
    }
    text = node.get_content(metadata_mode=MetadataMode.NONE)
    return {"id": node.node_id, "text": text, "metadata": metadata}


if __name__ == "__main__":
    vectors = SimpleVectorStore()
    texts = ["Helmets are free for members.", "Helmets are free for members!", "Return by 9 pm."]
    with Twinsift(*sys.argv[1:]) as client:  # an address may be given
        pipeline = IngestionPipeline(
            transformations=[OnlyNew(client, vectors), MockEmbedding(embed_dim=8)],
            vector_store=vectors,
            disable_cache=True,
        )
        done = pipeline.run(nodes=[TextNode(id_=f"{n}", text=t) for n, t in enumerate(texts)])
    print(f"{len(done)} of {len(texts)} embedded")
