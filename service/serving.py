"""Gunicorn, configured from our settings: what listens, and who lives and dies with whom.

With a store of its own (`TWINSIFT_REDIS_URL`) the process becomes gunicorn. Without one, a small
parent owns the embedded server: it starts it again when it dies, hands signals on to gunicorn, its
child, and lets go of the server last.
"""

import ctypes
import dataclasses
import errno
import logging
import os
import shutil
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from types import FrameType
from typing import Any, Final, NoReturn

from service import logs
from service.errors import StoreUnavailable
from service.settings import REPLICATED, Settings, SettingsError, host_and_port
from service.store.embedded import EmbeddedServer, EmbeddedServerError
from service.tokens import Tokens

RECEIVE_SECONDS: Final = 10
"""A client that sends nothing for so long, in the middle of a request, loses its thread."""
SEND_SECONDS: Final = 60
"""So does one that reads nothing of its answer; longer, for streamed answers are read slowly."""
_HANDED_ON: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP)
_WATCH_EVERY: Final = 0.1
SHARED_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - only for what has a random name and is private

_log = logging.getLogger("twinsift.serving")


def serve(settings: Settings, *, example: bool = False) -> NoReturn:
    """Serves until told to stop, then exits with gunicorn's status.

    `example` prints a request to try, once it would be answered.

    Raises:
        SettingsError: the port cannot be had, the store is unfit, or the tokens file cannot be
            read.
        EmbeddedServerError: the embedded server does not start.
    """
    refuse_taken_port(settings.bind)
    logs.configure(settings.log_level)
    if settings.tokens_file is not None:
        Tokens(settings.tokens_file)
    if settings.redis_url is None:
        settings = dataclasses.replace(settings, redis_url=_embedded(settings.data_dir))
    else:
        look_at_store(settings)
    _run_gunicorn(settings, example=example)


def refuse_taken_port(bind: str) -> None:
    """Raises SettingsError where `bind` cannot be listened on, before anything is started."""
    host, port = host_and_port(bind)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET  # as gunicorn chooses
    try:
        with socket.socket(family, socket.SOCK_STREAM) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((host, port))
            listener.listen()
    except OSError as exc:
        taken = exc.errno == errno.EADDRINUSE
        why = "another process listens there already" if taken else exc.strerror
        raise SettingsError(f"TWINSIFT_BIND: {bind} cannot be listened on: {why}") from exc


def look_at_store(settings: Settings) -> None:
    """Raises SettingsError where the store is unfit, such as one that drops keys when it is full,
    which would be a false `new`; tells in the log what it is.

    A store that cannot be asked now is left to `/readyz`, which tells how it is later on.
    """
    # The parent of an embedded server needs no driver.
    from service.store import capabilities  # noqa: PLC0415

    try:
        found = capabilities.look_at_store(settings.redis_url or "")
    except capabilities.UnfitStore as exc:
        raise SettingsError(f"TWINSIFT_REDIS_URL: {exc}") from exc
    except StoreUnavailable as exc:
        _log.warning("the store cannot be asked now", extra=logs.fields(reason=str(exc)))
        return
    _log.info("the store", extra=logs.fields(**found.as_facts(), durability=settings.durability))
    if settings.durability == REPLICATED and found.replicas < found.primaries:
        _log.warning("TWINSIFT_DURABILITY is replicated, and a primary of the store has no replica")


def _embedded(data_dir: Path) -> str:
    """Starts the embedded server and forks: the child returns its URL, the parent never returns."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, _stop_before_serving)
    server = EmbeddedServer(data_dir)
    try:
        url = server.start()
        parent = os.getpid()
        # Held back until somebody is there to take them: gunicorn in the child (see `when_ready`),
        # the handlers that hand them on in the parent.
        signal.pthread_sigmask(signal.SIG_BLOCK, _HANDED_ON)
        child = os.fork()
    except BaseException:
        server.release()
        raise
    if child == 0:
        _die_with(parent)
        return url
    sys.exit(_supervise(child, server))


def _stop_before_serving(_number: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(0)


def _supervise(child: int, server: EmbeddedServer) -> int:
    """Keeps the server alive and hands signals on until the child ends; the child's exit status."""

    def hand_on(number: int, _frame: FrameType | None) -> None:
        os.kill(child, number)

    for number in _HANDED_ON:
        signal.signal(number, hand_on)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _HANDED_ON)
    try:
        while True:
            # No signal between the child's end and the last line of this loop can hit another
            # process: its number is kept until it was waited for.
            signal.pthread_sigmask(signal.SIG_BLOCK, _HANDED_ON)
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else 128 - code
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _HANDED_ON)
            _keep_alive(server)
            time.sleep(_WATCH_EVERY)
    finally:
        server.release()


def _keep_alive(server: EmbeddedServer) -> None:
    try:
        if server.watch():
            _log.warning(
                "the embedded server had ended and was started again; its last words are in "
                "valkey.log, in the data directory"
            )
    except (OSError, EmbeddedServerError) as exc:  # such as a full disk: tried again later
        _log.error("the embedded server cannot be started: %s", exc)
        time.sleep(1)


def _die_with(parent: int) -> None:
    """Asks the kernel to stop this process when its parent dies, even by `kill -9`."""
    if sys.platform == "linux":
        set_parent_death_signal = 1
        ctypes.CDLL(None, use_errno=True).prctl(set_parent_death_signal, signal.SIGTERM)
    if os.getppid() != parent:  # it died before it was asked
        sys.exit(1)


def _run_gunicorn(settings: Settings, *, example: bool) -> NoReturn:
    """Becomes gunicorn. Imported here, so that the parent of an embedded server stays small."""
    place = SHARED_MEMORY if SHARED_MEMORY.is_dir() else None  # counting must not wait for a disk
    measures = Path(mkdtemp(prefix="twinsift-metrics-", dir=place))
    from gunicorn.app.base import BaseApplication  # noqa: PLC0415 - the parent needs none

    class Application(BaseApplication):
        def load_config(self) -> None:
            for name, value in gunicorn_config(settings, measures, example=example).items():
                self.cfg.set(name, value)

        def load(self) -> Any:
            from service.app import create_app  # noqa: PLC0415 - in the worker, not before the fork

            return create_app(settings)

    Application().run()
    sys.exit(0)


def gunicorn_config(settings: Settings, measures: Path, *, example: bool = False) -> dict[str, Any]:
    """Gunicorn's own settings; what is not named here stays as gunicorn has it. `measures` is an
    empty directory, removed at the end."""
    config: dict[str, Any] = {
        "bind": settings.bind,
        "worker_class": "service.http_worker.HttpWorker",
        "workers": settings.workers,
        "threads": settings.threads,
        "graceful_timeout": 25,  # below what orchestrators give (30 and more)
        "keepalive": 75,  # above the idle time of usual load balancers (60)
        "limit_request_line": 8190,  # an id of 512 characters may be 6,144 once percent-encoded
        "control_socket_disable": True,  # or it makes a socket in the home directory
        "when_ready": _when_ready,
        "logconfig_dict": logs.configuration(settings.log_level),
        # Where the workers count for `/metrics`: it is the library's way to be told.
        "raw_env": [f"PROMETHEUS_MULTIPROC_DIR={measures}"],
        "on_exit": _removes(measures),
    }
    if SHARED_MEMORY.is_dir():
        config["worker_tmp_dir"] = str(SHARED_MEMORY)  # a heartbeat must not wait for a disk
    if example:
        config["post_worker_init"] = _example_printer(settings.bind)
    return config


def _removes(directory: Path) -> Callable[[Any], None]:
    def remove(_arbiter: Any) -> None:
        shutil.rmtree(directory, ignore_errors=True)

    return remove


def _when_ready(arbiter: Any) -> None:
    """Gunicorn listens and has its signal handlers."""
    if sys.platform == "linux":  # elsewhere accepted sockets do not inherit these
        for listener in arbiter.LISTENERS:
            for option, seconds in (
                (socket.SO_RCVTIMEO, RECEIVE_SECONDS),
                (socket.SO_SNDTIMEO, SEND_SECONDS),
            ):
                listener.sock.setsockopt(socket.SOL_SOCKET, option, struct.pack("ll", seconds, 0))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _HANDED_ON)


def _example_printer(bind: str) -> Callable[[Any], None]:
    def print_example(worker: Any) -> None:
        if worker.age == 1:  # the first worker has its application: the next request is answered
            sys.stdout.write(
                f"\ntwinsift answers on http://{bind} - try:\n\n"
                f"  curl -s http://{bind}/check -H 'Content-Type: application/json' "
                """-d '{"id": "doc-1", "text": "Bikes are serviced every 12 months."}'\n\n"""
            )
            sys.stdout.flush()

    return print_example
