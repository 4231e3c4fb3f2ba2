import re
from xml.etree import ElementTree as ET

import pytest
from plays import MACHINES, SCRIPTS, USUAL, played
from rows import rows
from states_layout import TICK, moves

from workbook.flows.variants import A_FROM_0_4_0
from workbook.lessons.script import Script, play
from workbook.views.player_data import player_data
from workbook.views.states import Lit, States, allowed, draw, key

SVG = "{http://www.w3.org/2000/svg}"
WALK = Script().then("tap", 2.0)


def _groups(picture, name):
    return {group.get(name): group for group in ET.fromstring(picture.svg).iter(f"{SVG}g") if group.get(name)}


@rows("machine", MACHINES)
def test_every_state_and_every_move_is_a_group(machine):
    picture = draw(machine, machine.name, "told")
    assert set(_groups(picture, "data-state")) == set(map(str, machine.states))
    assert set(_groups(picture, "data-move")) == {
        f"{row.state}>{row.to}" for row in machine.rows if not row.of_another_attempt
    }


@rows("name", SCRIPTS)
def test_the_end_of_every_play_is_lit_and_so_is_the_way_to_it(name):
    shown = States(played(name).film)
    states, made = _groups(shown.picture, "data-state"), _groups(shown.picture, "data-move")
    lit = {state for state, group in states.items() if "wb-here" in group.get("class")}
    assert lit == {shown.here} == {shown.film.frames[-1].state}
    been = {state for step in shown.path for state in (step.source, step.target)} - {shown.here}
    assert {state for state, group in states.items() if "wb-been" in group.get("class")} == been
    taken = {f"{step.source}>{step.target}" for step in shown.path}
    assert {move for move, group in made.items() if "wb-been" in group.get("class")} == taken


@rows("name", USUAL)
def test_the_steps_are_numbered_in_the_picture(name):
    shown = States(played(name).film)
    numbers = " ".join(text.text for text in ET.fromstring(shown.picture.svg).iter(f"{SVG}text") if _numbered(text))
    latest = {f"{step.source}>{step.target}": step.number for step in shown.path}
    assert set(latest.values()) <= set(map(int, re.findall(r"\d+", numbers)))
    assert shown.path[-1].number == len(shown.path)


def test_a_player_gets_the_numbers_of_the_steps_and_lights_the_rest():
    shown = States(play(WALK).film)
    svg, path = shown.plain.svg, shown.path
    assert not re.search(r'data-[^>]*class="[^"]*wb-(here|now)', svg)
    assert svg.partition("</style>")[2].count("wb-step") == len({(step.source, step.target) for step in path})


@pytest.mark.rule("A-BTN-1")
def test_what_is_allowed_next_stands_in_words():
    shown = States(play(Script()).film)
    assert shown.here == "button shown"
    assert shown.allowed == "Next: the cardholder taps Add or opens the card, or the app calls canProvision()."
    assert shown.allowed in shown.text()
    assert shown.allowed in shown.html()
    assert allowed(shown.film.machine, "no such state") == ()


def test_the_text_form_is_the_path_as_a_list(golden):
    golden("states_walk", States(play(WALK).film).text())


def _words(svg):
    """Every word that tells one event of several, with the keys of its event."""
    return [(word, word.get("data-event").split("|")) for word in ET.fromstring(svg).iter() if word.get("data-event")]


def _ticked(svg):
    """The keys of the events that a picture ticks."""
    return {key for word, keys in _words(svg) if "wb-took" in word.get("class") for key in keys}


def _keys(shown):
    return {key(f"{step.source}>{step.target}", step.says) for step in shown.path}


@rows("name", SCRIPTS)
def test_an_arrow_that_was_taken_ticks_the_event_that_took_it_and_no_other(name):
    shown = States(played(name).film)
    svg = shown.picture.svg
    for word, keys in _words(svg):
        assert ("wb-took" in word.get("class")) == bool(_keys(shown) & set(keys)), keys
    several = {each for move in moves(shown.film.machine) if len(move.events) > 1 for each in _keys_of(move)}
    assert _keys(shown) & several <= _ticked(svg)


@pytest.mark.parametrize(
    ("took", "clear"), [("sdkInput (OPC data)", "no OPC data"), ("no OPC data", "sdkInput (OPC data)")]
)
def test_the_event_that_took_an_arrow_stands_apart_from_those_that_could_have(took, clear):
    move = "fetching OPC data>wallet provisions"
    words = _told(_lit(move, took))
    assert words == {took: True, clear: False, "fetchOpc failed": False}


def _told(group):
    """Each event beside an arrow, and whether it is marked; every one of them has a tick to show."""
    words = list(group.iter(f"{SVG}text"))
    assert all(word[0].text == TICK for word in words)
    return {word[0].tail: "wb-took" in word.get("class") for word in words}


def test_player_data_s_frames_name_the_events_that_a_player_ticks():
    film = play(WALK).film
    frames = player_data(film)["frames"]
    named = {key(frame["move"], frame["event"]) for frame in frames if frame["move"]}
    assert named == _keys(States(film))
    known = {key for _word, keys in _words(States(film).plain.svg) for key in keys}
    assert key("fetching OPC data>wallet provisions", "sdkInput (OPC data)") in named & known
    assert _ticked(States(film).plain.svg) == set()


@rows("machine", MACHINES)
def test_what_can_happen_next_says_who_makes_it_happen(machine):
    told = [clause for state in machine.states for clause in allowed(machine, state)]
    assert told
    assert all(
        clause in {"fetchOpc fails", "the handler fails"}
        or clause.startswith(
            ("the cardholder ", "the app ", "the SDK ", "the back end ", "the extension ", "for the wallet:")
        )
        for clause in told
    )


def _lit(move, *events):
    """The group of a move that these events made."""
    machine = A_FROM_0_4_0.machine
    took = frozenset(key(move, event) for event in events)
    svg = draw(machine, "a title", "told", Lit("idle", frozenset(), {move: (1,)}, took)).svg
    group = next(one for one in ET.fromstring(svg).iter(f"{SVG}g") if one.get("data-move") == move)
    group.remove(next(one for one in group if _numbered(one)))
    return group


def _keys_of(move):
    return {key(move.name, event) for event in move.events}


def _numbered(text):
    return text.get("class") == "wb-number"


def test_each_picture_shape_by_shape(pictures):
    """The pictures without a walk are stored as they are: test_states_layout."""
    shown = States(play(Script("from the wallet")).film)
    pictures("states", [("a walk", shown.picture.svg), ("its page", shown.html())])
