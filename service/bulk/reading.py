"""From files to lines that ask for checks, one file after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from service.bulk.exporting import part_of
from service.bulk.files import TextFile
from service.bulk.mapping import Fields, Line, line_of
from service.bulk.restoring import Restoring
from service.bulk.rows import rows


def lines_of(
    files: Sequence[TextFile], form: str | None, fields: Fields, restoring: Restoring
) -> Iterator[Line]:
    """The lines of all files, in order; those of an export as `restoring` has them."""
    for file in files:
        for row in rows(file, form):
            part = part_of(row.fields)
            if part is None:
                yield line_of(row, fields)
            else:
                yield from restoring.lines(row, *part)
        yield from restoring.waiting()
        file.close()
