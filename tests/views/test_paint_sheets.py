"""Drawings that stand in one page: no rule, id or class of one may change another."""

import re
from pathlib import Path

import pytest
from plays import played

from workbook.views.durations import timing
from workbook.views.exchange import Exchange
from workbook.views.paint import DARK, FONT, LIGHT, sheet, variables
from workbook.views.states import States

ROOT = Path(__file__).parents[2]
SHEETS = {f"wb-{name}": sheet(name) for name in ("sequence", "states", "durations")}


@pytest.mark.parametrize("scope", SHEETS)
def test_every_rule_begins_with_the_class_of_its_own_picture(scope):
    bare = SHEETS[scope].replace("@media(prefers-color-scheme:dark){", "")
    selectors = [one for group in re.findall(r"([^{}]+)\{", bare) for one in group.split(",")]
    assert len(selectors) > 10
    assert [one for one in selectors if not re.match(rf"\.{scope}( |$)", one)] == []


@pytest.mark.parametrize("scope", SHEETS)
def test_colours_are_variables_of_the_palette_and_nothing_else(scope):
    rules = SHEETS[scope].replace(variables(LIGHT), "").replace(variables(DARK), "")
    assert not re.search(r"#[0-9a-f]{3}", rules)
    assert set(re.findall(r"var\(--(\w+)\)", rules)) <= set(LIGHT)


def test_no_picture_has_an_id():
    shown = played("from the wallet, later, app was opened, phone").film
    for svg in (Exchange(shown).picture.svg, States(shown).picture.svg, timing(shown).svg()):
        assert not re.search(r"\sid=", svg)


@pytest.mark.parametrize("scope", SHEETS)
def test_a_sheet_has_both_sets_of_colours_and_every_rule_of_its_file(scope):
    made = sheet(scope.removeprefix("wb-"))
    both = f".{scope}{{{variables(LIGHT)}}}@media(prefers-color-scheme:dark){{.{scope}{{{variables(DARK)}}}}}"
    assert made.startswith(f"{both}.{scope} text{{font-family:{FONT};")
    source = (ROOT / f"workbook/views/{scope.removeprefix('wb-')}.css").read_text()
    assert made.removeprefix(both).count("{") == source.count("{") > 10
    assert not re.search(r"[\n]|/\*|var\(--font\)|[{;] | }", made)


def test_several_selectors_of_one_rule_are_each_scoped():
    assert ".wb-states .wb-been .wb-head,.wb-states .wb-now .wb-head{fill:var(--http)}" in sheet("states")
