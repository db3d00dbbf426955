import pytest

from service.text.changes import ChangeKind


@pytest.mark.parametrize(
    ("before", "after", "kind", "was", "now"),
    [
        ("The loft has 14 beds.", "The loft has 41 beds.", "number", "14", "41"),
        ("The loft has twelve beds.", "The loft has thirty beds.", "number", "twelve", "thirty"),
        ("It takes the 2nd key.", "It takes the 3rd key.", "number", "2nd", "3rd"),
        ("It holds 2,400 sacks.", "It holds 2,040 sacks.", "number", "2,400", "2,040"),
        ("Soak it for 3 hours.", "Soak it for 5 hours.", "quantity", "3 hours", "5 hours"),
        ("Soak it for two days.", "Soak it for 4 days.", "quantity", "two days", "4 days"),
        ("Give 5 mg of it.", "Give 5 g of it.", "quantity", "5 mg", "5 g"),
        ("It is 4 km to go.", "It is 4 miles to go.", "quantity", "4 km", "4 miles"),
        ("Store it at −6 °C.", "Store it at 6 °C.", "quantity", "−6 °C", "6 °C"),
        ("A 45-minute walk.", "A 60-minute walk.", "quantity", "45-minute", "60-minute"),
        ("The rope is 16m long.", "The rope is 18m long.", "quantity", "16m", "18m"),
        ("It is swept weekly.", "It is swept monthly.", "quantity", "weekly", "monthly"),
        ("A day costs £15.", "A day costs £51.", "money", "£15", "£51"),
        ("A day costs 15 euros.", "A day costs 15 dollars.", "money", "15 euros", "15 dollars"),
        ("It brought $1.5 million.", "It brought $1.8 million.", "money", "$1.5 million",
         "$1.8 million"),
        ("Pay 7,50 € for it.", "Pay 8,50 € for it.", "money", "7,50 €", "8,50 €"),
        ("利用料は300円です。", "利用料は400円です。", "money", "300円", "400円"),
        ("Keep 8% of it.", "Keep 9% of it.", "percent", "8%", "9%"),
        ("Keep ten per cent.", "Keep six per cent.", "percent", "ten per cent", "six per cent"),
        ("Back on 3 June.", "Back on 13 June.", "date", "3 June", "13 June"),
        ("Back on June 3, 2031.", "Back on June 3, 2032.", "date", "June 3, 2031", "June 3, 2032"),
        ("Back on 2031-06-03.", "Back on 2031-07-03.", "date", "2031-06-03", "2031-07-03"),
        ("We thresh in May.", "We thresh in July.", "date", "May", "July"),
        ("Back by Tuesday.", "Back by Thursday.", "date", "Tuesday", "Thursday"),
        ("Built in 1987.", "Built in 1978.", "date", "1987", "1978"),
        ("2031年6月3日に", "2031年6月4日に", "date", "2031年6月3日", "2031年6月4日"),
        ("Open 8:00-17:00.", "Open 8:00-19:00.", "time", "17:00", "19:00"),
        ("Come at 6 am.", "Come at 6 pm.", "time", "6 am", "6 pm"),
        ("Closed from noon.", "Closed from midnight.", "time", "noon", "midnight"),
        ("Children must pay.", "Children should pay.", "modality", "must", "should"),
        ("You can take two.", "You must take two.", "modality", "can", "must"),
        ("A lid is required.", "A lid is optional.", "modality", "required", "optional"),
        ("Bring at least 3.", "Bring at most 3.", "comparison", "at least", "at most"),
        ("Knock before dusk.", "Knock after dusk.", "comparison", "before", "after"),
        ("Loads over 9 kg.", "Loads under 9 kg.", "comparison", "over", "under"),
        ("The minimum is 3.", "The maximum is 3.", "comparison", "minimum", "maximum"),
        ("Bring a jar and a lid.", "Bring a jar or a lid.", "comparison", "and", "or"),
        ("Now ask Olga for it.", "Now ask Pavel for it.", "name", "Olga", "Pavel"),
        ("Please ask Olga Berg for it.", "Please ask Pavel Lund for it.", "name", "Olga Berg",
         "Pavel Lund"),
        ("Now ask Mr. Berg for it.", "Now ask Mr. Lund for it.", "name", "Berg", "Lund"),
        ("Count it in LibreCalc now.", "Count it in OpenCalc now.", "name", "LibreCalc",
         "OpenCalc"),
        ("Fill in form K-31 now.", "Fill in form K-13 now.", "identifier", "K-31", "K-13"),
        ("Run v3.1.0 of it.", "Run v3.2.0 of it.", "identifier", "v3.1.0", "v3.2.0"),
        ("Write to mill@a.example now.", "Write to barn@a.example now.", "identifier",
         "mill@a.example", "barn@a.example"),
        ("See https://a.example/in for it.", "See https://a.example/out for it.", "identifier",
         "https://a.example/in", "https://a.example/out"),
        ("Look at section 4.2 first.", "Look at section 4.3 first.", "identifier", "4.2", "4.3"),
        ("Look at § 4 first.", "Look at § 6 first.", "identifier", "§ 4", "§ 6"),
        ("Ring 555-010-7788 now.", "Ring 555-010-7799 now.", "identifier", "555-010-7788",
         "555-010-7799"),
    ],
)  # fmt: skip
def test_a_changed_fact_is_told_with_both_values(between, before, after, kind, was, now):  # noqa: PLR0917
    told = between(before, after)
    assert told.facts_differ
    assert (kind, was, now) in {(item.kind, item.before, item.after) for item in told.items}


@pytest.mark.parametrize(
    ("before", "after", "now"),
    [
        ("Boots are allowed.", "Boots are not allowed.", "not"),
        ("It is lent out.", "It is no longer lent out.", "no longer"),
        ("You should climb it.", "You shouldn't climb it.", "shouldn't"),
        ("They can climb it.", "They cannot climb it.", "cannot"),
        ("They can climb it.", "They can’t climb it.", "can’t"),
        ("All pay, children too.", "All pay, except children too.", "except"),
        ("Das Tor ist offen.", "Das Tor ist nicht offen.", "nicht"),
        ("Está abierto hoy.", "No está abierto hoy.", "No"),
        ("Le moulin est ouvert.", "Le moulin n'est pas ouvert.", "pas"),
    ],
)
def test_a_negation_that_was_put_in_is_told_alone(between, before, after, now) -> None:
    told = between(before, after)
    assert told.facts_differ
    assert (ChangeKind.NEGATION, None, now) in {
        (item.kind, item.before, item.after) for item in told.items
    }


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Come with a lamp.", "Come without a lamp."),
        ("Mit Licht betreten.", "Ohne Licht betreten."),
        ("avec une lampe", "sans une lampe"),
        ("con lámpara", "sin lámpara"),
        ("Entry if it rains.", "Entry unless it rains."),
        ("A valid pass opens it.", "An invalid pass opens it."),
        ("Work on Sunday is paid.", "Work on Sunday is unpaid."),
        ("The price includes lunch.", "The price excludes lunch."),
        ("Always latch the gate.", "Never latch the gate."),
        ("Climbing is allowed.", "Climbing is prohibited."),
        ("Only millers may enter.", "Millers may enter."),
        ("Aged 18+ only.", "Aged 21+ only."),
        ("Use ¾ of it.", "Use ¼ of it."),
        ("Mix it 1:4.", "Mix it 1:5."),
        ("| sacks | 5 | 7 |", "| sacks | 5 | 8 |"),
        ("the buyer carries it", "the seller carries it"),
        ("3 days of notice", "3 working days of notice"),
        ("rule 5(1)(a)", "rule 5(1)(b)"),
        ("Written in C++ here", "Written in C here"),
        ("add --force to it", "add --quiet to it"),
        ("GATES ARE LOCKED", "GATES ARE NOT LOCKED"),
    ],
)
def test_a_changed_rule_is_a_change_of_fact(between, before, after) -> None:
    assert between(before, after).facts_differ


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Olga pays Pavel for it.", "Pavel pays Olga for it."),
        ("Oats soak 2 hours and rye soaks 3 hours.", "Oats soak 3 hours and rye soaks 2 hours."),
        ("Door 4 opens at 6, door 5 at 9.", "Door 4 opens at 9, door 5 at 6."),
        ("The cart goes from Lund to Oslo.", "The cart goes from Oslo to Lund."),
        ("Do not sow and reap.", "Sow and do not reap."),
        ("It is due. It is not paid.", "It is not due. It is paid."),
        ("Ask Olga for keys; Pavel has none.", "Ask Pavel for keys; Olga has none."),
    ],
)
def test_facts_that_exchange_their_places_are_changes(between, before, after) -> None:
    assert between(before, after).facts_differ
