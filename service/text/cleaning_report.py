"""What cleaning did to a document: counts that add up, and lines named as examples."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

RULES: Final = (
    "control_characters",
    "invisible_characters",
    "line_ends",
    "whitespace",
    "empty_lines",
    "repeated_lines",
    "page_numbers",
)
MAX_EXAMPLES: Final = 10


@dataclass(frozen=True, slots=True)
class Example:
    """One removed line: on how many `pages` of how many (`of`) it was removed.

    `kept` says that a copy of it stays, because it reads like a warning or a rule.
    """

    text: str
    pages: int
    of: int
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Removal:
    """What one rule did: `count` lines for the line rules, else characters; `chars` removed."""

    rule: str
    count: int
    chars: int
    examples: tuple[Example, ...] = ()


@dataclass(frozen=True, slots=True)
class CleaningReport:
    """The sums over all pages, in code points: before minus after is the sum of `chars`.

    `kept` names lines that repeat like running headers and stay: warnings and rules (one copy
    of each), and lines that the collection protects (all copies; `pages` is where they stand).
    """

    chars_before: int
    chars_after: int
    removed: tuple[Removal, ...] = ()
    kept: tuple[Example, ...] = ()


@dataclass(slots=True)
class Tally:
    """Counts in the making; `report` closes them."""

    counts: dict[str, int] = field(default_factory=dict)
    chars: dict[str, int] = field(default_factory=dict)

    def add(self, rule: str, count: int, chars: int) -> None:
        """Note `count` removals or replacements that took away `chars` code points."""
        if count:
            self.counts[rule] = self.counts.get(rule, 0) + count
            self.chars[rule] = self.chars.get(rule, 0) + chars

    def report(
        self,
        before: int,
        after: int,
        examples: Mapping[str, Sequence[Example]],
        kept: Iterable[Example],
    ) -> CleaningReport:
        """The finished report, rules in their documented order, examples capped."""
        if not self.counts:
            return CleaningReport(before, after, (), tuple(kept)[:MAX_EXAMPLES])
        removed = tuple(
            Removal(
                rule,
                self.counts[rule],
                self.chars[rule],
                tuple(examples.get(rule, ()))[:MAX_EXAMPLES],
            )
            for rule in RULES
            if rule in self.counts
        )
        return CleaningReport(before, after, removed, tuple(kept)[:MAX_EXAMPLES])
