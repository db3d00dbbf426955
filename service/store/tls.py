"""TLS to a store: whom it trusts, and what can be wrong with it before anything is asked, such as
files that cannot be used and a server that speaks none."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import redis
from redis.connection import ConnectionPool, SSLConnection

from service.store_address import Node

PLAIN_QUESTION = b"PING\r\n"
PLAIN_ANSWERS = (b"+", b"-")
"""What it is answered begins so, whoever asks."""


class UnusableFile(Exception):
    """A file cannot be used; the message names the option that names it, and not the file."""


class TlsConnection(SSLConnection):
    """A connection that trusts the authorities that its address names and no others; the system's
    where it names none.

    The driver trusts the system's beside them, and reads these 140 for each connection: 25 ms of
    the processor's time, after a failover for as many connections as there are threads."""

    def _wrap_socket_with_ssl(self, sock: socket.socket) -> ssl.SSLSocket:
        context = ssl.create_default_context(cafile=self.ca_certs, capath=self.ca_path)
        context.check_hostname = self.check_hostname
        context.verify_mode = self.cert_reqs
        if self.certfile is not None:
            _load_own(context, self.certfile, self.keyfile, self.certificate_password)
        return context.wrap_socket(sock, server_hostname=self.host)


def connecting_so(pool: ConnectionPool) -> ConnectionPool:
    """The same pool; its connections are TlsConnections where its address begins with rediss."""
    if pool.connection_class is SSLConnection:
        pool.connection_class = TlsConnection
    return pool


def client_of(url: str, **options: Any) -> redis.Redis:
    """A client of redis-py that connects so, and does not tell the server the driver's name: that
    takes a right of its own, which Redis 7.0 does not know."""
    pool = connecting_so(ConnectionPool.from_url(url, driver_info=None, **options))
    return redis.Redis.from_pool(pool)


def check_files(options: Mapping[str, str]) -> None:
    """Raises UnusableFile where a certificate or key that is named after `?` cannot be used."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    own = options.get("ssl_certfile")
    if "ssl_ca_path" in options and not Path(options["ssl_ca_path"]).is_dir():
        raise UnusableFile("ssl_ca_path is no directory")
    if "ssl_ca_certs" in options:
        try:
            context.load_verify_locations(options["ssl_ca_certs"])
        except OSError as error:
            raise UnusableFile(f"ssl_ca_certs {_why(error)}") from error
    if own is not None:
        try:
            _load_own(context, own, options.get("ssl_keyfile"), options.get("ssl_password"))
        except OSError as error:
            raise UnusableFile(f"ssl_certfile, or its ssl_keyfile, {_why(error)}") from error


def speaks_tls(node: Node, seconds: float) -> bool:
    """Whether a server answers to TLS, with whatever certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with (
            socket.create_connection(node, seconds) as plain,
            context.wrap_socket(plain, server_hostname=node.host),
        ):
            return True
    except OSError:
        return False


def speaks_plainly(node: Node, seconds: float) -> bool:
    """Whether a server answers without TLS, if only that it wants a password."""
    try:
        with socket.create_connection(node, seconds) as plain:
            plain.sendall(PLAIN_QUESTION)
            return plain.recv(1) in PLAIN_ANSWERS
    except OSError:
        return False


def _load_own(
    context: ssl.SSLContext, certificate: str, key: str | None = None, password: str | None = None
) -> None:
    # Without any password OpenSSL would ask for it at the terminal.
    context.load_cert_chain(certificate, key, password or "")


def _why(error: OSError) -> str:
    if isinstance(error, ssl.SSLError):
        return f"is not what it should be ({error.reason or 'no certificate'})"
    return f"cannot be read ({error.strerror})"
