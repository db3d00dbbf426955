"""Settings of a collection: their wire form, merging, and what is frozen."""

import pytest

from service.dedup.scheme import CollectionSettings, Scheme, merge, scheme_for
from service.dedup.shingles import Shingles


def test_settings_come_back_from_their_wire_form_as_they_were():
    settings = CollectionSettings(threshold=0.8, shingles=Shingles("char", 5))
    assert CollectionSettings.from_json(settings.as_json()) == settings


def test_a_scheme_comes_back_from_its_wire_form_as_it_was():
    assert Scheme.from_json(scheme_for(0.7).as_json()) == scheme_for(0.7)


def test_a_partial_body_changes_what_it_names_alone():
    changed = CollectionSettings().merged({"cleaning": {"repeated_lines": {"share": 0.8}}})
    assert changed.cleaning.repeated_lines is not None
    assert changed.cleaning.repeated_lines.share == 0.8
    assert changed.cleaning.repeated_lines.min_pages == 3
    assert changed.cleaning.page_numbers


def test_null_switches_a_rule_off():
    changed = CollectionSettings().merged({"cleaning": {"repeated_lines": None}})
    assert changed.cleaning.repeated_lines is None


def test_a_rule_that_was_off_is_on_again_with_its_defaults_where_they_are_not_named():
    off = CollectionSettings().merged({"cleaning": {"repeated_lines": None}})
    on = off.merged({"cleaning": {"repeated_lines": {"share": 0.7}}})
    assert on.cleaning.repeated_lines is not None
    assert on.cleaning.repeated_lines.min_pages == 3


def test_merging_does_not_touch_what_was_there():
    base = {"a": {"b": 1}}
    merge(base, {"a": {"b": 2}})
    assert base == {"a": {"b": 1}}


@pytest.mark.parametrize(
    ("partial", "frozen"),
    [
        ({"cleaning": {"page_numbers": False}}, "cleaning"),
        ({"normalization": "squish"}, "normalization"),
        ({"shingles": {"size": 5}}, "shingles"),
        ({"threshold": 0.9}, None),
        ({"on_conflict": "skip"}, None),
    ],
)
def test_what_signatures_depend_on_is_frozen(partial: dict[str, object], frozen: str | None):
    settings = CollectionSettings()
    assert settings.frozen_difference(settings.merged(partial)) == frozen


def test_a_scheme_of_other_permutations_is_not_current():
    written = scheme_for(0.6).as_json() | {"algorithm": "another"}
    assert not Scheme.from_json(written).is_current
