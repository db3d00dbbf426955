"""Which queue a person has chosen to work through: it goes along in every address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from flask import g, request

from service.dedup.queue import Order, QueueFilter
from service.text.changes import ChangeKind
from service.tokens import Token
from service.web.access import permit
from service.web.wiring import wiring

MOST_COLLECTIONS: Final = 500
OFFERED: Final = 150  # a page has room for so many


@dataclass(frozen=True, slots=True)
class Chosen:
    """A queue: its order, and which kind of change and collection it has (None: all)."""

    order: Order = Order.OLDEST
    kind: ChangeKind | None = None
    collection: str | None = None

    @property
    def wanted(self) -> QueueFilter:
        """What the store is asked for."""
        return QueueFilter(self.order, self.kind)

    @property
    def query(self) -> dict[str, Any]:
        """What an address says of it: nothing of what is so anyway."""
        said = {
            "order": None if self.order is Order.OLDEST else self.order.value,
            "kind": self.kind,
            "collection": self.collection,
        }
        return {name: value for name, value in said.items() if value is not None}

    @property
    def names(self) -> frozenset[str] | None:
        """The collections that are asked, None: all."""
        if self.collection is not None:
            return frozenset((self.collection,))
        token: Token | None = g.token
        return None if token is None else token.collections

    def next_id(self, place: str | None, *, back: bool = False) -> str | None:
        """The conflict behind (or before) a place of the queue; None where there is none."""
        part = wiring().reviewer.queue(self.names, self.wanted, 1, place, back=back)
        return part.items[0].id if part.items else None


def chosen(values: Mapping[str, Any] | None = None) -> Chosen:
    """The queue that the request names, by its address or its form; what nobody offers is as if it
    were not there. Raises Forbidden where the visitor may not look at the collection."""
    said = request.args if values is None else values
    order, kind = said.get("order"), said.get("kind")
    collection = said.get("collection") or None
    if collection is not None:
        permit(collection)
    return Chosen(
        Order(order) if order in list(Order) else Order.OLDEST,
        ChangeKind(kind) if kind in list(ChangeKind) else None,
        collection,
    )


def collections(wanted: str | None) -> list[str]:
    """The collections that a list can offer, the wanted one among them; raises UnknownCollection
    where that is not there."""
    token: Token | None = g.token
    allowed = None if token is None else token.collections
    known = [info.name for info in wiring().catalogue.collections(MOST_COLLECTIONS, None).items]
    offered = known if allowed is None else [name for name in known if name in allowed]
    offered = offered[:OFFERED]
    if wanted is None or wanted in offered:
        return offered
    return [wiring().catalogue.collection(wanted).name, *offered]
