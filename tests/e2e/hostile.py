"""Requests that nobody sends in good faith, each with the statuses it may be answered with.

Every one is the bytes that are sent; 0 stands for a connection that is closed without an answer.
"""

import gzip
import json
import os
from collections.abc import Callable
from typing import Any, NamedTuple

import zstandard

CANARY = "canary-7f3a"
"""In many of them: no answer to what is no request and no line of the log may hold it."""
MIB = 1 << 20
MAX_BODY = 16 * MIB
HOST = "Host: localhost"


class Hostile(NamedTuple):
    """One request; it is made only when it is sent, for some are large."""

    make: Callable[[], bytes]
    statuses: tuple[int, ...]
    pages: int = 0


def http(*lines: str | bytes, body: bytes = b"") -> bytes:
    """A request of these lines, byte for byte."""
    written = [line.encode("latin-1") if isinstance(line, str) else line for line in lines]
    return b"\r\n".join([*written, b"", body])


def get(target: str, *more: str, method: str = "GET", body: bytes = b"") -> bytes:
    length = [f"Content-Length: {len(body)}"] if body else []
    return http(f"{method} {target} HTTP/1.1", HOST, *length, *more, body=body)


def post(body: bytes, *more: str, path: str = "/check", kind: str = "application/json") -> bytes:
    return get(path, f"Content-Type: {kind}", *more, method="POST", body=body)


def chunked(raw: bytes, *more: str) -> bytes:
    """A check whose body is framed by `raw`."""
    lines = (HOST, "Content-Type: application/json", "Transfer-Encoding: chunked", *more)
    return http("POST /check HTTP/1.1", *lines, body=raw)


def check(**fields: Any) -> bytes:
    """A check of these fields beside an id."""
    return post(json.dumps({"id": "hostile", "dry_run": True, **fields}).encode())


def filled(start: bytes, piece: bytes, end: bytes = b"", size: int = MAX_BODY) -> bytes:
    """As many pieces as a body may have between its start and its end."""
    return start + piece * ((size - len(start) - len(end)) // len(piece)) + end


def of(*statuses: int) -> Callable[[Callable[[], bytes] | bytes], Hostile]:
    def made(raw: Callable[[], bytes] | bytes) -> Hostile:
        return Hostile(raw if callable(raw) else lambda: raw, statuses)

    return made


GOOD = json.dumps({"id": "good", "text": f"A {CANARY} in good faith.", "dry_run": True}).encode()
answered, closed = of(200), of(0, 400)
malformed, too_large, invalid, unknown, unsupported = of(400), of(413), of(422), of(404), of(415)

JSON_BOMBS = {
    "10,000 nested lists": malformed(post(b"[" * 10_000 + b"]" * 10_000)),
    "16 MiB of opening brackets": too_large(lambda: post(filled(b"", b"["))),
    "16 MiB of empty lists": too_large(lambda: post(filled(b"[[]", b",[]", b"]"))),
    "16 MiB of empty objects": too_large(lambda: post(filled(b"[{}", b",{}", b"]"))),
    "16 MiB of zeros": too_large(lambda: post(filled(b"[0", b",0", b"]"))),
    "16 MiB of empty strings": too_large(lambda: post(filled(b'[""', b',""', b"]"))),
    "16 MiB of nested objects": too_large(lambda: post(filled(b"", b'{"":'))),
    "16 MiB of one key": too_large(lambda: post(filled(b'{"a":1', b',"a":1', b"}"))),
    "100,000 times one key": malformed(post(b'{"a":1' + b',"a":1' * 100_000 + b"}")),
    "100,000 keys": invalid(
        lambda: post(b"{" + b",".join(b'"k%d":0' % i for i in range(100_000)) + b"}")
    ),
    "120,000 lists of one": invalid(lambda: post(b"[[0]" + b",[0]" * 119_999 + b"]")),
    "a key of 8 MiB": too_large(lambda: post(filled(b'{"', b"k", b'":1}', 8 * MIB))),
    "an integer of 16 MiB": malformed(lambda: post(filled(b"", b"1"))),
    "100,000 integers of 65 bits": malformed(
        post(b"[1" + b",18446744073709551616" * 100_000 + b"]")
    ),
    "16 MiB of escaped NULs": invalid(
        lambda: post(filled(b'{"id":"a","text":"', b"\\u0000", b'"}'))
    ),
    "16 MiB of escaped quotes": too_large(
        lambda: post(filled(b'{"id":"a","text":"', b'\\"', b'"}'))
    ),
    "16 MiB of backslashes": malformed(lambda: post(filled(b"", b"\\"))),
    "16 MiB of quotes": too_large(lambda: post(filled(b"", b'"'))),
    "16 MiB of spaces": malformed(lambda: post(filled(b"", b" "))),
    "16 MiB of letters and one emoji": too_large(
        lambda: post(filled('{"id":"a","text":"\U0001f600'.encode(), b"x", b'"}'))
    ),
}

BODIES = {
    "an empty body": malformed(post(b"")),
    "null": invalid(post(b"null")),
    "a list": invalid(post(b"[]")),
    "a string": invalid(post(b'"a"')),
    "a lone surrogate": malformed(post(b'{"id": "a", "text": "\\ud800"}')),
    "a byte order mark": malformed(post(b"\xef\xbb\xbf" + GOOD)),
    "UTF-16": malformed(post(GOOD.decode().encode("utf-16"))),
    "NaN": malformed(post(b'{"id": "a", "text": "b", "metadata": {"authority": NaN}}')),
    "1e999": malformed(post(b'{"id": "a", "text": "b", "metadata": {"authority": 1e999}}')),
    "wrong types everywhere": invalid(
        check(id=[], text={}, pages=1, collection=True, metadata=[None], extra=[{}])
    ),
    "65 keys of metadata": invalid(check(text="b", metadata={f"k{i}": 1 for i in range(65)})),
    "metadata that nests": invalid(check(text="b", metadata={"k": {"k": {"k": []}}})),
    "1,000 unknown fields": invalid(check(text="b", **{f"{CANARY}{i}": 1 for i in range(997)})),
    "100,001 pages": invalid(lambda: check(pages=["x"] * 100_001)),
    "100,000 empty pages": invalid(lambda: check(pages=[""] * 100_000)),
    "1,001 items": invalid(post(json.dumps({"items": [1] * 1001}).encode(), path="/check/batch")),
    "200,000 items": invalid(
        lambda: post(json.dumps({"items": [None] * 200_000}).encode(), path="/check/batch")
    ),
    "1,000 items that are none": answered(
        post(json.dumps({"items": [[]] * 1000}).encode(), path="/check/batch")
    ),
    "a text over 4 MiB": too_large(lambda: check(text="x" * (4 * MIB + 1))),
    "a body over 16 MiB": too_large(lambda: post(b" " * (MAX_BODY + 1))),
    "a body over 16 MiB to a GET": too_large(lambda: get("/healthz", body=b" " * (MAX_BODY + 1))),
    "a body to a GET": answered(get("/healthz", body=GOOD)),
    "a form": unsupported(post(b"id=a&text=b", kind="application/x-www-form-urlencoded")),
    "XML with an entity": unsupported(post(b'<!DOCTYPE a [<!ENTITY b "c">]>', kind="text/xml")),
}

FRAMING = {
    "a length and chunks": malformed(chunked(b"0\r\n\r\n", "Content-Length: 5")),
    "two lengths": malformed(post(GOOD, f"Content-Length: {len(GOOD)}")),
    "two different lengths": malformed(post(GOOD, "Content-Length: 5")),
    "a length of +5": malformed(get("/check", "Content-Length: +5", method="POST")),
    "a length of -1": malformed(get("/check", "Content-Length: -1", method="POST")),
    "a length of 0x5": malformed(get("/check", "Content-Length: 0x5", method="POST")),
    "a length of 5, 5": malformed(get("/check", "Content-Length: 5, 5", method="POST")),
    "a length of superscript two": malformed(get("/check", "Content-Length: \xb2", method="POST")),
    "a length of 10^30": too_large(get("/check", f"Content-Length: 1{'0' * 30}", method="POST")),
    "a body that breaks off": malformed(post(GOOD, path="/check")[:-5]),
    "identity, chunked": malformed(
        http(
            "POST /check HTTP/1.1", HOST, "Transfer-Encoding: identity, chunked", body=b"0\r\n\r\n"
        )
    ),
    "gzip, chunked": malformed(
        http("POST /check HTTP/1.1", HOST, "Transfer-Encoding: gzip, chunked", body=b"0\r\n\r\n")
    ),
    "chunked twice": malformed(chunked(b"0\r\n\r\n", "Transfer-Encoding: chunked")),
    "an unknown coding": malformed(
        http("POST /check HTTP/1.1", HOST, "Transfer-Encoding: xchunked", body=b"0\r\n\r\n")
    ),
    "chunks in HTTP/1.0": malformed(
        http("POST /check HTTP/1.0", HOST, "Transfer-Encoding: chunked", body=b"0\r\n\r\n")
    ),
    "a chunk size that is none": malformed(chunked(b"zz\r\n" + GOOD + b"\r\n0\r\n\r\n")),
    "a chunk size of 0x5": malformed(chunked(b"0x5\r\nhello\r\n0\r\n\r\n")),
    "a chunk size of -5": malformed(chunked(b"-5\r\nhello\r\n0\r\n\r\n")),
    "a chunk of 2^64": malformed(chunked(b"FFFFFFFFFFFFFFFF\r\nhello")),
    "a chunk size of 1 MiB": malformed(lambda: chunked(b"0" * MIB + b"5\r\nhello\r\n0\r\n\r\n")),
    "a chunk without its end": malformed(chunked(b"5\r\nhelloworld\r\n0\r\n\r\n")),
    "a chunk extension": answered(chunked(b"%x;a=b\r\n%s\r\n0\r\n\r\n" % (len(GOOD), GOOD))),
    "a chunk extension of 64 KiB": malformed(
        chunked(b"5;a=" + b"b" * 65_536 + b"\r\nhello\r\n0\r\n\r\n")
    ),
    "a trailer that changes the host": malformed(
        chunked(b"%x\r\n%s\r\n0\r\nHost: other\r\n\r\n" % (len(GOOD), GOOD))
    ),
    "chunks without end": malformed(chunked(b"%x\r\n%s\r\n" % (len(GOOD), GOOD))),
    "chunks over 16 MiB": too_large(
        lambda: chunked(b"10000\r\n%s\r\n" % (b" " * 65_536) * 257 + b"0\r\n\r\n")
    ),
    "20 MiB of chunks that no call reads": answered(
        lambda: http(
            "GET /healthz HTTP/1.1",
            HOST,
            "Transfer-Encoding: chunked",
            body=b"10000\r\n%s\r\n" % (b" " * 65_536) * 320 + b"0\r\n\r\n",
        )
    ),
    "a bad chunk that no call reads": of(404)(
        http("POST /nowhere HTTP/1.1", HOST, "Transfer-Encoding: chunked", body=b"zz\r\n\r\n")
    ),
}

HEADS = {
    "a header that is folded": malformed(get("/healthz", "X-A: b\r\n c")),
    "a NUL in a header": malformed(get("/healthz", f"X-A: {CANARY}\x00")),
    "a bare CR in a header": malformed(get("/healthz", f"X-A: {CANARY}\rX-B: c")),
    "a space before the colon": malformed(get("/healthz", f"{CANARY} : b")),
    "a header without a colon": malformed(get("/healthz", CANARY)),
    "a header without a name": malformed(get("/healthz", ": b")),
    "a header name beyond ASCII": malformed(get("/healthz", "X-\xe9: b")),
    "no host": malformed(http("GET /healthz HTTP/1.1")),
    "no host in HTTP/1.0": answered(http("GET /healthz HTTP/1.0")),
    "two hosts": malformed(get("/healthz", "Host: other")),
    "a host that is none": malformed(http("GET /healthz HTTP/1.1", "Host: a b/c")),
    "an absolute address": answered(get("http://service/healthz")),
    "an absolute address of nothing": malformed(get("http://[/healthz")),
    "line feeds alone": malformed(b"GET /healthz HTTP/1.1\nHost: a\n\n"),
    "a method in lower case": malformed(get(f"/{CANARY}", method="get")),
    "a method of 100 letters": malformed(get("/healthz", method="A" * 100)),
    "an unknown method": of(405)(get("/healthz", method="BREW")),
    "TRACE": of(405)(get("/healthz", method="TRACE")),
    "CONNECT": of(404, 405)(http("CONNECT service:443 HTTP/1.1", HOST)),
    "OPTIONS of all": of(200, 404)(get("*", method="OPTIONS")),
    "an asterisk": malformed(get("*")),
    "HTTP/0.9": malformed(f"GET /{CANARY}\r\n\r\n".encode()),
    "HTTP/9.9": malformed(http("GET / HTTP/9.9", HOST)),
    "the preface of HTTP/2": malformed(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    "an upgrade to HTTP/2": answered(
        get("/healthz", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AA")
    ),
    "a greeting of TLS": closed(bytes.fromhex("16030100c8010000c40303") + b"\x00" * 200),
    "a command of Redis": malformed(f"*1\r\n$4\r\nPING {CANARY}\r\n".encode()),
    "two empty lines": malformed(b"\r\n\r\n"),
    "nothing": closed(b""),
    "half a request line": closed(f"GET /{CANARY}".encode()),
    "half a head": closed(f"GET / HTTP/1.1\r\nX-A: {CANARY}".encode()),
    "a request line of 64 KiB": of(414)(get(f"/{CANARY}" + "a" * 65_536)),
    "a request line without end": of(414)(b"GET /" + b"a" * 100_000),
    "200 headers": of(431)(get("/healthz", *[f"X-{i}: {CANARY}" for i in range(200)])),
    "a header of 64 KiB": of(431)(get("/healthz", f"X-A: {CANARY}{'a' * 65_536}")),
    "a cookie of 9 KiB": of(431)(get("/healthz", f"Cookie: a={'b' * 9216}")),
    "headers of 2 MiB": of(431)(lambda: get("/healthz", *["X-A: " + "a" * 8000] * 262)),
    "an expectation": of(417)(post(GOOD, f"Expect: {CANARY}")),
    "an underscore in a header": answered(get("/healthz", "X_Forwarded_For: a")),
    "a request id with a line end": answered(get("/healthz", "X-Request-Id: a%0d%0ab")),
    "two content types": malformed(post(GOOD, "Content-Type: text/plain")),
}


def packed(raw: bytes, encoding: str) -> bytes:
    return post(raw, f"Content-Encoding: {encoding}")


def zstd(raw: bytes, **options: Any) -> bytes:
    return zstandard.ZstdCompressor(**options).compress(raw)


def wide_zstd() -> bytes:
    wide = zstandard.ZstdCompressionParameters(window_log=27, write_content_size=False)
    packer = zstandard.ZstdCompressor(compression_params=wide).compressobj()
    return packer.compress(GOOD) + packer.flush()


BOMBS = {
    "200 MiB in gzip": too_large(lambda: packed(gzip.compress(b" " * (200 * MIB), 1), "gzip")),
    "200 MiB in zstd": too_large(lambda: packed(zstd(b" " * (200 * MIB)), "zstd")),
    "16 MiB of brackets in gzip": too_large(lambda: packed(gzip.compress(b"[" * MAX_BODY), "gzip")),
    "gzip in gzip": malformed(packed(gzip.compress(gzip.compress(GOOD)), "gzip")),
    "gzip twice, and said so": unsupported(
        packed(gzip.compress(gzip.compress(GOOD)), "gzip, gzip")
    ),
    "gzip that breaks off": malformed(packed(gzip.compress(GOOD)[:-9], "gzip")),
    "gzip with a wrong sum": malformed(packed(gzip.compress(GOOD)[:-8] + b"\0" * 8, "gzip")),
    "gzip with garbage behind": malformed(packed(gzip.compress(GOOD) + b"garbage", "gzip")),
    "20,000 empty members": malformed(packed(gzip.compress(b"") * 20_000, "gzip")),
    "zstd that breaks off": malformed(packed(zstd(GOOD)[:-3], "zstd")),
    "zstd with garbage behind": malformed(packed(zstd(GOOD) + b"garbage", "zstd")),
    "zstd with a window of 128 MiB": malformed(lambda: packed(wide_zstd(), "zstd")),
    "no gzip at all": malformed(packed(GOOD, "gzip")),
    "deflate": unsupported(packed(GOOD, "deflate")),
}

ADDRESSES = {
    "two dots": unknown(get("/documents/..")),
    "two escaped dots": unknown(get("/documents/%2e%2e")),
    "a way out": unknown(get("/../../../etc/passwd")),
    "an escaped way out": unknown(get("/%2e%2e%2f%2e%2e%2fetc%2fpasswd")),
    "a NUL": invalid(get("/documents/a%00b")),
    "two slashes": unknown(get("//documents/a")),
    "a semicolon": unknown(get("/healthz;a=b")),
    "a backslash": unknown(get("/documents\\a")),
    "overlong UTF-8": unknown(get("/documents/%c0%ae")),
    "a byte that is no UTF-8": unknown(get("/documents/%ff")),
    "a raw byte above ASCII": malformed(get("/documents/\xff")),
    "an escape that is none": unknown(get("/documents/%zz")),
    "8,000 characters": invalid(get("/documents/" + "a" * 8000)),
    "a slash at the end": unknown(get("/collections/a/")),
    "braces": invalid(get("/collections/%7Ba%7D")),
    "a conflict of no form": unknown(get("/conflicts/%27%20OR%201=1")),
    "one parameter twice": invalid(get("/documents?id=a&id=b")),
    "1,000 parameters": invalid(get("/documents?" + "&".join(f"a{i}=b" for i in range(1000)))),
    "an unknown parameter": invalid(get(f"/documents?{CANARY}=1")),
    "a parameter with a bad escape": of(404, 422)(get("/documents?id=%zz")),
    "a parameter that is no UTF-8": invalid(get("/documents?id=%ff")),
    "a NUL in a parameter": invalid(get("/documents?id=a%00b")),
    "a limit of 10^30": invalid(get(f"/documents?limit=1{'0' * 30}")),
    "a limit in Arabic digits": invalid(get("/documents?limit=%D9%A1")),
    "a cursor of our form and none of ours": invalid(get("/documents?cursor=" + "QUFB" * 500)),
    "a score that is none": invalid(get("/decisions?min_score=nan")),
}

# A text may be as large as 4 MiB and have 100,000 pages; in the short form of the tests it has a
# quarter of that.
_LARGE = (4 * MIB if os.environ.get("SOAK") else MIB) - 64


def large_text(piece: str) -> Hostile:
    """A check of a large text, all of it this piece. It is no fault to post one."""
    size = _LARGE // len(piece.encode())
    return Hostile(lambda: check(text=f"Read {piece * (size - 8)} it."), (200, 422))


_PAGES = 100_000 if os.environ.get("SOAK") else 25_000
_WIDE = {
    "items": [{"id": "wide", "text": "\U0001f600" + "x" * (_LARGE - 100), "dry_run": True}] * 4
}
TEXTS = {
    "one word": large_text("word "),
    "one letter": large_text("a"),
    "lines of one letter": large_text("a\n"),
    "combining marks": large_text("\u0301"),
    "digits": large_text("7"),
    "numbers": large_text("1,000.5 "),
    "dots and digits": large_text("9."),
    "opening brackets": large_text("("),
    "spaces": large_text(" "),
    "hyphens": large_text("-"),
    "line ends": large_text("\r\n"),
    "marks of direction": large_text("\u202e"),
    "joined emoji": large_text("\U0001f468\u200d\U0001f469\u200d"),
    "negations": large_text("not un"),
    "dates": large_text("2026-01-01T"),
    "money": large_text("$1 EUR "),
    "pages of one line": Hostile(
        lambda: check(pages=["a page", "Page 1"] * (_PAGES // 2)), (200, 422), _PAGES
    ),
    "four texts of letters with an emoji each": Hostile(
        lambda: post(json.dumps(_WIDE, ensure_ascii=False).encode(), path="/check/batch"), (200,)
    ),
    "two texts with other numbers": Hostile(
        lambda: post(
            json.dumps({"a": "1 a " * (_LARGE // 8), "b": "2 a " * (_LARGE // 8)}).encode(),
            path="/compare",
        ),
        (200,),
    ),
}


def stream(raw: bytes, *more: str) -> bytes:
    return post(raw, *more, path="/check/batch", kind="application/x-ndjson")


STREAMS = {
    "a line of 20 MiB": answered(lambda: stream(b"[" * (20 * MIB))),
    "100,000 empty lines": answered(lambda: stream(b"\n" * 100_000)),
    "10,000 lines that are none": answered(lambda: stream(b"[\n" * 10_000)),
    "200 MiB of lines in gzip": answered(
        lambda: stream(gzip.compress((b" " * MIB + b"\n") * 200, 1), "Content-Encoding: gzip")
    ),
    "200 MiB in one line in zstd": answered(
        lambda: stream(zstd(b" " * (200 * MIB)), "Content-Encoding: zstd")
    ),
    "40 texts of 1 MiB": answered(
        lambda: stream(
            b"\n".join(
                json.dumps(
                    {"id": f"s{i}", "text": f"{i} word " * 110_000, "dry_run": True}
                ).encode()
                for i in range(40)
            )
        )
    ),
    "a stream that breaks off": answered(
        http(
            "POST /check/batch HTTP/1.1",
            HOST,
            "Content-Type: application/x-ndjson",
            "Content-Length: 100",
            body=b'{"id": ',
        )
    ),
}

ALL: dict[str, Hostile] = {
    f"{kind}: {name}": hostile
    for kind, cases in {
        "json": JSON_BOMBS,
        "body": BODIES,
        "framing": FRAMING,
        "head": HEADS,
        "packing": BOMBS,
        "address": ADDRESSES,
        "stream": STREAMS,
        "text": TEXTS,
    }.items()
    for name, hostile in cases.items()
}
