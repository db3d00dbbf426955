"""The lock files hold what pyproject.toml asks for, agree, and name no place to fetch from."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
RUNTIME, DEV = "requirements.txt", "requirements-dev.txt"
BENCH, RECIPES = "requirements-bench.txt", "requirements-recipes.txt"
BROWSER, DEPLOY = "requirements-browser.txt", "requirements-deploy.txt"

LOCKS = {RUNTIME: None, DEV: "dev", BENCH: "bench", RECIPES: "recipes", BROWSER: "browser",
         DEPLOY: "deploy"}  # fmt: skip


def locked(name: str) -> dict[str, str]:
    """Each package with the version that it is held at."""
    lines = (ROOT / name).read_text().splitlines()
    pins = (re.match(r"([a-z0-9-]+)(?:\[[^]]*\])?==(\S+)", line) for line in lines)
    return {pin[1]: pin[2] for pin in pins if pin}


def asked(group: str | None) -> list[Requirement]:
    """What pyproject.toml asks for; the tools of `deploy` are locked by themselves."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    lines = []
    if group != "deploy":
        lines += project["project"]["dependencies"]
        lines += project["project"]["optional-dependencies"]["embedded"]
    if group:
        lines += project["dependency-groups"][group]
    return [Requirement(line) for line in lines]


@pytest.mark.parametrize(("name", "group"), LOCKS.items())
def test_a_lock_holds_all_that_is_asked_for(name: str, group: str | None) -> None:
    versions = locked(name)
    missing = [str(r) for r in asked(group) if versions.get(r.name.lower(), "") not in r.specifier]
    assert not missing, "run `make lock`"


@pytest.mark.parametrize("name", [DEV, BENCH, RECIPES, BROWSER])
def test_all_locks_hold_the_same_versions(name: str) -> None:
    runtime, other = locked(RUNTIME), locked(name)
    assert {package: other.get(package) for package in runtime} == runtime


@pytest.mark.parametrize("name", LOCKS)
def test_every_package_is_held_by_its_hash(name: str) -> None:
    entries = re.split(r"\n(?=[a-z0-9])", (ROOT / name).read_text().partition("\n")[2])
    assert [e for e in entries if "==" in e and "--hash=sha256:" not in e] == []


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_names_no_address_and_no_path(name: str) -> None:
    assert re.findall(r"://|^-|/", (ROOT / name).read_text(), re.MULTILINE) == []
