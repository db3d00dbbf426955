"""What can go wrong for a caller: one family.

    TwinsiftError
    ├── Refused       the service answered that it will not: asking again changes nothing
    └── Unavailable   there was no answer, or 429 or 503, for as long as patience lasted: asking
                      again later is safe

No message carries any posted text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong in a request: where (a JSON pointer), what kind, and in words."""

    pointer: str
    code: str
    detail: str


class TwinsiftError(Exception):
    """A call that was not answered with what it asked for.

    `code` is the stable one of the contract, or one of the client's own: `unreachable` (no answer),
    `unexpected_answer` (not from twinsift, a proxy's page say), `unsendable` (not JSON). `status`
    is None where there was no answer, `request_id` what the log of the service calls the call.
    `attempts` is how often it was asked: where a reply was lost and the call asked again,
    `already_reverted`, `unknown_document` or `unknown_collection` may mean that the first asking
    did it.
    """

    def __init__(
        self,
        detail: str,
        *,
        code: str,
        status: int | None = None,
        faults: Sequence[Fault] = (),
        request_id: str | None = None,
        attempts: int = 1,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.code = code
        self.status = status
        self.faults = tuple(faults)
        self.request_id = request_id
        self.attempts = attempts

    def __str__(self) -> str:
        told = [self.detail, *(f"{fault.pointer or '/'}: {fault.detail}" for fault in self.faults)]
        return f"{'; '.join(told)} [{self.code}]"


class Refused(TwinsiftError):
    """The service will not do this; asking again changes nothing."""


class Unavailable(TwinsiftError):
    """The service could not be reached, or could not answer now; asking again later is safe."""
