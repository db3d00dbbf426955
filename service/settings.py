"""The settings of the process: one table, read once from the environment and checked once.

Nothing else in the service reads the environment. A value that cannot be, or two that contradict
each other, stop the start with one sentence that names the setting.
"""

import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from service.store_address import AddressError, read_address


class SettingsError(Exception):
    """A setting is malformed or contradicts another; the message is one line that names it."""


class Setting(NamedTuple):
    """One row of the table that README shows and `load` reads."""

    name: str
    default: str
    help: str


TABLE: Final = (
    Setting("TWINSIFT_BIND", "127.0.0.1:8000", "host:port to listen on"),
    Setting(
        "TWINSIFT_REDIS_URL",
        "",
        "the store: `redis://`, `rediss://`, `unix://`, `redis+sentinel://` or "
        "`redis+cluster://` (docs/cluster.md). Unset: an embedded Valkey server is "
        "started and shared by the workers, its data kept in `TWINSIFT_DATA_DIR`",
    ),
    Setting("TWINSIFT_DATA_DIR", "./data", "where the embedded store keeps its append-only file"),
    Setting("TWINSIFT_WORKERS", "cores", "worker processes"),
    Setting("TWINSIFT_THREADS", "4", "requests that each worker works on at once"),
    Setting(
        "TWINSIFT_MAX_BODY", "16MiB", "larger bodies (after decompression) are refused with 413"
    ),
    Setting(
        "TWINSIFT_MAX_TEXT",
        "4MiB",
        "larger texts (all pages together, as UTF-8) are refused with 413; unset, it is never "
        "above `TWINSIFT_MAX_BODY`",
    ),
    Setting(
        "TWINSIFT_DURABILITY",
        "local",
        "when a check, ruling, revert or deletion is answered: `local`, once the store has it; "
        "`replicated`, once a replica of the store has it too",
    ),
    Setting("TWINSIFT_DEADLINE", "2s", "a call that the store has not answered by then gets 503"),
    Setting(
        "TWINSIFT_LOG_DAYS",
        "90",
        "for how many days a decision, and the dropped text with it, is kept",
    ),
    Setting(
        "TWINSIFT_TOKENS_FILE",
        "",
        "bearer tokens and their scopes, as TOML; `twinsift token new` makes one. Unset: everyone "
        "who reaches the service may use it, and it listens on loopback only and answers under "
        "names of this machine only",
    ),
    Setting(
        "TWINSIFT_RATE",
        "off",
        "calls a second that each token may make, over all workers, before it gets 429; `rate` in "
        "a row of the tokens file says it for that token alone",
    ),
    Setting(
        "TWINSIFT_UNSAFE_NO_TOKENS",
        "off",
        "`on` lets the service listen beyond loopback without tokens, for anyone who reaches it",
    ),
    Setting(
        "TWINSIFT_LOG_LEVEL",
        "info",
        "`debug`, `info`, `warning` or `error`: at `info` the log has a line for each call, at "
        "`debug` for probes too",
    ),
)
"""Every setting, in the order in which README shows them."""

LOCAL: Final = "local"
REPLICATED: Final = "replicated"
DURABILITIES: Final = (LOCAL, REPLICATED)
LOG_LEVELS: Final = ("debug", "info", "warning", "error")
_DEFAULTS: Final = {row.name: row.default for row in TABLE}
_SIZES: Final = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_TIMES: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "d": 86400.0}
_SWITCH: Final = {"on": True, "1": True, "true": True, "off": False, "0": False, "false": False}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What the process was told, checked: the defaults are those of the table.

    `redis_url` is None where the embedded server is meant; it is left out of the printed form,
    for it may carry a password. `deadline` is in seconds, sizes are in bytes,
    `rate` is calls a second.
    """

    bind: str = "127.0.0.1:8000"
    redis_url: str | None = field(default=None, repr=False)
    data_dir: Path = Path("data")
    workers: int = 1
    threads: int = 4
    max_body: int = 16 << 20
    max_text: int = 4 << 20
    durability: str = LOCAL
    deadline: float = 2.0
    log_days: int = 90
    tokens_file: Path | None = None
    rate: int | None = None
    unsafe_no_tokens: bool = False
    log_level: str = "info"


def load(environ: Mapping[str, str]) -> Settings:
    """The settings that `environ` holds; an empty value counts as unset.

    Raises:
        SettingsError: a value is malformed, or two contradict each other.
    """

    def value(name: str) -> str:
        return environ.get(name, "").strip() or _DEFAULTS[name]

    workers = value("TWINSIFT_WORKERS")
    settings = Settings(
        bind=_bind("TWINSIFT_BIND", value("TWINSIFT_BIND")),
        redis_url=_redis_url("TWINSIFT_REDIS_URL", value("TWINSIFT_REDIS_URL")),
        data_dir=Path(value("TWINSIFT_DATA_DIR")),
        workers=_cores() if workers == "cores" else _count("TWINSIFT_WORKERS", workers),
        threads=_count("TWINSIFT_THREADS", value("TWINSIFT_THREADS")),
        max_body=_size("TWINSIFT_MAX_BODY", value("TWINSIFT_MAX_BODY")),
        max_text=_max_text(environ, value("TWINSIFT_MAX_TEXT"), value("TWINSIFT_MAX_BODY")),
        durability=_one_of("TWINSIFT_DURABILITY", value("TWINSIFT_DURABILITY"), DURABILITIES),
        deadline=_time("TWINSIFT_DEADLINE", value("TWINSIFT_DEADLINE")),
        log_days=_count("TWINSIFT_LOG_DAYS", value("TWINSIFT_LOG_DAYS")),
        tokens_file=Path(tokens) if (tokens := value("TWINSIFT_TOKENS_FILE")) else None,
        rate=None if (rate := value("TWINSIFT_RATE")) == "off" else _count("TWINSIFT_RATE", rate),
        log_level=_one_of("TWINSIFT_LOG_LEVEL", value("TWINSIFT_LOG_LEVEL"), LOG_LEVELS),
        unsafe_no_tokens=_switch("TWINSIFT_UNSAFE_NO_TOKENS", value("TWINSIFT_UNSAFE_NO_TOKENS")),
    )
    if settings.tokens_file is not None and settings.unsafe_no_tokens:
        raise SettingsError("TWINSIFT_UNSAFE_NO_TOKENS: contradicts TWINSIFT_TOKENS_FILE")
    if settings.redis_url is None and settings.durability == REPLICATED:
        raise SettingsError(
            "TWINSIFT_DURABILITY: the embedded store has no replica: set TWINSIFT_REDIS_URL"
        )
    if settings.tokens_file is None and settings.rate is not None:
        raise SettingsError("TWINSIFT_RATE: counts calls by token: set TWINSIFT_TOKENS_FILE too")
    is_guarded = settings.tokens_file is not None or settings.unsafe_no_tokens
    if not is_guarded and not _is_loopback(settings.bind):
        raise SettingsError(
            f"TWINSIFT_BIND: {settings.bind} can be reached from other machines, and without "
            "tokens anyone there may use the service; bind to loopback, set TWINSIFT_TOKENS_FILE, "
            "or set TWINSIFT_UNSAFE_NO_TOKENS=on"
        )
    return settings


def host_and_port(bind: str) -> tuple[str, int]:
    """`host:port` taken apart; an IPv6 host stands in brackets there and without them here."""
    host, _, port = bind.rpartition(":")
    return host.removeprefix("[").removesuffix("]"), int(port)


def _bind(name: str, value: str) -> str:
    if not re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):[0-9]{1,5}", value):
        raise SettingsError(f"{name}: {value!r} is not host:port")
    if not 1 <= host_and_port(value)[1] <= 65535:
        raise SettingsError(f"{name}: the port of {value!r} is not between 1 and 65535")
    return value


def _is_loopback(bind: str) -> bool:
    host, _ = host_and_port(bind)
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"  # any other name may stand for any address


def _redis_url(name: str, value: str) -> str | None:
    """The address, checked for its form; messages never quote it, for it may carry a password."""
    if not value:
        return None
    try:
        read_address(value)
    except AddressError as error:
        raise SettingsError(f"{name}: {error}") from None
    return value


def _count(name: str, value: str) -> int:
    if not re.fullmatch(r"[0-9]{1,4}", value) or int(value) == 0:
        raise SettingsError(f"{name}: {value!r} is not a whole number from 1 to 9999")
    return int(value)


def _size(name: str, value: str) -> int:
    found = re.fullmatch(r"([0-9]{1,15}) ?(KiB|MiB|GiB|)", value)
    if not found or int(found[1]) == 0:
        raise SettingsError(f"{name}: {value!r} is no size, as 4194304, 4096KiB or 4MiB are")
    return int(found[1]) * _SIZES[found[2]]


def _time(name: str, value: str) -> float:
    found = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,6})?) ?(ms|s|m|d)", value)
    if not found or float(found[1]) == 0:
        raise SettingsError(f"{name}: {value!r} is no time, as 500ms, 2s, 1m or 90d are")
    return float(found[1]) * _TIMES[found[2]]


def _switch(name: str, value: str) -> bool:
    if value.lower() not in _SWITCH:
        raise SettingsError(f"{name}: {value!r} is neither on nor off")
    return _SWITCH[value.lower()]


def _one_of(name: str, value: str, choices: tuple[str, ...]) -> str:
    if value not in choices:
        raise SettingsError(f"{name}: {value!r} is none of {', '.join(choices)}")
    return value


def _max_text(environ: Mapping[str, str], value: str, max_body: str) -> int:
    """A text above the body's limit could never arrive: refused if said, lowered if not."""
    text, body = _size("TWINSIFT_MAX_TEXT", value), _size("TWINSIFT_MAX_BODY", max_body)
    if text > body and environ.get("TWINSIFT_MAX_TEXT", "").strip():
        raise SettingsError(
            f"TWINSIFT_MAX_TEXT: {value} is above TWINSIFT_MAX_BODY ({max_body}), "
            "so such a text could never arrive"
        )
    return min(text, body)


def _cores() -> int:
    """The cores this process may run on, where the system can tell."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
