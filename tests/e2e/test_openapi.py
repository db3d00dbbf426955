"""The running service does what openapi.yaml says, for requests that schemathesis makes up."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from service.tokens import Scope, make
from service.web.operations import OPERATIONS
from tests.e2e.running import Service

ROOT = Path(__file__).parents[2]
LONG = bool(os.environ.get("SOAK"))
EXAMPLES, MOST_SECONDS = (
    (400, 900) if LONG else (5, 180)
)  # of each call; a bound for a slow machine
# Ours stand in for them, see `contract_checks.py`; they are in `all` too.
REPLACED = "positive_data_acceptance,negative_data_rejection"


def test_every_answer_is_one_that_openapi_yaml_allows(
    serve: Callable[..., Service], tmp_path: Path
) -> None:
    secret, entry = make("all", [*Scope], [])
    (tmp_path / "tokens.toml").write_text(entry, encoding="utf-8")
    service = serve(TWINSIFT_TOKENS_FILE=str(tmp_path / "tokens.toml"))
    service.ready()
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "run", str(ROOT / "openapi.yaml")),
        *("--url", f"http://127.0.0.1:{service.port}"),
        *("--header", f"Authorization: Bearer {secret}"),
        *("--checks", "all", "--exclude-checks", REPLACED),
        *("--seed", "1", "--max-examples", str(EXAMPLES), "--generation-database", "none"),
        *("--continue-on-failure", "--no-color"),
    ]
    environ = {**os.environ, "SCHEMATHESIS_HOOKS": "tests.e2e.contract_checks"}
    told = subprocess.run(
        command,
        cwd=tmp_path,
        env={**environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=MOST_SECONDS,
        check=False,
    )
    assert told.returncode == 0, told.stdout[-20_000:] + told.stderr
    assert f"Tested: {len(OPERATIONS)}\n" in told.stdout
