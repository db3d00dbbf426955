"""deploy/users.acl gives the service the rights that it needs, and no other."""

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import redis
from redis.backoff import NoBackoff
from redis.exceptions import NoPermissionError
from redis.retry import Retry

from tests.deploy.journey import check, client_of, travel
from tests.deploy.own_store import DEPLOY, PASSWORD, OwnStore, own_store

ROOT = Path(__file__).parents[2]
USERS = (DEPLOY / "users.acl").read_text()
GRANTED = set(re.findall(r"\+(\S+)", USERS))
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
    assert GRANTED - travelled.called() == set()


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
    assert "permissions" in str(refused.value) or "ACL" in str(refused.value)


@pytest.mark.parametrize("key", ["elsewhere", "ts2:collections", "ts", "ats1:collections"])
def test_a_key_of_somebody_else_is_refused(store: OwnStore, key: str) -> None:
    with closing(as_service(store)) as service, pytest.raises(NoPermissionError):
        service.hget(key, "field")


def test_nobody_gets_in_without_the_password(store: OwnStore) -> None:
    once = Retry(NoBackoff(), 0)  # by itself it asks ten times
    for user in ("", "twinsift:no@"):
        url = f"unix://{user}{store.socket}"
        with (
            closing(redis.Redis.from_url(url, protocol=3, retry=once)) as guest,
            pytest.raises(redis.AuthenticationError),
        ):
            guest.ping()


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
