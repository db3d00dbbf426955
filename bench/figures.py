"""What the questions answer: rows of one table, and bench/RESULTS.md, which holds them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles

RESULTS = Path(__file__).with_name("RESULTS.md")
TITLE = """# Results

Written by `make bench`, `make bench-large` and `make bench-cluster`; each replaces its own section.
Every section is one run on one machine, the peer through the same server.
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One measured figure. `reached` is None where nothing was asked of it."""

    figure: str
    measured: str
    wanted: str = ""
    reached: bool | None = None
    how: str = ""

    def cells(self) -> tuple[str, ...]:
        """The row as the table has it."""
        said = {None: "", True: "yes", False: "**no**"}[self.reached]
        return (self.figure, self.measured, self.wanted, said, self.how)


def at_least(figure: str, value: float, least: float, shown: str, how: str = "") -> Row:
    """A figure that must not be below `least`; `shown` formats both."""
    return Row(figure, shown.format(value), f">= {shown.format(least)}", value >= least, how)


def at_most(figure: str, value: float, most: float, shown: str, how: str = "") -> Row:
    """A figure that must not be above `most`."""
    return Row(figure, shown.format(value), f"<= {shown.format(most)}", value <= most, how)


def percentile(values: Sequence[float], percent: int) -> float:
    """The value that so many of a hundred do not exceed."""
    return quantiles(values, n=100, method="inclusive")[percent - 1]


def table(rows: Iterable[Row]) -> str:
    """Rows as a table in Markdown."""
    lines: list[tuple[str, ...]] = [
        ("figure", "measured", "must reach", "reached", "how"),
        ("---",) * 5,
    ]
    lines += [row.cells() for row in rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def show(rows: Iterable[Row]) -> None:
    """Print rows while a run goes on."""
    for row in rows:
        said = {None: "", True: "reached", False: "NOT REACHED"}[row.reached]
        wanted = f"  ({row.wanted} {said})" if row.wanted else ""
        print(f"  {row.figure}: {row.measured}{wanted}\n      {row.how}", flush=True)


def keep(section: str, text: str, path: Path = RESULTS) -> None:
    """Replace one section of the results, leaving the others."""
    written = path.read_text("utf-8") if path.exists() else TITLE
    head, *rest = re.split(r"(?m)^## ", written)
    sections = {part.partition("\n")[0]: part.partition("\n")[2].strip() for part in rest}
    sections[section] = text.strip()
    body = "".join(f"\n## {name}\n\n{content}\n" for name, content in sorted(sections.items()))
    path.write_text(f"{head.strip()}\n{body}", "utf-8")
