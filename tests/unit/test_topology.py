"""Who has which slots, as a node of a cluster tells it."""

import pytest

from service.store.topology import SLOTS, Topology, hash_tag_of, read_topology, slot_of
from service.store_address import Node

A, B, C = Node("a", 1), Node("b", 2), Node("c", 3)
ASKED = Node("asked", 9)
HALVES = Topology([(0, 8191, A), (8192, SLOTS - 1, B)])


@pytest.mark.parametrize(("slot", "node"), [(0, A), (8191, A), (8192, B), (SLOTS - 1, B)])
def test_a_slot_has_the_primary_of_its_range(slot: int, node: Node) -> None:
    assert HALVES.primary_of(slot) == node


def test_a_slot_that_no_range_has_has_none() -> None:
    told = Topology([(5, 10, A), (20, 30, B)])
    assert [told.primary_of(slot) for slot in (4, 5, 10, 11, 19, 20, 31)] == [
        None, A, A, None, None, B, None,
    ]  # fmt: skip


@pytest.mark.parametrize("slot", [0, 100, 8191, 8192, SLOTS - 1])
def test_one_that_moved_is_elsewhere_alone(slot: int) -> None:
    moved = HALVES.moved(slot, C)
    differing = [s for s in range(SLOTS) if moved.primary_of(s) != HALVES.primary_of(s)]
    assert (differing, moved.primary_of(slot)) == ([slot], C)


def test_a_node_without_a_name_is_where_it_was_asked() -> None:
    reply = [[0, 9, [None, 7000, b"id"], [b"x", 7001, b"id2"]], [10, 11, [b"", 7002, b"id3"]]]
    assert read_topology(reply, ASKED).primaries() == [Node("asked", 7000), Node("asked", 7002)]


def test_a_node_whose_name_nobody_knows_yet_is_left_out() -> None:
    reply = [[0, 9, [b"?", 7000, b"id"]], [10, 11, [b"b", 7002, b"id3"]]]
    told = read_topology(reply, ASKED)
    assert (told.primary_of(3), told.primary_of(10)) == (None, Node("b", 7002))


@pytest.mark.parametrize(
    ("key", "tag"),
    [("ts1:{4.0}:m", "4.0"), ("ts1:collections", "ts1:collections"), ("a{}b", "a{}b")],
)
def test_a_slot_is_that_of_the_hash_tag(key: str, tag: str) -> None:
    assert hash_tag_of(key) == tag
    assert slot_of(key) == slot_of(f"{{{tag}}}" if tag != key else key)
