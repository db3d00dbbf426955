"""Certificates made for a test: an authority, and what it signs. Python alone, as nothing that the
tests have beside it can make any: ECDSA on P-256 (FIPS 186-5), written as DER (RFC 5280)."""

import base64
import ipaddress
import secrets
import ssl
from datetime import UTC, datetime, timedelta
from hashlib import sha1, sha256
from pathlib import Path

Point = tuple[int, int]

_P = 2**256 - 2**224 + 2**192 + 2**96 - 1
_N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)

_INTEGER, _BITS, _OCTETS, _OID, _UTF8, _TIME = 0x02, 0x03, 0x04, 0x06, 0x0C, 0x17
_SEQUENCE, _SET, _BOOLEAN = 0x30, 0x31, 0x01


class Key:
    """A private key and its point."""

    def __init__(self) -> None:
        self.number = secrets.randbelow(_N - 1) + 1
        x, y = _times(self.number, _G)
        self.public = b"\x04" + x.to_bytes(32, "big") + y.to_bytes(32, "big")

    def sign(self, message: bytes) -> bytes:
        digest = int.from_bytes(sha256(message).digest(), "big")
        once = secrets.randbelow(_N - 1) + 1
        r = _times(once, _G)[0] % _N
        s = pow(once, -1, _N) * (digest + r * self.number) % _N
        return _der(_SEQUENCE, _integer(r), _integer(s))

    def as_pem(self) -> str:
        bits = _der(0xA1, _der(_BITS, b"\0" + self.public))
        number = _der(_OCTETS, self.number.to_bytes(32, "big"))
        return _pem("EC PRIVATE KEY", _der(_SEQUENCE, _integer(1), number, _der(0xA0, _P256), bits))


class Authority:
    """Signs certificates, in files of its own directory; `file` has the one to be trusted."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir()
        self._directory = directory
        self._key = Key()
        self._name = _name(f"authority {secrets.token_hex(4)}")
        self._signed = 0
        is_authority = _extension("2.5.29.19", _der(_SEQUENCE, _der(_BOOLEAN, b"\xff")), True)
        may_sign = _extension("2.5.29.15", _der(_BITS, b"\x01\x06"), True)
        self.file = directory / "authority.pem"
        self.file.write_text(self._certificate(self._name, self._key, is_authority, may_sign))

    def sign(self, *hosts: str) -> Path:
        """A file with a new key, and a certificate of it for these names and addresses."""
        key, self._signed = Key(), self._signed + 1
        names = _extension("2.5.29.17", _der(_SEQUENCE, *map(_host, hosts)))
        may_sign = _extension("2.5.29.15", _der(_BITS, b"\x07\x80"), True)
        signed = self._certificate(_name("signed"), key, may_sign, names)
        path = self._directory / f"signed{self._signed}.pem"
        path.write_text(key.as_pem() + signed)
        return path

    def server(self, *hosts: str) -> ssl.SSLContext:
        """What a server needs that is known by these names and addresses."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.sign(*hosts))
        return context

    def _certificate(self, name: bytes, key: Key, *extensions: bytes) -> str:
        now = datetime.now(UTC)
        days = [now + timedelta(days=days) for days in (-1, 1)]
        own, signer = (sha1(one.public).digest() for one in (key, self._key))  # noqa: S324 - an id
        body = _der(
            _SEQUENCE,
            _der(0xA0, _integer(2)),
            _integer(secrets.randbits(64)),
            _WITH_SHA256,
            self._name,
            _der(_SEQUENCE, *[_der(_TIME, f"{day:%y%m%d%H%M%SZ}".encode()) for day in days]),
            name,
            _der(_SEQUENCE, _der(_SEQUENCE, _EC, _P256), _der(_BITS, b"\0" + key.public)),
            _der(
                0xA3,
                _der(
                    _SEQUENCE,
                    *extensions,
                    _extension("2.5.29.14", _der(_OCTETS, own)),
                    _extension("2.5.29.35", _der(_SEQUENCE, _der(0x80, signer))),
                ),
            ),
        )
        signature = _der(_BITS, b"\0" + self._key.sign(body))
        return _pem("CERTIFICATE", _der(_SEQUENCE, body, _WITH_SHA256, signature))


def _plus(one: Point, other: Point) -> Point:
    """The sum of two points of the curve, neither the inverse of the other."""
    (x, y), (u, v) = one, other
    top, bottom = (3 * x * x - 3, 2 * y) if one == other else (v - y, u - x)
    slope = top * pow(bottom, -1, _P) % _P
    end = (slope * slope - x - u) % _P
    return end, (slope * (x - end) - y) % _P


def _times(number: int, point: Point) -> Point:
    found = None
    while number:
        if number & 1:
            found = point if found is None else _plus(found, point)
        point, number = _plus(point, point), number >> 1
    assert found is not None
    return found


def _der(tag: int, *parts: bytes) -> bytes:
    content = b"".join(parts)
    size = len(content)
    if size < 0x80:
        return bytes([tag, size]) + content
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(length)]) + length + content


def _integer(number: int) -> bytes:
    return _der(_INTEGER, number.to_bytes(number.bit_length() // 8 + 1, "big"))


def _oid(dotted: str) -> bytes:
    first, second, *rest = map(int, dotted.split("."))
    content = bytearray([40 * first + second])
    for number in rest:
        digits = [number & 0x7F]
        while number := number >> 7:
            digits.append(0x80 | number & 0x7F)
        content += bytes(reversed(digits))
    return _der(_OID, bytes(content))


_EC, _P256 = _oid("1.2.840.10045.2.1"), _oid("1.2.840.10045.3.1.7")
_WITH_SHA256 = _der(_SEQUENCE, _oid("1.2.840.10045.4.3.2"))


def _extension(oid: str, value: bytes, critical: bool = False) -> bytes:
    flag = _der(_BOOLEAN, b"\xff") if critical else b""
    return _der(_SEQUENCE, _oid(oid), flag, _der(_OCTETS, value))


def _name(common: str) -> bytes:
    named = _der(_SEQUENCE, _oid("2.5.4.3"), _der(_UTF8, common.encode()))
    return _der(_SEQUENCE, _der(_SET, named))


def _host(host: str) -> bytes:
    try:
        return _der(0x87, ipaddress.ip_address(host).packed)
    except ValueError:
        return _der(0x82, host.encode())


def _pem(label: str, content: bytes) -> str:
    text = base64.encodebytes(content).decode()
    return f"-----BEGIN {label}-----\n{text}-----END {label}-----\n"
