"""The one place where what the driver raises becomes ours."""

from __future__ import annotations

from collections.abc import Iterator
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
    kind = "other"
    # What a user may not do inside a script is told without a code.
    of_script = isinstance(error, ResponseError) and str(error).startswith(REFUSED_IN_SCRIPT)
    if of_script or isinstance(error, (AuthenticationError, AuthorizationError)):
        kind = "noperm"
    elif isinstance(error, ResponseError):
        return None
    elif isinstance(error, (DriverTimeoutError, TimeoutError)):
        kind = "timeout"
    elif isinstance(error, (DriverConnectionError, OSError)):
        kind = "connection"
    return StoreUnavailable(f"the store did not answer ({type(error).__name__})", kind)


def code_of(error: Exception) -> str:
    """The word that an answer begins with: the driver takes it off where it has a class for it, and
    puts words of its own before it in a pipeline."""
    code = getattr(error, "status_code", None)
    return code or str(error).rpartition("caused error: ")[2].partition(" ")[0]
