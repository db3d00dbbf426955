"""deploy/make-secrets.sh makes all that compose.yaml mounts, and tokens that are good for that."""

import subprocess
from pathlib import Path

import pytest
import yaml

from service.tokens import Scope, Tokens
from tests.deploy.own_store import DEPLOY

COMMAND = [str(DEPLOY / "make-secrets.sh")]


@pytest.fixture
def made(tmp_path: Path) -> Path:
    subprocess.run([*COMMAND, str(tmp_path / "secrets")], check=True)
    return tmp_path / "secrets"


def test_every_secret_that_compose_mounts_is_made(made: Path) -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    mounted = {Path(secret["file"]).name for secret in compose["secrets"].values()}
    assert mounted - {path.name for path in made.iterdir()} == set()


@pytest.mark.parametrize(
    ("name", "id", "scope"),
    [("metrics_token", "prometheus", Scope.READ), ("ingest_token", "ingest", Scope.CHECK)],
)
def test_a_token_is_good_for_its_one_purpose(made: Path, name: str, id: str, scope: Scope) -> None:
    token = Tokens(made / "tokens.toml").find((made / name).read_text())
    assert token is not None
    assert (token.id, token.scopes) == (id, frozenset({scope}))


def test_a_second_run_changes_nothing_and_says_so(made: Path) -> None:
    before = {path.name: path.read_bytes() for path in made.iterdir()}
    again = subprocess.run([*COMMAND, str(made)], capture_output=True, text=True, check=False)
    assert (again.returncode, "there already" in again.stderr) == (1, True)
    assert {path.name: path.read_bytes() for path in made.iterdir()} == before


def test_nobody_else_can_look_into_the_directory(made: Path) -> None:
    assert made.stat().st_mode & 0o777 == 0o700
