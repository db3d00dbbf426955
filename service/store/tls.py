"""What can be wrong with TLS before a store is asked for anything: files that cannot be used, and a
server that speaks it where it should not, or the other way round."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Mapping
from pathlib import Path

from service.store_address import Node

PLAIN_QUESTION = b"PING\r\n"
PLAIN_ANSWERS = (b"+", b"-")
"""What it is answered begins so, whoever asks."""


class UnusableFile(Exception):
    """A file cannot be used; the message names the option that names it, and not the file."""


def check_files(options: Mapping[str, str]) -> None:
    """Raises UnusableFile where a certificate or key that is named after `?` cannot be used."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if "ssl_ca_path" in options and not Path(options["ssl_ca_path"]).is_dir():
        raise UnusableFile("ssl_ca_path is no directory")
    if "ssl_ca_certs" in options:
        try:
            context.load_verify_locations(options["ssl_ca_certs"])
        except OSError as error:
            raise UnusableFile(f"ssl_ca_certs {_why(error)}") from error
    if "ssl_certfile" not in options:
        return
    try:
        # Without any password OpenSSL would ask for it at the terminal.
        context.load_cert_chain(
            options["ssl_certfile"],
            options.get("ssl_keyfile"),
            options.get("ssl_password", ""),
        )
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


def _why(error: OSError) -> str:
    if isinstance(error, ssl.SSLError):
        return f"is not what it should be ({error.reason or 'no certificate'})"
    return f"cannot be read ({error.strerror})"
