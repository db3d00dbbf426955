"""The answers as a file: one a line, in order; after a stop it tells where to go on."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import orjson

from service.bulk.errors import BulkError
from service.bulk.mapping import Line
from service.client import Answer, Problem

Record = dict[str, Any]


class Journal:
    """The answers file of one import. Nobody else may write to it meanwhile."""

    def __init__(self, path: Path, *, resume: bool) -> None:
        self._path = path
        try:
            self._file: IO[bytes] = path.open("a+b")
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BulkError(f"{path}: another import writes to it") from None
        except OSError as exc:
            raise BulkError(f"{path}: {exc.strerror}") from None
        if not resume and path.stat().st_size:
            raise BulkError(f"{path}: is there already: --resume goes on where it ends")

    def written(self) -> Iterator[Record]:
        """The answers that are there. What follows the last whole one is cut off: a line that a
        kill has torn."""
        end = 0
        self._file.seek(0)
        for line in self._file:
            record = _parsed(line)
            if record is None:
                break
            end += len(line)
            yield record
        self._file.truncate(end)

    def write(self, record: Record) -> None:
        """Adds one answer, and hands it to the system at once."""
        try:
            self._file.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
            self._file.flush()
        except OSError as exc:
            raise BulkError(f"{self._path}: {exc.strerror}") from None

    def close(self) -> None:
        """Lets go of the file."""
        self._file.close()


def record(line: Line, result: Answer | Problem) -> Record:
    """The answer to a line as the file keeps it."""
    told: Record = {"file": line.file, "line": line.line}
    if line.was is not None:
        told["was"] = line.was
    if isinstance(result, Answer):
        return told | {name: value for name, value in result.raw.items() if name != "index"}
    problem = {
        "status": result.status,
        "code": result.code,
        "detail": result.detail,
        "errors": [
            {"pointer": fault.pointer, "code": fault.code, "detail": fault.detail}
            for fault in result.faults
        ],
    }
    return told | {"id": result.id, "problem": problem}


def is_of(record: Record, line: Line) -> bool:
    """Whether an answer that is there is to this line."""
    told = (record.get("file"), record.get("line"), record.get("id"))
    return told == (line.file, line.line, line.id)


def _parsed(line: bytes) -> Record | None:
    if not line.endswith(b"\n"):
        return None
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return record if isinstance(record, dict) else None
