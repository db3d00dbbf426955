"""The import itself: lines are asked about in order, answers kept in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator

from service.bulk.errors import BulkError
from service.bulk.journal import Journal, is_of, record
from service.bulk.mapping import Line
from service.bulk.progress import Progress
from service.bulk.tally import Tally
from service.client import Answer, Problem
from service.client.many import Item, Result
from service.client.patience import ASK_AGAIN

Rule = Callable[[Line, Answer], str | None]
Ask = Callable[[Iterable[Item]], Iterator[Result]]


def skip_answered(lines: Iterator[Line], journal: Journal, tally: Tally) -> None:
    """Passes over the lines that have their answers already, and counts these.

    Raises BulkError where the answers are not those of these lines.
    """
    for told in journal.written():
        line = next(lines, None)
        if line is None or not is_of(told, line):
            place = f"{told.get('file')}:{told.get('line')}"
            raise BulkError(f"the answers are to other files or options: see the one to {place}")
        tally.count_resumed(told)


def ask_all(
    lines: Iterator[Line],
    ask: Ask,
    rule: Rule,
    *,
    journal: Journal | None,
    tally: Tally,
    progress: Progress,
) -> None:
    """Asks about each line, rules where `rule` does, writes and counts the answer.

    Raises BulkError where the service could not answer one: those before it are written.
    """
    under_way: deque[Line] = deque()

    def items() -> Iterator[Item]:
        for line in lines:
            under_way.append(line)
            yield line.item

    for result in ask(items()):
        line = under_way.popleft()
        if isinstance(result, Problem) and result.status in ASK_AGAIN:
            raise BulkError(f"{line.place}: {result.detail} [{result.code}]")
        told = record(line, result)
        if isinstance(result, Answer) and (ruled := rule(line, result)) is not None:
            told["ruled"] = ruled
        if journal is not None:
            journal.write(told)
        tally.count(told)
        progress.tell()
