"""Which shard a tag stands in while the index grows."""

import struct

from hypothesis import given
from hypothesis import strategies as st

from service.store.growth import Growth


def test_a_step_that_indexes_no_text_needs_no_shard_even_while_shards_are_split() -> None:
    assert Growth(level=5, split=8).shards_of([]) == []


@given(
    level=st.integers(0, 12),
    split=st.floats(0, 1, exclude_max=True),
    values=st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=33),
)
def test_shards_are_split_one_band_after_the_other(
    level: int, split: float, values: list[int]
) -> None:
    bands = len(values)
    split_so_far = int(split * (bands << level))
    expected = []
    for band, value in enumerate(values):
        shard = value % (1 << level)
        is_split = shard * bands + band < split_so_far
        expected.append(value % (2 << level) if is_split else shard)
    tags = [struct.pack(">I", value) for value in values]
    assert Growth(level, split_so_far).shards_of(tags) == expected
