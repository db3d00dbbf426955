"""How a command says that it cannot."""

from __future__ import annotations


class CommandError(Exception):
    """A command cannot do what it was asked for: exit status 1. The message is one line."""


class UsageError(Exception):
    """What was chosen does not go together: exit status 2. The message is one line."""
