"""The address of the store: what its forms mean, and what is refused."""

import pytest

from service.store_address import AddressError, Kind, Node, read_address


def test_a_cluster_has_its_seeds() -> None:
    found = read_address("redis+cluster://ada:p%40ss@one:7000,[::1]:7001,two.example:7002")
    assert (found.kind, found.tls) == (Kind.CLUSTER, False)
    assert found.nodes == (Node("one", 7000), Node("::1", 7001), Node("two.example", 7002))
    assert (found.username, found.password) == ("ada", "p@ss")


def test_sentinels_have_a_service_and_a_database() -> None:
    found = read_address("rediss+sentinel://a:26379,b:26379/my-main/2?sentinel_password=s")
    assert (found.kind, found.tls, found.service, found.database) == (
        Kind.SENTINEL, True, "my-main", 2,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("url", "node_url"),
    [
        ("redis+cluster://ada:p%40ss@a:1", "redis://ada:p%40ss@[::2]:9?db=0"),
        ("redis+cluster://:p%3Aw@a:1", "redis://:p%3Aw@[::2]:9?db=0"),
        (
            "rediss+cluster://a:1?ssl_ca_certs=/etc/ca.pem",
            "rediss://[::2]:9?ssl_ca_certs=%2Fetc%2Fca.pem&db=0",
        ),
        ("redis+sentinel://u:w@a:1/main/3?sentinel_password=s", "redis://u:w@[::2]:9?db=3"),
    ],
)
def test_each_server_that_is_named_later_is_asked_as_the_address_says(
    url: str, node_url: str
) -> None:
    assert read_address(url).url_of(Node("::2", 9)) == node_url


def test_a_sentinel_gets_its_own_password_alone() -> None:
    found = read_address("redis+sentinel://u:w@a:1/main?sentinel_username=x&sentinel_password=s")
    assert found.url_of_sentinel(Node("a", 1)) == "redis://x:s@a:1?"


def test_a_socket_has_a_path() -> None:
    found = read_address("unix://u:w@/run/a%20b.sock?db=1")
    assert (found.path, found.database) == ("/run/a b.sock", 1)
    assert found.url_of(None) == "unix://u:w@/run/a%20b.sock?db=1"


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("redis+cluster://a", "port"),
        ("redis+cluster://a:1,b", "port"),
        ("redis+cluster://a:0", "port"),
        ("redis+cluster://a:99999", "port"),
        ("redis+cluster://a:1,", "no host"),
        ("redis+cluster://", "no host"),
        ("redis+cluster://::1:7000", "no host"),
        ("redis+cluster://a:1,A:1", "twice"),
        ("redis+cluster://a:1/1", "a cluster has 0 alone"),
        ("redis+cluster://a:1?db=1", "a cluster has 0 alone"),
        ("redis+cluster://a:1/main", "database number"),
        ("redis+sentinel://a:1", "no service"),
        ("redis+sentinel://a:1/", "no service"),
        ("redis+sentinel://a:1/main/x", "database number"),
        ("redis+sentinel://a/main", "port"),
        ("redis+sentinel://a:1/main?sentinel_username=x", "sentinel_password"),
        ("redis+cluster://a:1?sentinel_password=x", "for sentinels only"),
        ("redis://a:1,b:2", r"redis\+cluster://"),
        ("redis://user@a:1", "no password"),
        ("redis://a:1?ssl_ca_certs=/x", "rediss:// only"),
        ("rediss://a:1?ssl_cert_reqs=maybe", "ssl_cert_reqs"),
        ("redis://a:1?socket_timeout=9", "an option"),
        ("rediss://a:1?ssl_keyfile=a", "no ssl_certfile"),
        ("rediss://a:1?ssl_keyfile=a&ssl_keyfile=b", "twice"),
        ("redis://a:1/1?db=2", "two databases"),
        ("redis://:pass#word@a:1", "percent-encoded"),
        ("redis+clusters://a:1", "must begin with"),
    ],
)
def test_what_is_wrong_is_refused_with_the_reason(url: str, reason: str) -> None:
    with pytest.raises(AddressError, match=reason):
        read_address(url)


@pytest.mark.parametrize(
    "url",
    [
        "redis+cluster://u:hidden@a", "redis+sentinel://u:hidden@a:1", "redis://u:hidden@a:1?b=hidden",
        "http://u:hidden@a:1", "redis://hidden@a:1", "unix://u:hidden@", "redis://a:1/hidden",
        "redis://hid#den:hidden@a",
    ],
)  # fmt: skip
def test_no_refusal_quotes_the_address(url: str) -> None:
    with pytest.raises(AddressError) as refused:
        read_address(url)
    assert "hidden" not in str(refused.value)


def test_nor_does_its_printed_form() -> None:
    found = read_address("redis+sentinel://u:hidden@a:1/main?sentinel_password=hidden")
    assert "hidden" not in repr(found)
