"""POST /check/batch as a stream of lines both ways, over real connections."""

import gzip
import json
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.e2e.running import Service, services

MAX_BODY = 64 * 1024


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    directory: Path = tmp_path_factory.mktemp("streams")
    with services(directory) as start:
        yield start(TWINSIFT_MAX_BODY=str(MAX_BODY), TWINSIFT_WORKERS="1").ready()


class Stream:
    """A connection on which lines are sent and results read, in any order."""

    def __init__(self, port: int, headers: dict[str, str]) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.file = self.socket.makefile("rb")
        lines = [
            "POST /check/batch HTTP/1.1",
            "Host: localhost",
            "Content-Type: application/x-ndjson",
        ]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode())
        self.status = 0

    def send_chunk(self, data: bytes) -> None:
        self.socket.sendall(b"%x\r\n%s\r\n" % (len(data), data))

    def close(self) -> None:
        self.file.close()
        self.socket.close()

    def chunks(self) -> Iterator[bytes]:
        if not self.status:
            self.status = int(self.file.readline().split()[1])
            while self.file.readline() != b"\r\n":
                pass
        while size := int(self.file.readline(), 16):
            yield self.file.read(size)
            self.file.readline()

    def results(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in b"".join(self.chunks()).splitlines()]


def line(id: str, text: str) -> bytes:
    return json.dumps({"id": id, "text": text}).encode() + b"\n"


def lines(name: str, count: int) -> bytes:
    """Lines whose texts have no word in common."""
    return b"".join(
        line(f"{name}-{n}", " ".join(f"{name}{n}word{place}" for place in range(8)))
        for n in range(count)
    )


def post(service: Service, body: bytes, **headers: str) -> list[dict[str, Any]]:
    sent = {
        "Content-Length": str(len(body)),
        **{k.replace("_", "-"): v for k, v in headers.items()},
    }
    with closing(Stream(service.port, sent)) as stream:
        stream.socket.sendall(body)
        return stream.results()


def test_a_client_that_waits_for_each_result_gets_it(service):
    with closing(Stream(service.port, {"Transfer-Encoding": "chunked"})) as stream:
        told = stream.chunks()
        for n in range(5):
            stream.send_chunk(line(f"turn-{n}", f"turn {n} of its own words {n}"))
            assert json.loads(next(told))["id"] == f"turn-{n}"
        stream.socket.sendall(b"0\r\n\r\n")
        assert list(told) == []


def test_a_client_that_waits_for_the_result_of_a_long_line_gets_it(service):
    with closing(Stream(service.port, {"Transfer-Encoding": "chunked"})) as stream:
        told = stream.chunks()
        for n in range(3):
            words = " ".join(f"long{n}word{place}" for place in range(3000))
            stream.send_chunk(line(f"long-{n}", words))
            whole = b""
            while not whole.endswith(b"\n"):
                whole += next(told)
            assert json.loads(whole)["id"] == f"long-{n}"
        stream.socket.sendall(b"0\r\n\r\n")
        assert list(told) == []


def test_many_more_lines_than_a_json_batch_may_have_are_answered_in_order(service):
    told = post(service, lines("many", 1500))
    assert [one["index"] for one in told] == list(range(1500))
    assert {one["verdict"] for one in told} == {"new"}


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_a_packed_stream_is_read(service, encoding):
    pack = gzip.compress if encoding == "gzip" else zstandard.ZstdCompressor().compress
    told = post(service, pack(lines(encoding, 100)), Content_Encoding=encoding)
    assert len([one for one in told if one.get("verdict") == "new"]) == 100


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_a_packed_stream_that_breaks_off_says_so_at_its_end(service, encoding):
    pack = gzip.compress if encoding == "gzip" else zstandard.ZstdCompressor().compress
    packed = pack(lines(f"cut-{encoding}", 50))
    told = post(service, packed[: len(packed) - 9], Content_Encoding=encoding)
    assert told[-1]["problem"]["code"] == "malformed_body"


def test_a_line_that_is_cut_is_not_lost_silently(service):
    with closing(Stream(service.port, {"Content-Length": "1000"})) as stream:
        stream.socket.sendall(lines("torn", 3) + b'{"id": "torn-3", "te')
        stream.socket.shutdown(socket.SHUT_WR)
        told = stream.results()
    assert [one.get("verdict") for one in told] == ["new", "new", "new", None]
    assert told[-1]["problem"]["code"] == "malformed_body"


def test_a_last_line_without_its_end_counts(service):
    (only,) = post(service, line("last", "the last line of this stream").rstrip())
    assert only["verdict"] == "new"


def test_bad_lines_get_a_problem_each_and_empty_ones_nothing(service):
    long = line("long", "word " * MAX_BODY)
    body = b"\n".join([b"{bad", b"", b"[]", line("good", "a good line")]) + long + b"\n"
    told = post(service, body)
    codes = [one.get("problem", {}).get("code") for one in told]
    assert codes == ["malformed_json", "invalid_request", None, "too_large"]
    assert [one["index"] for one in told] == [0, 1, 2, 3]


def test_a_client_that_stops_reading_holds_up_no_other(service):
    with closing(Stream(service.port, {"Transfer-Encoding": "chunked"})) as stream:
        stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        stream.socket.settimeout(2)
        body = lines("deaf", 200)
        try:
            for _ in range(200):
                stream.send_chunk(body)
        except TimeoutError:
            pass  # it is held back, as it reads nothing
        assert service.call("GET", "/healthz")[0] == 200
        assert service.call("POST", "/check", {"id": "other", "text": "of another"})[0] == 200
