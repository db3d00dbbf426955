"""What is wrong with a form, told at its fields."""

from __future__ import annotations

from service.errors import RequestError


def told(error: RequestError, otherwise: str) -> dict[str, str]:
    """The words for each field that the error names; for one that names none, of `otherwise`."""
    words: dict[str, str] = {}
    for fault in error.faults:
        words.setdefault(fault.pointer.split("/")[1], _sentence(fault.detail))
    return words or {otherwise: _sentence(error.detail)}


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:].rstrip('.')}."
