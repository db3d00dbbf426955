"""Reading a request's body: whole, unpacked, and never more of it than the limit.

The limit counts what is left after decompression. A body is either read to its end or refused:
nothing here cuts.
"""

from __future__ import annotations

import time
import zlib
from gzip import GzipFile
from io import BytesIO
from typing import IO, Any, NamedTuple

import zstandard
from flask import request
from gunicorn.http.errors import ParseException
from werkzeug.exceptions import ClientDisconnected

from service.errors import MalformedBody, TooLarge, UnsupportedMediaType
from service.web.strict_json import parse
from service.web.turns import Room

ENCODINGS = ("gzip", "zstd")
NDJSON = "application/x-ndjson"
STREAMING_PATH = "/check/batch"

_CHUNK = 64 * 1024
# What reading raises where the connection fails, or the chunks are none.
BROKEN = (ClientDisconnected, OSError, ParseException)
_MOST_DISCARDED = 64 * 1024 * 1024
_LONGEST_DISCARD = 5.0  # seconds
_GZIP_START = b"\x1f\x8b\x08"
_MOST_MEMBERS = 10_000  # each costs time, even an empty one
# Windows that the zstd command itself makes without --ultra or --long.
ZSTD_WINDOW = 8 * 1024 * 1024


class Received(NamedTuple):
    """A body of JSON as it was sent."""

    raw: bytes
    encoding: str | None


def receive(limit: int, room: Room) -> Received:
    """The body of the request at hand, once all of it has come.

    Raises:
        UnsupportedMediaType: it does not say that it is JSON, or is packed in a way not read here.
        TooLarge: it is larger than `limit` bytes.
        MalformedBody: it breaks off.
    """
    _expect_json()
    encoding = encoding_of()
    return Received(_read(limit, room), encoding)


def read_json(received: Received, limit: int, longest: int) -> Any:
    """What the body says.

    Raises:
        TooLarge: it is larger than `limit` bytes unpacked, has too many values, or a string of more
            than `longest` bytes.
        MalformedBody: it cannot be unpacked.
        MalformedJson: it is no JSON, or none that means one thing.
    """
    return parse(_unpacked(received.raw, received.encoding, limit), longest)


def refuse_oversized(limit: int) -> None:
    """Refuse a body that is announced larger than the limit, whether a view reads it or not."""
    length = request.content_length
    if request.mimetype == NDJSON and request.path == STREAMING_PATH:
        return  # the limit is a line's
    if length is not None and length > limit:
        _discard()
        raise TooLarge(_too_large(limit))


def _expect_json() -> None:
    if request.mimetype != "application/json":
        raise UnsupportedMediaType("The content type must be application/json.")
    if request.mimetype_params.get("charset", "utf-8").lower() not in ("utf-8", "utf8"):
        raise UnsupportedMediaType("JSON is read in UTF-8 only.")


def encoding_of() -> str | None:
    """How the body is packed; None where it is not. Raises UnsupportedMediaType."""
    encoding = request.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding == "identity":
        return None
    if encoding not in ENCODINGS:
        raise UnsupportedMediaType("The content encoding must be gzip, zstd, or none.")
    return encoding


def _read(limit: int, room: Room) -> bytes:
    """The body as it was sent.

    A chunked body has no length to look at, and reading "all" of it through Werkzeug stops at the
    limit without a word. So one byte more than the limit is asked for, piece by piece; and a body
    with a length is counted: a server that ends the stream itself does not say that it is short.
    """
    length = request.content_length
    stream = request.stream
    pieces: list[bytes] = []
    size = 0
    at_once = _CHUNK if length is None else min(length, _CHUNK)
    try:
        while size != length and (piece := stream.read(min(at_once, limit + 1 - size))):
            pieces.append(piece)
            size += len(piece)
            room.take_for(size)
            if size > limit:
                _discard()
                raise TooLarge(_too_large(limit))
    except BROKEN:
        raise MalformedBody("The body is broken, or broke off before its end.") from None
    if length is not None and size < length:
        raise MalformedBody("The body broke off before its end.")
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _discard() -> None:
    """Read on for a while, so that a client that is still sending lives to see the refusal."""
    stream: IO[bytes] = request.environ["wsgi.input"]
    length = request.content_length
    left = _MOST_DISCARDED if length is None else min(length, _MOST_DISCARDED)
    stops_at = time.monotonic() + _LONGEST_DISCARD
    try:
        while (
            left > 0 and time.monotonic() < stops_at and (piece := stream.read(min(_CHUNK, left)))
        ):
            left -= len(piece)
    except BROKEN:
        return


def _unpacked(raw: bytes, encoding: str | None, limit: int) -> bytes:
    if encoding == "gzip":
        return _gunzip(raw, limit)
    if encoding == "zstd":
        return _unzstd(raw, limit)
    return raw


def _gunzip(raw: bytes, limit: int) -> bytes:
    """All members of a gzip file, one after the other."""
    if raw.count(_GZIP_START) > _MOST_MEMBERS:
        raise MalformedBody("The gzip body has too many members.")
    try:
        with GzipFile(fileobj=BytesIO(raw)) as file:
            unpacked = file.read(limit + 1)
    except (EOFError, OSError, zlib.error):
        raise MalformedBody("The body is not whole, valid gzip.") from None
    if len(unpacked) > limit:
        raise TooLarge(_too_large(limit))
    return unpacked


def _unzstd(raw: bytes, limit: int) -> bytes:
    """The one frame of a zstd body."""
    unpacker = zstandard.ZstdDecompressor(max_window_size=max(limit, ZSTD_WINDOW))
    try:
        # The reader stops at a size but does not say whether the frame was whole; the other way
        # round with a decompression object. So once to weigh, once to unpack.
        with unpacker.stream_reader(raw) as reader:
            if len(reader.read(limit + 1)) > limit:
                raise TooLarge(_too_large(limit))
        frame = unpacker.decompressobj()
        unpacked = frame.decompress(raw)
    except zstandard.ZstdError:
        raise MalformedBody("The body is not valid zstd.") from None
    if not frame.eof or frame.unused_data:
        raise MalformedBody("The body is not one whole zstd frame.")
    return unpacked


def _too_large(limit: int) -> str:
    return f"The body is larger than {limit} bytes."
