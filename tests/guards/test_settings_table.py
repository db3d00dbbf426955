"""README shows every setting as the code has it."""

from pathlib import Path

import pytest

from service.commands.connecting import TABLE as CLIENT_TABLE
from service.settings import TABLE, Setting

README = Path(__file__).parents[2] / "README.md"


@pytest.mark.parametrize("row", [*TABLE, *CLIENT_TABLE], ids=lambda row: row.name)
def test_readme_shows_the_setting_with_its_default_and_meaning(row: Setting) -> None:
    default = f"`{row.default}`" if row.default else "*(unset)*"
    assert f"| `{row.name}` | {default} | {row.help} |" in README.read_text("utf-8").splitlines()
