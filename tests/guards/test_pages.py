"""Every page for people is guarded, every form has its key, and no page asks for another site."""

import re
from pathlib import Path

import pytest
from werkzeug.routing import Rule

from service.app import create_app
from service.settings import Settings

REVIEW = Path(__file__).parents[2] / "service" / "web" / "review"
APP = create_app(Settings(redis_url="redis://127.0.0.1:1/0"))
PAGES = [rule for rule in APP.url_map.iter_rules() if rule.endpoint.startswith("review.")]
# They show nothing of what is stored.
OPEN = {"review.static", "review.home"}
TEMPLATES = sorted(REVIEW.rglob("*.html"))
MOST_BYTES = 100_000


@pytest.mark.parametrize("rule", PAGES, ids=str)
def test_a_page_is_guarded_and_what_takes_a_form_looks_at_its_key(rule: Rule) -> None:
    guarded = getattr(APP.view_functions[rule.endpoint], "is_guarded", None)
    if rule.endpoint in OPEN:
        assert guarded is None
    else:
        assert guarded == ("form" if "POST" in (rule.methods or set()) else "page")


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_a_template_has_no_inline_script_or_style_and_marks_nothing_as_safe(path: Path) -> None:
    source = path.read_text("utf-8")
    assert not re.findall(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|\|\s*safe\b", source)


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_each_form_that_posts_carries_the_key(path: Path) -> None:
    forms = re.findall(r"<form[^>]*method=\"post\".*?</form>", path.read_text("utf-8"), re.DOTALL)
    assert all('name="{{ form_field }}" value="{{ visitor.form_key }}"' in form for form in forms)


def test_what_all_pages_load_leaves_room_for_the_page() -> None:
    loaded = sum(path.stat().st_size for path in (REVIEW / "static").iterdir())
    assert loaded < MOST_BYTES / 2
