"""What happens next, in words, for each ruling on a conflict: as docs/life.md has it."""

from __future__ import annotations

from dataclasses import dataclass

from service.dedup.decisions import Keep
from service.dedup.queue import MOST_OTHERS, Outlook

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Consequence:
    """One thing that a ruling does: to the document `side` ("existing" or "incoming"; None: to
    neither), in words that go on behind its id."""

    side: str | None
    words: str


def consequences(outlook: Outlook) -> dict[Keep, list[Consequence]]:
    """What each ruling does, the most important first."""
    return {
        Keep.EXISTING: _existing(outlook),
        Keep.INCOMING: _incoming(outlook),
        Keep.BOTH: _both(outlook),
    }


def _existing(outlook: Outlook) -> list[Consequence]:
    told = [Consequence("existing", "stays as it is.")]
    if outlook.is_active:
        told.append(Consequence("incoming", "is dropped and retired: downstream deletes it."))
    elif outlook.updates:
        told.append(
            Consequence(
                "incoming",
                "is dropped with its update, and loses its old text too: that is active now and "
                "is retired, so downstream deletes it.",
            )
        )
    else:
        told.append(Consequence("incoming", "is dropped: downstream never gets it."))
    return [*told, *_void(outlook.with_incoming, "incoming"), *_void_of_old(outlook)]


def _incoming(outlook: Outlook) -> list[Consequence]:
    told = [_becomes_active(outlook)]
    words = "is dropped for it and retired: downstream deletes it."
    if outlook.is_updated:
        words += " Its own update, which is held, goes on waiting."
    told.append(Consequence("existing", words))
    return [*told, *_void(outlook.with_existing, "existing"), *_void_of_old(outlook),
            *_released(outlook)]  # fmt: skip


def _both(outlook: Outlook) -> list[Consequence]:
    told = [Consequence("existing", "stays as it is."), _becomes_active(outlook)]
    return [*told, *_void_of_old(outlook), *_released(outlook)]


def _becomes_active(outlook: Outlook) -> Consequence:
    if outlook.is_active:
        return Consequence("incoming", "stays active, as it is.")
    if outlook.updates:
        return Consequence(
            "incoming",
            "becomes active with its new text, in place of the old one: downstream takes it in "
            "anew.",
        )
    return Consequence("incoming", "becomes active: downstream takes it in.")


def _void(count: int, side: str) -> list[Consequence]:
    if not count:
        return []
    words = f"is in {_others(count)}, void then: what was held there is checked anew at once."
    return [Consequence(side, words)]


def _void_of_old(outlook: Outlook) -> list[Consequence]:
    if not outlook.with_old:
        return []
    words = (
        f"has its old text in {_others(outlook.with_old)}, void then: what was held there is "
        "checked anew at once."
    )
    return [Consequence("incoming", words)]


def _released(outlook: Outlook) -> list[Consequence]:
    if not outlook.with_incoming or outlook.is_active:
        return []
    words = f"is in {_others(outlook.with_incoming)} that can be ruled on only then."
    return [Consequence("incoming", words)]


def _others(count: int) -> str:
    if count > MOST_OTHERS:
        return f"more than {MOST_OTHERS} other open conflicts"
    return "another open conflict" if count == 1 else f"{count} other open conflicts"
