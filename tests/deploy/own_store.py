"""A store that is started as deploy/ says, for tests: its configuration, its users, its script."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import redis

from service.store.embedded import find_binary
from tests.e2e.running import wait_until

DEPLOY = Path(__file__).parents[2] / "deploy"
PASSWORD = "a made-up password"
ADMIN = "user admin on nopass ~* &* +@all\n"


class OwnStore:
    """A server with deploy/redis.conf and deploy/users.acl; an administrator watches it."""

    def __init__(self, directory: Path, rights: str | None = None) -> None:
        self.socket = directory / "store.sock"
        self._files = directory / "deploy"
        self._files.mkdir()
        for name in ("redis.conf", "store.sh"):
            shutil.copy(DEPLOY / name, self._files / name)
        users = (DEPLOY / "users.acl").read_text() if rights is None else rights
        (self._files / "users.acl").write_text(users + ADMIN)
        password = directory / "password"
        password.write_text(f"{PASSWORD}\n")
        self.process = subprocess.Popen(
            [
                *("sh", str(self._files / "store.sh"), str(password), str(directory)),
                *("--port", "0", "--unixsocket", str(self.socket), "--dir", str(directory)),
            ],
            env={**os.environ, "VALKEY_SERVER": str(find_binary())},
            stdout=subprocess.DEVNULL,
        )
        wait_until(self._answers)

    @property
    def url(self) -> str:
        """The address as the service is told it."""
        return f"unix://twinsift:{PASSWORD.replace(' ', '%20')}@{self.socket}"

    def admin(self) -> redis.Redis:
        return redis.Redis(
            unix_socket_path=str(self.socket), username="admin", password="", protocol=3
        )

    def refused(self) -> list[str]:
        """What its users were refused, in words."""
        with closing(self.admin()) as admin:
            log = admin.acl_log()
            return [f"{entry['reason']}: {entry['object']}" for entry in log]

    def called(self) -> set[str]:
        """Every command that somebody was given an answer to, those of scripts too."""
        with closing(self.admin()) as admin:
            return {name.removeprefix("cmdstat_") for name in admin.info("commandstats")}

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=30)

    def _answers(self) -> bool:
        assert self.process.poll() is None
        try:
            with closing(self.admin()) as admin:
                return bool(admin.ping())
        except redis.RedisError:
            return False


@contextmanager
def own_store(directory: Path, rights: str | None = None) -> Iterator[OwnStore]:
    """A store in `directory`, stopped at the end; `rights`: other users than those of users.acl."""
    store = OwnStore(directory, rights)
    try:
        yield store
    finally:
        store.stop()
