"""Random histories of a collection: posts, updates, deletions, rulings and reverts, by a seed."""

import random
from collections.abc import Callable
from contextlib import suppress

from service.catalogue import Catalogue
from service.checker import Checker
from service.dedup.decisions import ConflictFilter, ConflictStatus, DecisionFilter, Keep
from service.dedup.verdict import Answer, Document, Posted
from service.errors import RequestError
from service.reviewing import Reviewer

IDS = [f"doc-{number}" for number in range(12)]
TOPICS = 5


def text_of(topic: int, hours: int, verb: str) -> str:
    """A text that is a near copy of those of its topic; another number is another fact."""
    own = " ".join(f"topic{topic}word{number}" for number in range(24))
    return f"The desk of number {topic} {verb} requests within {hours} hours. {own} and so on."


class History:
    """Goes on and on; the same for the same seed."""

    def __init__(
        self, checker: Checker, catalogue: Catalogue, reviewer: Reviewer, seed: int
    ) -> None:
        self._checker = checker
        self._catalogue = catalogue
        self._reviewer = reviewer
        self._drawn = random.Random(seed)
        self._texts = [
            text_of(topic, hours, verb)
            for topic in range(TOPICS)
            for hours in (2, 3)
            for verb in ("answers", "takes")
        ]

    def go_on(self, steps: int) -> None:
        """So many moves; one that cannot be made is passed over."""
        moves: list[tuple[Callable[[], object], int]] = [
            (self._post, 10),
            (self._delete, 2),
            (self._rule, 4),
            (self._revert, 2),
        ]
        names, weights = zip(*moves, strict=True)
        for move in self._drawn.choices(names, weights, k=steps):
            with suppress(RequestError):
                move()

    def _post(self) -> Answer:
        id, text = self._drawn.choice(IDS), self._drawn.choice(self._texts)
        return self._checker.check(Document(id, Posted(text, None)))

    def _delete(self) -> None:
        erase = self._drawn.random() < 0.3
        self._catalogue.delete("default", self._drawn.choice(IDS), erase=erase)

    def _rule(self) -> None:
        wanted = ConflictFilter(ConflictStatus.OPEN)
        open_ones = self._reviewer.conflicts("default", wanted, 50, None).items
        if open_ones:
            one = self._drawn.choice(open_ones)
            self._reviewer.resolve(one.id, self._drawn.choice(list(Keep)), "somebody", None)

    def _revert(self) -> None:
        page = self._reviewer.decisions("default", DecisionFilter(), 200, None)
        if page.items:
            self._reviewer.revert(self._drawn.choice(page.items).id, "somebody", None)
