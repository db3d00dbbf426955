"""Which of two near copies stays, by which rule, and in what words."""

from datetime import UTC, datetime, timedelta, timezone
from itertools import permutations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from service.dedup.survivor import Choice, Survivor, choose
from service.dedup.verdict import Metadata

ALL = ("newest", "authority", "richest", "first")
OTHER = {Survivor.INCOMING: Survivor.EXISTING, Survivor.EXISTING: Survivor.INCOMING}


def winner(rule: str, incoming: Metadata, existing: Metadata) -> Survivor | None:
    choice = choose([rule], incoming, existing)
    return choice.survivor if choice else None


def later(one: str, other: str) -> bool | None:
    """Whether `one` is the later time; None where neither is."""
    won = winner("newest", {"updated_at": one}, {"updated_at": other})
    return None if won is None else won is Survivor.INCOMING


def higher(one: str, other: str) -> bool | None:
    """Whether `one` is the higher version; None where neither is."""
    won = winner("newest", {"version": one}, {"version": other})
    return None if won is None else won is Survivor.INCOMING


def reason(rule: str, incoming: Metadata, existing: Metadata) -> str:
    choice = choose([rule], incoming, existing)
    assert choice is not None
    return choice.reason


# The order of the rules


def test_the_first_rule_that_decides_is_the_one_that_counts():
    incoming: Metadata = {"authority": 1}
    existing: Metadata = {"authority": 2, "note": "more keys"}
    choice = choose(ALL, incoming, existing)
    assert choice == Choice(Survivor.EXISTING, "authority", "authority: existing 2 over incoming 1")


def test_rules_are_tried_in_the_order_that_they_are_given_in():
    incoming: Metadata = {"authority": 1, "note": ""}
    existing: Metadata = {"authority": 2}
    choice = choose(["richest", "authority"], incoming, existing)
    assert choice is not None
    assert choice.rule == "richest"


def test_nothing_is_chosen_where_no_rule_decides():
    assert choose(["newest", "authority", "richest"], {"a": 1}, {"b": 2}) is None


def test_a_rule_that_is_not_named_does_not_decide():
    assert choose(["newest", "authority"], {"a": 1, "b": 2}, {}) is None


def test_without_rules_nothing_is_chosen():
    assert choose([], {"authority": 1}, {}) is None


def test_a_rule_that_does_not_exist_is_an_error():
    with pytest.raises(KeyError):
        choose(["oldest"], {}, {})


# newest, by time


def test_the_later_time_wins():
    assert later("2026-03-01T00:00:00Z", "2025-01-01T00:00:00Z")


def test_times_are_compared_as_instants_whatever_their_offset():
    assert later("2026-03-01T00:30:00-01:00", "2026-03-01T01:00:00Z")


def test_the_same_instant_at_another_offset_is_undecided():
    assert later("2026-03-01T02:00:00+02:00", "2026-03-01T00:00:00Z") is None


def test_a_fraction_of_a_second_is_later_than_none():
    assert later("2026-03-01T00:00:00.001Z", "2026-03-01T00:00:00Z")


def test_fractions_are_compared_by_value_not_by_length():
    assert later("2026-03-01T00:00:00.5Z", "2026-03-01T00:00:00.45Z")


def test_fractions_are_compared_beyond_microseconds():
    assert later("2026-03-01T00:00:00.123456789Z", "2026-03-01T00:00:00.123456788Z")


def test_zeros_at_the_end_of_a_fraction_do_not_count():
    assert later("2026-03-01T00:00:00.500Z", "2026-03-01T00:00:00.5Z") is None


def test_a_fraction_of_zeros_is_none():
    assert later("2026-03-01T00:00:00.000Z", "2026-03-01T00:00:00Z") is None


def test_whole_seconds_come_before_fractions():
    assert later("2026-03-01T00:00:01Z", "2026-03-01T00:00:00.9Z")


def test_a_time_in_small_letters_is_a_time():
    assert later("2026-03-01t00:00:00z", "2025-01-01T00:00:00Z")


def test_times_are_compared_before_versions():
    incoming = {"updated_at": "2026-03-01T00:00:00Z", "version": "1"}
    existing = {"updated_at": "2025-01-01T00:00:00Z", "version": "2"}
    assert winner("newest", incoming, existing) is Survivor.INCOMING


def test_equal_times_are_undecided_whatever_the_versions():
    incoming = {"updated_at": "2026-03-01T00:00:00Z", "version": "2"}
    existing = {"updated_at": "2026-03-01T00:00:00Z", "version": "1"}
    assert winner("newest", incoming, existing) is None


@pytest.mark.parametrize(
    "updated_at",
    [
        "yesterday",
        "2026-03-01",
        "2026-03-01T00:00:00",
        "2026-03-01T00:00:00Z or so",
        "2026-02-30T00:00:00Z",
        "2026-03-01T00:00:00+24:00",
        "0001-01-01T00:00:00+01:00",
        20260301,
        True,
    ],
)
def test_what_is_no_time_counts_as_missing(updated_at: str | int):
    incoming: Metadata = {"updated_at": updated_at, "version": "2"}
    existing: Metadata = {"updated_at": "2025-01-01T00:00:00Z", "version": "1"}
    choice = choose(["newest"], incoming, existing)
    assert choice is not None
    assert choice.reason == "newest: incoming version 2 is higher than existing version 1"


# newest, by version


@pytest.mark.parametrize("side", ["incoming", "existing"])
def test_where_one_has_no_time_the_higher_version_wins(side: str):
    both: dict[str, dict[str, str]] = {"incoming": {"version": "2"}, "existing": {"version": "1"}}
    both[side]["updated_at"] = "2025-01-01T00:00:00Z"
    assert winner("newest", both["incoming"], both["existing"]) is Survivor.INCOMING


def test_a_time_on_one_side_and_a_version_on_the_other_are_undecided():
    incoming, existing = {"updated_at": "2026-03-01T00:00:00Z"}, {"version": "1"}
    assert winner("newest", incoming, existing) is None


def test_a_version_beside_none_is_undecided():
    assert winner("newest", {"version": "1"}, {}) is None


@pytest.mark.parametrize(
    ("high", "low"),
    [
        ("2", "1"),
        ("10", "9"),
        ("1.10", "1.9"),
        ("1.0.1", "1"),
        ("1.0.1", "1.0"),
        ("2.0", "1.9.9"),
        ("1.2", "1.01"),
        ("v10", "v3"),
        ("v10", "3"),
        ("V2", "v1"),
        ("0.1", "0"),
        ("2024.11", "2024.3"),
        ("2024.03", "v3"),
    ],
)
def test_versions_are_compared_number_by_number(high: str, low: str):
    assert higher(high, low)


@pytest.mark.parametrize(
    ("one", "other"),
    [("1.0", "1"), ("1.0.0", "1.0"), ("v3", "3"), ("01.2", "1.02"), ("0", "0.0"), ("3", "3")],
)
def test_two_ways_to_write_one_version_are_undecided(one: str, other: str):
    assert higher(one, other) is None


@pytest.mark.parametrize(
    "version",
    [
        "",
        "v",
        ".",
        "1.",
        ".1",
        "1..2",
        "vv1",
        "v.1",
        "draft",
        "-1",
        "+1",
        " 1",
        "1\n",
        "1,5",
        "1.0b",
        "1.0-2",
        "1.0-rc1",
        "2024-03",
        "2024-03-01",
        "٣",
        "²",
        "1e3",
    ],
)
def test_what_is_not_dotted_numbers_is_no_version(version: str):
    assert higher("0", version) is None
    assert higher(version, "0") is None


@pytest.mark.parametrize("version", [7, 1.5, True])
def test_a_version_that_is_no_string_is_no_version(version: float):
    assert winner("newest", {"version": version}, {"version": "0"}) is None


def test_a_number_longer_than_python_converts_is_a_version():
    # Stored strings have at most 4,096 characters; int() refuses more than 4,300.
    assert higher("1" * 5000, "1" * 4999)


def test_long_numbers_of_one_length_are_compared_to_the_last_digit():
    assert higher("1" * 4095 + "2", "1" * 4096)


# authority, richest, first


def test_the_higher_authority_wins():
    assert winner("authority", {"authority": 10}, {"authority": 9.5}) is Survivor.INCOMING


def test_a_missing_authority_is_0():
    assert winner("authority", {}, {"authority": -1}) is Survivor.INCOMING


def test_equal_authorities_are_undecided():
    assert winner("authority", {"authority": 10}, {"authority": 10.0}) is None


def test_integers_beyond_the_precision_of_floats_are_compared_exactly():
    incoming, existing = {"authority": 2**53 + 1}, {"authority": float(2**53)}
    assert winner("authority", incoming, existing) is Survivor.INCOMING


@pytest.mark.parametrize("authority", [True, "10", ""])
def test_an_authority_that_is_no_number_is_0(authority: str | bool):
    assert winner("authority", {"authority": authority}, {"authority": 0}) is None


def test_an_authority_that_cannot_be_compared_is_undecided():
    assert winner("authority", {"authority": float("nan")}, {"authority": 1}) is None


def test_more_metadata_keys_win():
    assert winner("richest", {"a": "", "b": False}, {"c": "long" * 100}) is Survivor.INCOMING


def test_equally_many_metadata_keys_are_undecided():
    assert winner("richest", {"a": 1}, {"b": 2}) is None


def test_the_first_is_the_existing_one_whatever_the_metadata():
    assert winner("first", {"authority": 10}, {}) is Survivor.EXISTING


# Reasons


def test_the_reason_tells_both_times_as_they_were_posted():
    incoming = {"updated_at": "2026-03-01T00:00:00Z"}
    existing = {"updated_at": "2025-01-01T00:00:00.50+01:00"}
    assert reason("newest", incoming, existing) == (
        "newest: incoming 2026-03-01T00:00:00Z is later than existing 2025-01-01T00:00:00.50+01:00"
    )


def test_the_reason_tells_both_versions_as_they_were_posted():
    assert reason("newest", {"version": "v1.9"}, {"version": "1.10"}) == (
        "newest: existing version 1.10 is higher than incoming version v1.9"
    )


def test_the_reason_tells_both_authorities():
    assert reason("authority", {}, {"authority": 10}) == "authority: existing 10 over incoming 0"


def test_the_reason_tells_how_many_keys_both_have():
    incoming = {"a": 1, "b": 2, "c": 3, "d": 4}
    assert reason("richest", incoming, {"a": 1, "b": 2}) == (
        "richest: incoming has 4 metadata keys, existing 2"
    )


def test_one_key_is_told_in_the_singular():
    assert reason("richest", {}, {"a": 1}) == "richest: existing has 1 metadata key, incoming 0"


def test_the_reason_of_the_first_needs_no_values():
    assert reason("first", {}, {}) == "first: the existing one stays"


def test_a_long_version_is_told_by_its_beginning_and_its_end():
    incoming, existing = {"version": "1" * 4095 + "2"}, {"version": "1" * 4096}
    assert reason("newest", incoming, existing) == (
        f"newest: incoming version {'1' * 27}…{'1' * 11}2 "
        f"is higher than existing version {'1' * 27}…{'1' * 12}"
    )


def test_a_long_time_is_told_by_its_beginning_and_its_end():
    incoming = {"updated_at": f"2026-03-01T00:00:00.{'0' * 4000}12345+02:00"}
    existing = {"updated_at": "2025-01-01T00:00:00Z"}
    assert reason("newest", incoming, existing) == (
        "newest: incoming 2026-03-01T00:00:00.0000000…012345+02:00 "
        "is later than existing 2025-01-01T00:00:00Z"
    )


def test_a_value_of_forty_characters_is_told_in_full():
    version = "1234567890" * 4
    assert version in reason("newest", {"version": version}, {"version": "1"})


# What holds for any metadata

INSTANTS = st.datetimes(
    min_value=datetime.fromisoformat("2026-03-01"),
    max_value=datetime.fromisoformat("2026-03-03"),
    timezones=st.integers(-720, 720).map(lambda minutes: timezone(timedelta(minutes=minutes))),
)
NUMBERS = st.lists(st.integers(0, 12), min_size=1, max_size=4)
DOTTED = NUMBERS.map(lambda numbers: ".".join(map(str, numbers)))

SOME_METADATA = st.fixed_dictionaries(
    {},
    optional={
        "updated_at": INSTANTS.map(datetime.isoformat)
        | st.sampled_from(["2026-03-01T00:00:00Z", "2026-03-01T01:00:00+01:00", "today"]),
        "version": DOTTED | st.sampled_from(["v3", "3", "3.0", "2024-03", "draft"]) | st.text(),
        "authority": st.integers(-2, 2) | st.floats() | st.booleans() | st.text(max_size=2),
        "note": st.text(max_size=3),
        "draft": st.booleans(),
    },
)
SYMMETRIC = [
    rules for n in range(4) for rules in permutations(("newest", "authority", "richest"), n)
]


def exchanged(choice: Choice | None) -> Choice | None:
    if choice is None:
        return None
    words = {"incoming": "existing", "existing": "incoming"}
    told = " ".join(words.get(word, word) for word in choice.reason.split(" "))
    return Choice(OTHER[choice.survivor], choice.rule, told)


@given(rules=st.sampled_from(SYMMETRIC), incoming=SOME_METADATA, existing=SOME_METADATA)
def test_exchanging_the_sides_exchanges_the_choice_and_its_words(
    rules: tuple[str, ...], incoming: Metadata, existing: Metadata
):
    assert choose(rules, existing, incoming) == exchanged(choose(rules, incoming, existing))


@given(rules=st.permutations(ALL), incoming=SOME_METADATA, existing=SOME_METADATA)
def test_with_first_among_the_rules_there_always_is_a_choice(
    rules: list[str], incoming: Metadata, existing: Metadata
):
    assert choose(rules, incoming, existing) is not None


@given(one=INSTANTS, other=INSTANTS)
def test_times_are_ordered_as_their_instants_are(one: datetime, other: datetime):
    expected = None if one == other else one > other
    assert later(one.isoformat(), other.astimezone(UTC).isoformat()) == expected


def without_zeros_at_the_end(numbers: list[int]) -> list[int]:
    while numbers and numbers[-1] == 0:
        numbers = numbers[:-1]
    return numbers


@given(one=NUMBERS, other=NUMBERS)
@example(one=[1, 0, 0], other=[1])
def test_versions_are_ordered_as_their_numbers_are(one: list[int], other: list[int]):
    a, b = map(without_zeros_at_the_end, (one, other))
    expected = None if a == b else a > b
    assert higher(".".join(map(str, one)), ".".join(map(str, other))) == expected
