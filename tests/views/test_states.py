import base64
import re
from xml.etree import ElementTree as ET

import pytest
from plays import MACHINES, SCRIPTS, USUAL, played

from workbook.flows import messages as m
from workbook.scenes.script import Script, play
from workbook.views.palette import DARK, LIGHT, contrast
from workbook.views.states import States, allowed
from workbook.views.states_svg import STYLE, Lit, draw

SVG = "{http://www.w3.org/2000/svg}"
WALK = Script().then("tap", 2.0)


def _groups(picture, name):
    return {group.get(name): group for group in ET.fromstring(picture.svg).iter(f"{SVG}g") if group.get(name)}


@pytest.mark.parametrize("machine", MACHINES, ids=repr)
def test_every_state_and_every_move_is_a_group(machine):
    picture = draw(machine, machine.name, "told")
    assert set(_groups(picture, "data-state")) == set(map(str, machine.states))
    assert set(_groups(picture, "data-move")) == {f"{row.state}>{row.to}" for row in machine.rows}


@pytest.mark.parametrize("machine", MACHINES, ids=repr)
def test_a_picture_loads_nothing_runs_nothing_and_is_the_same_each_time(machine):
    picture = draw(machine, machine.name, "told")
    root = ET.fromstring(picture.svg)
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        "svg", "title", "desc", "style", "rect", "path", "g", "text",
    }  # fmt: skip
    assert not re.search(r"https?://|<script|href|url\(|@import|\sid=|\son\w+=", picture.svg.replace(SVG[1:-1], ""))
    assert draw(machine, machine.name, "told").svg == picture.svg
    assert (picture.width, picture.height) == (float(root.get("width")), float(root.get("height")))


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_end_of_every_play_is_lit_and_so_is_the_way_to_it(name):
    shown = States(played(name).film)
    states, made = _groups(shown.picture, "data-state"), _groups(shown.picture, "data-move")
    lit = {state for state, group in states.items() if "wb-here" in group.get("class")}
    assert lit == {shown.here} == {shown.film.frames[-1].state}
    been = {state for step in shown.path for state in (step.source, step.target)} - {shown.here}
    assert {state for state, group in states.items() if "wb-been" in group.get("class")} == been
    taken = {f"{step.source}>{step.target}" for step in shown.path}
    assert {move for move, group in made.items() if "wb-been" in group.get("class")} == taken


@pytest.mark.parametrize("name", USUAL)
def test_the_steps_are_numbered_in_the_picture(name):
    shown = States(played(name).film)
    numbers = " ".join(text.text for text in ET.fromstring(shown.picture.svg).iter(f"{SVG}text") if _numbered(text))
    latest = {f"{step.source}>{step.target}": step.number for step in shown.path}
    assert set(latest.values()) <= set(map(int, re.findall(r"\d+", numbers)))
    assert shown.path[-1].number == len(shown.path)


def test_nothing_is_lit_in_what_a_player_lights():
    svg = States(play(WALK).film).plain.svg
    assert not re.search(r'class="[^"]*wb-(here|been|now)', svg.partition("is-spec")[0])
    assert "wb-step" not in svg.partition("</style>")[2]


@pytest.mark.rule("A-BTN-1")
def test_what_is_allowed_next_stands_in_words():
    shown = States(play(Script()).film)
    assert shown.here == "button shown"
    assert shown.allowed == "Allowed next: taps Add, canProvision(), opens the card."
    assert shown.allowed in shown.text()
    assert shown.allowed in shown.html()
    assert allowed(shown.film.machine, "no such state") == ()


def test_the_text_form_is_the_path_as_a_list(golden):
    golden("states_walk", States(play(WALK).film).text())


def test_a_film_without_frames_stands_at_the_beginning():
    film = play(Script()).film.until(m.Opened)
    empty = States(type(film)(film.title, film.machine, film.sequence, (), (), film.first))
    assert empty.here == "idle"
    assert empty.path == ()
    assert "Now: idle" in empty.text()


def test_the_html_is_an_image_with_words_and_the_text_form():
    shown = States(play(WALK).film)
    html = shown.html()
    encoded = html.partition("base64,")[2].partition('"')[0]
    assert base64.b64decode(encoded).decode() == shown.picture.svg
    assert "Now: in the wallet" in html
    assert "<script" not in html


def test_many_steps_of_one_move_are_told_short():
    machine = MACHINES[0]
    steps = {"idle>fetching sdkInput": (1, 4, 9, 12)}
    svg = draw(machine, "many", "told", Lit("idle", frozenset(), steps)).svg
    assert ">… 9, 12</text>" in svg


def test_what_is_lit_differs_in_form_and_what_is_not_can_still_be_read():
    rules = dict(re.findall(r"\.wb-states ([^{}]+)\{([^{}]+)\}", STYLE))
    widths = [
        float(re.search(r"stroke-width:([\d.]+)", rules[name])[1])
        for name in (".wb-box", ".wb-been .wb-box", ".wb-here .wb-box")
    ]
    assert widths == sorted(set(widths))
    assert "opacity" not in STYLE
    words = set(re.findall(r"\bfill:var\(--(\w+)\)", " ".join(rule for name, rule in rules.items() if _words(name))))
    assert words == {"ink", "muted", "http", "deprecated", "ground"}
    for colours in (LIGHT, DARK):
        pairs = [("muted", "ground"), ("ink", "box"), ("http", "tint"), ("deprecated", "ground"), ("ground", "http")]
        assert all(contrast(colours[word], colours[ground]) >= 4.5 for word, ground in pairs)


def _numbered(text):
    return text.get("class") == "wb-number"


def _words(name):
    return name == "text" or any(word in name for word in ("title", "name", "says", "number"))
