import time

import pytest

from service.text.changes import MOST_CHANGES, Change, ChangeKind, find_changes

RULES = "The loft is dry. Nobody sleeps on the sacks."


def test_a_new_passage_with_a_fact_is_one_change_of_fact() -> None:
    added = "Lamps cost $4 from June."
    told = find_changes(RULES, f"{RULES} {added}")
    start = len(RULES) + 1
    span = (start, start + len(added))
    assert told.items == (Change(ChangeKind.ADDED, None, added, True, None, span),)
    assert told.facts_differ


def test_a_passage_that_was_left_out_is_one_change_too() -> None:
    told = find_changes(f"Lamps cost $4 from June. {RULES}", RULES)
    assert [(item.kind, item.before, item.fact) for item in told.items] == [
        (ChangeKind.REMOVED, "Lamps cost $4 from June.", True)
    ]


def test_a_new_passage_without_a_fact_is_no_change_of_fact() -> None:
    told = find_changes(RULES, RULES + " We thank everyone for their kind help.")
    assert [item.kind for item in told.items] == [ChangeKind.ADDED]
    assert not told.facts_differ


def test_a_passage_is_told_from_where_its_sentence_starts() -> None:
    told = find_changes("Keep the loft dry.", "Keep the loft shut. Keep the loft dry.")
    assert [item.after for item in told.items] == ["Keep the loft shut."]


def test_a_sentence_that_moved_is_wording() -> None:
    first, second, third = "The key hangs inside.", "Bring 3 clean sacks along.", "Mind the cat."
    told = find_changes(f"{first} {second} {third}", f"{second} {first} {third}")
    assert not told.facts_differ
    assert {item.kind for item in told.items} == {ChangeKind.WORDING}


def test_a_moved_sentence_whose_fact_changed_is_told() -> None:
    first, third = "The key hangs inside.", "Mind the cat."
    told = find_changes(
        f"{first} Bring 3 clean sacks along. {third}",
        f"Bring 5 clean sacks along. {first} {third}",
    )
    assert told.facts_differ


def test_a_text_without_anything_in_common_is_one_passage_for_another() -> None:
    told = find_changes("sack " * 2000, "lamp 4 " * 1000)
    assert {item.kind for item in told.items} == {ChangeKind.REMOVED, ChangeKind.ADDED}
    assert told.facts_differ


def test_an_empty_text_has_everything_added() -> None:
    told = find_changes("", "Pay 5 euros at the big door.")
    assert [(item.kind, item.before_span) for item in told.items] == [(ChangeKind.ADDED, None)]
    assert find_changes("Pay 5 euros at the big door.", "").facts_differ


def test_beyond_the_most_changes_the_list_is_cut() -> None:
    words = [f"word{'abcdefghij'[at % 10]}{'klmnopqrst'[at // 10 % 10]}" for at in range(9000)]
    other = list(words)
    other[20::40] = ["shifted"] * len(other[20::40])
    told = find_changes(" ".join(words), " ".join(other))
    assert (len(told.items), told.cut, told.facts_differ) == (MOST_CHANGES, True, False)


def test_a_fact_beyond_the_cut_counts() -> None:
    words = [f"word{'abcdefghij'[at % 10]}{'klmnopqrst'[at // 10 % 10]}" for at in range(9000)]
    other = list(words)
    other[20::40] = ["shifted"] * len(other[20::40])
    told = find_changes(" ".join([*words, "pay 5 euros"]), " ".join([*other, "pay 6 euros"]))
    assert (len(told.items), told.cut, told.facts_differ) == (MOST_CHANGES, True, True)
    assert not any(item.fact for item in told.items)


def test_long_near_copies_are_told_exactly() -> None:
    lines = [f"Shelf {at} holds the sacks of the year {1200 + at % 700}." for at in range(6000)]
    other = list(lines)
    other[17] = other[17].replace("holds", "held")
    other[4000] = other[4000].replace("the sacks", "no sacks")
    other.insert(5000, "The whole row was painted again.")
    told = find_changes("\n".join(lines), "\n".join(other))
    assert {(item.kind, item.before, item.after) for item in told.items} == {
        (ChangeKind.WORDING, "holds", "held"),
        (ChangeKind.WORDING, "the", None),
        (ChangeKind.NEGATION, None, "no"),
        (ChangeKind.ADDED, None, "The whole row was painted again."),
    }


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("1 " * 60_000, "2 " * 60_000),
        ("a b " * 30_000, "b c " + "a b " * 30_000 + " x"),
        ("$%" * 60_000, "-€" * 60_000),
        ("ab-" * 40_000, "ab-" * 20_000 + "x" + "ab-" * 20_000),
        ("1," * 60_000, "1." * 60_000),
        ("not no " * 20_000, "no must not " * 10_000),
        ("費用は五百円" * 20_000, "費用は六百円" * 20_000),
        ("word " * 20_000 + "5 euros", "words " * 20_000 + "6 euros"),
        (("A\n" * 590 + "same words stay. ") * 8, ("B\n" * 590 + "same words stay. ") * 8),
        (("$%" * 3900 + " same words stay. ") * 8, ("-€" * 3900 + " same words stay. ") * 8),
        ("(" * 120_000, "-" * 120_000),
        ("a.b@c" * 24_000, "a.b@d" * 24_000),
        ("+49 30 " * 20_000, "+49 31 " * 20_000),
    ],
    ids=lambda text: text[:8],
)
def test_time_is_bounded_for_any_two_texts(before: str, after: str) -> None:
    started = time.process_time()
    find_changes(before, after)
    assert time.process_time() - started < 5  # well below one; quadratic would take minutes
