"""Files of texts: from disk or stdin, unpacked by what they begin with, not by their names."""

from __future__ import annotations

import gzip
import io
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import zstandard

from service.bulk.errors import BulkError

STDIN = "-"
LONGEST_LINE = 64 << 20
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_PIECE = 1 << 17


class _Readable(Protocol):
    def peek(self, size: int, /) -> bytes: ...
    def readline(self, size: int, /) -> bytes: ...


class TextFile:
    """The lines of one file. `size` is in bytes as it lies there, None of stdin and pipes."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.size: int | None = None
        try:
            self._raw = _opened(name)
            about = Path(name).stat() if name != STDIN else None
            if about is not None and stat.S_ISREG(about.st_mode):
                self.size = about.st_size
            self._unpacked = _unpacked(self._raw)
        except OSError as exc:
            raise BulkError(f"{name}: {exc.strerror}") from None

    def place(self) -> int:
        """How many bytes of the file have been read, as it lies there; 0 where `size` is None."""
        if self.size is None:
            return 0
        return self.size if self._raw.closed else self._raw.tell()

    def starts_with_object(self) -> bool:
        """Whether the first character that is no space is a brace, as of JSON lines."""
        begin = self._guarded(lambda: self._unpacked.peek(1 << 12))
        return begin.removeprefix(_BYTE_ORDER_MARK).lstrip()[:1] == b"{"

    def lines(self) -> Iterator[bytes | None]:
        """Each line with its end; None for one that is longer than LONGEST_LINE."""
        read = self._read_line
        is_first = True
        while line := self._guarded(read):
            if is_first:
                line, is_first = line.removeprefix(_BYTE_ORDER_MARK), False
            if len(line) < LONGEST_LINE or line.endswith(b"\n"):
                yield line
                continue
            while line and not line.endswith(b"\n"):
                line = self._guarded(read)
            yield None

    def close(self) -> None:
        """Lets go of the file."""
        if self.name != STDIN:
            self._raw.close()

    def _read_line(self) -> bytes:
        return self._unpacked.readline(LONGEST_LINE)

    def _guarded(self, read: Callable[[], bytes]) -> bytes:
        try:
            return read()
        except (EOFError, zlib.error, gzip.BadGzipFile, zstandard.ZstdError):
            raise BulkError(f"{self.name}: what it is packed with is broken from here on") from None
        except OSError as exc:
            raise BulkError(f"{self.name}: {exc.strerror}") from None


class _Zstd(io.RawIOBase):
    """All frames of a zstd file, one after the other; the library's own reader takes a file that
    was cut for a whole one."""

    def __init__(self, packed: io.BufferedIOBase) -> None:
        self._packed = packed
        self._unpacker = zstandard.ZstdDecompressor()
        self._frame = self._unpacker.decompressobj()
        self._is_whole = True
        self._left = b""

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: io.Buffer) -> int:  # type: ignore[name-defined] # the stubs name it
        """See `io.RawIOBase`."""
        while not self._left:
            piece = self._packed.read(_PIECE)
            if not piece:
                if not self._is_whole:
                    raise EOFError
                return 0
            self._left = self._feed(piece)
        view = memoryview(buffer)
        size = min(len(view), len(self._left))
        view[:size] = self._left[:size]
        self._left = self._left[size:]
        return size

    def _feed(self, piece: bytes) -> bytes:
        unpacked = b""
        while piece:
            unpacked += self._frame.decompress(piece)
            self._is_whole = self._frame.eof
            piece = self._frame.unused_data
            if self._is_whole:
                self._frame = self._unpacker.decompressobj()
        return unpacked


def _opened(name: str) -> io.BufferedReader:
    if name != STDIN:
        return Path(name).open("rb")
    assert isinstance(sys.stdin.buffer, io.BufferedReader)  # noqa: S101 - it is, of a process
    return sys.stdin.buffer


def _unpacked(raw: io.BufferedReader) -> _Readable:
    begin = raw.peek(4)
    if begin.startswith(_GZIP):
        return gzip.GzipFile(fileobj=raw)
    if begin.startswith(_ZSTD):
        return io.BufferedReader(_Zstd(raw), _PIECE)
    return raw
