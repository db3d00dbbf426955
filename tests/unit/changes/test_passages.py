import time
from collections.abc import Callable

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


HOSTILE: dict[str, Callable[[int], tuple[str, str]]] = {
    "numbers": lambda n: ("1 " * n, "2 " * n),
    "one word set in": lambda n: ("a b " * n, "b c " + "a b " * n + " x"),
    "signs": lambda n: ("$%" * n, "-€" * n),
    "one long word": lambda n: ("ab-" * n, "ab-" * (n // 2) + "x" + "ab-" * (n // 2)),
    "separators": lambda n: ("1," * n, "1." * n),
    "negations": lambda n: ("not no " * n, "no must not " * (n // 2)),
    "no spaces": lambda n: ("費用は五百円" * n, "費用は六百円" * n),
    "every word": lambda n: ("word " * n + "5 euros", "words " * n + "6 euros"),
    "layers of lines": lambda n: (
        ("A\n" * (n // 8) + "same words stay. ") * 8,
        ("B\n" * (n // 8) + "same words stay. ") * 8,
    ),
    "brackets": lambda n: ("(" * n, "-" * n),
    "addresses": lambda n: ("a.b@c" * n, "a.b@d" * n),
    "telephone numbers": lambda n: ("+49 30 " * n, "+49 31 " * n),
}


def seconds(texts: tuple[str, str]) -> float:
    """The processor time of one comparison."""
    started = time.process_time()
    find_changes(*texts)
    return time.process_time() - started


@pytest.mark.parametrize("kind", HOSTILE)
def test_time_grows_with_the_length_of_any_two_texts_and_not_with_its_square(kind: str) -> None:
    """Eight times the length: linear is 8, quadratic 64. Short times are all taken for 10 ms. Of
    each the better of two counts; the long one is not taken again where the first is well."""
    short, long = (HOSTILE[kind](n) for n in (400, 3200))
    limit = 32 * max(min(seconds(short) for _ in range(2)), 0.01)
    assert any(seconds(long) < limit for _ in range(2))
