"""What is JSON to the service, held against the standard library's own reading of it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import MalformedJson, TooLarge
from service.web.strict_json import MOST_VALUES, parse

LONGEST = 1 << 20

# Written out, so that keys may be there twice and numbers be of any form. Few letters, so that they
# often are: quotes and backslashes above all, as they decide where a string ends.
strings = st.text(st.sampled_from('ab"\\/,:[]{}é\U0001f600 \n'), max_size=4).flatmap(
    lambda text: st.sampled_from([json.dumps(text), json.dumps(text, ensure_ascii=False)])
)
numbers = st.sampled_from(
    ["0", "-0", "1.5", "1e5", "-1E-5", "0.12345678901234567890123", "1e-0000000000000000000000005"]
    + [str(sign * (2**power + by)) for sign in (1, -1) for power in (63, 64) for by in (-1, 0, 1)]
    + ["1" * 30, "123456789012345678901.5", "12345678901234567890123e1"]
)
written = st.recursive(
    strings | numbers | st.sampled_from(["true", "false", "null"]),
    lambda inner: (
        st.lists(inner, max_size=4).map(lambda items: f"[{' ,'.join(items)}]")
        | st.lists(st.tuples(strings, inner), max_size=4).map(
            lambda pairs: "{" + ", ".join(f"{key}: {value}" for key, value in pairs) + "}"
        )
    ),
    max_leaves=12,
)


class AmbiguousError(Exception):
    """The standard library, asked the long way, found what parsers differ about."""


def single(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise AmbiguousError
    return dict(pairs)


def small(digits: str) -> int:
    if not -(2**63) <= int(digits) < 2**64:
        raise AmbiguousError
    return int(digits)


@given(text=written)
def test_it_reads_what_the_standard_library_reads_and_refuses_what_parsers_differ_about(
    text: str,
) -> None:
    try:
        expected = json.loads(text, object_pairs_hook=single, parse_int=small)
    except AmbiguousError:
        with pytest.raises(MalformedJson):
            parse(text.encode(), LONGEST)
    else:
        assert parse(text.encode(), LONGEST) == expected


@given(raw=st.binary(max_size=40) | written.map(lambda text: text.encode()[:-1]))
def test_anything_else_is_malformed(raw: bytes) -> None:
    try:
        parse(raw, LONGEST)
    except MalformedJson:
        return
    assert json.loads(raw) is not ...  # it is JSON by chance


def test_a_body_may_have_so_many_values() -> None:
    items = b",".join([b"1"] * (MOST_VALUES - 1))
    assert len(parse(b"[%s]" % items, LONGEST)) == MOST_VALUES - 1


@pytest.mark.parametrize("piece", [b"1", b"[]", b"{}", b'""', b'{"a":1}', b'[["a"]]'])
def test_a_body_of_more_values_is_too_large(piece: bytes) -> None:
    with pytest.raises(TooLarge):
        parse(b"[%s]" % b",".join([piece] * MOST_VALUES), LONGEST)


def test_what_stands_in_strings_is_not_counted() -> None:
    text = ',:[]{}\\"' * MOST_VALUES
    assert parse(json.dumps(text).encode(), len(text)) == text


@pytest.mark.parametrize("character", ["x", "é", "\U0001f600", '"', "\\", "\n"])
def test_a_string_is_never_taken_for_larger_than_it_is(character: str) -> None:
    text = character * (LONGEST // len(character.encode()))
    for escaped in (True, False):
        assert parse(json.dumps(text, ensure_ascii=escaped).encode(), LONGEST) == text


def test_a_string_that_is_larger_is_refused_before_it_is_made() -> None:
    with pytest.raises(TooLarge):
        parse(b'["%s"]' % (b"x" * (LONGEST + 1)), LONGEST)
