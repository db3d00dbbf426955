"""Where cleaning took what away: the text as it was posted, in pieces that stay and pieces that go.

The same steps are taken as in `cleaning.py`, and what each changed is found without guessing: a
rule for characters touches characters of a few kinds only, all others stay in their order; and
the rules for lines say which lines they took.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

from service.text.characters import BLANKS, CONTROL, INVISIBLE
from service.text.cleaning import (
    CleaningRules,
    drop_page_furniture,
    has_no_furniture,
    tidying_steps,
)
from service.text.cleaning_report import Tally
from service.text.line_log import Entry, LineLog

# Runs of the characters that a rule may take away, and of those that it may put in their place.
_TOUCHED: Final = {
    "line_ends": re.compile("[\n\r\x0b\x85\u2028\u2029]+"),
    "control_characters": re.compile(f"(?:{CONTROL.pattern}|[\n\x0c])+"),
    "invisible_characters": INVISIBLE,
    "whitespace": re.compile(f"[{BLANKS}]+"),
    "empty_lines": re.compile(f"[{BLANKS}\n]+"),
}


class Piece(NamedTuple):
    """A part of a page: it stays, it was `removed` by a rule, or was `added` where it took
    something away, as a space for a tab."""

    text: str
    kind: Literal["kept", "removed", "added"] = "kept"
    rule: str | None = None


class _Edit(NamedTuple):
    """What a rule takes out of a text from `start` to `end`, and what it puts there."""

    rule: str
    start: int
    end: int
    put: str = ""


def trace(
    pages: Sequence[str], rules: CleaningRules, most: int | None = None
) -> tuple[tuple[Piece, ...], ...]:
    """The pieces of each page, as `clean` cleans them.

    Of every page the pieces that are not `removed` make the cleaned page, and those that are not
    `added` the page as it was posted. Of a document of more than `most` characters only so many
    are told of: the last page may break off, and those behind it are left out. Takes time linear
    in the length of the text."""
    tally, log = Tally(), LineLog()
    traced: list[list[Piece]] = []
    tidied: list[str] = []
    left = most or 0
    for page in pages:
        pieces, text = [Piece(page if most is None else page[:left])], page
        for rule, step in tidying_steps(page, rules):
            before, text = text, step(text, tally)
            if text != before:
                pieces = _applied(pieces, _edits_between(before, text, rule))
        if most is None or left:
            traced.append(pieces)
        tidied.append(text)
        left = max(0, left - len(page))
    if not has_no_furniture(tidied):
        drop_page_furniture(tidied, rules, log, tally)
    of_page: defaultdict[int, list[Entry]] = defaultdict(list)
    for entry in log.entries:
        of_page[entry.page].append(entry)
    for at, pieces in enumerate(traced):
        if at in of_page:
            traced[at] = _applied(pieces, _edits_of_lines(tidied[at], of_page[at]))
    return tuple(tuple(_joined(pieces)) for pieces in traced)


def _edits_between(before: str, after: str, rule: str) -> Iterator[_Edit]:
    """What changed from `before` to `after` in the runs that the rule may touch."""
    touched = _TOUCHED[rule]
    at = place = 0  # in `before`, and where that is in `after`
    for run in touched.finditer(before):
        place += run.start() - at
        at = run.end()
        found = touched.match(after, place)
        stays = found[0] if found else ""
        place += len(stays)
        if stays != run[0]:
            yield from _edits_in_run(run[0], stays, run.start(), rule)


def _edits_in_run(run: str, stays: str, start: int, rule: str) -> Iterator[_Edit]:
    known = 0  # how much of what stays has been found in the run
    gone = start  # from here on nothing of the run stays, so far
    for at, character in enumerate(run, start):
        if known == len(stays):
            break
        if stays[known] == character:
            known += 1
            if gone < at:
                yield _Edit(rule, gone, at)
            gone = at + 1
    end = start + len(run)
    if gone < end or known < len(stays):
        yield _Edit(rule, gone, end, stays[known:])


def _edits_of_lines(page: str, entries: Iterable[Entry]) -> Iterator[_Edit]:
    """What the rules for lines took out of a page, newlines included."""
    of_line: defaultdict[int, list[Entry]] = defaultdict(list)
    for entry in entries:
        of_line[entry.line].append(entry)
    gone = {at: took[-1].rule for at, took in of_line.items() if took[-1].is_whole}
    lines = page.split("\n")
    last_to_stay = max((at for at in range(len(lines)) if at not in gone), default=-1)
    start = 0
    for at, line in enumerate(lines):
        end = start + len(line)
        yield from reversed(list(_edits_of_line(start, end, of_line.get(at, ()))))
        if at + 1 < len(lines) and (at in gone or at == last_to_stay):
            yield _Edit(gone.get(at) or gone[at + 1], end, end + 1)
        start = end + 1


def _edits_of_line(start: int, end: int, took: Iterable[Entry]) -> Iterator[_Edit]:
    """From the end of a line inwards, as it was taken."""
    for entry in took:
        begin = start if entry.is_whole else end - entry.chars
        yield _Edit(entry.rule, begin, end)
        end = begin


def _applied(pieces: Iterable[Piece], edits: Iterable[_Edit]) -> list[Piece]:
    """The pieces with edits made in what is left of them: what was added before and goes now was
    never posted, so nothing tells of it. Edits come in the order of their places."""
    done: list[Piece] = []
    coming = iter(edits)
    edit = next(coming, None)
    end = 0
    for piece in pieces:
        if piece.kind == "removed":
            done.append(piece)
            continue
        start, end = end, end + len(piece.text)
        at = start
        while edit is not None and edit.start < end:
            begin, stop = max(edit.start, start), min(edit.end, end)
            done.append(_part(piece, at - start, begin - start))
            if piece.kind == "kept":
                done.append(Piece(piece.text[begin - start : stop - start], "removed", edit.rule))
            at = stop
            if edit.end > end:
                break
            done.append(Piece(edit.put, "added", edit.rule))
            edit = next(coming, None)
        done.append(_part(piece, at - start, len(piece.text)))
    if edit is not None and edit.start == edit.end == end:
        done.append(Piece(edit.put, "added", edit.rule))
    return [piece for piece in done if piece.text]


def _part(piece: Piece, start: int, end: int) -> Piece:
    return Piece(piece.text[start:end], piece.kind, piece.rule)


def _joined(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Neighbours of one kind and rule as one piece."""
    kind: tuple[str, str | None] | None = None
    texts: list[str] = []
    last: Piece | None = None
    for piece in pieces:
        if last is not None and (piece.kind, piece.rule) != kind:
            yield Piece("".join(texts), last.kind, last.rule)
            texts = []
        last, kind = piece, (piece.kind, piece.rule)
        texts.append(piece.text)
    if last is not None:
        yield Piece("".join(texts), last.kind, last.rule)
