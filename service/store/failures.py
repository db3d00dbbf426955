"""The one place where what the driver raises becomes ours."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    RedisError,
    ResponseError,
)
from redis.exceptions import (
    ConnectionError as DriverConnectionError,
)
from redis.exceptions import (
    TimeoutError as DriverTimeoutError,
)

from service.errors import StoreError, StoreFull, StoreUnavailable

OUT_OF_MEMORY = "OOM"
# Answers that say "not now", and the kind of error that each is: the driver's class alone does not
# tell them from a wrong command, and the words differ between servers.
KINDS = {
    "READONLY": "readonly", "LOADING": "loading", "NOPERM": "noperm", "NOAUTH": "noperm",
    "WRONGPASS": "noperm", "MISCONF": "other", "NOREPLICAS": "other", "BUSY": "other",
    "UNKILLABLE": "other", "CLUSTERDOWN": "other", "TRYAGAIN": "other", "MASTERDOWN": "other",
    "MOVED": "other", "ASK": "other",
}  # fmt: skip
REFUSED_IN_SCRIPT = ("ACL failure", "The user executing the script can't run")
OTHER_HOST = (62, 64)
"""How OpenSSL calls a certificate for other names, and one for other addresses."""


class HungUp(DriverConnectionError):
    """The server ended a connection before it answered anything; the message says why it may."""


@contextmanager
def driver_errors() -> Iterator[None]:
    """Turns what the driver raises into StoreUnavailable or StoreFull.

    An answer that is none of these is a mistake in our scripts and stays what it is."""
    try:
        yield
    except (RedisError, OSError) as exc:
        ours = ours_of(exc)
        if ours is None:
            raise
        raise ours from exc


def ours_of(error: Exception) -> StoreError | None:
    """The error of ours that one of the driver's stands for; None for a mistake of ours."""
    code = code_of(error)
    if code == OUT_OF_MEMORY:
        return StoreFull("the store is at its memory limit")
    if code in KINDS:
        return StoreUnavailable(f"the store takes no calls now ({code})", KINDS[code])
    # What a user may not do inside a script is told without a code.
    of_script = isinstance(error, ResponseError) and str(error).startswith(REFUSED_IN_SCRIPT)
    if of_script or isinstance(error, (AuthenticationError, AuthorizationError)):
        return StoreUnavailable("the store refuses the user or a command of it", "noperm")
    if isinstance(error, ResponseError):
        return None
    if isinstance(error, (DriverTimeoutError, TimeoutError)):
        return StoreUnavailable("the store did not answer in time", "timeout")
    if isinstance(error, (DriverConnectionError, OSError)):
        return StoreUnavailable(_why_unreachable(error), "connection")
    return StoreUnavailable(f"the store did not answer ({type(error).__name__})")


def of_all(what: str, errors: Sequence[StoreError]) -> StoreUnavailable:
    """That none of several servers did what it should, with the reason of each."""
    reasons = ", ".join(dict.fromkeys(map(str, errors)))
    kinds = [error.kind for error in errors if error.kind not in ("connection", "timeout")]
    return StoreUnavailable(f"{what}: {reasons}" if errors else what, (*kinds, "connection")[0])


def _why_unreachable(error: BaseException) -> str:
    """In words that quote no address: the driver's do."""
    for cause in _causes(error):
        if isinstance(cause, HungUp):
            return str(cause)
        if isinstance(cause, ssl.SSLCertVerificationError):
            if cause.verify_code in OTHER_HOST:
                return "the store's certificate is not for the host that its address names"
            return f"the store's certificate is not trusted ({cause.verify_message})"
        if isinstance(cause, ssl.SSLError):
            return f"the store and the service cannot agree on TLS ({cause.reason or 'cut off'})"
        if isinstance(cause, OSError) and cause.strerror:
            return f"the store cannot be reached ({cause.strerror})"
    return "the connection to the store was lost"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def code_of(error: Exception) -> str:
    """The word that an answer begins with: the driver takes it off where it has a class for it, and
    puts words of its own before it in a pipeline."""
    code = getattr(error, "status_code", None)
    return code or str(error).rpartition("caused error: ")[2].partition(" ")[0]
