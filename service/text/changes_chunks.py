"""Cutting two texts into chunks, only around where they differ."""

from __future__ import annotations

import re
from functools import cached_property
from itertools import accumulate
from typing import Final

from service.text.alignment import Hunk, align, common_prefix
from service.text.fact_tokens import UNSPACED
from service.text.facts import is_plain

Span = tuple[int, int]

_CHUNK: Final = re.compile(rf"[{UNSPACED}]|[^\s{UNSPACED}]+")
_DIGIT: Final = re.compile(r"\d")
_CONTEXT_CHARACTERS: Final = 250
_LONG_TEXT: Final = 20_000  # characters; in longer texts sentences are aligned first
_SENTENCE: Final = re.compile(r"[^.\n。]+[.\n。]*|[.\n。]+")
_OPENING: Final = "([{\"'“‘„«*_`"
_CLOSING: Final = ")]}\"'”’“»*_`.,;:!?"
_SENTENCE_ENDS: Final = (".", "!", "?", ":", ".)", '."', ".”", "…", "。")


def chunks_of(one: str, other: str) -> tuple[Chunks, Chunks]:
    """The chunks of two texts, without most of what both share."""
    regions = _regions(one, other)
    known: dict[str, str] = {}
    return (
        Chunks(one, [region[:2] for region in regions], known),
        Chunks(other, [region[2:] for region in regions], known),
    )


class Chunks:
    """The chunks of stretches of a text: what is compared, and where each stands."""

    def __init__(self, text: str, regions: list[Span], known: dict[str, str]) -> None:
        self.text = text
        self._shown_by_region = [_cut(text[start:end]) for start, end in regions]
        self._regions = regions
        # An empty chunk before each region, the same in both texts, keeps the regions apart.
        self.shown: list[str] = []
        self.keys: list[str] = []
        for at, shown in enumerate(self._shown_by_region):
            for chunk in set(shown).difference(known):
                known[chunk] = _key(chunk)
            self.shown.append("")
            self.shown += shown
            self.keys.append(f"\n{at}")
            self.keys += [known[chunk] for chunk in shown]

    @cached_property
    def spans(self) -> list[Span]:
        """Where each chunk stands; found only where something differs."""
        spans = []
        find = self.text.find
        for (at, after), shown in zip(self._regions, self._shown_by_region, strict=True):
            spans.append((at, at))
            # As cleaning leaves most texts: one blank or line end between chunks.
            if self.text[at:after].replace("\n", " ") == " ".join(shown):
                ends = accumulate((len(chunk) + 1 for chunk in shown), initial=at)
                spans += [(end, end + len(chunk)) for end, chunk in zip(ends, shown, strict=False)]
                continue
            end = at
            for chunk in shown:
                start = find(chunk, end)
                end = start + len(chunk)
                spans.append((start, end))
        return spans

    def are_plain(self, first: int, after: int) -> bool:
        """Whether these chunks are words that tell no fact."""
        return all(map(is_plain, (chunk.rstrip(_CLOSING) for chunk in self.shown[first:after])))

    def span(self, first: int, after: int) -> Span:
        """The characters from one chunk up to another; an empty range where there is none."""
        if first < after:
            return self.spans[first][0], self.spans[after - 1][1]
        at = self.spans[first][0] if first < len(self.spans) else len(self.text)
        return at, at

    def words_span(self, first: int, after: int) -> Span:
        """The same without the punctuation before and after the words."""
        start, end = self.span(first, after)
        shown = self.text[start:end]
        return (
            end - len(shown.lstrip(_OPENING)),
            start + len(shown.rstrip(_CLOSING)),
        )

    def ends_sentence(self, at: int) -> bool:
        """Whether the chunk is the last of a sentence, a line, or the text."""
        end = self.spans[at][1]
        if not self.shown[at]:  # before the first chunk of a region
            return not end or self.text[max(0, end - 3) : end].rstrip(" ").endswith(
                ("\n", *_SENTENCE_ENDS)
            )
        if self.text.endswith(_SENTENCE_ENDS, self.spans[at][0], end):
            return True
        return at + 1 == len(self.spans) or "\n" in self.text[end : self.spans[at + 1][0]]


def _cut(text: str) -> list[str]:
    """The chunks of a text; in ASCII they are what stands between white space."""
    return text.split() if text.isascii() else _CHUNK.findall(text)


def _key(chunk: str) -> str:
    """A chunk without case, and without the punctuation around it.

    Marks after a digit stay where they may be a unit (feet, inches), and so does a point before
    one. What is dropped here is never told as a change.
    """
    if chunk.isalpha():
        return chunk.casefold()
    bare = chunk.strip("*_`")
    if _DIGIT.search(bare):
        return bare.rstrip(".,;:!?)]}").lstrip("([{").casefold()
    return bare.rstrip(_CLOSING).lstrip(_OPENING).casefold()


def _regions(one: str, other: str) -> list[Hunk]:
    """The character ranges that are compared chunk by chunk: those around what differs.

    What both share at the start and the end is left out, in long texts also the sentences that
    stand in both.
    """
    same = common_prefix(one, other)
    start = _boundary(one, max(0, same - _CONTEXT_CHARACTERS), same)
    ending = common_prefix(one[same:][::-1], other[same:][::-1])
    kept = max(0, ending - _CONTEXT_CHARACTERS)
    while kept and not one[len(one) - kept - 1].isspace():
        kept -= 1
    middle = (start, len(one) - kept, start, len(other) - kept)
    if max(middle[1], middle[3]) - start <= _LONG_TEXT:
        return [middle]
    return _around_sentences(one, other, middle)


def _around_sentences(one: str, other: str, middle: Hunk) -> list[Hunk]:
    """The ranges of sentences that differ, each with a sentence on either side."""
    start, end, start_other, end_other = middle
    sentences = _SENTENCE.findall(one, start, end)
    sentences_other = _SENTENCE.findall(other, start_other, end_other)
    starts = list(accumulate(map(len, sentences), initial=start))
    starts_other = list(accumulate(map(len, sentences_other), initial=start_other))
    wide: list[Hunk] = []
    for first, after, first_other, after_other in align(sentences, sentences_other, anchor=1):
        before = min(1, first, first_other)
        behind = min(1, len(sentences) - after, len(sentences_other) - after_other)
        hunk = (first - before, after + behind, first_other - before, after_other + behind)
        if wide and (hunk[0] <= wide[-1][1] or hunk[2] <= wide[-1][3]):
            last = wide.pop()
            hunk = (last[0], hunk[1], last[2], hunk[3])
        wide.append(hunk)
    return [
        (starts[first], starts[after], starts_other[first_other], starts_other[after_other])
        for first, after, first_other, after_other in wide
    ]


def _boundary(text: str, wanted: int, latest: int) -> int:
    """The first place after white space from `wanted` on, else the start of the text."""
    if not wanted:
        return 0
    for at in range(wanted, latest):
        if text[at - 1].isspace():
            return at
    return 0
