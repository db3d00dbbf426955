"""Every key name. `ts1` is the version of the layout; another layout is another prefix.

    key                     type    what it holds                                lifetime
    ts1:collections         hash    name -> uid; '#next' -> uids given           for good
    ts1:rate:T              string  when T, the SHA-1 of a token's id, has made  about a second
                                    up for its calls (microseconds)
    ts1:session:S           string  when the session of the key whose SHA-256    an hour without
                                    is S ends, its token's SHA-256, a name       use
    ts1:confirmed:{S}       string  nothing: a write that replicas wait for, in   a second
                                    the slot of a key or hash tag S
    ts1:{U.P}:m             hash    settings: revision, settings, scheme; next,  the collection's
                                    level, split, indexed, reindexed, unsettled;
                                    logged, trimmed, oldest, conflicts, rulings,
                                    near; run: the server's process that
                                    published last; name
    ts1:{U.P}:s             hash    counters                                     the collection's
    ts1:{U.P}:i             hash    id -> number of its main text, and behind    the document's
                                    it that of a pending one, if any
    ts1:{U.P}:d             hash    number -> record (records.py)                the text's
    ts1:{U.P}:x             hash    number -> compressed text                    the text's
    ts1:{U.P}:o             hash    number -> metadata as JSON, where any        the text's
    ts1:{U.P}:t             zset    number of the survivor + number of the       the dropped
                                    dropped copy, all with score 0               copy's
    ts1:{U.P}:w             hash    band + tag -> the numbers of a wide bucket   while indexed
    ts1:{U.P}:l             hash    number of a log entry -> entry (log.py)      TWINSIFT_LOG_DAYS
    ts1:{U.P}:q             zset    SHA-1 of an id, cut + number of an entry     as what names it
                                    or ('x' before it) a conflict that names it
    ts1:{U.P}:c             hash    number of a conflict -> conflict (log.py)    while open, then
                                                                                 its last entry's
    ts1:{U.P}:e             zset    number of the existing text + number of      while open
                                    the conflict
    ts1:{U.P}:n             zset    number of a conflict; its score is that      the conflict's
                                    while open, then minus that of its last
                                    entry
    ts1:{U.P}:k             zset    places of conflicts in lists, of all and of  the conflict's
                                    each kind of change: open ones by age and
                                    by score, closed ones by age; all score 0
    ts1:{U.P}:r             hash    a pair of texts -> which of them stays       the collection's
    ts1:{U.P}:v             hash    number of a held text -> its void conflict   until checked anew
    ts1:{U.P}:y             hash    place in a ring -> near miss (log.py)        until overwritten
    ts1:{U.P}:b<band>.<n>   hash    tag -> numbers of its bucket (lua/records);  while indexed
                                    one band more for normalised hashes
    ts1:{U.P}:p             hash    transaction -> what it writes (spread/redo)  until it is done
    ts1:{U.P}:u             zset    transaction that is not done; its number is  until it is done
                                    its score
    ts1:{U.P}:a             zset    transaction that is applied here             until all before
                                                                                 it are done
    ts1:{U.P}:g             string  what each of the last transactions touched   1,024 transactions
    ts1:{U.P}:h             string  where each of these ends (lua/history)       1,024 transactions

U is the collection's uid, P its partition: 0, or home, which is the only one that most have (there
is no p, u, a, g and h then), or a number and what brings its slot where it should be
(`spread/placement.py`). The braces keep a partition in one cluster slot, so that one script may
touch all of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha1

from service.store.topology import hash_tag_of

PREFIX = "ts1:"
REGISTRY = PREFIX + "collections"
NEXT_UID = "#next"
RATES = PREFIX + "rate:"
SESSIONS = PREFIX + "session:"
CONFIRMED = PREFIX + "confirmed:"
NAMES = tuple("msidxotwlqcenrvykpuagh")
MOST_BANDS = 65  # 64 of a signature, and one for normalised hashes


@dataclass(frozen=True, slots=True)
class PartitionKeys:
    """The keys of one partition of one collection."""

    prefix: str
    bands: tuple[str, ...]
    settings: str
    counters: str
    ids: str
    documents: str
    texts: str
    metadata: str
    twins: str
    wide: str
    log: str
    log_index: str
    conflicts: str
    conflicts_by_existing: str
    conflicts_by_age: str
    rulings: str
    unsettled: str
    near_misses: str
    conflict_lists: str
    redo: str
    unfinished: str
    applied: str
    history: str
    history_ends: str

    def of_texts(self) -> list[str]:
        """The keys that a look needs, in the order of `lua/records.lua`."""
        return [
            self.settings,
            self.counters,
            self.ids,
            self.documents,
            self.texts,
            self.twins,
            self.metadata,
            self.wide,
        ]

    def whole(self) -> list[str]:
        """All keys but the shards, in the order of `lua/applying.lua`."""
        return [
            *self.of_texts(),
            self.log,
            self.log_index,
            self.conflicts,
            self.conflicts_by_existing,
            self.conflicts_by_age,
            self.rulings,
            self.unsettled,
            self.near_misses,
            self.conflict_lists,
        ]

    def of_transactions(self) -> list[str]:
        """The keys that only a collection with several partitions has."""
        return [self.redo, self.unfinished, self.applied, self.history, self.history_ends]

    def shard(self, band: int, number: int) -> str:
        """The key of one shard of one band."""
        return f"{self.bands[band]}{number}"


def rate_of(token: str) -> str:
    """The key under which the calls of a token are counted."""
    return RATES + sha1(token.encode(), usedforsecurity=False).hexdigest()


def confirmed_at(key: str) -> str:
    """The key that is written to confirm what was written in the slot of `key`."""
    return f"{CONFIRMED}{{{hash_tag_of(key)}}}"


@lru_cache(maxsize=1024)
def partition(uid: str, part: str = "0") -> PartitionKeys:
    """The keys of one partition of the collection `uid`; "0" is home."""
    prefix = f"{PREFIX}{{{uid}.{part}}}:"
    bands = tuple(f"{prefix}b{band}." for band in range(MOST_BANDS))
    return PartitionKeys(prefix, bands, *(prefix + name for name in NAMES))
