"""What the store is and can do, looked at once at the start: what is unfit is refused with the
reason, not met later as a wrong answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Any

from redis.backoff import NoBackoff
from redis.exceptions import (
    AuthenticationError,
    NoPermissionError,
    RedisError,
    ResponseError,
)
from redis.retry import Retry

from service.errors import StoreUnavailable
from service.store.connection import Connection
from service.store.keys import REGISTRY
from service.store.server import Server
from service.store.tls import UnusableFile, check_files, client_of, speaks_plainly, speaks_tls
from service.store_address import Kind, Node, StoreAddress, read_address

SECONDS = 2.0
PROBE_SECONDS = 1.0
PROBE = "#!lua flags=no-writes\nreturn 1"
_MEANT_FOR = {
    "cluster": "is a node of a cluster: its URL begins with redis+cluster://",
    "standalone": "is a single server: its URL begins with redis://",
    "sentinel": "is a sentinel: its URL begins with redis+sentinel:// and ends in the service",
}
_MODES = {Kind.SINGLE: "standalone", Kind.CLUSTER: "cluster", Kind.SENTINEL: "sentinel"}


class UnfitStore(Exception):
    """The store cannot be used; the message is one line that says why."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """A store as it was found. `persistent`: each primary keeps an append-only file or saves."""

    kind: str
    primaries: int
    replicas: int
    server: str
    persistent: bool

    def as_facts(self) -> Mapping[str, Any]:
        """The same for a line of the log."""
        return asdict(self)


def look_at_store(url: str) -> Capabilities:
    """What the store is and can do; raises StoreUnavailable where it cannot be asked now.

    Raises UnfitStore where it is another kind of store than its URL says, drops keys when it is
    full, or cannot run our scripts, or where files that its URL names cannot be used."""
    address = read_address(url)
    if address.tls:
        _refuse_unusable_files(address)
    _refuse_other_kind(address)
    connection = Connection(url, deadline=SECONDS)
    with closing(connection):
        try:
            infos = connection.infos()
            for refused in connection.every(_runs_scripts):
                if refused is False:
                    raise UnfitStore(
                        "the store cannot run scripts that begin with #!lua, which stop at the "
                        "memory limit before they write: Redis 7 or newer can, or Valkey"
                    )
        except RedisError as error:
            raise StoreUnavailable("the store does not tell what it is") from error
    _refuse_evicting(infos)
    first = infos[0]
    return Capabilities(
        kind=address.kind.value,
        primaries=len(infos),
        replicas=sum(int(info.get("connected_slaves", 0)) for info in infos),
        server=f"{first.get('server_name', 'redis')} "
        f"{first.get('valkey_version') or first.get('redis_version', '')}",
        persistent=all(_is_persistent(info) for info in infos),
    )


def _refuse_unusable_files(address: StoreAddress) -> None:
    try:
        check_files(address.options)
    except UnusableFile as error:
        raise UnfitStore(str(error)) from error


def _refuse_other_kind(address: StoreAddress) -> None:
    """The mode of the first server there that tells it."""
    wanted = _MODES[address.kind]
    for node in address.nodes or (None,):
        sentinel = address.kind is Kind.SENTINEL and node is not None
        url = address.url_of_sentinel(node) if sentinel and node else address.url_of(node)
        once = Retry(NoBackoff(), 0)
        client = client_of(
            url, retry=once, socket_timeout=1, socket_connect_timeout=1, decode_responses=True
        )
        with closing(client):
            try:
                told = client.info("server")
            except (AuthenticationError, ResponseError):  # an answer, and for others to tell
                continue
            except RedisError:
                if node is not None:
                    _refuse_other_language(node, tls=address.tls)
                continue
        mode = told.get("server_mode") or told.get(
            "redis_mode", wanted
        )  # as Valkey, and Redis, say
        if mode != wanted and mode in _MEANT_FOR:
            raise UnfitStore(f"the store {_MEANT_FOR[mode]}")
        return


def _refuse_other_language(node: Node, *, tls: bool) -> None:
    """One that answers with TLS where the URL is without, or the other way round."""
    if tls and speaks_plainly(node, PROBE_SECONDS):
        raise UnfitStore("the store speaks no TLS there: its URL begins with redis, not rediss")
    if not tls and speaks_tls(node, PROBE_SECONDS):
        raise UnfitStore("the store speaks TLS there: its URL begins with rediss, not redis")


def _refuse_evicting(infos: Sequence[Mapping[str, Any]]) -> None:
    for info in infos:
        policy = info.get("maxmemory_policy", "noeviction")
        if policy != "noeviction":
            raise UnfitStore(
                f"the store evicts keys when it is full (maxmemory-policy {policy}); "
                "set it to noeviction"
            )


def _runs_scripts(server: Server) -> bool:
    try:
        return bool(server.client.eval(PROBE, 1, REGISTRY))
    except NoPermissionError:
        raise
    except ResponseError as error:
        # A node that has not this key's slot says so only once it could compile it.
        return "compil" not in str(error)


def _is_persistent(info: Mapping[str, Any]) -> bool:
    return bool(int(info.get("aof_enabled", 0)) or int(info.get("rdb_last_save_time", 0)))
