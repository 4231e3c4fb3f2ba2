"""What all pictures and views share: they stand in one page, load nothing, are the same each time and can be read."""

import base64
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from contrast import GROUNDS, WORDS, contrast
from plays import MACHINES, USUAL, played
from rows import rows
from screens import NAMED

from workbook.views import phone, states
from workbook.views.exchange import Exchange
from workbook.views.film import timing
from workbook.views.findings import show_rules
from workbook.views.html import View
from workbook.views.paint import DARK, FONT, LIGHT, sheet, variables
from workbook.views.phone import KeyScreens
from workbook.views.states import States
from workbook.views.table import facts

ROOT = Path(__file__).parents[2]
SHEETS = {f"wb-{name}": sheet(name) for name in ("sequence", "states", "limits")}
NAMESPACE = "http://www.w3.org/2000/svg"
ELEMENTS = {"svg", "title", "desc", "style", "rect", "circle", "line", "path", "g", "text", "tspan"}
VIEWS = {
    **{f"limits, {name}": lambda name=name: timing(played(name).film) for name in USUAL},
    **{f"states, {name}": lambda name=name: States(played(name).film) for name in USUAL},
    **{f"exchange, {name}": lambda name=name: Exchange(played(name).film) for name in USUAL},
    **{f"sequence, {name}": lambda name=name: played(name).film.sequence for name in USUAL},
    "phone": lambda: KeyScreens(played(USUAL[0]).film),
    "facts": lambda: facts("The card", {"id": "PI1"}),
    "rules": lambda: show_rules("A-CAN-1"),
}


def pictures(name):
    """The pictures of a view, as SVG."""
    return [base64.b64decode(data).decode() for data in re.findall(r"base64,([^\"]+)", VIEWS[name]().html())]


def check_svg(svg):
    """It is well formed, says what it is, has no id, loads nothing and runs nothing."""
    root = ET.fromstring(svg)
    assert root.get("role") == "img"
    assert root.find(f"{{{NAMESPACE}}}title").text
    assert root.find(f"{{{NAMESPACE}}}desc").text
    assert {element.tag.partition("}")[2] for element in root.iter()} <= ELEMENTS
    forbidden = r"https?://|<script|href|url\(|@import|<animate|\sid=|\son\w+="
    assert not re.search(forbidden, svg.replace(NAMESPACE, ""))


@rows("name", VIEWS)
def test_a_view_has_a_text_and_a_page_which_are_the_same_each_time(name):
    view, again = VIEWS[name](), VIEWS[name]()
    assert isinstance(view, View)
    assert repr(view) == view.text() == again.text()
    bundle = view._repr_mimebundle_(include=None, exclude=None)
    assert bundle == {"text/plain": view.text(), "text/html": view.html()}
    assert view.html() == again.html()
    assert not any(word in view.html() for word in ("<script", "<style", "color:#"))
    for svg in pictures(name):
        check_svg(svg)


def test_each_picture_of_a_machine_and_of_a_screen_stands_by_itself():
    drawn = [states.draw(machine, machine.name, "told") for machine in MACHINES] + [phone.draw(one) for one in NAMED]
    for picture in drawn:
        check_svg(picture.svg)
        root = ET.fromstring(picture.svg)
        assert (picture.width, picture.height) == (float(root.get("width")), float(root.get("height")))


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_every_word_and_every_edge_has_contrast(colours):
    pairs = {(word, ground): 4.5 for word in WORDS for ground in GROUNDS}
    pairs |= {("ground", "http"): 4.5, ("edge", "ground"): 3}  # the word on the shown button, and the boxes
    wrong = [pair for pair, least in pairs.items() if contrast(*(colours[name] for name in pair)) < least]
    assert wrong == []


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


@pytest.mark.parametrize("scope", SHEETS)
def test_a_sheet_has_both_sets_of_colours_and_every_rule_of_its_file(scope):
    made = sheet(scope.removeprefix("wb-"))
    both = f".{scope}{{{variables(LIGHT)}}}@media(prefers-color-scheme:dark){{.{scope}{{{variables(DARK)}}}}}"
    assert made.startswith(f"{both}.{scope} text{{font-family:{FONT};")
    source = (ROOT / f"workbook/views/{scope.removeprefix('wb-')}.css").read_text()
    assert made.removeprefix(both).count("{") == source.count("{") > 10
    assert not re.search(r"[\n]|/\*|var\(--font\)|[{;] | }", made)
