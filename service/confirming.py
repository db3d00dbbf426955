"""What is answered only once it is known to be kept: by a replica too, where that is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from service.errors import RequestError
from service.store.base import Store


@contextmanager
def confirmed(store: Store) -> Iterator[None]:
    """Ends once a replica has all that the block has read and written, where the settings ask for
    it; raises Unconfirmed. A refusal waits too: `already_reverted` after an answer that was lost is
    the news that it was done."""
    try:
        yield
    except RequestError:
        store.confirm()
        raise
    store.confirm()
