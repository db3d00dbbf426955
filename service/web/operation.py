"""What one row of the table of calls says, and the codes that many calls can fail with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from marshmallow import Schema

from service.tokens import Scope
from service.web.parameters import NO_PARAMETERS

STORE = ("store_unavailable",)
JSON = "application/json"
WRITING = ("store_unavailable", "store_full", "unconfirmed")
BODY = ("malformed_json", "malformed_body", "unsupported_media_type")
GUARDED = ("unauthorized", "forbidden", "rate_limited", "store_unavailable")
ALWAYS = ("too_large", "invalid_request", "internal_error")


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One call. `answers` names the component of each status, `fails` the codes of its own.
    They are JSON but where `media_type` says otherwise.
    `stream`: it also takes and gives a stream of lines. `scope` is what a token needs for it; None
    where none is needed."""

    method: str
    path: str
    summary: str
    answers: Mapping[int, str]
    fails: tuple[str, ...] = ()
    path_schema: Schema | None = None
    query: Schema = NO_PARAMETERS
    body: Schema | None = None
    stream: bool = False
    media_type: str = JSON
    scope: Scope | None

    @property
    def codes(self) -> tuple[str, ...]:
        """Every code that the call can fail with."""
        guarded = () if self.scope is None else GUARDED
        own = BODY if self.body is not None else ()
        return tuple(dict.fromkeys((*own, *guarded, *ALWAYS, *self.fails)))
