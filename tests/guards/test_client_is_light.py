"""Whoever imports the client gets nothing of the server."""

import subprocess
import sys

SERVER = {"flask", "werkzeug", "gunicorn", "redis", "rensa", "marshmallow", "apispec", "regex"}


def imported_by(line: str) -> set[str]:
    """All modules that this line brings into a new process."""
    code = f"{line}; import sys; print(' '.join(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(ran.stdout.split())


def test_importing_the_client_imports_nothing_of_the_server() -> None:
    modules = imported_by("from service.client import Twinsift")
    assert not {module.partition(".")[0] for module in modules} & SERVER
    ours = {module for module in modules if module.startswith("service.")}
    assert {module for module in ours if not module.startswith("service.client")} == set()


def test_the_command_line_needs_neither_client_nor_tables_before_a_command_does() -> None:
    modules = imported_by("import service.cli")
    assert not modules & {"service.client", "urllib3", "rich", "orjson"}
