"""A page as the line rules see it: filled lines, taken away from its top and its bottom.

Page numbers and running headers are looked for at the edges only. Taking a line away at an
edge costs constant time, however long the page is, so that repeating the rules stays linear.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from service.text import characters

TOP: Final = 0
BOTTOM: Final = 1
EDGES: Final = (TOP, BOTTOM)
_BLANK: Final = characters.BLANK_CHARACTERS


@dataclass(slots=True)
class EdgeLines:
    """The lines of one page: `view` holds the indices of filled lines that stay, `gone` those
    of lines removed.
    """

    lines: list[str]
    view: deque[int] = field(default_factory=deque)
    gone: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, page: str) -> "EdgeLines":
        """A page's text cut at newlines; lines of blanks only are not looked at."""
        if not page:
            return _EMPTY
        lines = page.split("\n")
        return cls(lines, deque([i for i, line in enumerate(lines) if line.strip(_BLANK)]))

    def inwards(self, edge: int) -> Iterator[int]:
        """The indices in view, from an edge inwards."""
        return iter(self.view) if edge == TOP else reversed(self.view)

    def at(self, edge: int, depth: int = 0) -> int | None:
        """The index that stands `depth` lines inwards of an edge (a small number), or None."""
        if depth >= len(self.view):
            return None
        return self.view[depth] if edge == TOP else self.view[-1 - depth]

    def drop(self, index: int, edge: int) -> None:
        """Take a line near an edge out of the text."""
        self.gone.add(index)
        if self.view[-edge] == index:  # the outermost line: 0 for the top, -1 for the bottom
            self.view.popleft() if edge == TOP else self.view.pop()
            return
        near = list(islice(self.inwards(edge), 16))
        depth = near.index(index)
        del self.view[depth if edge == TOP else len(self.view) - 1 - depth]

    def text(self) -> str:
        """The lines that stay."""
        if not self.gone:
            return "\n".join(self.lines)
        return "\n".join(line for i, line in enumerate(self.lines) if i not in self.gone)


# All empty pages are this one: nothing is ever taken from it.
_EMPTY: Final = EdgeLines([""])
