"""A `twinsift serve` of the demo's own, ended with it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final

from service.client import Twinsift

DEFAULT_PORT: Final = 8000
_START_SECONDS: Final = 30.0
_STOP_SECONDS: Final = 20.0


@contextmanager
def serving(data_dir: Path, **settings: str) -> Iterator[str]:
    """The address of a new service whose data is in `data_dir`, until it is left. No setting of the
    environment counts, but those that are given.

    Raises:
        RuntimeError: it does not start; the message is what it said.
    """
    port = _free_port()
    environ = {key: value for key, value in os.environ.items() if not key.startswith("TWINSIFT_")}
    environ |= {
        "TWINSIFT_BIND": f"127.0.0.1:{port}",
        "TWINSIFT_DATA_DIR": str(data_dir),
        "TWINSIFT_WORKERS": "2",
        "TWINSIFT_LOG_LEVEL": "warning",
        **settings,
    }
    with TemporaryFile("w+") as said:
        # A group of its own: Ctrl-C is for us, and we tell it to stop.
        process = subprocess.Popen(
            [sys.executable, "-m", "service.cli", "serve"],
            env=environ,
            stderr=said,
            start_new_session=True,
        )
        try:
            address = f"http://127.0.0.1:{port}"
            if not _is_ready(process, address):
                said.seek(0)
                raise RuntimeError(f"the service did not start: {said.read()}")
            yield address
        finally:
            _stop(process)


def _is_ready(process: subprocess.Popen[bytes], address: str) -> bool:
    """Waits until it is; False where it ended or took too long."""
    give_up = time.monotonic() + _START_SECONDS
    with Twinsift(address) as twinsift:
        while not twinsift.ready():
            if process.poll() is not None or time.monotonic() > give_up:
                return False
            time.sleep(0.1)
    return True


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _free_port() -> int:
    """The usual port, or any where something listens there already."""
    for port in (DEFAULT_PORT, 0):
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(listener.getsockname()[1])
    raise RuntimeError("no port is free on the loopback address")
