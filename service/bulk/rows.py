"""What stands in each line of a file: an object of JSON, or a row of CSV under its header."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from service.bulk.errors import BulkError
from service.bulk.files import LONGEST_LINE, TextFile

DELIMITERS = ",;\t|"
NOT_JSON = "malformed_json"
TOO_LARGE = "too_large"
INVALID = "invalid_request"


@dataclass(frozen=True, slots=True)
class Row:
    """A line's fields, or what is wrong with it: a code of the contract, and words."""

    file: str
    line: int
    fields: Mapping[str, Any]
    code: str | None = None
    detail: str = ""


def rows(file: TextFile, form: str | None) -> Iterator[Row]:
    """The rows of a file; `form` is `jsonl` or `csv`, None: as it begins. Empty lines are none.
    Lines count from 1; a row of CSV is where it begins."""
    if form is None:
        form = "jsonl" if file.starts_with_object() else "csv"
    return _of_json(file) if form == "jsonl" else _of_csv(file)


def _of_json(file: TextFile) -> Iterator[Row]:
    for number, line in enumerate(file.lines(), 1):
        if line is None:
            detail = f"the line is longer than {LONGEST_LINE} bytes"
            yield Row(file.name, number, {}, TOO_LARGE, detail)
        elif line.strip():
            yield _json_row(file.name, number, line)


def _json_row(name: str, number: int, line: bytes) -> Row:
    try:
        fields = orjson.loads(line)
    except orjson.JSONDecodeError:
        is_text = _is_utf_8(line)
        detail = "the line is no JSON" if is_text else "the line is not UTF-8"
        return Row(name, number, {}, NOT_JSON, detail)
    if not isinstance(fields, dict):
        return Row(name, number, {}, INVALID, "the line is no object")
    return Row(name, number, fields)


def _of_csv(file: TextFile) -> Iterator[Row]:
    lines = _Decoded(file)
    csv.field_size_limit(LONGEST_LINE)
    header_line = next(lines, "")
    delimiter = max(DELIMITERS, key=header_line.count)
    header = next(csv.reader([header_line], delimiter=delimiter), [])
    if not header or len(set(header)) < len(header):
        raise BulkError(f"{file.name}: neither JSON lines nor CSV with a header of distinct names")
    reader = csv.reader(lines, delimiter=delimiter)
    while True:
        number = lines.number + 1
        try:
            values = next(reader)
        except StopIteration:
            return
        except csv.Error:
            yield Row(file.name, number, {}, INVALID, "the row is no CSV")
            continue
        if values:
            yield _csv_row(file.name, number, header, values)


def _csv_row(name: str, number: int, header: list[str], values: list[str]) -> Row:
    if len(values) > len(header):
        return Row(name, number, {}, INVALID, "the row has more fields than the header")
    fields = dict(zip(header, values, strict=False))
    if not all(value.isascii() or _is_text(value) for value in values):
        return Row(name, number, {}, NOT_JSON, "the row is not UTF-8")
    return Row(name, number, fields)


class _Decoded:
    """Lines as strings, counted; bytes that are no UTF-8 become lone surrogates."""

    def __init__(self, file: TextFile) -> None:
        self._lines = file.lines()
        self.number = 0

    def __iter__(self) -> _Decoded:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.number += 1
        return "" if line is None else line.decode("utf-8", "surrogateescape")


def _is_utf_8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _is_text(value: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in value)
