"""Many checks as if they came one after the other, with their round trips shared."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from service.checker import Begun, Checker
from service.dedup.verdict import Answer, Document
from service.errors import StoreError, TwinsiftError
from service.store.base import CollectionChanged, Registered, Replay, Seen, Store

# So many are looked up at once, while the next are prepared.
WINDOW = 32
# And of no more text than this, one text apart: what is made of a text takes many times its size.
WINDOW_TEXT = 256 * 1024  # characters

Result = Answer | TwinsiftError
Look = Registered | Replay | Seen | None
InFlight = Callable[[], Sequence[Look]]


@dataclass(slots=True)
class _InWindow:
    """A check and its place in the window."""

    place: int
    begun: Begun


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
        looked up at once: the later one waits until the earlier one has its answer. No more than
        two windows are held at a time.
        """
        windows = _windows(documents)
        window = self._begin(next(windows, None))
        while window is not None:
            self._store.begin_call()  # of many items none has to answer for the others' waits
            answers: dict[int, Result] = {}
            left = [one for one in window if isinstance(one, _InWindow)]
            together, left = _apart(left)
            in_flight = self._ask(together)
            following: list[_InWindow | Result] | None = None
            try:
                following = self._begin(next(windows, None))
            finally:
                # Replies that nobody reads would be taken for those of the next question.
                told = _received(in_flight, together)
            self._conclude_all(together, told, answers)
            while left:
                together, left = _apart(left)
                told = _received(self._ask(together), together)
                self._conclude_all(together, told, answers)
            for place, one in enumerate(window):
                yield answers[place] if isinstance(one, _InWindow) else one
            window = following

    def _ask(self, together: Sequence[_InWindow]) -> InFlight | None:
        """Begins the checks of those that have nothing to do with each other; None where they
        must be asked one by one."""
        if len(together) < 2:
            return None
        with suppress(StoreError):
            return self._store.begin_checks(
                [(one.begun.case.collection, one.begun.entry) for one in together]
            )
        return None

    def _conclude_all(
        self, together: Sequence[_InWindow], told: Sequence[Look], answers: dict[int, Result]
    ) -> None:
        for one, look in zip(together, told, strict=True):
            answers[one.place] = self._conclude(one.begun, look)

    def _begin(
        self, documents: Sequence[Document | TwinsiftError] | None
    ) -> list[_InWindow | Result] | None:
        """A window of documents, each ready to be looked up, or its error; None after the last."""
        if documents is None:
            return None
        begun: list[_InWindow | Result] = []
        for place, document in enumerate(documents):
            if isinstance(document, TwinsiftError):
                begun.append(document)
                continue
            try:
                begun.append(_InWindow(place, self._checker.begin(document)))
            except TwinsiftError as error:
                begun.append(error)
        return begun

    def _conclude(self, begun: Begun, told: Look) -> Result:
        self._store.begin_call()
        try:
            if told is not None:
                with suppress(CollectionChanged):
                    answer = self._checker.conclude(begun, told)
                    if answer is not None:
                        return answer
            return self._checker.check_begun(begun)
        except TwinsiftError as error:
            return error


def _received(in_flight: InFlight | None, together: Sequence[_InWindow]) -> Sequence[Look]:
    """What came of each check; None for one that must be asked by itself."""
    if in_flight is not None:
        with suppress(StoreError):
            return in_flight()
    return [None] * len(together)


def _windows(
    documents: Iterable[Document | TwinsiftError | None],
) -> Iterator[list[Document | TwinsiftError]]:
    """The documents in windows; an empty one where the next may be long in coming."""
    window: list[Document | TwinsiftError] = []
    size = 0
    for document in documents:
        if document is not None:
            window.append(document)
            size += _size(document)
        is_full = len(window) == WINDOW or size > WINDOW_TEXT
        if is_full or (document is None and window):
            yield window
            window, size = [], 0
        if document is None:
            yield []
    if window:
        yield window


def _size(document: Document | TwinsiftError) -> int:
    if isinstance(document, TwinsiftError):
        return 0
    text, pages = document.posted.text, document.posted.pages
    return len(text) if text is not None else sum(map(len, pages or ()))


def _apart(window: Sequence[_InWindow]) -> tuple[list[_InWindow], list[_InWindow]]:
    """Those that may be looked up at once, and those that come after: whatever may have to do with
    an earlier one. A dry run is looked up by itself."""
    claimed: set[Hashable] = set()
    together: list[_InWindow] = []
    later: list[_InWindow] = []
    for one in window:
        case, probe = one.begun.case, one.begun.entry.probe
        if case.document.dry_run and (together or later):
            later.append(one)
            later += window[len(together) + len(later) :]
            break
        uid = case.collection.uid
        claims: list[Hashable] = [(uid, probe.id)]
        claims += [(uid, band, tag) for band, tag in enumerate(probe.tags)]
        is_free = claimed.isdisjoint(claims)
        claimed.update(claims)
        (together if is_free else later).append(one)
        if case.document.dry_run:
            later += window[1:]
            break
    return together, later
