"""The usual answer: datasketch's MinHashLSH with its Redis storage, as its README shows it."""

from __future__ import annotations

from typing import Any

from datasketch import MinHash, MinHashLSH

from bench.processes import StoreServer
from service.dedup.scheme import CollectionSettings
from service.preparing import shingles_of

BANDS, ROWS = 32, 4
SETTINGS = CollectionSettings()


class Peer:
    """A MinHashLSH at 32 bands of 4 rows on the same server; a text is new where nothing comes.

    It cuts the same shingles by the same code, and hashes them in its fastest way (one batch).
    """

    def __init__(self, store: StoreServer) -> None:
        path = store.url.removeprefix("unix://")
        self._index: Any = MinHashLSH(
            num_perm=BANDS * ROWS,
            params=(BANDS, ROWS),
            storage_config={
                "type": "redis",
                "redis": {"unix_socket_path": path},
            },
        )

    def check(self, id: str, text: str) -> bool:
        """Whether the text is new; it is inserted then."""
        sketch: Any = MinHash(num_perm=BANDS * ROWS)
        sketch.update_batch([shingle.encode() for shingle in shingles_of(text, SETTINGS)])
        if self._index.query(sketch):
            return False
        self._index.insert(id, sketch)
        return True
