"""What a transaction writes, as the redo log keeps it: writes by what they mean, and from them the
pieces that each partition is given.

A write is a letter and its parts, all bytes. Its numbers may be those that only publishing gives
(`service/store/step.py`); `pieces` puts the real ones in. `times`: not as they stand. Pure.

    N number record text metadata    a new text
    R number record times      a text ('1': times)    G number                a record goes
    F number                   words and metadata go
    T, t survivor number       a copy; no longer      I id entry              what stands there
    X number text metadata     other bytes            M number metadata
    C conflict written         a conflict             c conflict              it goes
    E, e existing conflict     open; no longer        A conflict entries      its age, '' while open
    a conflict                 its age goes           Q, q id mark number     the log index
    L entry head body          a log entry            l entry                 it goes
    V entry                    it is taken back       B entry written         it is written anew
    P pair ruled               a ruling, '' for none  U, u number conflict    it waits; no longer
    Y number rest              a near miss            y numbers               theirs go
    S number seconds           last seen              W number time           when it changed
    +, - number tags           in the index; no longer
    =, ~ number tags           in the buckets that lack it; no longer in those that list it (repair)
    O conflict age             its age as it is       K place member          out of the log index
    D place by                 the count of indexed texts
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha1

from service.store.log import CLOSED_BY, ENTRY
from service.store.spread.placement import HOME, Places
from service.store.step import FIRST_NEW, MOST_NEW, NEW, OPENED, entry_ref, place_of

Write = tuple[bytes, ...]
GIVEN = struct.Struct(">III")
_COUNT = struct.Struct(">I")
MOST_ENTRIES = 32
NAME_CUT = 12
OF_CONFLICTS = b"x"
HAS_SUPERSEDED = 1
OF_BUCKETS = (b"+", b"-", b"=", b"~")


@dataclass(frozen=True, slots=True)
class Given:
    """The numbers that publishing gave: of the first text, the conflict, the first log entry."""

    text: int
    conflict: int
    entry: int

    def meant(self, packed: bytes) -> bytes:
        """A packed number, or the one that it stands for."""
        value = int.from_bytes(packed, "big")
        if value == NEW:
            return self.text.to_bytes(4, "big")
        if FIRST_NEW <= value < FIRST_NEW + MOST_NEW:
            return (self.text + value - FIRST_NEW).to_bytes(4, "big")
        if value == OPENED:
            return self.conflict.to_bytes(4, "big")
        if entry_ref(0) <= value < entry_ref(MOST_ENTRIES):
            return (self.entry + place_of(value)).to_bytes(4, "big")
        return packed

    def record(self, written: bytes) -> bytes:
        """A record with the numbers that it stands for (`lua/records.lua` has their places)."""
        record = b"".join(
            (
                written[:9],
                self.meant(written[9:13]),
                written[13:105],
                self.meant(written[105:109]),
                self.meant(written[109:113]),
                written[113:],
            )
        )
        if written[119] & HAS_SUPERSEDED:
            return record[:-4] + self.meant(record[-4:])
        return record


@dataclass(slots=True)
class Piece:
    """What is written at one partition: which texts come ('+') into its buckets or go ('-'), with
    all their tags ('=' and '~' mend that), and writes as `piece.lua` takes them, each behind the
    key it is about."""

    texts: list[tuple[bytes, bytes, list[bytes]]] = field(default_factory=list)
    writes: list[tuple[str, bytes, bytes, bytes]] = field(default_factory=list)


def packed_writes(writes: Sequence[Write]) -> bytes:
    """Writes as the redo log keeps them."""
    parts = [_COUNT.pack(len(writes))]
    for write in writes:
        parts.append(bytes([len(write)]))
        for part in write:
            parts += (_COUNT.pack(len(part)), part)
    return b"".join(parts)


def read_writes(kept: bytes) -> tuple[Given, list[Write]]:
    """What the redo log has: the numbers, and what `packed_writes` made."""
    given = Given(*GIVEN.unpack_from(kept))
    at = GIVEN.size
    (count,) = _COUNT.unpack_from(kept, at)
    at += _COUNT.size
    writes = []
    for _ in range(count):
        parts, at = kept[at], at + 1
        write = []
        for _ in range(parts):
            (size,) = _COUNT.unpack_from(kept, at)
            at += _COUNT.size
            write.append(kept[at : at + size])
            at += size
        writes.append(tuple(write))
    return given, writes


def index_name(id: bytes) -> bytes:
    """The name that the log index has an id under."""
    return sha1(id, usedforsecurity=False).hexdigest()[:NAME_CUT].encode()


def pieces(where: Places, writes: Sequence[Write], given: Given) -> dict[int, Piece]:
    """What each partition is to write."""
    found: dict[int, Piece] = {}

    def at(place: int) -> Piece:
        return found.setdefault(place, Piece())

    for letter, *parts in writes:
        if letter in OF_BUCKETS:
            number, joined = given.meant(parts[0]), parts[1]
            tags = [joined[n : n + 4] for n in range(0, len(joined), 4)]
            for place in range(len(where.keys)):
                own = tags[where.bands_at(place, len(tags))]
                if own:
                    at(place).texts.append((letter, number, own))
            continue
        for place, write in WRITERS[letter](where, given, parts):
            at(place).writes.append(write)
    return found


Placed = Iterator[tuple[int, tuple[str, bytes, bytes, bytes]]]
Writer = Callable[[Places, Given, Sequence[bytes]], Placed]


def _u32(packed: bytes) -> int:
    return int.from_bytes(packed, "big")


def _new(where: Places, given: Given, parts: Sequence[bytes]) -> Placed:
    number, written, text, metadata = parts
    own, record = given.meant(number), given.record(written)
    if not any(record[5:9]):  # the first of its family
        record = record[:5] + own + record[9:]
    place = where.of_number(_u32(own))
    yield place, (where.keys[place].documents, b"h", own, record)
    yield from _text(where, given, (own, text, metadata))


def _text(where: Places, _given: Given, parts: Sequence[bytes]) -> Placed:
    number, text, metadata = parts
    place = where.of_number(_u32(number))
    yield place, (where.keys[place].texts, b"h", number, text)
    if metadata:
        yield place, (where.keys[place].metadata, b"h", number, metadata)


def _metadata(where: Places, _given: Given, parts: Sequence[bytes]) -> Placed:
    place = where.of_number(_u32(parts[0]))
    yield place, (where.keys[place].metadata, b"h", parts[0], parts[1])


def _record(where: Places, given: Given, parts: Sequence[bytes]) -> Placed:
    number, record, times = parts
    place = where.of_number(_u32(number))
    kind = b"h" if times else b"r"
    yield place, (where.keys[place].documents, kind, number, given.record(record))


def _in_record(kind: bytes) -> Writer:
    def write(where: Places, _given: Given, parts: Sequence[bytes]) -> Placed:
        place = where.of_number(_u32(parts[0]))
        value = parts[1] if len(parts) > 1 else b""
        yield place, (where.keys[place].documents, kind, parts[0], value)

    return write


def _forget(where: Places, _given: Given, parts: Sequence[bytes]) -> Placed:
    place = where.of_number(_u32(parts[0]))
    for key in (where.keys[place].texts, where.keys[place].metadata):
        yield place, (key, b"x", parts[0], b"")


def _edge(name: str, kind: bytes) -> Writer:
    def write(where: Places, given: Given, parts: Sequence[bytes]) -> Placed:
        first, second = map(given.meant, parts)
        place = where.of_number(_u32(first))
        yield place, (getattr(where.keys[place], name), kind, first + second, b"0")

    return write


def _id(where: Places, given: Given, parts: Sequence[bytes]) -> Placed:
    id, entry = parts
    place = where.of_name(id)
    meant = b"".join(given.meant(entry[n : n + 4]) for n in range(0, len(entry), 4))
    yield place, (where.keys[place].ids, b"h" if entry else b"x", id, meant)


def _conflict(where: Places, given: Given, parts: Sequence[bytes]) -> Placed:
    number = given.meant(parts[0])
    place = where.of_number(_u32(number))
    key = where.keys[place].conflicts
    if len(parts) == 1:
        yield place, (key, b"c", number, b"")
        return
    written = parts[1]
    sides = given.meant(written[1:5]) + given.meant(written[5:9])
    decision, rest = given.meant(written[CLOSED_BY : CLOSED_BY + 4]), written[CLOSED_BY + 4 :]
    whole = written[:1] + sides + written[9:CLOSED_BY] + decision + rest
    yield place, (key, b"c", number, whole)


def _age(where: Places, given: Given, parts: Sequence[bytes]) -> Placed:
    number = given.meant(parts[0])
    key = where.home.conflicts_by_age
    if len(parts) == 1:
        yield HOME, (key, b"y", number, b"")
        return
    # Of one that is over: minus the last entry of the step that closed it.
    score = _u32(number) if not parts[1] else -(given.entry + int(parts[1]) - 1)
    yield HOME, (key, b"z", number, b"%d" % score)


def _aged(where: Places, _given: Given, parts: Sequence[bytes]) -> Placed:
    yield HOME, (where.home.conflicts_by_age, b"z", parts[0], parts[1])


def _counted(where: Places, _given: Given, parts: Sequence[bytes]) -> Placed:
    place = _u32(parts[0])
    yield place, (where.keys[place].settings, b"i", b"indexed", parts[1])


def _not_named(where: Places, _given: Given, parts: Sequence[bytes]) -> Placed:
    place = _u32(parts[0])
    yield place, (where.keys[place].log_index, b"y", parts[1], b"")


def _named(kind: bytes) -> Writer:
    def write(where: Places, given: Given, parts: Sequence[bytes]) -> Placed:
        id, mark, number = parts
        place = where.of_name(id)
        member = mark + index_name(id) + given.meant(number)
        yield place, (where.keys[place].log_index, kind, member, b"0")

    return write


def _entry(where: Places, given: Given, parts: Sequence[bytes]) -> Placed:
    number, head, body = given.meant(parts[0]), parts[1], parts[2]
    numbers = (given.meant(head[n : n + 4]) for n in range(8, ENTRY.size, 4))
    place = where.of_number(_u32(number))
    yield place, (where.keys[place].log, b"h", number, head[:8] + b"".join(numbers) + body)


def _in_entry(kind: bytes) -> Writer:
    def write(where: Places, _given: Given, parts: Sequence[bytes]) -> Placed:
        place = where.of_number(_u32(parts[0]))
        value = parts[1] if len(parts) > 1 else b""
        yield place, (where.keys[place].log, kind, parts[0], value)

    return write


def _ruling(where: Places, _given: Given, parts: Sequence[bytes]) -> Placed:
    place = where.of_name(parts[0])
    kind = b"h" if parts[1] else b"x"
    yield place, (where.keys[place].rulings, kind, parts[0], parts[1])


def _unsettled(kind: bytes) -> Writer:
    def write(where: Places, _given: Given, parts: Sequence[bytes]) -> Placed:
        yield HOME, (where.home.unsettled, kind, parts[0], parts[1])

    return write


def _near(where: Places, given: Given, parts: Sequence[bytes]) -> Placed:
    miss = parts[0] + given.text.to_bytes(4, "big") + parts[1]
    yield HOME, (where.home.near_misses, b"n", b"", miss)


def _not_near(where: Places, _given: Given, parts: Sequence[bytes]) -> Placed:
    yield HOME, (where.home.near_misses, b"f", b"", parts[0])


WRITERS: dict[bytes, Writer] = {
    b"N": _new,
    b"R": _record,
    b"G": _in_record(b"x"),
    b"F": _forget,
    b"T": _edge("twins", b"z"),
    b"t": _edge("twins", b"y"),
    b"I": _id,
    b"X": _text,
    b"M": _metadata,
    b"C": _conflict,
    b"c": _conflict,
    b"E": _edge("conflicts_by_existing", b"z"),
    b"e": _edge("conflicts_by_existing", b"y"),
    b"A": _age,
    b"a": _age,
    b"O": _aged,
    b"K": _not_named,
    b"D": _counted,
    b"Q": _named(b"z"),
    b"q": _named(b"y"),
    b"L": _entry,
    b"l": _in_entry(b"x"),
    b"V": _in_entry(b"v"),
    b"B": _in_entry(b"h"),
    b"P": _ruling,
    b"U": _unsettled(b"h"),
    b"u": _unsettled(b"x"),
    b"Y": _near,
    b"y": _not_near,
    b"S": _in_record(b"s"),
    b"W": _in_record(b"u"),
}
