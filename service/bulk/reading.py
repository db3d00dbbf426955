"""From files to lines that ask for checks, one file after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from service.bulk.files import TextFile
from service.bulk.mapping import Fields, Line, line_of
from service.bulk.rows import rows


def lines_of(files: Sequence[TextFile], form: str | None, fields: Fields) -> Iterator[Line]:
    """The lines of all files, in order."""
    for file in files:
        for row in rows(file, form):
            yield line_of(row, fields)
        file.close()
