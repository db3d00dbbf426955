"""Many checks as if they came one after the other, with their round trips shared."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from service.checker import Begun, Checker
from service.dedup.verdict import Answer, Document
from service.errors import StoreError, TwinsiftError
from service.store.base import CollectionChanged, Look, Registered, Replay, Seen, Store

# So many are looked up at once at most, and so many prepared; so many are held in all.
WINDOW = 32
MOST_HELD = 2 * WINDOW
# And of no more text than this, one text apart: what is made of a text takes many times its size.
MOST_TEXT = 256 * 1024  # characters

Result = Answer | TwinsiftError


@dataclass(slots=True, eq=False)
class _Item:
    """A text on its way to its result, with the earlier ones that it may have to do with: those
    that share a claim."""

    begun: Begun
    size: int  # characters
    claims: list[str | bytes]
    earlier: list[_Item]
    is_looked_up: bool = False
    look: Look = None
    result: Result | None = None

    def is_free(self) -> bool:
        """Whether all earlier ones have their result."""
        if all(item.result is not None for item in self.earlier):
            self.earlier = []  # they are not kept by those that follow
        return not self.earlier


class Batches:
    """Answers batches over a checker and its store."""

    def __init__(self, store: Store, checker: Checker) -> None:
        self._store = store
        self._checker = checker

    def check(self, documents: Iterable[Document | TwinsiftError | None]) -> Iterator[Result]:
        """The answer to each, or the error of each that cannot be answered, in order.

        An error in the place of a document is passed on. None says that the next one may be long
        in coming: what is there is answered before it is waited for.

        Texts that may have to do with each other (one id, one hash, one bucket) are never
        looked up at once: the later one waits until the earlier one has its answer. So does all
        that has seen a text which an earlier one changes. `MOST_HELD` are held at most.
        """
        return _Batch(self._store, self._checker, documents).answers()


class _Batch:
    """One batch, in rounds. Each looks up what has nothing to do with an earlier text that is not
    decided, while more is prepared. What is like nothing is registered by its look. All others are
    decided in order; where that changes other texts, who has seen those looks again.
    """

    def __init__(
        self,
        store: Store,
        checker: Checker,
        documents: Iterable[Document | TwinsiftError | None],
    ) -> None:
        self._store = store
        self._checker = checker
        self._documents = iter(documents)
        self._is_over = False
        self._is_paused = False  # the next document may be long in coming
        self._held: deque[_Item | TwinsiftError] = deque()
        self._size = 0  # of what is held, in characters
        self._undecided: list[_Item] = []
        self._last: dict[str | bytes, _Item] = {}  # that has a claim, of those that are held
        self._looks: Callable[[], Sequence[Look]] | None = None

    def answers(self) -> Iterator[Result]:
        """See `Batches.check`."""
        self._store.begin_call()
        try:
            while True:
                self._prepare_more()
                if self._held:
                    self._round()
                    yield from self._confirmed(self._answered())
                elif self._is_over:
                    return
                else:
                    self._is_paused = False
        finally:
            self._told([])  # what nobody reads would be taken for the next one's reply

    def _prepare_more(self) -> None:
        """Reads and prepares a window of documents, as far as they may be held."""
        for _ in range(min(WINDOW, MOST_HELD - len(self._held))):
            if self._is_over or self._is_paused or self._size > MOST_TEXT:
                return
            try:
                document = next(self._documents)
            except StopIteration:
                self._is_over = True
                return
            if document is None:
                self._is_paused = True
            else:
                self._held.append(self._prepared(document))

    def _prepared(self, document: Document | TwinsiftError) -> _Item | TwinsiftError:
        if isinstance(document, TwinsiftError):
            return document
        try:
            begun = self._checker.begin(document)
        except TwinsiftError as error:
            return error
        claims = begun.entry.probe.claims
        # Of several with one claim the last is enough: it waits for those before it.
        earlier = [self._last[claim] for claim in claims if claim in self._last]
        item = _Item(begun, _size(document), claims, earlier)
        self._size += item.size
        self._last.update(dict.fromkeys(claims, item))
        self._undecided.append(item)
        return item

    def _round(self) -> None:
        self._store.go_on()  # of many items none has to answer for the others' waits
        together = self._next_together()
        self._looks = self._ask(together)
        self._prepare_more()
        for item, look in zip(together, self._told(together), strict=True):
            item.is_looked_up, item.look = True, look
            if isinstance(look, Registered):
                self._decide(item)
        self._decide_in_order()

    def _next_together(self) -> list[_Item]:
        """Those that may be looked up at once now. A dry run is looked up by itself."""
        together: list[_Item] = []
        for at, item in enumerate(self._undecided):
            if item.begun.case.document.dry_run:
                return together if at else [item]
            if not item.is_looked_up and item.is_free():
                together.append(item)
        return together[:WINDOW]

    def _ask(self, together: Sequence[_Item]) -> Callable[[], Sequence[Look]] | None:
        """Begins to look up all of them; None where each is to be checked by itself."""
        if not together or together[0].begun.case.document.dry_run:
            return None
        with suppress(StoreError):
            return self._store.begin_checks(
                [(item.begun.case.collection, item.begun.entry) for item in together]
            )
        return None

    def _told(self, together: Sequence[_Item]) -> Sequence[Look]:
        """What came of each; None for one that must be checked by itself."""
        looks, self._looks = self._looks, None
        if looks is not None:
            with suppress(StoreError):
                return looks()
        return [None] * len(together)

    def _decide_in_order(self) -> None:
        """Decides what was looked up, up to the first text that was not."""
        while self._undecided and self._undecided[0].is_looked_up:
            item = self._undecided.pop(0)
            if item.result is None:
                self._decide(item)
        self._undecided = [item for item in self._undecided if item.result is None]

    def _decide(self, item: _Item) -> None:
        """The result of a text that was looked up, once all that follows is applied."""
        self._store.go_on()
        changes: frozenset[int] | None = None
        try:
            with suppress(CollectionChanged):
                if item.look is not None:
                    concluded = self._checker.conclude(item.begun, item.look)
                    item.result, changes = concluded.answer, concluded.changes
            if item.result is None:
                changes = None
                item.result = self._checker.check_begun(item.begun)
        except TwinsiftError as error:
            item.result = error
        if changes is None or changes:
            self._look_again(changes)

    def _look_again(self, changed: frozenset[int] | None) -> None:
        """Forgets the looks that saw one of these texts (None: all) as it is no more."""
        for item in self._undecided:
            if item.result is None and item.is_looked_up:
                item.is_looked_up = not (changed is None or _has_seen(item.look, changed))

    def _confirmed(self, answered: Iterator[Result]) -> list[Result]:
        """The results, and the reason in the place of each that is not known to be kept."""
        results = list(answered)
        if not any(isinstance(result, Answer) for result in results):
            return results
        try:
            self._store.confirm()
        except StoreError as error:
            return [error if isinstance(result, Answer) else result for result in results]
        return results

    def _answered(self) -> Iterator[Result]:
        """The results that are there, as far as there is none missing before."""
        while self._held:
            first = self._held[0]
            result = first.result if isinstance(first, _Item) else first
            if result is None:
                return
            self._held.popleft()
            if isinstance(first, _Item):
                self._size -= first.size
                for claim in first.claims:
                    if self._last[claim] is first:
                        del self._last[claim]
            yield result


def _size(document: Document) -> int:
    text, pages = document.posted.text, document.posted.pages
    return len(text) if text is not None else sum(map(len, pages or ()))


def _has_seen(look: Look, numbers: frozenset[int]) -> bool:
    """Whether a look depends on one of these texts."""
    if isinstance(look, Replay):
        texts = [look.stored, look.anchor, *look.standing.texts]
    elif isinstance(look, Seen):
        candidates = [candidate.stored for candidate in look.candidates]
        texts = [look.exact, look.old_anchor, *look.standing.texts, *candidates]
    else:
        return False
    is_partial = isinstance(look, Seen) and look.cut
    return is_partial or any(text is not None and text.number in numbers for text in texts)
