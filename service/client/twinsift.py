"""The client: one method for each call of the contract."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import quote

from service.client.answers import Answer, Cleaned, Comparison
from service.client.errors import TwinsiftError
from service.client.many import DEFAULT_BYTES, DEFAULT_ITEMS, Item, Many, Result
from service.client.patience import Patience
from service.client.reviewed import Conflict, Decision, DecisionPage, NearMiss, Reverted, Ruling
from service.client.stored import Collection, Deleted, Document, Statistics
from service.client.told import Told, unexpected
from service.client.transport import Transport

URL = "http://127.0.0.1:8000"
_LONGEST_PAGE = 500
_ONCE = Patience(attempts=1)

T = TypeVar("T", bound=Told)
Metadata = Mapping[str, Any]


class Twinsift:
    """A service that is asked over HTTP. Threads may share one; connections are kept.

    `timeout` is in seconds, for each time that the service is waited for; `connections` is how many
    are kept. A call that gets no answer, or 429 or 503, is asked again as `patience` says: asking
    again is always safe. Lists are iterators that ask on as they are read.

    Every method raises `Refused` where the service says no, `Unavailable` where patience ran out,
    both of them `TwinsiftError`.
    """

    def __init__(
        self,
        url: str = URL,
        *,
        token: str | None = None,
        timeout: float = 30.0,
        connections: int = 10,
        patience: Patience | None = None,
    ) -> None:
        self._patience = patience or Patience()
        self._transport = Transport(
            url, token=token, timeout=timeout, connections=connections, patience=self._patience
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        way: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the connections."""
        self._transport.close()

    # Checking

    def check(
        self,
        id: str,
        text: str | None = None,
        *,
        pages: Sequence[str] | None = None,
        collection: str | None = None,
        metadata: Metadata | None = None,
        dry_run: bool = False,
    ) -> Answer:
        """Registers a text, or its pages, under an id; tells whether it is new and what to do."""
        body = {
            "id": id,
            "text": text,
            "pages": None if pages is None else list(pages),
            "collection": collection,
            "metadata": None if metadata is None else dict(metadata),
            "dry_run": dry_run or None,
        }
        return Answer.read(self._transport.call("POST", "/check", body=_given(body)))

    def check_many(
        self,
        items: Iterable[Item],
        *,
        batch_items: int = DEFAULT_ITEMS,
        batch_bytes: int = DEFAULT_BYTES,
        in_flight: int = 1,
    ) -> Iterator[Result]:
        """An `Answer` or a `Problem` for each item, in order, as if they came one after the other.

        An item is a mapping as `POST /check` takes it: `{"id": …, "text": …}`; a `Problem` among
        them is given back in its place. Batches are made here, and one is read ahead. What the
        store could not do is asked again; only where patience ran out is a 429 or 503 given as a
        problem. With more than one batch `in_flight`, which of two copies in different batches
        is `new` is chance.
        """
        many = Many(
            self._transport,
            self._patience,
            items=batch_items,
            size=batch_bytes,
            in_flight=in_flight,
        )
        return many.check(items)

    def clean(
        self,
        text: str | None = None,
        *,
        pages: Sequence[str] | None = None,
        collection: str | None = None,
        cleaning: Mapping[str, Any] | None = None,
    ) -> Cleaned:
        """Cleans a text without storing it, by a collection's rules or by these."""
        body = {
            "text": text,
            "pages": None if pages is None else list(pages),
            "collection": collection,
            "cleaning": cleaning,
        }
        return Cleaned.read(self._transport.call("POST", "/clean", body=_given(body)))

    def compare(self, a: str, b: str, *, collection: str | None = None) -> Comparison:
        """Compares two texts without storing them."""
        body = _given({"a": a, "b": b, "collection": collection})
        return Comparison.read(self._transport.call("POST", "/compare", body=body))

    # Documents and collections

    def document(self, id: str, *, collection: str | None = None) -> Document:
        """One document; `Refused` with `unknown_document` where there is none."""
        query = {"id": id, "collection": collection}
        return Document.read(self._transport.call("GET", "/documents", query))

    def documents(
        self,
        *,
        collection: str | None = None,
        state: str | None = None,
        family: str | None = None,
        orphaned: bool | None = None,
    ) -> Iterator[Document]:
        """All documents, or those of one collection, state, family."""
        query = {"collection": collection, "state": state, "family": family, "orphaned": orphaned}
        return self._listed("/documents", query, Document)

    def delete(self, id: str, *, collection: str | None = None, erase: bool = False) -> Deleted:
        """Takes a document out; `erase` takes every word of it out of the log too."""
        query = {"id": id, "collection": collection, "erase": erase or None}
        return Deleted.read(self._transport.call("DELETE", "/documents", query))

    def collections(self) -> Iterator[Collection]:
        """All collections."""
        return self._listed("/collections", {}, Collection)

    def collection(self, name: str) -> Collection:
        """One collection, with its settings."""
        return Collection.read(self._transport.call("GET", _path("collections", name)))

    def configure(self, name: str, settings: Mapping[str, Any] | None = None) -> Collection:
        """Makes a collection, or changes the settings that are given."""
        body = dict(settings or {})
        return Collection.read(self._transport.call("PUT", _path("collections", name), body=body))

    def drop(self, name: str) -> Deleted:
        """Removes a collection with all its documents."""
        return Deleted.read(self._transport.call("DELETE", _path("collections", name)))

    # Conflicts and the log

    def conflicts(
        self,
        *,
        collection: str | None = None,
        status: str | None = None,
        kind: str | None = None,
    ) -> Iterator[Conflict]:
        """Conflicts, the newest first."""
        query = {"collection": collection, "status": status, "kind": kind}
        return self._listed("/conflicts", query, Conflict)

    def conflict(self, id: str) -> Conflict:
        """One conflict."""
        return Conflict.read(self._transport.call("GET", _path("conflicts", id)))

    def resolve(self, id: str, keep: str, *, by: str, note: str | None = None) -> Ruling:
        """Rules on a conflict: `keep` is `incoming`, `existing` or `both`."""
        body = _given({"keep": keep, "by": by, "note": note})
        return Ruling.read(
            self._transport.call("POST", _path("conflicts", id, "resolve"), body=body)
        )

    def decisions(
        self,
        *,
        after: str | None = None,
        collection: str | None = None,
        document: str | None = None,
        kind: str | None = None,
        min_score: float | None = None,
        max_score: float | None = None,
    ) -> Iterator[Decision]:
        """Entries of the log up to its end, the oldest first for each document."""
        query = {
            "collection": collection,
            "document": document,
            "kind": kind,
            "min_score": min_score,
            "max_score": max_score,
        }
        for page in self._log(after, query):
            yield from page.items

    def follow(
        self,
        after: str | None = None,
        *,
        collection: str | None = None,
        every: float | None = 2.0,
    ) -> Iterator[DecisionPage]:
        """The log from `after` on, part by part, for ever: at its end it asks again `every` so many
        seconds. With `every=None` it ends there.

        Keep a page's `after` once all that its items `ingest` and `retire` has been done, and begin
        with it next time: nothing is missed, and doing a thing twice does no harm. At the end of
        the log comes a page, empty perhaps, so that even then there is an `after` to keep.
        """
        while True:
            for page in self._log(after, {"collection": collection}):
                after = page.after
                yield page
            if every is None:
                return
            time.sleep(every)

    def revert(self, id: str, *, by: str | None = None, note: str | None = None) -> Reverted:
        """Takes a decision back.

        Where a reply was lost and the call was asked again, `Refused` with `already_reverted` and
        `attempts` above 1 means that it is done, perhaps by this call; the log tells what to do.
        """
        body = _given({"by": by, "note": note})
        return Reverted.read(
            self._transport.call("POST", _path("decisions", id, "revert"), body=body)
        )

    def near_misses(self, *, collection: str | None = None) -> Iterator[NearMiss]:
        """Sampled pairs that fell just below the threshold, the newest first."""
        return self._listed("/near-misses", {"collection": collection}, NearMiss)

    # Looking at it

    def stats(self, *, collection: str | None = None) -> Statistics:
        """What was checked and what is kept."""
        return Statistics.read(self._transport.call("GET", "/stats", {"collection": collection}))

    def healthy(self) -> bool:
        """Whether the process answers; asked once."""
        return self._answers("/healthz")

    def ready(self) -> bool:
        """Whether checks can be answered; asked once."""
        return self._answers("/readyz")

    def _answers(self, path: str) -> bool:
        try:
            self._transport.call("GET", path, patience=_ONCE)
        except TwinsiftError:
            return False
        return True

    def _listed(self, path: str, query: Mapping[str, Any], kind: type[T]) -> Iterator[T]:
        cursor: str | None = None
        while True:
            asked = {**query, "limit": _LONGEST_PAGE, "cursor": cursor}
            page = self._transport.call("GET", path, asked)
            if not isinstance(page, Mapping) or not {"items", "next"} <= page.keys():
                raise unexpected()
            yield from map(kind.read, page["items"])
            cursor = page["next"]
            if cursor is None:
                return

    def _log(self, after: str | None, query: Mapping[str, Any]) -> Iterator[DecisionPage]:
        while True:
            asked = {**query, "limit": _LONGEST_PAGE, "after": after}
            page = DecisionPage.read(self._transport.call("GET", "/decisions", asked))
            yield page
            if page.next is None:
                return
            after = page.next


def _path(*parts: str) -> str:
    return "/" + "/".join(quote(part, safe="") for part in parts)


def _given(body: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if value is not None}
