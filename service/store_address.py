"""The address of the store, `TWINSIFT_REDIS_URL`, taken apart and checked for its form.

    redis://[user:password@]host[:port][/database]                    one server
    unix://[user:password@]/path/of/the/socket[?db=database]          one server
    redis+cluster://[user:password@]host:port[,host:port...]          a cluster
    redis+sentinel://[user:password@]host:port[,host:port...]/service[/database]
                                                                      who is primary, sentinels tell

With `rediss` for `redis` all of it goes over TLS. No message quotes an address, for it may carry a
password.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, quote, unquote, urlencode


class AddressError(ValueError):
    """The address is none; the message says why in one line."""


class Kind(StrEnum):
    """What stands at an address."""

    SINGLE = "single"
    CLUSTER = "cluster"
    SENTINEL = "sentinel"


class Node(NamedTuple):
    """Where a server listens; an IPv6 host has no brackets here."""

    host: str
    port: int


_KINDS: Final = {
    "redis": Kind.SINGLE,
    "rediss": Kind.SINGLE,
    "unix": Kind.SINGLE,
    "redis+cluster": Kind.CLUSTER,
    "rediss+cluster": Kind.CLUSTER,
    "redis+sentinel": Kind.SENTINEL,
    "rediss+sentinel": Kind.SENTINEL,
}
_DEFAULT_PORT: Final = 6379
_HOST: Final = re.compile(r"\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9._-]+)")


def _is_any(value: str) -> bool:
    return value != ""


def _is_switch(value: str) -> bool:
    return value.lower() in ("true", "false", "yes", "no", "on", "off", "1", "0")


def _is_demand(value: str) -> bool:
    return value in ("none", "optional", "required")


_OPTIONS: Final[Mapping[str, Callable[[str], bool]]] = {
    "client_name": _is_any,
    "db": str.isdecimal,
    "sentinel_username": _is_any,
    "sentinel_password": _is_any,
    "ssl_ca_certs": _is_any,
    "ssl_ca_path": _is_any,
    "ssl_certfile": _is_any,
    "ssl_keyfile": _is_any,
    "ssl_password": _is_any,
    "ssl_cert_reqs": _is_demand,
    "ssl_check_hostname": _is_switch,
}
"""What may stand after `?`, by the names that redis-py has for it."""


@dataclass(frozen=True, kw_only=True)
class StoreAddress:
    """An address taken apart. `nodes` are the seeds of a cluster, the sentinels, or the one server;
    empty where that is at a socket's `path`. What may be secret is left out of the printed form.
    """

    kind: Kind
    tls: bool = False
    nodes: tuple[Node, ...] = ()
    path: str = ""
    username: str = ""
    password: str = field(default="", repr=False)
    database: int = 0
    service: str = ""
    options: Mapping[str, str] = field(default_factory=dict, repr=False)

    def url_of(self, node: Node | None) -> str:
        """The address of one server that belongs to it, for redis-py; None: the one at the path."""
        options = {k: v for k, v in self.options.items() if not k.startswith("sentinel_")}
        signed = _signed(self.username, self.password)
        if node is None:
            return f"unix://{signed}{quote(self.path)}?{urlencode(options | self._db())}"
        return f"{self._scheme}://{signed}{_shown(node)}?{urlencode(options | self._db())}"

    def url_of_sentinel(self, node: Node) -> str:
        """The address of one sentinel, for redis-py: it has a user of its own, or none."""
        options = {k: v for k, v in self.options.items() if k.startswith("ssl_")}
        user = self.options.get("sentinel_username", "")
        signed = _signed(user, self.options.get("sentinel_password", ""))
        return f"{self._scheme}://{signed}{_shown(node)}?{urlencode(options)}"

    @property
    def _scheme(self) -> str:
        return "rediss" if self.tls else "redis"

    def _db(self) -> dict[str, str]:
        return {"db": str(self.database)}


def read_address(url: str) -> StoreAddress:
    """The address that a URL stands for; raises AddressError."""
    scheme, found, rest = url.partition("://")
    kind = _KINDS.get(scheme)
    if kind is None or not found:
        raise AddressError(
            "must begin with redis://, rediss://, unix://, redis+cluster://, redis+sentinel://, "
            "rediss+cluster:// or rediss+sentinel://"
        )
    if "#" in url or not url.isprintable() or " " in url:
        raise AddressError("a #, a space or a control character must be percent-encoded")
    rest, _, query = rest.partition("?")
    authority, slash, path = rest.partition("/")
    credentials, _, hosts = authority.rpartition("@")
    username, password = _credentials(credentials)
    options = _options(query, kind, tls=scheme.startswith("rediss"))
    nodes: tuple[Node, ...] = ()
    database, service, socket = "0", "", ""
    if scheme == "unix":
        if hosts or not path:
            raise AddressError("unix:// must be followed by the socket's absolute path")
        socket = unquote(slash + path)
    else:
        nodes = _nodes(hosts, kind)
    if scheme != "unix":
        database = path or "0"
    if kind is Kind.SENTINEL:
        service, _, database = path.rstrip("/").partition("/")
        service = unquote(service)
        if not service:
            raise AddressError(
                "names no service after the sentinels, as redis+sentinel://host:26379/main does"
            )
    return StoreAddress(
        kind=kind,
        tls=scheme.startswith("rediss"),
        nodes=nodes,
        path=socket,
        username=username,
        password=password,
        database=_database(database or "0", options, kind),
        service=service,
        options={k: v for k, v in options.items() if k != "db"},
    )


def _credentials(credentials: str) -> tuple[str, str]:
    if not credentials:
        return "", ""
    username, _, password = credentials.partition(":")
    if not password:
        raise AddressError("names a user and no password, as user:password@host does")
    return unquote(username), unquote(password)


def _nodes(hosts: str, kind: Kind) -> tuple[Node, ...]:
    listed = hosts.split(",")
    if kind is Kind.SINGLE and len(listed) > 1:
        raise AddressError(
            "names several servers: a cluster is redis+cluster://, sentinels are redis+sentinel://"
        )
    nodes = tuple(_node(one, kind) for one in listed)
    if len({(node.host.lower(), node.port) for node in nodes}) < len(nodes):
        raise AddressError("names the same host and port twice")
    return nodes


def _node(written: str, kind: Kind) -> Node:
    host = _HOST.match(written)
    if host is None:
        raise AddressError("names no host, as redis://host:6379/0 does")
    rest = written[host.end() :]
    if not rest and kind is Kind.SINGLE:
        return Node(host["six"] or host["name"], _DEFAULT_PORT)
    if not rest:
        raise AddressError("each host must have its port, as host:6379 has")
    if not re.fullmatch(r":[0-9]{1,5}", rest) or not 1 <= int(rest[1:]) <= 65535:
        raise AddressError("host and port of the address cannot be read")
    return Node(host["six"] or host["name"], int(rest[1:]))


def _options(query: str, kind: Kind, *, tls: bool) -> dict[str, str]:
    pairs = parse_qsl(query, keep_blank_values=True)
    options = dict(pairs)
    if len(options) < len(pairs):
        raise AddressError("has an option twice after `?`")
    for name, value in options.items():
        if name not in _OPTIONS:
            raise AddressError(f"an option after `?` is none of {', '.join(sorted(_OPTIONS))}")
        if not _OPTIONS[name](value):
            raise AddressError(f"the option {name} has a wrong value")
        if name.startswith("ssl_") and not tls:
            raise AddressError(f"the option {name} is for rediss:// only")
        if name.startswith("sentinel_") and kind is not Kind.SENTINEL:
            raise AddressError(f"the option {name} is for sentinels only")
    if "ssl_keyfile" in options and "ssl_certfile" not in options:
        raise AddressError("has an ssl_keyfile and no ssl_certfile")
    if "sentinel_username" in options and "sentinel_password" not in options:
        raise AddressError("has a sentinel_username and no sentinel_password")
    return options


def _database(written: str, options: Mapping[str, str], kind: Kind) -> int:
    if not written.isdecimal() or not written.isascii() or len(written) > 4:
        raise AddressError("what follows the host must be a database number")
    number = int(options.get("db", written))
    if "db" in options and written not in ("0", options["db"]):
        raise AddressError("names two databases")
    if kind is Kind.CLUSTER and number:
        raise AddressError("names a database: a cluster has 0 alone")
    return number


def _signed(username: str, password: str) -> str:
    return f"{quote(username, safe='')}:{quote(password, safe='')}@" if password else ""


def _shown(node: Node) -> str:
    return f"[{node.host}]:{node.port}" if ":" in node.host else f"{node.host}:{node.port}"
