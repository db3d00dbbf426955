"""The protocol of docs/partitions.md as a small model: every step that a server or a network can
put something between is one step here, and `explore` runs all orders of them.

Texts are letters. A is like B and B is like C, A and C are not alike: whoever is like another one
shares a tag with it. Partition 0 is home. Asked is `("check", id, text)` or `("delete", id)`; a
process asks one thing after the other. It answers when a transaction is published, and takes its
pieces along when it looks for the next; those of the last it applies by themselves.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

TAGS = {"A": ("x",), "B": ("x", "y"), "C": ("y",)}
PARTITIONS = 2
NEW = "the new number"

Op = tuple[str, ...]
Ops = tuple[Op, ...]  # of one process
Field = tuple[Any, ...]
Fields = frozenset[tuple[Field, Any]]


@dataclass(frozen=True)
class Rules:
    """What the protocol is made of; a test takes one away to see that it is missed."""

    validates: bool = True
    knows_unfinished: bool = True
    guards_pieces: bool = True
    applies_before_done: bool = True
    snapshot_before_reads: bool = True
    readers_are_noted: bool = True  # a decision rests on the text that it names
    carries_before_it_reads: bool = True


@dataclass(frozen=True)
class Transaction:
    op: Op
    answer: object
    items: frozenset[Field]
    writes: tuple[tuple[Field, Any], ...]


@dataclass(frozen=True)
class Snapshot:
    last: int = 0
    unfinished: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Home:
    """`published` are all transactions so far, `touched` the last one that wrote an item."""

    published: tuple[Transaction, ...] = ()
    unfinished: frozenset[int] = frozenset()
    touched: frozenset[tuple[Field, int]] = frozenset()
    following: int = 1

    @property
    def snapshot(self) -> Snapshot:
        return Snapshot(len(self.published), self.unfinished)


@dataclass(frozen=True)
class Partition:
    fields: Fields = frozenset()
    applied: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Writer:
    """One that is answering a call: what it does next, and what it knows."""

    phase: str = "look"
    snapshot: Snapshot = Snapshot()
    todo: tuple[Any, ...] = ()
    known: Fields = frozenset()
    number: int = 0  # of the transaction that it applies
    turn: int = 0  # which of its operations it is at
    waiting: frozenset[int] = frozenset()  # transactions that it has answered and not applied
    done: frozenset[int] = frozenset()  # those that are applied, of which home is to be told


@dataclass(frozen=True)
class World:
    home: Home
    partitions: tuple[Partition, ...]
    writers: tuple[Writer, ...]
    crashes: int


def place_of(field: Field) -> int:
    kind, name = field[0], field[1]
    if kind == "text":
        return int(name) % PARTITIONS
    return {"x": 0, "y": 1, "a": 0, "b": 1, "c": 0}[name]


def successors(world: World, ops: tuple[Ops, ...], rules: Rules) -> Iterator[World]:
    for at, writer in enumerate(world.writers):
        if writer.phase in ("idle", "dead"):
            continue
        if world.crashes:
            yield with_writer(world, at, Writer("dead"), crashes=world.crashes - 1)
        yield _step(world, at, ops[at], rules)


def with_writer(world: World, at: int, writer: Writer, **changes: object) -> World:
    writers = (*world.writers[:at], writer, *world.writers[at + 1 :])
    return replace(world, writers=writers, **changes)  # type: ignore[arg-type]


def _step(world: World, at: int, ops: Ops, rules: Rules) -> World:
    writer = world.writers[at]
    if writer.phase == "look":
        if writer.turn == len(ops):
            return with_writer(world, at, _afterwards(writer, world.home))
        # Each asks the partitions in another order: the network keeps none.
        todo = tuple((at + n) % PARTITIONS for n in range(PARTITIONS))
        now = world.home.snapshot
        snapshot = Snapshot(now.last, now.unfinished - writer.waiting)  # it is done where it reads
        looking = replace(writer, phase="read", snapshot=snapshot, todo=todo, known=frozenset())
        return with_writer(world, at, looking)
    op = ops[writer.turn] if writer.turn < len(ops) else ("nothing",)
    if writer.phase == "read":
        place = int(writer.todo[0])
        before, after = world.partitions[place], world.partitions[place]
        for number in sorted(writer.waiting):
            after = _given(after, number, world.home, place, rules)
        known = writer.known | _read(after if rules.carries_before_it_reads else before, op)
        partitions = (*world.partitions[:place], after, *world.partitions[place + 1 :])
        reading = replace(writer, known=known, todo=writer.todo[1:])
        if not reading.todo:
            done = writer.done | writer.waiting
            reading = _fetching(replace(reading, waiting=frozenset(), done=done))
        return with_writer(world, at, reading, partitions=partitions)
    if writer.phase == "fetch":
        field: Field = ("text", writer.todo[0])
        kept = world.partitions[place_of(field)].fields
        found = frozenset(pair for pair in kept if pair[0] == field)
        known = writer.known | (found or frozenset([(field, None)]))
        return with_writer(world, at, _fetching(replace(writer, known=known)))
    if writer.phase == "publish":
        if not rules.snapshot_before_reads:
            writer = replace(writer, snapshot=world.home.snapshot)
        home = replace(world.home, unfinished=world.home.unfinished - writer.done)
        told = replace(writer, done=frozenset())
        return _publish(with_writer(world, at, told, home=home), at, told, op, rules)
    if writer.phase == "apply":
        return _apply(world, at, writer, rules)
    assert writer.phase == "done"
    home = replace(world.home, unfinished=world.home.unfinished - {writer.number})
    if writer.todo:  # broken on purpose: done before it is applied
        return with_writer(world, at, replace(writer, phase="apply"), home=home)
    return with_writer(world, at, replace(writer, phase="look"), home=home)


def _afterwards(writer: Writer, home: Home) -> Writer:
    """What a process goes on with that is asked nothing more."""
    if not writer.waiting:
        return Writer("idle")
    number = min(writer.waiting)
    return replace(_rolling(writer, number, home), waiting=writer.waiting - {number})


def _rolling(writer: Writer, number: int, home: Home) -> Writer:
    writes = home.published[number - 1].writes
    todo = tuple(sorted({place_of(field) for field, _ in writes}))
    return replace(writer, phase="apply", todo=todo, number=number, known=frozenset())


def _read(partition: Partition, op: Op) -> Fields:
    tags = TAGS[op[2]] if op[0] == "check" else ()
    return frozenset(
        (field, value)
        for field, value in partition.fields
        if (field[0] == "tag" and field[1] in tags) or field == ("id", op[1])
    )


def _fetching(writer: Writer) -> Writer:
    """What is to be fetched of what is known so far: texts by number, and what those rest on."""
    known = dict(writer.known)
    wanted = {field[2] for field in known if field[0] == "tag"}
    wanted |= {number for field, number in known.items() if field[0] == "id"}
    wanted |= {text[3] for field, text in known.items() if field[0] == "text" and text and text[3]}
    missing = tuple(sorted(n for n in wanted if ("text", n) not in known))
    return replace(writer, phase="fetch" if missing else "publish", todo=missing)


def decided(op: Op, known: Fields) -> tuple[object, set[Field], tuple[tuple[Field, Any], ...]]:
    """The answer, what it rests on, and what it writes.

    A text is (id, text, state, rests on, first answer)."""
    fields = dict(known)
    kind, id = op[0], op[1]
    old = fields.get(("id", id))
    old_text = fields.get(("text", old)) if old is not None else None
    rests: set[Field] = {("id", id)} | ({("text", old)} if old is not None else set())
    writes: list[tuple[Field, Any]] = []
    if old_text is not None and old_text[2] == "active":
        writes += [(("tag", tag, old), None) for tag in TAGS[old_text[1]]]
    if old is not None:
        writes.append((("text", old), None))
    if kind == "delete":
        return (
            ("deleted" if old else "unknown"),
            rests,
            (*writes, (("id", id), None)) if old else (),
        )
    text = op[2]
    if old_text is not None and old_text[1] == text:
        anchor = old_text[3]
        stands = anchor is None or (fields.get(("text", anchor)) or (0, 0, "gone"))[2] == "active"
        if stands:
            rests |= {("text", anchor)} if anchor else set()
            return old_text[4], rests, ()
    rests |= {("tag", tag) for tag in TAGS[text]}
    alike = sorted(
        (number, other)
        for (kind_of, number, *_), other in fields.items()
        if kind_of == "text" and other and other[2] == "active" and other[0] != id
        and set(TAGS[other[1]]) & set(TAGS[text])
    )  # fmt: skip
    if not alike:
        answer: object = "new"
        writes += [(("text", NEW), (id, text, "active", None, answer)), (("id", id), NEW)]
        return answer, rests, (*writes, *((("tag", tag, NEW), True) for tag in TAGS[text]))
    number, match = alike[0]
    answer = ("duplicate of", match[0])
    rests.add(("text", number))
    writes += [(("text", NEW), (id, text, "dropped", number, answer)), (("id", id), NEW)]
    return answer, rests, tuple(writes)


def _publish(world: World, at: int, writer: Writer, op: Op, rules: Rules) -> World:
    again = replace(writer, phase="look", known=frozenset(), todo=())
    answer, rests, writes = decided(op, writer.known)
    if not rules.readers_are_noted:
        rests = {item for item in rests if item[0] != "text"}
    home, snapshot = world.home, writer.snapshot
    touched = dict(home.touched)
    for item in sorted(rests, key=repr):
        last = touched.get(item, 0)
        late = last > snapshot.last or (rules.knows_unfinished and last in snapshot.unfinished)
        if late and rules.validates:
            if last in home.unfinished:  # whoever is refused finishes what is in its way
                rolling = _rolling(again, last, home)
                early = not rules.applies_before_done
                return with_writer(world, at, replace(rolling, phase="done") if early else rolling)
            return with_writer(world, at, again)
    number = home.following
    resolved = tuple((_named(field, number), number if v is NEW else v) for field, v in writes)
    # Who looks for a match minds what comes under its tags; what leaves is missed at its text.
    items = frozenset(_item_of(f) for f, value in resolved if f[0] != "tag" or value)
    transaction = Transaction(op, answer, items, resolved)
    count = len(home.published) + 1
    home = Home(
        (*home.published, transaction),
        home.unfinished | {count} if writes else home.unfinished,
        frozenset((touched | dict.fromkeys(items, count)).items()),
        number + (op[0] == "check" and bool(writes)),
    )
    waiting = writer.waiting | ({count} if writes else set())
    answered = replace(again, turn=writer.turn + 1, waiting=waiting)
    return with_writer(world, at, answered, home=home)


def _named(field: Field, number: int) -> Field:
    return tuple(number if part is NEW else part for part in field)


def _item_of(field: Field) -> Field:
    return ("tag", field[1]) if field[0] == "tag" else field


def _given(partition: Partition, number: int, home: Home, place: int, rules: Rules) -> Partition:
    """A partition that was given its piece of a transaction."""
    if number in partition.applied and rules.guards_pieces:
        return partition
    return with_piece(partition, number, home.published[number - 1].writes, place)


def _apply(world: World, at: int, writer: Writer, rules: Rules) -> World:
    place, todo = int(writer.todo[0]), writer.todo[1:]
    partition = _given(world.partitions[place], writer.number, world.home, place, rules)
    is_early = not rules.applies_before_done
    following = "apply" if todo else "look" if is_early else "done"
    partitions = (*world.partitions[:place], partition, *world.partitions[place + 1 :])
    after = replace(writer, todo=todo, phase=following)
    return with_writer(world, at, after, partitions=partitions)


def with_piece(
    partition: Partition, number: int, writes: tuple[tuple[Field, Any], ...], place: int
) -> Partition:
    fields = dict(partition.fields)
    for field, value in writes:
        if place_of(field) == place:
            fields.pop(field, None)
            if value is not None:
                fields[field] = value
    return Partition(frozenset(fields.items()), partition.applied | {number})


def explore(ops: tuple[Ops, ...], rules: Rules, crashes: int = 1) -> tuple[int, str | None]:
    """All orders of all steps: how many worlds there are, and what is wrong in one of them."""
    start = World(Home(), (Partition(),) * PARTITIONS, (Writer(),) * len(ops), crashes)
    seen, waiting = {start}, [start]
    while waiting:
        world = waiting.pop()
        fault = fault_of(world)
        if fault:
            return len(seen), fault
        for following in successors(world, ops, rules):
            if following not in seen:
                seen.add(following)
                waiting.append(following)
    return len(seen), None


def fault_of(world: World) -> str | None:
    """What no caller may ever see. Transactions count in the order in which they were published."""
    if any(writer.phase not in ("idle", "dead") for writer in world.writers):
        return None
    fields: Fields = frozenset()
    following = 1
    for transaction in world.home.published:
        answer, _, writes = decided(transaction.op, fields)
        if answer != transaction.answer:
            return f"{transaction.op} was told {transaction.answer}, and is {answer}"
        resolved = tuple((_named(f, following), following if v is NEW else v) for f, v in writes)
        following += transaction.op[0] == "check" and bool(writes)
        merged = dict(fields)
        for field, value in resolved:
            merged.pop(field, None)
            if value is not None:
                merged[field] = value
        fields = frozenset(merged.items())
    kept: Fields = frozenset()
    for place, partition in enumerate(world.partitions):
        whole = partition
        for number in sorted(world.home.unfinished - partition.applied):  # whoever comes next
            writes = world.home.published[number - 1].writes
            whole = with_piece(whole, number, writes, place)
        kept |= whole.fields
    return None if kept == fields else f"torn, or a ghost: {sorted(map(repr, kept ^ fields))}"
