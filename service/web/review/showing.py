"""How posted words, times and figures are shown: filters of the templates.

Posted text is always shown as text. What a reader could not see, or what would turn what follows
round, is written out: a control character, a joiner of no width, a mark of direction.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

import regex
from flask import Blueprint
from markupsafe import Markup, escape

# Controls apart from line break and tab, what has no width, separators of lines, private and
# unassigned characters; the joiners inside of emoji and of some scripts are among them.
_UNSEEN: Final = regex.compile(r"[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}--[\n\t]]", regex.V1)


def register(blueprint: Blueprint) -> None:
    """Gives the templates these filters."""
    filters: tuple[Callable[..., object], ...] = (shown, when, moment, age, score, number)
    for show in filters:
        blueprint.add_app_template_filter(show, show.__name__)


def shown(text: object) -> Markup:
    """Posted words as they were posted, with what cannot be seen written out by its number."""
    pieces: list[Markup] = []
    at, words = 0, str(text)
    for found in _UNSEEN.finditer(words):
        pieces += (escape(words[at : found.start()]), _written_out(found[0]))
        at = found.end()
    pieces.append(escape(words[at:]))
    return Markup("").join(pieces)


def is_unseen(character: str) -> bool:
    """Whether a character is written out by its number."""
    return _UNSEEN.match(character) is not None


def _written_out(character: str) -> Markup:
    code = f"U+{ord(character):04X}"
    name = unicodedata.name(character, "")
    return Markup('<span class="unseen" title="{}">{}</span>').format(
        f"{code} {name}".strip(), code
    )


def when(time: datetime) -> Markup:
    """A time in UTC, to the minute, that a program may read too."""
    utc = time.astimezone(UTC)
    return Markup('<time datetime="{}">{}</time>').format(
        utc.isoformat(timespec="milliseconds"), moment(utc)
    )


def moment(time: datetime) -> str:
    """A time in UTC, to the minute."""
    return time.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def age(time: datetime) -> str:
    """How long ago a time is: its largest unit."""
    seconds = max(0, int((datetime.now(UTC) - time).total_seconds()))
    for size, unit in ((86_400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            count = seconds // size
            return f"{count} {unit}{'' if count == 1 else 's'}"
    return "less than a minute"


def score(value: float) -> str:
    """How alike two texts are, to three digits; what is not quite 1 is never shown as 1."""
    return f"{value:.3f}" if value == 1 or value < 0.9995 else "0.999+"


def number(value: int) -> str:
    """A count with its thousands apart."""
    return f"{value:,}"
