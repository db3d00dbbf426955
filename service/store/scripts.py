"""The scripts that the server runs, as they are sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha1
from importlib.resources import files
from typing import Any

import hiredis

VERBS = (
    "look", "check", "commit", "leave", "touch", "recall", "trim", "erase", "grow", "read",
    "configure", "drop", "release", "admit", "confirm", "gather", "gather_open",
    "publish", "publish_out", "piece", "mend", "scan",
)  # fmt: skip


def packed(*command: Any) -> bytes:
    """A command as it goes over the wire."""
    return bytes(hiredis.pack_command(command))


Call = tuple[str, Sequence[Any], Sequence[Any]]
"""A script to run: the verb's name, its keys and its arguments."""


@dataclass(frozen=True, slots=True)
class Script:
    """One verb that the server runs, with the digest it is known by there."""

    source: str
    sha: str
    only_reads: bool

    def by_digest(self, keys: Sequence[Any], arguments: Sequence[Any]) -> bytes:
        """A run of it, for a server that knows it."""
        return packed("EVALSHA", self.sha, len(keys), *keys, *arguments)

    def by_source(self, keys: Sequence[Any], arguments: Sequence[Any]) -> bytes:
        """A run of it, for a server that does not."""
        return packed("EVAL", self.source, len(keys), *keys, *arguments)


INCLUDE = "-- include "


@cache
def load_script(name: str) -> Script:
    """The script in `lua/<name>.lua`: its first line, what all scripts share, and its body, with
    the files that it includes where it says so."""
    folder = files("service.store") / "lua"

    def read(part: str) -> str:
        return (folder / f"{part}.lua").read_text("utf-8")

    first_line, *body = read(name).splitlines()
    included = [
        read(line.removeprefix(INCLUDE)) if line.startswith(INCLUDE) else line for line in body
    ]
    source = "\n".join((first_line, read("records"), *included))
    sha = sha1(source.encode(), usedforsecurity=False).hexdigest()
    return Script(source, sha, only_reads="no-writes" in first_line)
