"""How bulk work says that it cannot go on."""

from __future__ import annotations


class BulkError(Exception):
    """The work stops here; the message is one line, and quotes no text."""
