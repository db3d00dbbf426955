"""Bearer tokens: who may do what, read from a file of TOML that keeps only their SHA-256.

    [[token]]
    id = "ingest-1"
    sha256 = "…"                        # of the token, in hex
    scopes = ["check"]                  # check, read, review, admin
    collections = ["handbook"]          # left out: all
    rate = 50                           # calls a second; left out: what TWINSIFT_RATE says

The file is read again when it has changed. One that cannot be read then leaves the tokens as they
were, and is told in the log.
"""

from __future__ import annotations

import hmac
import logging
import re
import secrets
import threading
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from service.settings import SettingsError

NAME: Final = "TWINSIFT_TOKENS_FILE"
PREFIX: Final = "tw_"
SECRET_BYTES: Final = 32
MOST_A_SECOND: Final = 9999
_FIELDS: Final = {"id", "sha256", "scopes", "collections", "rate"}

_log = logging.getLogger("twinsift.tokens")


class Scope(StrEnum):
    """What a token may be good for: `check` is what workers do, `read` is looking, `review` is
    ruling and taking back, `admin` is the rest."""

    CHECK = "check"
    READ = "read"
    REVIEW = "review"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Token:
    """A token by its digest; `collections` None means all. `rate` is in calls a second, None where
    the row does not say."""

    id: str
    digest: str
    scopes: frozenset[Scope]
    collections: frozenset[str] | None
    rate: int | None = None


class Tokens:
    """The tokens of a file; raises SettingsError where it cannot be read at first."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._seen = self._stamp()
        self._tokens = _read(path)

    def find(self, secret: str) -> Token | None:
        """The token that this is, or None. How long it takes does not tell how near a guess is."""
        return self.of_digest(sha256(secret.encode("utf-8", "surrogateescape")).hexdigest())

    def of_digest(self, digest: str) -> Token | None:
        """The token of this SHA-256 in hex, or None; as for how long it takes, see `find`."""
        self._read_again()
        found = None
        for token in self._tokens:
            if hmac.compare_digest(token.digest, digest):
                found = token
        return found

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            status = self._path.stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino

    def _read_again(self) -> None:
        stamp = self._stamp()
        if stamp == self._seen:
            return
        with self._lock:
            if stamp == self._seen:
                return
            self._seen = stamp
            try:
                self._tokens = _read(self._path)
            except SettingsError as error:
                _log.warning("the tokens stay as they were: %s", error)


def make(id: str, scopes: Sequence[str], collections: Sequence[str]) -> tuple[str, str]:
    """A new token, and what the file is to say of it."""
    secret = PREFIX + secrets.token_urlsafe(SECRET_BYTES)
    lines = [
        "[[token]]",
        f"id = {_quoted(id)}",
        f'sha256 = "{sha256(secret.encode()).hexdigest()}"',
        f"scopes = [{', '.join(map(_quoted, scopes))}]",
    ]
    if collections:
        lines.append(f"collections = [{', '.join(map(_quoted, collections))}]")
    return secret, "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _read(path: Path) -> tuple[Token, ...]:
    try:
        written = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"{NAME}: the file cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{NAME}: the file is not UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{NAME}: the file is not TOML ({error})") from None
    rows = written.pop("token", [])
    if written or not isinstance(rows, list):
        raise SettingsError(f"{NAME}: the file has something beside [[token]]")
    if not rows:  # as a file is for a moment while it is written anew
        raise SettingsError(f"{NAME}: the file has no [[token]]")
    tokens = tuple(_token(row, place) for place, row in enumerate(rows, 1))
    for what in ("id", "digest"):
        if len({getattr(token, what) for token in tokens}) < len(tokens):
            raise SettingsError(f"{NAME}: two tokens have the same {what}")
    return tokens


def _token(row: Any, place: int) -> Token:
    def wrong(words: str) -> SettingsError:
        return SettingsError(f"{NAME}: token {place}: {words}")

    if not isinstance(row, dict) or not set(row) <= _FIELDS:
        raise wrong(f"has something beside {', '.join(sorted(_FIELDS))}")
    id, digest, scopes = row.get("id"), row.get("sha256"), row.get("scopes")
    collections = row.get("collections")
    if not isinstance(id, str) or not id:
        raise wrong("has no id")
    if not isinstance(digest, str) or not re.fullmatch(r"[0-9a-f]{64}", digest.lower()):
        raise wrong("sha256 is not 64 hex digits")
    if not _are_strings(scopes) or not scopes or not set(scopes) <= set(Scope):
        raise wrong(f"scopes are not some of {', '.join(Scope)}")
    if collections is not None and (not _are_strings(collections) or not collections):
        raise wrong("collections are no list of names")
    rate = row.get("rate")
    if rate is not None and (type(rate) is not int or not 1 <= rate <= MOST_A_SECOND):
        raise wrong(f"rate is no whole number from 1 to {MOST_A_SECOND}")
    return Token(
        id,
        digest.lower(),
        frozenset(Scope(scope) for scope in scopes),
        None if collections is None else frozenset(collections),
        rate,
    )


def _are_strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)
