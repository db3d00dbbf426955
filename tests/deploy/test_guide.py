"""The guide tells of every alert, and what is deployed fits the service."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from service.serving import gunicorn_config
from service.settings import TABLE, Settings
from service.store_address import read_address
from service.tokens import Tokens
from tests.clusters import Member, free_port
from tests.deploy.own_store import DEPLOY
from tests.deploy.watched import rules

GUIDE = (DEPLOY / "README.md").read_text()
ALERTS = {rule["alert"]: rule for rule in rules() if "alert" in rule}
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
BASE = DEPLOY / "kubernetes" / "base"


def pod() -> Any:
    return yaml.safe_load((BASE / "deployment.yaml").read_text())["spec"]["template"]["spec"]


def sections() -> dict[str, str]:
    """What stands under each heading of an alert."""
    alerts = GUIDE.partition("\n## Alerts\n")[2]
    return dict(re.findall(r"^### (\w+)\n\n(.*?)(?=^#|\Z)", alerts, re.MULTILINE | re.DOTALL))


def test_the_guide_has_a_heading_for_each_alert_and_no_other() -> None:
    assert list(sections()) == list(ALERTS)


@pytest.mark.parametrize("name", ALERTS)
def test_an_alert_leads_to_its_heading_and_is_as_urgent_as_that_says(name: str) -> None:
    assert ALERTS[name]["annotations"]["runbook"] == f"deploy/README.md#{name.lower()}"
    assert sections()[name].startswith(f"*{ALERTS[name]['labels']['severity'].capitalize()}.*")


@pytest.mark.parametrize("name", ALERTS)
def test_an_alert_is_tested(name: str) -> None:
    tests = yaml.safe_load((DEPLOY / "prometheus" / "alerts_test.yml").read_text())["tests"]
    expected = [
        bool(case["exp_alerts"])
        for test in tests
        for case in test["alert_rule_test"]
        if case["alertname"] == name
    ]
    assert True in expected
    assert False in expected or name == "TwinsiftNotScraped"


def test_every_setting_that_is_deployed_is_one() -> None:
    deployed = [*DEPLOY.rglob("*.yaml"), DEPLOY / "README.md", DEPLOY.parent / "Dockerfile"]
    named = {name for path in deployed for name in re.findall(r"\bTWINSIFT_\w+", path.read_text())}
    assert named - {row.name for row in TABLE} == set()


def test_whoever_stops_it_waits_until_it_has_answered() -> None:
    graceful = gunicorn_config(Settings(), Path())["graceful_timeout"]
    pause = int(pod()["containers"][0]["lifecycle"]["preStop"]["exec"]["command"][1])
    assert pod()["terminationGracePeriodSeconds"] > graceful + pause
    assert int(COMPOSE["twinsift"]["stop_grace_period"].rstrip("s")) > graceful


def test_as_many_workers_are_started_as_there_are_cores() -> None:
    container = pod()["containers"][0]
    workers = {one["name"]: one.get("value") for one in container["env"]}["TWINSIFT_WORKERS"]
    assert workers == container["resources"]["limits"]["cpu"]
    assert COMPOSE["twinsift"]["environment"]["TWINSIFT_WORKERS"] == str(
        COMPOSE["twinsift"]["cpus"]
    )


@pytest.mark.parametrize("name", COMPOSE)
def test_a_container_of_compose_can_do_no_more_than_it_needs(name: str) -> None:
    service = COMPOSE[name]
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))
    assert {"healthcheck", "mem_limit", "pids_limit"} <= set(service)


def test_what_compose_mounts_is_there() -> None:
    mounted = [
        Path(volume.split(":")[0])
        for service in COMPOSE.values()
        for volume in service.get("volumes", [])
        if volume.startswith("./")
    ]
    assert [path for path in mounted if not (DEPLOY / path).exists()] == []


def test_a_pod_can_do_no_more_than_it_needs() -> None:
    (container,) = pod()["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert pod()["securityContext"]["runAsUser"] == 10001
    assert pod()["automountServiceAccountToken"] is False


def test_the_example_of_an_overlay_has_a_tokens_file_that_can_be_read_and_lets_nobody_in() -> None:
    example = DEPLOY / "kubernetes" / "example" / "tokens.example.toml"
    assert Tokens(example).find("") is None


@pytest.mark.parametrize(
    ("overlay", "kind", "count"), [("example", "single", 1), ("cluster", "cluster", 3)]
)
def test_an_example_of_an_address_is_one(overlay: str, kind: str, count: int) -> None:
    example = DEPLOY / "kubernetes" / overlay / "store_url.example"
    address = read_address(example.read_text())
    assert (address.kind, address.tls, len(address.nodes)) == (kind, True, count)


def test_a_server_takes_the_options_of_a_cluster_beside_its_own(tmp_path: Path) -> None:
    of_cluster = DEPLOY / "kubernetes" / "cluster" / "cluster.conf"
    options = {"include": str(of_cluster), "cluster-port": str(free_port())}
    node = Member(tmp_path / "node", options, [str(DEPLOY / "redis.conf")])
    try:
        told = node.client.config_get("cluster-enabled", "min-replicas-to-write", "appendonly")
    finally:
        node.clean_up()
    assert told == {"cluster-enabled": "yes", "min-replicas-to-write": "1", "appendonly": "yes"}
