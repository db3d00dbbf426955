"""Commands as processes of their own, in a pipe or at a terminal."""

import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from service.cli import main


class Ran(NamedTuple):
    """How a command ended, and what it said."""

    status: int
    out: str
    err: str


def twinsift(
    *arguments: str,
    port: int | None = None,
    stdin: bytes = b"",
    cwd: Path | None = None,
    **environ: str,
) -> Ran:
    """Runs a command to its end, its output in a pipe."""
    ran = subprocess.run(
        command(*arguments),
        input=stdin,
        capture_output=True,
        env=environment(port, environ),
        cwd=cwd,
        timeout=60,
        check=False,
    )
    return Ran(ran.returncode, ran.stdout.decode(), ran.stderr.decode())


def status_here(*arguments: str) -> int:
    """Runs a command to its end in this process; its exit status. What it says is the test's."""
    try:
        return main(arguments)
    except SystemExit as left:  # as argparse leaves
        return int(left.code or 0)


def at_a_terminal(*arguments: str, port: int, both: bool = False, **environ: str) -> Ran:
    """Runs a command to its end, its output a terminal of 120 columns; with `both` its stderr is
    that terminal too."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command(*arguments),
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs if both else subprocess.PIPE,
        env=environment(port, {"COLUMNS": "120", "TERM": "xterm", **environ}),
    )
    os.close(theirs)
    said = b""
    while piece := _read(ours):
        said += piece
    os.close(ours)
    _, err = process.communicate(timeout=60)
    return Ran(process.returncode, said.decode(), (err or b"").decode())


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "service.cli", *arguments]


def environment(port: int | None, environ: dict[str, str]) -> dict[str, str]:
    root = str(Path(__file__).parents[2])
    url = {} if port is None else {"TWINSIFT_URL": f"http://127.0.0.1:{port}"}
    return {**os.environ, "PYTHONPATH": root, **url, **environ}


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # as Linux tells that the other side is closed
        return b""
