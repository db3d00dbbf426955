"""Steps as the scripts take them: the keys and arguments of `lua/applying.lua`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import orjson

from service.dedup.minhash import text_tags
from service.dedup.verdict import Metadata
from service.store.base import Collection, Standing, StoredText
from service.store.growth import Growth
from service.store.keys import PartitionKeys
from service.store.log import (
    STATUS_LETTERS,
    conflict_closing,
    conflict_rest,
    entry_body,
    entry_head,
    near_miss_rest,
)
from service.store.records import STATE_LETTERS, TextCodec, pack
from service.store.step import Step


def packed(number: int) -> bytes:
    """A number as the scripts have it."""
    return number.to_bytes(4, "big")


def metadata_bytes(metadata: Metadata) -> bytes:
    """Metadata as it is kept; b"" for none."""
    return orjson.dumps(metadata, option=orjson.OPT_SORT_KEYS) if metadata else b""


def flat(counters: Mapping[str, int]) -> list[str | int]:
    """Counters as the scripts take them: names and amounts, in turn."""
    return [part for pair in counters.items() for part in pair]


def tags_of(collection: Collection, stored: StoredText) -> list[bytes]:
    """The tags under which a text is indexed; none where its signature is not kept."""
    if not stored.signature:
        return []
    return text_tags(stored.signature, stored.hashes.normalized, collection.scheme.banding)


def numbers_of(standing: Standing) -> bytes:
    """The entry of an id."""
    return b"".join(packed(text.number) for text in standing.texts)


class StepEncoder:
    """One step as keys and arguments; `arguments_at` is asked again where the index has grown."""

    def __init__(
        self, collection: Collection, keys: PartitionKeys, step: Step, codec: TextCodec
    ) -> None:
        self._collection = collection
        self._keys = keys
        self._step = step
        self._own_tags: list[bytes] = list(step.newcomers.tags) if step.newcomers else []
        self._moved_tags = [self._tags_that_move(at) for at in range(len(step.moves))]
        self._lists = [part for items in self._items(codec) for part in items]

    def at(self, growth: Growth) -> tuple[list[str], list[Any]]:
        """Keys and arguments at a growth of the index."""
        shards = growth.shard_keys(self._keys, self._own_tags)
        for tags in self._moved_tags:
            shards += growth.shard_keys(self._keys, tags)
        head = [self._collection.revision, growth.level, growth.split, self._step.now // 1000]
        return [*self._keys.whole(), *shards], [*head, *self._lists]

    def _tags_that_move(self, at: int) -> list[bytes]:
        move = self._step.moves[at]
        before = move.was.state.is_indexed
        after = move.now is not None and move.now.state.is_indexed
        if before == after:
            return []
        indexed = move.was if before else move.now
        return tags_of(self._collection, indexed) if indexed else []

    def _items(self, codec: TextCodec) -> list[list[Any]]:
        step = self._step
        newcomers, new, opened = step.newcomers, step.new, step.opened
        moves: list[tuple[Any, ...]] = []
        for move, tags in zip(step.moves, self._moved_tags, strict=True):
            record = b"" if move.now is None else pack(move.now)
            flag = "1" if move.forget else "u" if move.updated else ""
            moves.append((packed(move.was.number), b"".join(tags), record, flag))
        return [
            _list((s.id, numbers_of(s)) for s in step.is_standing),
            _list(
                (
                    packed(number),
                    STATE_LETTERS[text.state]
                    + packed(text.decision)
                    + packed(text.conflict)
                    + text.hashes.bytes,
                    step.expired_before.get(number, 0),
                )
                for number, text in step.is_text.items()
            ),
            _list(step.is_ruled.items()),
            _list((packed(n), STATUS_LETTERS[status]) for n, status in step.is_conflict.items()),
            _list((packed(n),) for n in step.is_entry),
            _list((packed(n), packed(conflict)) for n, conflict in step.is_unsettled),
            _list(
                [
                    (
                        newcomers.next_at_look,
                        newcomers.reindexed,
                        b"".join(newcomers.tags),
                        "1" if newcomers.only_equal else "",
                        pack(newcomers.stored),
                    )
                ]
                if newcomers
                else []
            ),
            _list(
                [(pack(new.stored), codec.compress(new.text), metadata_bytes(new.metadata))]
                if new
                else []
            ),
            _list(
                (
                    packed(closing.number),
                    STATUS_LETTERS[closing.status],
                    b"" if closing.conflict is None else conflict_closing(closing.conflict),
                )
                for closing in step.closed
            ),
            _list(moves),
            _list((s.id, numbers_of(s)) for s in step.standing),
            _list(
                (packed(number), codec.compress(text), metadata_bytes(metadata))
                for number, text, metadata in step.rewritten
            ),
            _list(
                [
                    (
                        packed(opened.existing),
                        packed(opened.incoming),
                        conflict_rest(opened),
                        opened.existing_id,
                        opened.incoming_id,
                    )
                ]
                if opened
                else []
            ),
            _list(
                (
                    entry_head(replace(entry, at=step.now)),
                    entry_body(entry),
                    entry.document,
                    "" if entry.twin in (None, entry.document) else entry.twin,
                )
                for entry in step.entries
            ),
            _list((packed(n),) for n in step.reverted),
            _list(step.rulings.items()),
            _list((packed(n),) for n in step.settled),
            _list(
                [(packed(step.near_miss[0]), near_miss_rest(step.near_miss[1], step.now))]
                if step.near_miss
                else []
            ),
            _list((packed(n),) for n in step.seen),
            _list((packed(n),) for n in step.forgotten),
            _list(step.counters.items()),
        ]


def _list(items: Any) -> list[Any]:
    rows = list(items)
    return [len(rows), *(part for row in rows for part in row)]
