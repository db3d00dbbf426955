"""Months, weekdays and hours of the day by name."""

from __future__ import annotations

from typing import Final

_MONTHS = """
january jan januar janvier enero
february feb februar février febrero
march mar märz mars marzo
april apr avril abril
may mai mayo
june jun juni juin junio
july jul juli juillet julio
august aug août agosto
september sep sept septembre septiembre
october oct oktober octobre octubre
november nov novembre noviembre
december dec dezember décembre diciembre
"""
_WEEKDAYS = """
monday mon mondays montag lundi lunes
tuesday tue tues tuesdays dienstag mardi martes
wednesday wed wednesdays mittwoch mercredi miércoles
thursday thu thur thurs thursdays donnerstag jeudi jueves
friday fri fridays freitag vendredi viernes
saturday sat saturdays samstag samedi sábado
sunday sun sundays sonntag dimanche domingo
"""


def _by_name(table: str) -> dict[str, int]:
    return {
        name: at
        for at, line in enumerate(table.strip().splitlines(), start=1)
        for name in line.split()
    }


MONTHS: Final = _by_name(_MONTHS)
WEEKDAYS: Final = _by_name(_WEEKDAYS)
# Names that are also words: a month or a weekday only with a capital (and not in capitals only).
ALSO_WORDS: Final = frozenset(
    ["may", "march", "mars", "mar", "sun", "sat", "wed", "mon", "august", "dec", "sep", "jun"]
)

CLOCK_WORDS: Final = {"noon": (12, 0), "midday": (12, 0), "midnight": (0, 0)}

# After one of these a plain number of four digits is a year.
BEFORE_YEAR: Final = frozenset(
    [
        "in",
        "since",
        "until",
        "till",
        "by",
        "from",
        "to",
        "of",
        "before",
        "after",
        "during",
        "through",
        "year",
        "fiscal",
        "calendar",
        "early",
        "late",
        "mid",
        "end",
        "and",
        "or",
        "spring",
        "summer",
        "autumn",
        "fall",
        "winter",
        "copyright",
        "between",
        "édition",
    ]
)
