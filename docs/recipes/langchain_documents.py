"""LangChain: the gate before `add_documents` of any vector store.

    python docs/recipes/langchain_documents.py [ADDRESS]

Documents need ids of their own that stay the same; twinsift and the vector store share them.
"""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from following import catch_up
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore

from service.client import Document as Stored
from service.client import Problem, Twinsift


def add_documents(
    twinsift: Twinsift, store: VectorStore, documents: Iterable[Document]
) -> list[Problem]:
    """In the place of `store.add_documents(documents)`: adds what is to be embedded, deletes what
    it takes the place of; gives what was refused."""
    listed = list(documents)
    adding: dict[str, Document] = {}
    deleting: set[str] = set()
    refused: list[Problem] = []
    for document, result in zip(listed, twinsift.check_many(map(_item, listed)), strict=True):
        if isinstance(result, Problem):
            refused.append(result)
            continue
        for id in result.retire:  # perhaps one of those that are about to be added
            adding.pop(id, None)
            deleting.add(id)
        if result.action == "ingest":
            deleting.discard(result.id)
            adding[result.id] = Document(
                id=result.id, page_content=result.text, metadata=document.metadata
            )
    if deleting:
        store.delete(sorted(deleting))
    if adding:
        store.add_documents(list(adding.values()))
    return refused


def follow(twinsift: Twinsift, store: VectorStore, kept: Path) -> None:
    """Does what was decided since; to be called from time to time."""

    def embed(stored: Stored) -> None:
        metadata = dict(stored.metadata)
        store.add_documents(
            [Document(id=stored.id, page_content=stored.text or "", metadata=metadata)]
        )

    catch_up(twinsift, kept, embed=embed, remove=lambda id: store.delete([id]))


def _item(document: Document) -> dict[str, Any]:
    """The check of a document. twinsift takes metadata that is a string, a number or a boolean."""
    metadata = {
        name: value
        for name, value in document.metadata.items()
        if isinstance(value, str | int | float)
    }
    return {"id": document.id, "text": document.page_content, "metadata": metadata}


if __name__ == "__main__":
    vectors = InMemoryVectorStore(DeterministicFakeEmbedding(size=64))
    texts = ["Helmets are free for members.", "Helmets are free for members!", "Return by 9 pm."]
    with Twinsift(*sys.argv[1:]) as client:  # an address may be given
        add_documents(
            client,
            vectors,
            [Document(id=f"page-{n}", page_content=text) for n, text in enumerate(texts)],
        )
    print(f"{len(vectors.store)} of {len(texts)} embedded")
