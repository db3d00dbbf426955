"""The environment, read once and checked once."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from service.settings import TABLE, Settings, SettingsError, host_and_port, load


def refusal(**environ: str) -> str:
    with pytest.raises(SettingsError) as refused:
        load(environ)
    return str(refused.value)


def test_an_empty_environment_gives_the_defaults() -> None:
    settings = load({"TWINSIFT_WORKERS": "1"})
    assert settings == Settings()


def test_there_are_as_many_workers_as_cores_unless_told_otherwise() -> None:
    assert load({}).workers >= 1


def test_an_empty_value_counts_as_unset() -> None:
    assert load({"TWINSIFT_THREADS": " ", "TWINSIFT_REDIS_URL": ""}).threads == 4


def test_every_setting_of_the_table_is_read() -> None:
    read: set[str] = set()

    class Watched(dict[str, str]):
        def get(self, key: str, default: str = "") -> str:  # type: ignore[override] # str only here
            read.add(key)
            return default

    load(Watched())
    assert read == {row.name for row in TABLE}


def test_every_row_says_what_it_is_for() -> None:
    assert all(row.help for row in TABLE)


def test_a_password_is_not_printed_with_the_settings() -> None:
    assert "secret" not in repr(load({"TWINSIFT_REDIS_URL": "redis://:secret@store:6379/0"}))


@pytest.mark.parametrize(
    ("text", "size"),
    [("1", 1), ("4096", 4096), ("3KiB", 3072), ("16MiB", 16 << 20), ("2 GiB", 2 << 30)],
)
def test_a_size_is_bytes_or_carries_its_unit(text: str, size: int) -> None:
    assert load({"TWINSIFT_MAX_BODY": text}).max_body == size


@pytest.mark.parametrize("text", ["0", "-1", "1.5MiB", "16MB", "16mib", "MiB", "ten", "0KiB"])
def test_what_is_no_size_is_refused_by_name(text: str) -> None:
    assert refusal(TWINSIFT_MAX_BODY=text).startswith("TWINSIFT_MAX_BODY: ")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("500ms", 0.5), ("2s", 2.0), ("1.5 s", 1.5), ("1m", 60.0), ("1d", 86400.0)],
)
def test_a_time_carries_its_unit(text: str, seconds: float) -> None:
    assert load({"TWINSIFT_DEADLINE": text}).deadline == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["2", "0s", "-1s", "2 hours", "2S", "infs", "1e3s", "s"])
def test_what_is_no_time_is_refused_by_name(text: str) -> None:
    assert refusal(TWINSIFT_DEADLINE=text).startswith("TWINSIFT_DEADLINE: ")


def test_the_log_is_kept_for_as_many_days_as_are_told() -> None:
    assert load({}).log_days == 90
    assert load({"TWINSIFT_LOG_DAYS": "7"}).log_days == 7


@pytest.mark.parametrize("name", ["TWINSIFT_WORKERS", "TWINSIFT_THREADS", "TWINSIFT_LOG_DAYS"])
@pytest.mark.parametrize("text", ["0", "-1", "1.0", "many", "10000", "٣"])
def test_what_is_no_count_is_refused_by_name(name: str, text: str) -> None:
    assert refusal(**{name: text}).startswith(f"{name}: ")


@pytest.mark.parametrize("bind", ["127.0.0.1:1", "localhost:8000", "[::1]:65535", "127.8.0.1:80"])
def test_a_loopback_address_needs_no_leave(bind: str) -> None:
    assert load({"TWINSIFT_BIND": bind}).bind == bind


@pytest.mark.parametrize("bind", ["0.0.0.0:8000", "[::]:8000", "example.org:80", "192.0.2.7:80"])
def test_listening_beyond_loopback_is_refused_without_tokens(bind: str) -> None:
    assert "TWINSIFT_UNSAFE_NO_TOKENS" in refusal(TWINSIFT_BIND=bind)


@pytest.mark.parametrize("switch", ["on", "1", "true", "On"])
def test_listening_beyond_loopback_is_allowed_by_a_name_that_warns(switch: str) -> None:
    environ = {"TWINSIFT_BIND": "0.0.0.0:8000", "TWINSIFT_UNSAFE_NO_TOKENS": switch}
    assert load(environ).bind == "0.0.0.0:8000"


def test_a_switch_is_on_or_off() -> None:
    assert refusal(TWINSIFT_UNSAFE_NO_TOKENS="maybe").startswith("TWINSIFT_UNSAFE_NO_TOKENS: ")


@pytest.mark.parametrize(
    "bind",
    ["8000", "127.0.0.1", "127.0.0.1:", ":8000", "a b:1", "::1:80", "http://127.0.0.1:80",
     "127.0.0.1:0", "127.0.0.1:65536"],
)  # fmt: skip
def test_what_is_not_host_and_port_is_refused_by_name(bind: str) -> None:
    assert refusal(TWINSIFT_BIND=bind).startswith("TWINSIFT_BIND: ")


def test_an_ipv6_host_loses_its_brackets() -> None:
    assert host_and_port("[::1]:8000") == ("::1", 8000)


@pytest.mark.parametrize(
    "url",
    ["redis://store", "redis://store:6379/0", "rediss://user:p%40ss@store:6380/2?ssl_cert_reqs=none",
     "redis://[::1]:6379", "unix:///run/valkey.sock", "unix:///run/valkey.sock?db=1"],
)  # fmt: skip
def test_a_single_server_is_taken(url: str) -> None:
    assert load({"TWINSIFT_REDIS_URL": url}).redis_url == url


@pytest.mark.parametrize(
    "url",
    ["store:6379", "http://store", "redis:store", "redis://", "redis://:6379", "redis://store:port",
     "redis://store:0", "redis://store:6379/zero", "unix://run/valkey.sock", "unix:///",
     "redis://[::1", "valkey://store"],
)  # fmt: skip
def test_an_address_of_the_wrong_form_is_refused_by_name(url: str) -> None:
    assert refusal(TWINSIFT_REDIS_URL=url).startswith("TWINSIFT_REDIS_URL: ")


def test_replicas_are_not_waited_for_where_the_embedded_store_has_none() -> None:
    assert refusal(TWINSIFT_DURABILITY="replicated").startswith("TWINSIFT_DURABILITY: ")


def test_a_refused_address_is_not_quoted() -> None:
    assert "secret" not in refusal(TWINSIFT_REDIS_URL="redis://:secret@store:port")


def test_a_text_limit_above_the_body_limit_is_a_contradiction() -> None:
    message = refusal(TWINSIFT_MAX_BODY="1MiB", TWINSIFT_MAX_TEXT="2MiB")
    assert message.startswith("TWINSIFT_MAX_TEXT: ")


def test_a_small_body_limit_alone_lowers_the_text_limit() -> None:
    assert load({"TWINSIFT_MAX_BODY": "1MiB"}).max_text == 1 << 20


@pytest.mark.parametrize(
    "environ",
    [{"TWINSIFT_BIND": "a\nb:1"}, {"TWINSIFT_DEADLINE": "2s\n\n2"}, {"TWINSIFT_WORKERS": "\x00"}],
)
def test_a_refusal_is_one_line(environ: Mapping[str, str]) -> None:
    assert "\n" not in refusal(**environ)


def test_the_data_directory_is_a_path() -> None:
    assert load({"TWINSIFT_DATA_DIR": "/srv/a b"}).data_dir == Path("/srv/a b")
