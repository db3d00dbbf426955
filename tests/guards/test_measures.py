"""The measures of several workers are counted together only if their library is told so in time."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_what_gunicorn_reads_before_it_forks_leaves_the_measures_to_the_workers() -> None:
    loads = "import sys, service.serving, service.http_worker; print(*sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", loads], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert "prometheus_client" not in ran.stdout.split()
