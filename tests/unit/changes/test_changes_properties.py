from hypothesis import given
from hypothesis import strategies as st

from service.text.alignment import align
from service.text.changes import MOST_CHANGES, Change, ChangeKind, Changes, find_changes

PIECES = st.sampled_from(
    [
        *"0159.,:;-−–'’\"()[]$€%§#@/\\+~<>°½½\n\t ✓é語글ก٣",
        *[
            "not",
            "no",
            "cannot",
            "can't",
            "mustn't",
            "must",
            "may",
            "May",
            "MAY",
            "should",
            "at",
            "least",
            "most",
            "within",
            "3",
            "hours",
            "two",
            "twenty-five",
            "and",
            "or",
            "4",
            "March",
            "2031-03-04",
            "04/05/2031",
            "5",
            "pm",
            "17:00",
            "noon",
            "one",
            "half",
            "dozen",
            "unless",
            "except",
            "without",
            "1,500",
            "1.5",
            "million",
            "$80K",
            "USD",
            "EUR",
            "50",
            "percent",
            "per",
            "cent",
            "first",
            "2nd",
            "B-112",
            "v2.4.1",
            "a@b.example",
            "https://a.example/x",
            "GitHub",
            "NASA",
            "Anna",
            "Ben",
            "pays",
            "fee",
            "the",
            "form",
            "section",
            "IV",
            "ne",
            "pas",
            "nicht",
            "kein",
            "sin",
            "daily",
            "per",
            "hour",
            "a",
            "week",
            "wohl",
            "n't",
            "'s",
            "o'clock",
            "+49",
            "30",
            "555",
        ],
        " not ",
        ". The ",
        " the fee is due on ",
    ]
)
TEXTS = st.one_of(
    st.lists(PIECES, max_size=24).map(" ".join),
    st.lists(PIECES, max_size=16).map("".join),
    st.text(max_size=40),
)
SENTENCES = st.sampled_from(
    [
        "The mill opens at 9 in May.",
        "Ask Olga for two keys.",
        "Boats must not land here.",
        "Pay 5 % before Friday.",
        "Keep to the path.",
        "The gate is locked",
    ]
)
PASSAGES = st.lists(SENTENCES, max_size=8).map(" ".join)
BOTH = st.one_of(st.tuples(TEXTS, TEXTS), st.tuples(PASSAGES, PASSAGES))


@given(text=TEXTS)
def test_a_text_does_not_differ_from_itself(text: str) -> None:
    assert find_changes(text, text) == Changes((), cut=False, facts_differ=False)


@given(both=BOTH)
def test_spans_show_what_is_told(both: tuple[str, str]) -> None:
    before, after = both
    for change in find_changes(before, after).items:
        for text, span, shown in (
            (before, change.before_span, change.before),
            (after, change.after_span, change.after),
        ):
            if span is None:
                assert shown is None
            else:
                assert 0 <= span[0] < span[1] <= len(text)
                assert text[slice(*span)] == shown
        assert change.before is not None or change.after is not None


@given(both=BOTH)
def test_exchanging_the_texts_exchanges_the_sides(both: tuple[str, str]) -> None:
    before, after = both
    told, back = find_changes(before, after), find_changes(after, before)
    assert back.facts_differ == told.facts_differ
    assert set(back.items) == {exchanged(change) for change in told.items}


@given(both=BOTH)
def test_facts_differ_as_one_of_the_changes_says(both: tuple[str, str]) -> None:
    told = find_changes(*both)
    assert len(told.items) <= MOST_CHANGES
    if not told.cut:
        assert told.facts_differ == any(change.fact for change in told.items)
    for change in told.items:
        if change.kind is ChangeKind.WORDING:
            assert not change.fact
        elif change.kind not in {ChangeKind.ADDED, ChangeKind.REMOVED}:
            assert change.fact


ITEMS = st.lists(st.integers(0, 5), max_size=40)


@given(one=ITEMS, other=ITEMS, wide=st.booleans())
def test_what_no_hunk_covers_is_the_same(one: list[int], other: list[int], *, wide: bool) -> None:
    if wide:
        one, other = one * 30, other * 30
    at = at_other = 0
    for start, end, start_other, end_other in [
        *align(one, other),
        (len(one), len(one), len(other), len(other)),
    ]:
        assert one[at:start] == other[at_other:start_other]
        assert start < end or start_other < end_other or start == len(one)
        at, at_other = end, end_other


def exchanged(change: Change) -> Change:
    kinds = {ChangeKind.ADDED: ChangeKind.REMOVED, ChangeKind.REMOVED: ChangeKind.ADDED}
    return Change(
        kinds.get(change.kind, change.kind),
        change.after,
        change.before,
        change.fact,
        change.after_span,
        change.before_span,
    )
