"""What can go wrong, in the product's own words.

    TwinsiftError
    ├── RequestError                the caller can mend it
    │   ├── MalformedJson           not JSON that means one thing
    │   ├── MalformedBody           broken compression or framing
    │   ├── InvalidRequest          JSON, but not what the call takes
    │   │   └── EmptyText           nothing is left to compare
    │   ├── TooLarge                body or text over its limit
    │   ├── UnsupportedMediaType    content type or encoding
    │   ├── Unauthorized            no valid token
    │   ├── Forbidden               a token that is not for this
    │   ├── RateLimited             a token that asks too often
    │   ├── UnknownCollection
    │   ├── UnknownDocument
    │   ├── UnknownConflict
    │   ├── UnknownDecision
    │   ├── FrozenSetting           stored signatures depend on it
    │   ├── DefaultCollection       `default` cannot be removed
    │   ├── AlreadyResolved         the conflict has another ruling
    │   ├── EarlierConflict         another conflict is to be ruled on first
    │   ├── ConflictVoid            one of its texts left before a ruling
    │   ├── AlreadyReverted         the decision was taken back before
    │   └── NotRevertible           a text is gone, or something has changed since
    └── StoreError                  asking again later is safe
        ├── StoreUnavailable        not reachable, too slow, read-only
        ├── StoreFull               at its memory limit
        └── Unconfirmed             stored, but not yet on a replica

This module knows neither HTTP nor Redis: `web/problems.py` gives each class its status, and
`store/failures.py` makes the last of what the driver says. No message carries any
posted text.
"""

from __future__ import annotations

from dataclasses import dataclass


class TwinsiftError(Exception):
    """Anything the service raises on purpose. `str()` of it is safe to show and to log."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong in a request: where (a JSON pointer), what kind, and in words."""

    pointer: str
    code: str
    detail: str


class RequestError(TwinsiftError):
    """The request cannot be answered as it stands; `faults` says which fields and why."""

    def __init__(self, detail: str, faults: tuple[Fault, ...] = ()) -> None:
        super().__init__(detail)
        self.detail = detail
        self.faults = faults


class MalformedJson(RequestError):
    """The body is not JSON, or is JSON that parsers read differently."""


class MalformedBody(RequestError):
    """The body could not be unpacked."""


class InvalidRequest(RequestError):
    """The body is JSON but not a request of this call."""


class EmptyText(InvalidRequest):
    """Nothing visible is left to compare."""


class TooLarge(RequestError):
    """The body or the text is larger than the settings allow."""


class UnsupportedMediaType(RequestError):
    """The content type or content encoding is not one the service reads."""


class UnknownCollection(RequestError):
    """No collection has this name."""


class UnknownDocument(RequestError):
    """No document of the collection has this id."""


class FrozenSetting(RequestError):
    """A setting that stored signatures depend on cannot change while documents are stored."""


class DefaultCollection(RequestError):
    """The collection `default` always exists."""


class Unauthorized(RequestError):
    """The call needs a token, and has none that is valid."""


class Forbidden(RequestError):
    """The token is valid, and not for this call or this collection."""


class RateLimited(RequestError):
    """The token has made more calls than it may; `wait` is in seconds."""

    def __init__(self, wait: float) -> None:
        super().__init__("The token has made more calls than it may; ask again later.")
        self.wait = wait


class UnknownConflict(RequestError):
    """There is no conflict of this id."""


class UnknownDecision(RequestError):
    """The log has no entry of this id."""


class AlreadyResolved(RequestError):
    """The conflict has another ruling, or is not any more what the person who rules was shown."""


class EarlierConflict(RequestError):
    """The existing text of the conflict waits for a ruling of its own, which comes first."""


class ConflictVoid(RequestError):
    """One of the conflict's texts left before a ruling."""


class AlreadyReverted(RequestError):
    """The decision was taken back before."""


class NotRevertible(RequestError):
    """The decision cannot be taken back: a text is gone, or something has changed since."""


class StoreError(TwinsiftError):
    """The store did not take or give what was asked; nothing was half-written. `kind` says why:
    timeout, connection, readonly, loading, full, noperm, unconfirmed, or other."""

    kind: str = "other"


class StoreUnavailable(StoreError):
    """The store cannot be reached, did not answer in time, or takes no writes now."""

    def __init__(self, detail: str, kind: str = "other") -> None:
        super().__init__(detail)
        self.kind = kind


class StoreFull(StoreError):
    """The store is at its memory limit: reads, replays and deletes go on."""

    kind = "full"


class Unconfirmed(StoreError):
    """It is stored, but no replica has said that it has it too: asking again asks that again."""

    kind = "unconfirmed"
