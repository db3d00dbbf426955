"""Reading a body line by line as it comes: for streams that are answered while they are sent.

Python's and gunicorn's own file objects wait for a full buffer before they give anything; a client
that sends one line and waits for its answer would wait for ever.
"""

from __future__ import annotations

import select
import socket
import zlib
from collections.abc import Iterator
from typing import Any

import zstandard
from flask import request

from service.errors import MalformedBody, TooLarge
from service.web.body import BROKEN, ZSTD_WINDOW
from service.web.turns import SMALL, Room
from service.web.wiring import wiring

_PIECE = 64 * 1024
_IDLE_SECONDS = 30.0
_GZIP = 16 + zlib.MAX_WBITS


def lines(limit: int, encoding: str | None) -> Iterator[bytes | TooLarge | MalformedBody | None]:
    """The lines of the body, without their ends and without empty ones.

    None where the next line has not arrived yet. TooLarge stands for a line of more than `limit`
    bytes; MalformedBody is the last thing where the body breaks off or cannot be unpacked: the line
    that was cut is not given. To be asked for in a turn: others have it while the client is slow.
    """
    rest, skipping = b"", False
    room = wiring().turns.room()
    try:
        for piece in _unpacked(encoding):
            if piece is None:
                yield None
                continue
            *whole, rest = (rest + piece).split(b"\n")
            for line in whole:
                if skipping:
                    skipping = False
                elif len(line) > limit:
                    yield _too_large(limit)
                elif line.strip():
                    yield line
            if len(rest) > limit:
                if not skipping:
                    yield _too_large(limit)
                rest, skipping = b"", True
            _make_room(room, len(rest))
    except MalformedBody as error:
        yield error
        return
    finally:
        room.leave()
    if rest.strip() and not skipping:
        yield rest


def _make_room(room: Room, size: int) -> None:
    """Room for as much of a line as there is; none once it is small."""
    if size <= SMALL:
        room.leave()
        return
    with wiring().turns.waiting():
        room.take_for(size)


def _unpacked(encoding: str | None) -> Iterator[bytes | None]:
    """The pieces of the body as they come, unpacked."""
    if encoding is None:
        yield from _pieces()
        return
    unpacker = _Gzip() if encoding == "gzip" else _Zstd()
    try:
        for piece in _pieces():
            if piece is None:
                yield None
            else:
                yield from unpacker.feed(piece)
    except (zlib.error, zstandard.ZstdError):
        raise MalformedBody(f"The body is not valid {encoding}.") from None
    if not unpacker.is_whole:
        raise MalformedBody(f"The {encoding} body broke off before its end.")


class _Gzip:
    """All members of a gzip stream, one after the other, a bounded piece at a time."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(_GZIP)
        self.is_whole = True

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """What the next bytes unpack to."""
        while piece:
            self.is_whole = False
            yield self._member.decompress(piece, _PIECE)
            piece = self._member.unconsumed_tail
            if self._member.eof:
                piece = self._member.unused_data
                self._member = zlib.decompressobj(_GZIP)
                self.is_whole = True


class _Zstd:
    """All frames of a zstd stream, one after the other."""

    def __init__(self) -> None:
        self._unpacker = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW)
        self._frame = self._unpacker.decompressobj(write_size=_PIECE)
        self.is_whole = True

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """What the next bytes unpack to; a little at a time, as few bytes may unpack to many."""
        while piece:
            self.is_whole = False
            few, piece = piece[:_FEW], piece[_FEW:]
            yield self._frame.decompress(few)
            if self._frame.eof:
                piece = self._frame.unused_data + piece
                self._frame = self._unpacker.decompressobj(write_size=_PIECE)
                self.is_whole = True


# A block of zstd unpacks to 128 KiB at most and takes four bytes or more.
_FEW = 512


def _pieces() -> Iterator[bytes | None]:
    """The body as it comes; None before a wait for more."""
    length = request.content_length
    size = 0
    connection = request.environ.get("gunicorn.socket")
    if connection is not None:
        connection.settimeout(_IDLE_SECONDS)
    reader = getattr(request.environ["wsgi.input"], "reader", None)
    try:
        while size != length:
            if connection is not None and not _has_more(reader, connection):
                yield None
            with wiring().turns.waiting():
                piece = _read(reader, length, size)
            if not piece:
                break
            size += len(piece)
            yield piece
    except (*BROKEN, TimeoutError):
        raise MalformedBody("The body is broken, or broke off before its end.") from None
    if length is not None and size < length:
        raise MalformedBody("The body broke off before its end.")


def _read(reader: Any, length: int | None, size: int) -> bytes:
    """What is there, or at least one byte once it comes; b"" at the end."""
    if reader is None:
        left = _PIECE if length is None else min(_PIECE, length - size)
        return request.stream.read(left)
    first: bytes = reader.read(1)
    waiting = min(_buffered(reader), _PIECE)
    return first + reader.read(waiting) if first and waiting else first


def _buffered(reader: Any) -> int:
    """How many bytes of the body gunicorn has received and not given."""
    if hasattr(reader, "parser"):  # of a chunked body
        return int(reader.buf.getbuffer().nbytes)
    return min(int(reader.unreader.buf.getbuffer().nbytes), int(reader.length))


def _has_more(reader: Any, connection: Any) -> bool:
    if reader is not None and _buffered(reader) > 0:
        return True
    readable = select.poll()  # `select` itself takes no descriptor above 1,023
    readable.register(connection, select.POLLIN)
    if not readable.poll(0):
        return False
    # Of a large chunk gunicorn leaves the line end in the socket: that alone is nothing to read.
    ahead = connection.recv(3, socket.MSG_PEEK)
    return not (hasattr(reader, "parser") and ahead in (b"\r", b"\r\n"))


def _too_large(limit: int) -> TooLarge:
    return TooLarge(f"The line is larger than {limit} bytes.")
