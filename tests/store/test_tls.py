"""TLS to one server, to a cluster and by way of sentinels; and what is wrong with it, in words."""

import json
import ssl
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.app import create_app
from service.errors import StoreUnavailable
from service.logs import JsonFormatter
from service.serving import look_at_store as look_at_store_of
from service.settings import Settings
from service.store.capabilities import UnfitStore, look_at_store
from service.store.connection import Connection
from service.store.scripts import Call
from tests.certificates import Authority
from tests.clusters import ClusterServers, Member, cluster_servers
from tests.e2e.running import free_port, wait_until
from tests.fire.stores import StoreServer, frozen, store_server
from tests.tls import Terminator, terminator

SECONDS = 10.0
HERE = ("localhost", "127.0.0.1")
RELEASE: Call = ("release", ["ts1:collections"], ["nobody", "0"])  # writes, and changes nothing


@pytest.fixture(scope="module")
def trusted(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("trusted") / "authority")


@pytest.fixture(scope="module")
def unknown(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """An authority that nobody trusts."""
    return Authority(tmp_path_factory.mktemp("unknown") / "authority")


@pytest.fixture(scope="module")
def in_front() -> Iterator[Terminator]:
    with terminator() as started:
        yield started


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreServer]:
    with store_server(tmp_path_factory.mktemp("tls") / "store") as started:
        yield started


@pytest.fixture(scope="module")
def port(server: StoreServer, in_front: Terminator, trusted: Authority) -> int:
    """Where it is to be had over TLS."""
    return in_front.before(server.port, trusted.server(*HERE))


@pytest.fixture(scope="module")
def nodes(
    tmp_path_factory: pytest.TempPathFactory, in_front: Terminator, trusted: Authority
) -> Iterator[ClusterServers]:
    """Nodes of a cluster that are to be had at their announced ports and names alone: their
    certificate is for `localhost`, and not for the address that they have."""
    context = trusted.server("localhost")

    def announce(node: Member) -> None:
        node.announced = in_front.before(node.port, context)
        node.client.config_set("cluster-announce-port", node.announced)
        node.client.config_set("cluster-announce-hostname", "localhost")
        node.client.config_set("cluster-preferred-endpoint-type", "hostname")

    place = tmp_path_factory.mktemp("tls") / "nodes"
    with cluster_servers(place, primaries=2, replicas=0, prepare=announce) as started:
        wait_until(lambda: all(_announces(node) for node in started.nodes))
        yield started


@pytest.fixture
def cluster_url(nodes: ClusterServers, trusted: Authority) -> str:
    """Its address, with a first seed that is dead."""
    seeds = [free_port(), *(node.announced for node in nodes.nodes)]
    hosts = ",".join(f"localhost:{port}" for port in seeds)
    return f"rediss+cluster://{hosts}?ssl_ca_certs={trusted.file}"


@pytest.fixture(scope="module")
def sentinels(
    tmp_path_factory: pytest.TempPathFactory,
    server: StoreServer,
    in_front: Terminator,
    trusted: Authority,
) -> Iterator[str]:
    """A sentinel that is dead, and one that is not, which names the server as `localhost`, at its
    port for TLS."""
    context = trusted.server("localhost")
    at = in_front.before(server.port, context, also_plain=True)
    conf = (
        "sentinel resolve-hostnames yes\nsentinel announce-hostnames yes\n"
        f"sentinel monitor main localhost {at} 1\n"
    )
    place = tmp_path_factory.mktemp("tls") / "sentinel"
    sentinel = Member(place, {}, ["sentinel.conf", "--sentinel"], conf)
    try:
        yield f"localhost:{free_port()},localhost:{in_front.before(sentinel.port, context)}"
    finally:
        sentinel.clean_up()


def ask(url: str) -> None:
    assert Connection(url, deadline=SECONDS).run(*RELEASE) == 0


def reason(url: str) -> str:
    """Why it is unavailable; neither that nor what is told at the start has the password."""
    with pytest.raises(StoreUnavailable) as refused:
        Connection(url, deadline=SECONDS).run(*RELEASE)
    assert "hidden" not in str(refused.value)
    return str(refused.value)


class TestOneServer:
    @pytest.mark.parametrize("host", HERE)
    def test_is_asked_over_tls(self, trusted: Authority, port: int, host: str) -> None:
        url = f"rediss://{host}:{port}?ssl_ca_certs={trusted.file}"
        assert look_at_store(url).kind == "single"
        ask(url)

    def test_is_not_believed_with_a_certificate_that_nobody_trusted_has_signed(
        self, unknown: Authority, port: int
    ) -> None:
        url = f"rediss://:hidden@localhost:{port}?ssl_ca_certs={unknown.file}"
        assert reason(url).startswith("the store's certificate is not trusted")
        with pytest.raises(StoreUnavailable, match="is not trusted"):
            look_at_store(url)

    def test_is_not_believed_for_an_authority_that_the_system_trusts_where_another_is_named(
        self, unknown: Authority, trusted: Authority, port: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SSL_CERT_FILE", str(trusted.file))  # where OpenSSL looks by itself
        ask(f"rediss://localhost:{port}")
        assert "is not trusted" in reason(
            f"rediss://:hidden@localhost:{port}?ssl_ca_certs={unknown.file}"
        )

    def test_is_held_against_the_authorities_as_their_file_has_them_now(
        self, unknown: Authority, trusted: Authority, port: int, tmp_path: Path
    ) -> None:
        file = tmp_path / "authorities.pem"
        file.write_text(unknown.file.read_text())
        url = f"rediss://localhost:{port}?ssl_ca_certs={file}"
        connection = Connection(url, deadline=SECONDS)
        with pytest.raises(StoreUnavailable):
            connection.run(*RELEASE)
        file.write_text(trusted.file.read_text())
        assert connection.run(*RELEASE) == 0

    def test_is_not_believed_with_a_certificate_for_another_host(
        self, server: StoreServer, in_front: Terminator, trusted: Authority
    ) -> None:
        port = in_front.before(server.port, trusted.server("elsewhere.example"))
        for host in HERE:
            url = f"rediss://:hidden@{host}:{port}?ssl_ca_certs={trusted.file}"
            assert "not for the host that its address names" in reason(url)

    def test_that_wants_tls_is_not_asked_without(self, port: int) -> None:
        url = f"redis://:hidden@localhost:{port}"
        assert "wants TLS" in reason(url)
        with pytest.raises(UnfitStore, match="begins with rediss, not redis"):
            look_at_store(url)

    def test_that_speaks_no_tls_is_not_asked_with(
        self, server: StoreServer, trusted: Authority
    ) -> None:
        url = f"rediss://:hidden@localhost:{server.port}?ssl_ca_certs={trusted.file}"
        with pytest.raises(UnfitStore, match="begins with redis, not rediss"):
            look_at_store(url)

    def test_may_want_a_certificate_of_the_service_too(
        self, server: StoreServer, in_front: Terminator, trusted: Authority
    ) -> None:
        context = trusted.server(*HERE)
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(trusted.file)
        port = in_front.before(server.port, context)
        url = f"rediss://localhost:{port}?ssl_ca_certs={trusted.file}"
        assert "wants a certificate of the service" in reason(url)
        own = trusted.sign("service")
        ask(f"{url}&ssl_certfile={own}&ssl_keyfile={own}")

    def test_that_is_frozen_is_waited_for_no_longer_over_tls(
        self, server: StoreServer, trusted: Authority, port: int
    ) -> None:
        connection = Connection(
            f"rediss://localhost:{port}?ssl_ca_certs={trusted.file}", deadline=SECONDS / 5
        )
        connection.run(*RELEASE)
        began = time.monotonic()
        with frozen(server), pytest.raises(StoreUnavailable) as refused:
            connection.run(*RELEASE)
        assert (refused.value.kind, time.monotonic() - began < SECONDS / 2) == ("timeout", True)
        assert connection.run(*RELEASE) == 0

    @pytest.mark.parametrize(
        ("options", "told"),
        [
            ("ssl_ca_certs={0}/none.pem", "ssl_ca_certs cannot be read"),
            ("ssl_ca_certs={0}/words.pem", "ssl_ca_certs is not what it should be"),
            ("ssl_ca_path={0}/none", "ssl_ca_path is no directory"),
            ("ssl_certfile={0}/none.pem", "ssl_certfile, or its ssl_keyfile, cannot be read"),
            ("ssl_certfile={0}/words.pem", "ssl_certfile, or its ssl_keyfile, is not what"),
        ],
    )
    def test_is_not_asked_with_files_that_cannot_be_used(
        self, tmp_path: Path, options: str, told: str
    ) -> None:
        (tmp_path / "words.pem").write_text("Only words.")
        with pytest.raises(UnfitStore, match=told) as refused:
            look_at_store(f"rediss://:hidden@localhost:1?{options.format(tmp_path)}")
        assert str(tmp_path) not in str(refused.value)


def test_the_log_and_the_answer_tell_why_and_have_no_password(
    unknown: Authority, port: int, caplog: pytest.LogCaptureFixture
) -> None:
    url = f"rediss://:hidden@localhost:{port}?ssl_ca_certs={unknown.file}"
    settings = Settings(redis_url=url, deadline=SECONDS)
    look_at_store_of(settings)
    client = create_app(settings).test_client()
    answer = client.post("/check", json={"id": "a", "text": "Some words."})
    assert (answer.status_code, answer.get_json()["code"]) == (503, "store_unavailable")
    lines = [json.loads(JsonFormatter().format(record)) for record in caplog.records]
    reasons = {line["message"]: line["reason"] for line in lines}
    assert set(reasons) == {"the store cannot be asked now", "request"}
    assert set(reasons.values()) == {answer.get_json()["detail"]}
    assert "is not trusted" in answer.get_json()["detail"]
    assert "hidden" not in answer.text + str(lines)


class TestACluster:
    def test_is_asked_over_tls_at_every_node(self, cluster_url: str) -> None:
        found = look_at_store(cluster_url)
        assert (found.kind, found.primaries) == ("cluster", 2)
        connection = Connection(cluster_url, deadline=SECONDS)
        calls: list[Call] = [("drop", [f"ts1:{{{number}.0}}:m"], []) for number in range(8)]
        assert connection.run_all(calls) == [[None] * 3] * 8

    @pytest.mark.parametrize("endpoint", ["hostname", "unknown-endpoint"])
    def test_sends_on_to_where_its_nodes_announce_that_they_are(
        self, nodes: ClusterServers, cluster_url: str, endpoint: str
    ) -> None:
        for node in nodes.nodes:
            node.client.config_set("cluster-preferred-endpoint-type", endpoint)
        connection = Connection(cluster_url, deadline=SECONDS)
        key = f"ts1:{{{endpoint}}}"
        connection.call(connection.client.set, key, "here")
        with nodes.moving(key) as (source, target):
            nodes.move_keys(source, target, [key.encode()])
            assert connection.call(connection.client.get, key) == b"here"  # ASK
        assert connection.call(connection.client.get, key) == b"here"  # MOVED

    def test_tells_why_none_of_its_nodes_can_be_asked(
        self, nodes: ClusterServers, unknown: Authority
    ) -> None:
        hosts = f"localhost:{nodes.nodes[0].announced},localhost:{free_port()}"
        told = reason(f"rediss+cluster://:hidden@{hosts}?ssl_ca_certs={unknown.file}")
        assert "certificate is not trusted" in told
        assert "Connection refused" in told


class TestSentinels:
    def test_are_asked_over_tls_and_so_is_the_server_that_they_name(
        self, sentinels: str, trusted: Authority
    ) -> None:
        url = f"rediss+sentinel://{sentinels}/main?ssl_ca_certs={trusted.file}"
        assert look_at_store(url).kind == "sentinel"
        ask(url)

    def test_tell_why_they_cannot_be_asked(self, sentinels: str, unknown: Authority) -> None:
        url = f"rediss+sentinel://:hidden@{sentinels}/main?ssl_ca_certs={unknown.file}"
        assert "certificate is not trusted" in reason(url)

    def test_are_not_blamed_for_a_service_that_they_do_not_know(
        self, sentinels: str, trusted: Authority
    ) -> None:
        url = f"rediss+sentinel://:hidden@{sentinels}/other?ssl_ca_certs={trusted.file}"
        assert "knows no service of this name" in reason(url)


def _announces(node: Member) -> bool:
    told = node.ask("CLUSTER SLOTS")
    return {who[0] for _, _, who, *_ in told} == {b"localhost"}
