"""deploy/users.acl gives the service the rights that it needs, and no other: on one server and on a
cluster whose replicas confirm."""

import os
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
import redis
from redis.backoff import NoBackoff
from redis.exceptions import NoPermissionError
from redis.retry import Retry

from service.errors import StoreUnavailable
from service.settings import LOCAL, REPLICATED
from service.store.connection import Connection
from service.store.failures import ours_of
from tests.clusters import ClusterServers
from tests.deploy.journey import check, client_of, grow_and_grow_old, travel, visit_all
from tests.deploy.own_store import DEPLOY, PASSWORD, OwnStore, own_store

ROOT = Path(__file__).parents[2]
USERS = (DEPLOY / "users.acl").read_text()
GRANTED = set(re.findall(r"\+(\S+)", USERS))
IS_LONG = os.environ.get("SOAK") == "1"
OF_A_CLUSTER = {"asking", "cluster|slots", "wait"}
"""What is needed where the store is a cluster, or where replicas confirm."""
KEY = "ts1:of-a-test"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnStore]:
    """A store that stays as it is: all that is asked of it is refused."""
    with own_store(tmp_path_factory.mktemp("refusing")) as started:
        yield started


def as_service(store: OwnStore) -> redis.Redis:
    return redis.Redis(
        unix_socket_path=str(store.socket), username="twinsift", password=PASSWORD, protocol=3
    )


@contextmanager
def as_user_of(cluster: ClusterServers, rights: str) -> Iterator[str]:
    """The address of an empty cluster for the service as `rights` has it, in the form of
    users.acl."""
    cluster.empty()
    granted = re.findall(r"^user twinsift (.*)$", rights, re.MULTILINE)[0].split()
    for node in cluster.nodes:
        node.ask("ACL SETUSER", "twinsift", "reset", *granted, f">{PASSWORD}")
        node.client.acl_log_reset()
    try:
        yield cluster.url.replace("://", f"://twinsift:{quote(PASSWORD)}@")
    finally:
        for node in cluster.nodes:
            node.client.acl_deluser("twinsift")


def without(right: str) -> str:
    """The rights of users.acl but for one."""
    return USERS.replace(f" +{right} ", " ")


def refusal_of(url: str, durability: str = LOCAL) -> tuple[int, str]:
    """How a check is answered."""
    answer = client_of(url, durability).post("/check", json={"id": "a", "text": "Some words."})
    return answer.status_code, answer.get_json()["code"]


def read_while_a_slot_moves(cluster: ClusterServers, url: str) -> None:
    """Reads a key that has moved already, in a slot that is only moving."""
    connection = Connection(url, deadline=10.0)
    connection.call(connection.client.set, KEY, "there")
    with cluster.moving(KEY) as (source, target):
        cluster.move_keys(source, target, [KEY.encode()])
        assert connection.call(connection.client.get, KEY) == b"there"


@pytest.fixture(scope="module")
def travelled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnStore]:
    """A store that a service was through everything with."""
    directory = tmp_path_factory.mktemp("store")
    with own_store(directory) as started:
        travel(started.url, directory / "tokens.toml")
        yield started


def test_the_service_does_all_it_does_without_being_refused_anything(travelled: OwnStore) -> None:
    assert travelled.refused() == []


def test_every_right_that_it_has_is_used(travelled: OwnStore) -> None:
    assert GRANTED - travelled.called() == OF_A_CLUSTER


def test_on_a_cluster_whose_replicas_confirm_it_is_refused_nothing_either(
    cluster: ClusterServers, tmp_path: Path
) -> None:
    with as_user_of(cluster, USERS) as url:
        visit_all(url, tmp_path / "tokens.toml", REPLICATED)
        if IS_LONG:
            grow_and_grow_old(url)
        read_while_a_slot_moves(cluster, url)
        refused = [entry for node in cluster.nodes for entry in node.client.acl_log()]
    assert refused == []


def test_a_cluster_is_not_asked_without_the_right_to_its_slots(cluster: ClusterServers) -> None:
    with as_user_of(cluster, without("cluster|slots")) as url:
        assert refusal_of(url) == (503, "store_unavailable")


def test_no_replica_is_waited_for_without_the_right_to_wait(cluster: ClusterServers) -> None:
    with as_user_of(cluster, without("wait")) as url:
        assert refusal_of(url, REPLICATED) == (503, "store_unavailable")


def test_no_slot_that_moves_is_followed_without_the_right_to_ask(cluster: ClusterServers) -> None:
    with as_user_of(cluster, without("asking")) as url, pytest.raises(StoreUnavailable):
        read_while_a_slot_moves(cluster, url)


def test_it_has_every_right_that_a_script_needs() -> None:
    sources = [path.read_text() for path in (ROOT / "service/store/lua").glob("*.lua")]
    called = re.findall(r"redis\.call\(\s*'([A-Z]+)'", "".join(sources))
    assert {command.lower() for command in called} - GRANTED == set()


@pytest.mark.parametrize(
    "command",
    [
        ("CONFIG", "GET", "*"), ("FLUSHALL",), ("KEYS", "*"), ("SCAN", "0"),
        ("SHUTDOWN",), ("ACL", "LIST"), ("MONITOR",), ("SCRIPT", "FLUSH"), ("CLIENT", "LIST"),
        ("DEL", KEY), ("INCR", KEY), ("RENAME", KEY, "ts1:b"), ("DUMP", KEY),
        ("REPLICAOF", "NO", "ONE"), ("PUBLISH", "ts1:a", "b"),
        ("EVAL", "return redis.call('KEYS', '*')", 0),
    ],
    ids=lambda command: f"{command[0]} {command[1] if len(command) > 1 else ''}".strip(),
)  # fmt: skip
def test_whoever_has_its_password_may_not(store: OwnStore, command: tuple[str, ...]) -> None:
    with closing(as_service(store)) as service, pytest.raises(redis.ResponseError) as refused:
        service.execute_command(*command)
    ours = ours_of(refused.value)
    assert isinstance(ours, StoreUnavailable)
    assert ours.kind == "noperm"


@pytest.mark.parametrize("key", ["elsewhere", "ts2:collections", "ts", "ats1:collections"])
def test_a_key_of_somebody_else_is_refused(store: OwnStore, key: str) -> None:
    with closing(as_service(store)) as service, pytest.raises(NoPermissionError):
        service.hget(key, "field")


@pytest.mark.parametrize("signed", ["", "twinsift:no@"])
def test_nobody_gets_in_without_the_password(store: OwnStore, signed: str) -> None:
    once = Retry(NoBackoff(), 0)
    client = redis.Redis.from_url(f"unix://{signed}{store.socket}", protocol=3, retry=once)
    with closing(client), pytest.raises(redis.AuthenticationError):
        client.ping()


@pytest.mark.parametrize("command", ["evalsha", "hset", "hget"])
def test_a_service_that_lacks_a_right_says_that_the_store_takes_no_calls(
    tmp_path: Path, command: str
) -> None:
    with own_store(tmp_path, re.sub(rf"\+{command} ", "", USERS)) as store:
        response = client_of(store.url).post("/check", json={"id": "a", "text": "Some words."})
        assert (response.status_code, response.get_json()["code"]) == (503, "store_unavailable")


def test_statistics_do_without_the_right_to_measure_memory(tmp_path: Path) -> None:
    with own_store(tmp_path, USERS.replace(" +memory|usage", "")) as store:
        client = client_of(store.url)
        check(client, "a", "Some words.")
        told = client.get("/stats")
        assert told.status_code == 200, told.text
        assert told.get_json()["collections"]["default"]["bytes_per_document"] is None


def test_a_service_on_a_replica_says_that_the_store_takes_no_calls(tmp_path: Path) -> None:
    with own_store(tmp_path) as store:
        client = client_of(store.url)
        check(client, "a", "Some words.")
        with closing(store.admin()) as admin:
            admin.replicaof("127.0.0.1", "1")
        for answer in (
            client.post("/check", json={"id": "b", "text": "Other words."}),
            client.put("/collections/docs", json={}),
        ):
            assert (answer.status_code, answer.get_json()["code"]) == (503, "store_unavailable")
