"""Many checks: batches made for the caller, their results in order."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, TypeAlias

from service.client.answers import Answer, Problem
from service.client.errors import Fault, Refused
from service.client.patience import ASK_AGAIN, Asking, Patience
from service.client.told import unexpected
from service.client.transport import Transport, encoded

MOST_ITEMS = 1000
DEFAULT_ITEMS = 200
DEFAULT_BYTES = 4 << 20

Item: TypeAlias = "Mapping[str, Any] | Problem"
Result: TypeAlias = "Answer | Problem"


@dataclass(frozen=True, slots=True)
class _Posted:
    """An item as it is sent, or what is wrong with it already."""

    index: int
    body: bytes
    problem: Problem | None = None


class Many:
    """Asks once for the batches of many items, `in_flight` of them at a time and one more made
    ready."""

    def __init__(
        self, transport: Transport, patience: Patience, *, items: int, size: int, in_flight: int
    ) -> None:
        if not 1 <= items <= MOST_ITEMS or in_flight < 1 or size < 1:
            raise ValueError(f"a batch has 1 to {MOST_ITEMS} items, and at least one is in flight")
        self._transport = transport
        self._patience = patience
        self._items, self._size, self._in_flight = items, size, in_flight
        self._stop = threading.Event()

    def check(self, items: Iterable[Item]) -> Iterator[Result]:
        """The result of each item, in order."""
        batches = self._batches(items)
        with ThreadPoolExecutor(self._in_flight, "twinsift-batch") as pool:
            under_way: deque[Future[list[Result]]] = deque()
            try:
                for batch in islice(batches, self._in_flight + 1):
                    under_way.append(pool.submit(self._ask, batch))
                while under_way:
                    results = under_way.popleft().result()
                    for batch in islice(batches, 1):
                        under_way.append(pool.submit(self._ask, batch))
                    yield from results
            finally:
                self._stop.set()  # whoever reads no further does not wait for what was asked
                for one in under_way:
                    one.cancel()

    def _batches(self, items: Iterable[Item]) -> Iterator[list[_Posted]]:
        batch: list[_Posted] = []
        size = 0
        for index, item in enumerate(items):
            posted = _posted(index, item)
            if batch and (len(batch) == self._items or size + len(posted.body) > self._size):
                yield batch
                batch, size = [], 0
            batch.append(posted)
            size += len(posted.body) + 1
        if batch:
            yield batch

    def _ask(self, batch: list[_Posted]) -> list[Result]:
        """The results of a batch; what the store could not do now is asked again."""
        results = {one.index: one.problem for one in batch if one.problem is not None}
        told: dict[int, Result] = dict(results)
        asking = Asking(self._patience, self._stop)
        left = [one for one in batch if one.problem is None]
        while left:
            told.update(self._post(left))
            left = [one for one in left if _may_ask_again(told[one.index])]
            if left and not asking.waits(None):
                break
        return [told[one.index] for one in batch]

    def _post(self, batch: list[_Posted]) -> dict[int, Result]:
        """One call; where the service takes no body so large, two calls of half of it."""
        body = b'{"items":[' + b",".join(one.body for one in batch) + b"]}"
        try:
            answer = self._transport.call("POST", "/check/batch", body=body, stop=self._stop)
        except Refused as error:
            if error.code != "too_large":
                raise
            if len(batch) == 1:
                return {batch[0].index: _refusal(batch[0].index, None, error)}
            half = len(batch) // 2
            return self._post(batch[:half]) | self._post(batch[half:])
        results = answer.get("results") if isinstance(answer, Mapping) else None
        if not isinstance(results, list) or len(results) != len(batch):
            raise unexpected()
        return {one.index: _result(one.index, raw) for one, raw in zip(batch, results, strict=True)}


def _posted(index: int, item: Item) -> _Posted:
    if isinstance(item, Problem):
        return _Posted(index, b"", replace(item, index=index))
    try:
        return _Posted(index, encoded(item))
    except Refused as error:
        return _Posted(index, b"", _refusal(index, item.get("id"), error))


def _result(index: int, raw: Any) -> Result:
    if not isinstance(raw, Mapping):
        raise unexpected()
    if "problem" not in raw:
        return Answer.read({**raw, "index": index})
    told = raw["problem"]
    try:
        faults = tuple(Fault(one["pointer"], one["code"], one["detail"]) for one in told["errors"])
        return Problem(
            index=index,
            id=raw["id"],
            code=told["code"],
            status=told["status"],
            detail=told["detail"],
            faults=faults,
            raw=told,
        )
    except (KeyError, TypeError):
        raise unexpected() from None


def _refusal(index: int, id: str | None, error: Refused) -> Problem:
    return Problem(
        index=index,
        id=id if isinstance(id, str) else None,
        code=error.code,
        status=error.status or 400,
        detail=error.detail,
        faults=error.faults,
    )


def _may_ask_again(result: Result) -> bool:
    return isinstance(result, Problem) and result.status in ASK_AGAIN
