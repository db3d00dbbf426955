"""What the line rules took away, line by line, until it is known how the document ends up."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from service.text.cleaning_report import Example, Tally


@dataclass(slots=True)
class Entry:
    """What went of one line of a page: all that was left of it, or `chars` at its end."""

    rule: str
    page: int
    line: int
    text: str
    named: str
    chars: int
    is_whole: bool


@dataclass(slots=True)
class LineLog:
    """Lines removed or shortened, and lines that stay though they repeat."""

    entries: list[Entry] = field(default_factory=list)
    once: set[str] = field(default_factory=set)
    kept: dict[str, set[int]] = field(default_factory=dict)

    def removed(
        self, rule: str, page: int, line: int, text: str, *, named: str | None = None
    ) -> None:
        """A whole line went, its newline included; lines with one name are one example."""
        chars = len(text) + 1
        self.entries.append(Entry(rule, page, line, text, named or text, chars, is_whole=True))

    def shortened(self, rule: str, page: int, line: int, cut: str, chars: int) -> None:
        """`chars` characters went from the end of a line that stays."""
        self.entries.append(Entry(rule, page, line, cut, cut, chars, is_whole=False))

    def stays(self, line: str, pages: Iterable[int], *, once: bool) -> None:
        """A line that repeats stays: one copy of it (`once`), or all."""
        self.kept.setdefault(line, set()).update(pages)
        if once:
            self.once.add(line)

    def settle(self, tally: Tally, emptied: Iterable[int]) -> None:
        """Add everything to the tally; the last line of an emptied page had no newline."""
        last_of = {entry.page: entry for entry in self.entries}
        for page in emptied:
            if page in last_of:
                last_of[page].chars -= 1
        for entry in self.entries:
            tally.add(entry.rule, 1, entry.chars)

    def examples(self, of: int) -> dict[str, Sequence[Example]]:
        """The removed lines of each rule, those from most pages first."""
        groups: dict[str, dict[str, list[Entry]]] = {}
        for entry in self.entries:
            groups.setdefault(entry.rule, {}).setdefault(entry.named, []).append(entry)
        return {rule: _most_first(named.values(), of, self.once) for rule, named in groups.items()}

    def kept_examples(self, of: int) -> list[Example]:
        """The lines that repeat and stay, with the number of pages they were found on."""
        return [Example(line, len(pages), of, kept=True) for line, pages in self.kept.items()]


def _most_first(groups: Iterable[list[Entry]], of: int, once: set[str]) -> list[Example]:
    found = [
        Example(group[0].text, len({entry.page for entry in group}), of, group[0].text in once)
        for group in groups
    ]
    return sorted(found, key=lambda example: (not example.kept, -example.pages))
