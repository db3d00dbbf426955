"""A body is read whole or refused: never cut, whatever its framing and packing."""

import dataclasses
import gzip
import io
import json
import zlib
from collections.abc import Callable
from typing import Any

import pytest
import zstandard
from flask.testing import FlaskClient

from service.app import create_app
from service.settings import Settings

Expect = Callable[..., dict[str, Any]]

GOOD = json.dumps({"id": "a", "text": "a text to check"}).encode()
PACKED = {"gzip": gzip.compress(GOOD), "zstd": zstandard.compress(GOOD)}


def padded(size: int) -> bytes:
    """A check of exactly so many bytes; the padding is white space after the object."""
    return GOOD + b" " * (size - len(GOOD))


def post_chunked(client: FlaskClient, raw: bytes, **headers: str) -> Any:
    """Post as a server hands on a chunked body: no length, and a stream that ends by itself."""
    return client.post(
        "/check",
        input_stream=io.BytesIO(raw),
        content_type="application/json",
        headers={"Transfer-Encoding": "chunked", **headers},
        environ_overrides={"wsgi.input_terminated": True},
    )


def post_packed(client: FlaskClient, raw: bytes, encoding: str) -> Any:
    return client.post(
        "/check",
        data=raw,
        content_type="application/json",
        headers={"Content-Encoding": encoding},
    )


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "application/json; charset=utf-8",
        'application/json; charset="UTF-8"',
        "APPLICATION/JSON",
        "application/json; profile=x",
    ],
)
def test_json_in_utf8_is_read(client: FlaskClient, content_type: str) -> None:
    response = client.post("/check", data=GOOD, headers={"Content-Type": content_type})
    assert response.status_code == 200


@pytest.mark.parametrize(
    "content_type",
    [
        None,
        "",
        "text/plain",
        "text/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json-seq",
        "application/merge-patch+json",
        "application/json; charset=latin-1",
        "application/json; charset=utf-16",
    ],
)
def test_any_other_content_type_is_unsupported(
    client: FlaskClient, expect_problem: Expect, content_type: str | None
) -> None:
    headers = {} if content_type is None else {"Content-Type": content_type}
    response = client.post("/check", data=GOOD, headers=headers)
    expect_problem(response, 415, "unsupported_media_type")


@pytest.mark.parametrize("encoding", ["br", "deflate", "compress", "gzip, gzip", "zstd,gzip", "x"])
def test_any_other_content_encoding_is_unsupported(
    client: FlaskClient, expect_problem: Expect, encoding: str
) -> None:
    response = post_packed(client, GOOD, encoding)
    expect_problem(response, 415, "unsupported_media_type")
    assert response.headers["Accept-Encoding"] == "gzip, zstd"


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_a_packed_body_is_read(client: FlaskClient, encoding: str) -> None:
    assert post_packed(client, PACKED[encoding], encoding).status_code == 200


def test_no_encoding_may_be_named_identity(client: FlaskClient) -> None:
    assert post_packed(client, GOOD, "identity").status_code == 200


def test_zstd_without_a_content_size_is_read(client: FlaskClient) -> None:
    packer = zstandard.ZstdCompressor(write_content_size=False)
    assert post_packed(client, packer.compress(GOOD), "zstd").status_code == 200


def test_several_gzip_members_are_read_as_one_body(client: FlaskClient) -> None:
    raw = gzip.compress(GOOD[:10]) + gzip.compress(GOOD[10:])
    assert post_packed(client, raw, "gzip").status_code == 200


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
@pytest.mark.parametrize("left", [0, 1, 5, 12, -9, -4, -1])
def test_a_packed_body_that_breaks_off_is_malformed(
    client: FlaskClient, expect_problem: Expect, encoding: str, left: int
) -> None:
    response = post_packed(client, PACKED[encoding][:left], encoding)
    code = response.get_json()["code"]
    # Nothing at all is a gzip file without members: packed rightly, but no JSON.
    expect_problem(
        response, 400, "malformed_json" if code == "malformed_json" else "malformed_body"
    )
    assert code == "malformed_body" or (encoding, left) == ("gzip", 0)


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
@pytest.mark.parametrize("tail", [b"x", b"\x1f\x8b", b"(\xb5/\xfd"])
def test_something_after_a_packed_body_is_malformed(
    client: FlaskClient, expect_problem: Expect, encoding: str, tail: bytes
) -> None:
    response = post_packed(client, PACKED[encoding] + tail, encoding)
    expect_problem(response, 400, "malformed_body")


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_a_body_that_is_not_packed_as_it_says_is_malformed(
    client: FlaskClient, expect_problem: Expect, encoding: str
) -> None:
    expect_problem(post_packed(client, GOOD, encoding), 400, "malformed_body")


def test_gzip_with_a_wrong_checksum_is_malformed(
    client: FlaskClient, expect_problem: Expect
) -> None:
    raw = bytearray(PACKED["gzip"])
    raw[-6] ^= 1
    expect_problem(post_packed(client, bytes(raw), "gzip"), 400, "malformed_body")


def test_raw_deflate_is_not_gzip(client: FlaskClient, expect_problem: Expect) -> None:
    expect_problem(post_packed(client, zlib.compress(GOOD), "gzip"), 400, "malformed_body")


def test_a_body_of_exactly_the_limit_is_read(client: FlaskClient, settings: Settings) -> None:
    response = client.post(
        "/check", data=padded(settings.max_body), content_type="application/json"
    )
    assert response.status_code == 200


def test_a_chunked_body_of_exactly_the_limit_is_read(
    client: FlaskClient, settings: Settings
) -> None:
    assert post_chunked(client, padded(settings.max_body)).status_code == 200


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_a_packed_body_of_exactly_the_limit_is_read(
    client: FlaskClient, settings: Settings, encoding: str
) -> None:
    pack = gzip.compress if encoding == "gzip" else zstandard.compress
    assert post_packed(client, pack(padded(settings.max_body)), encoding).status_code == 200


def expect_too_large(expect_problem: Expect, response: Any) -> None:
    expect_problem(response, 413, "too_large")
    assert response.headers["Connection"] == "close"


def test_a_body_over_the_limit_is_too_large(
    client: FlaskClient, settings: Settings, expect_problem: Expect
) -> None:
    raw = padded(settings.max_body + 1)
    expect_too_large(
        expect_problem, client.post("/check", data=raw, content_type="application/json")
    )


@pytest.mark.parametrize("over", [1, 1000, 1_000_000])
def test_a_chunked_body_over_the_limit_is_too_large_and_not_cut(
    client: FlaskClient, settings: Settings, expect_problem: Expect, over: int
) -> None:
    expect_too_large(expect_problem, post_chunked(client, padded(settings.max_body + over)))


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
@pytest.mark.parametrize("over", [1, 50_000_000])
def test_a_body_that_unpacks_over_the_limit_is_too_large(
    client: FlaskClient, settings: Settings, expect_problem: Expect, encoding: str, over: int
) -> None:
    pack = gzip.compress if encoding == "gzip" else zstandard.compress
    raw = pack(padded(settings.max_body + over))[: settings.max_body]
    expect_too_large(expect_problem, post_packed(client, raw, encoding))


def test_many_gzip_members_that_unpack_over_the_limit_are_too_large(
    client: FlaskClient, settings: Settings, expect_problem: Expect
) -> None:
    raw = gzip.compress(b" " * (settings.max_body // 4)) * 5
    expect_too_large(expect_problem, post_packed(client, raw, "gzip"))


def test_a_great_many_gzip_members_are_malformed(
    settings: Settings, expect_problem: Expect
) -> None:
    large = create_app(dataclasses.replace(settings, max_body=1 << 20)).test_client()
    raw = gzip.compress(b"") * 10_001 + PACKED["gzip"]
    expect_problem(post_packed(large, raw, "gzip"), 400, "malformed_body")


def test_a_chunked_packed_body_is_read(client: FlaskClient) -> None:
    response = post_chunked(client, PACKED["gzip"], **{"Content-Encoding": "gzip"})
    assert response.status_code == 200


@pytest.mark.parametrize("terminated", [True, False])
def test_a_body_shorter_than_it_says_is_malformed(
    client: FlaskClient, expect_problem: Expect, terminated: bool
) -> None:
    response = client.post(
        "/check",
        input_stream=io.BytesIO(GOOD),
        content_type="application/json",
        environ_overrides={
            "CONTENT_LENGTH": str(len(GOOD) + 5),
            **({"wsgi.input_terminated": True} if terminated else {}),
        },
    )
    expect_problem(response, 400, "malformed_body")


def test_a_connection_that_fails_in_the_middle_is_malformed(
    client: FlaskClient, expect_problem: Expect
) -> None:
    class Broken(io.BytesIO):
        def readinto(self, _buffer: Any) -> int:
            raise ConnectionResetError

    response = client.post(
        "/check",
        input_stream=Broken(),
        content_type="application/json",
        headers={"Transfer-Encoding": "chunked"},
        environ_overrides={"wsgi.input_terminated": True},
    )
    expect_problem(response, 400, "malformed_body")


def test_a_large_body_is_refused_where_none_is_read(
    client: FlaskClient, settings: Settings, expect_problem: Expect
) -> None:
    expect_too_large(expect_problem, client.get("/healthz", data=b" " * (settings.max_body + 1)))


def test_a_text_of_exactly_the_limit_is_read(client: FlaskClient, settings: Settings) -> None:
    body = {"id": "a", "text": "x" * settings.max_text}
    assert client.post("/check", json=body).status_code == 200


@pytest.mark.parametrize("character", ["x", "é", "€", "\U0001f600"])
def test_a_text_over_the_limit_in_bytes_is_too_large(
    client: FlaskClient, settings: Settings, expect_problem: Expect, character: str
) -> None:
    text = character * (settings.max_text // len(character.encode()) + 1)
    body = json.dumps({"id": "a", "text": text}, ensure_ascii=False).encode()
    response = client.post("/check", data=body, content_type="application/json")
    expect_too_large(expect_problem, response)


def test_pages_over_the_limit_together_are_too_large(
    client: FlaskClient, settings: Settings, expect_problem: Expect
) -> None:
    body = {"id": "a", "pages": ["x" * (settings.max_text // 2 + 1)] * 2}
    expect_too_large(expect_problem, client.post("/check", json=body))


@pytest.mark.parametrize("side", ["a", "b"])
def test_either_side_of_a_comparison_may_be_too_large(
    client: FlaskClient, settings: Settings, expect_problem: Expect, side: str
) -> None:
    body = {"a": "one", "b": "two", side: "x" * (settings.max_text + 1)}
    expect_too_large(expect_problem, client.post("/compare", json=body))
