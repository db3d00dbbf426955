"""Dependencies point one way: what each part of the service may import, read from its source."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((ROOT / "service").rglob("*.py"))
}

# These put the other parts together and may import all of them.
OUTERMOST = {"service.app", "service.cli", "service.serving", "service.http_worker"}
# The use cases know nothing of each other.
USE_CASES = {"service.checker", "service.catalogue", "service.reviewing"}
# What they are made of, from the ground up: each may import those before it.
PARTS = ("confirming", "preparing", "matching", "deciding", "drafting", "placing", "registering",
         "settling", "concluding", "ruling", "foreseeing", "reverting")  # fmt: skip
GROUND = {"service.text", "service.dedup", "service.errors",
          "service.store.base", "service.store.step", "service.stages"}  # fmt: skip

# A part is named by the longest prefix that fits; `service` is whatever else there is.
MAY_IMPORT: dict[str, set[str]] = {
    "service.settings": {"service.store_address"},
    "service.store_address": set(),
    "service.errors": set(),
    "service.text": {"service.text", "service.errors"},
    "service.dedup": {"service.dedup", "service.text", "service.errors"},
    "service.cursors": {"service.errors"},
    "service.tokens": {"service.settings"},
    "service.stages": set(),
    "service.logs": set(),
    "service.calibrating": {"service.text", "service.dedup", "service.preparing"},
    "service.step_chart": {"service.dedup"},
    "service.limiting": {"service.store.base", "service.errors", "service.tokens"},
    "service.sessions": {"service.store.base", "service.errors", "service.tokens"},
    **{
        f"service.{part}": GROUND | {f"service.{lower}" for lower in PARTS[:level]}
        for level, part in enumerate(PARTS)
    },
    **dict.fromkeys(USE_CASES, GROUND | {f"service.{part}" for part in (*PARTS, "cursors")}),
    "service.batching": {"service.checker", *GROUND},
    "service.leaving": set(),
    "service": set(),
    "service.store.embedded": set(),
    "service.store": {
        "service.store", "service.dedup", "service.errors", "service.settings", "service.cursors",
        "service.stages", "service.store_address",
    },
    # What is kept of decisions quotes changes: all that the store knows of what is in a text.
    "service.store.step": {"service.store.base", "service.dedup", "service.text.changes"},
    "service.store.log": {"service.store.step", "service.dedup", "service.text.changes"},
    "service.web": USE_CASES | {
        "service.web", "service.text", "service.dedup", "service.errors", "service.settings",
        "service.batching", "service.calibrating",
        "service.tokens", "service.limiting", "service.sessions", "service.stages", "service.logs",
    },
    "service.client": {"service.client"},
    "service.bulk": {"service.bulk", "service.client"},
    "service.commands": {"service.commands", "service.client", "service.bulk", "service.settings"},
    "service.commands.serve": {"service.commands", "service.settings", "service.serving"},
    # It needs no service: what it tells is reckoned here.
    "service.commands.calibrate": {
        "service.commands", "service.calibrating", "service.step_chart", "service.dedup",
        "service.errors", "service.web.calibration_answers",
    },
    "service.commands.repair": {"service.commands", "service.settings", "service.repairing"},
    "service.repairing": {
        "service.store", "service.settling", "service.settings", "service.errors",
    },
    "service.commands.token": {"service.commands", "service.tokens"},
    **{part: {"service"} for part in OUTERMOST},
}  # fmt: skip

PURE = {"flask", "werkzeug", "gunicorn", "redis", "os", "time", "locale", "socket",
        "random", "secrets", "subprocess", "threading"}  # fmt: skip
SERVER = {"flask", "werkzeug", "gunicorn", "redis", "rensa", "marshmallow"}
MUST_NOT_IMPORT = {
    "service.client": SERVER | {"os"},
    "service.bulk": SERVER,
    "service.commands": SERVER,
    "service.settings": {"flask", "redis", "gunicorn"},
    "service.errors": {"flask", "werkzeug", "redis", "gunicorn"},
    "service.text": PURE,
    "service.dedup": PURE,
    "service": {"flask", "werkzeug", "redis", "gunicorn", "os"},
    "service.app": {"redis", "gunicorn"},
    "service.cli": {"flask", "redis", "gunicorn"},
    "service.serving": {"flask"},
    "service.leaving": {"flask", "redis"},
    "service.repairing": {"flask", "redis"},
    "service.http_worker": {"flask", "redis"},
    "service.store": {"flask", "werkzeug", "gunicorn", "marshmallow"},
    "service.web": {"redis"},
}

VAGUE = {"utils", "util", "helpers", "helper", "common", "manager", "misc"}


def is_within(module: str, part: str) -> bool:
    return module == part or module.startswith(f"{part}.")


def part_of(module: str, parts: Iterable[str]) -> str:
    return max((part for part in parts if is_within(module, part)), key=len)


def imports(module: str) -> Iterator[str]:
    """Everything that the module imports, anywhere in it; `from a import b` may mean `a.b`."""
    path = MODULES[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")
            base = ".".join(parents[: len(parents) - node.level + 1]) if node.level else ""
            source = ".".join(filter(None, (base, node.module)))
            for name in node.names:
                longer = f"{source}.{name.name}"
                yield longer if longer in MODULES else source


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_of_ours_only_what_lies_below_it(module: str) -> None:
    part = part_of(module, MAY_IMPORT)
    ours = {name for name in imports(module) if name.startswith("service.")}
    wrong = {name for name in ours if not any(is_within(name, p) for p in MAY_IMPORT[part])}
    assert not wrong


@pytest.mark.parametrize("module", MODULES)
def test_a_module_keeps_away_from_what_is_not_its_matter(module: str) -> None:
    part = part_of(module, MUST_NOT_IMPORT)
    roots = {name.partition(".")[0] for name in imports(module)}
    assert not roots & MUST_NOT_IMPORT[part]


@pytest.mark.parametrize("module", MODULES)
def test_a_module_is_named_for_what_it_holds(module: str) -> None:
    assert not set(module.split(".")) & VAGUE


def test_only_settings_are_read_from_the_environment() -> None:
    readers = {
        module
        for module, path in MODULES.items()
        if "os.environ" in path.read_text("utf-8") or "getenv" in path.read_text("utf-8")
    }
    assert readers == {"service.cli"}


def test_the_rules_name_parts_that_exist() -> None:
    for part in (*MAY_IMPORT, *MUST_NOT_IMPORT):
        assert any(is_within(module, part) for module in MODULES), part
