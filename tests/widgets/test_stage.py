"""A stage played by hand: what is pressed is checked here once more, and the script alone decides what is seen."""

from dataclasses import replace
from itertools import pairwise

import pytest

from workbook.errors import ParameterError
from workbook.plays.script import FLOWS, MOST_ACTS, REACTION, Script, play
from workbook.sessions import session
from workbook.widgets.stage import NOT_OFFERED, TWICE, acted, offered, spelled, stage, walked


def tap(played, frame=None, **more):
    """A message such as the browser sends, on the last frame that it has."""
    frames = play(played.script).film.frames
    at = len(frames) - 1 if frame is None else frame
    return {"kind": "act", "name": "tap", "value": "", "frame": at, "seen": 0, **more}


def button(played):
    return play(played.script).film.frames[-1].screen.button


def names(played):
    return [act.name for act in played.script.acts]


def test_a_tap_adds_the_card():
    played = stage()
    values = played.answer(tap(played))
    assert (values["acts"], values["hint"]) == (1, "")
    assert values["player_data"]["frames"][-1]["state"] == "in the wallet"
    assert button(played) == "hidden"


def test_an_act_comes_a_moment_after_what_was_seen():
    played = stage()
    seen = play(played.script).film.frames[-1].at
    played.answer(tap(played))
    assert played.script.acts[0].at == pytest.approx(seen + REACTION)


def test_what_happened_before_a_tap_stays_as_it_was():
    played = stage()
    before = played.widget().player_data["frames"]
    assert played.answer(tap(played))["player_data"]["frames"][: len(before)] == before


@pytest.mark.rule("A-BTN-1")
@pytest.mark.parametrize("frame", [-1, 0, 3, 10_000, "9", None, True])
def test_what_is_not_offered_on_that_frame_is_refused(frame):
    played = stage()
    message = {"kind": "act", "name": "tap", "value": "", "frame": frame, "seen": 0}
    assert played.answer(message) == {"hint": NOT_OFFERED}
    assert played.script.acts == ()


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"kind": "careless", "value": "yes"},
        {"kind": "act"},
        {"kind": "act", "name": "open", "value": "", "frame": 9},
        {"kind": "act", "name": "tap", "value": "another", "frame": 9, "seen": 0},
        {"kind": "act", "name": ["tap"], "value": {}, "frame": 9, "seen": 0},
    ],
)
def test_an_unknown_message_is_refused(message):
    assert stage().answer(message) == {"hint": NOT_OFFERED}


@pytest.mark.rule("A-BTN-1")
def test_a_second_tap_before_the_answer_is_dropped_while_the_button_is_disabled():
    played = stage()
    played.answer(tap(played, frame=9))
    assert played.answer(tap(played, frame=9, seen=-1)) == {"hint": NOT_OFFERED}
    assert names(played) == ["tap"]


@pytest.mark.slow
@pytest.mark.rule("A-BTN-1", "A-BTN-2")
def test_a_misbehaving_app_takes_both_taps_and_the_first_never_ends():
    played = stage()
    assert played.answer({"kind": "careless", "value": True})["guarded"] is False
    played.answer(tap(played, frame=9))
    played.answer(tap(played, frame=9, seen=-1))
    first, second = played.script.acts
    assert second.at == pytest.approx(first.at + REACTION)
    assert "A-BTN-1" in {finding.rule for finding in play(played.script).findings}


@pytest.mark.slow
@pytest.mark.rule("A-BTN-2")
def test_no_quick_tap_on_a_misbehaving_app_is_lost_while_the_film_plays():
    played = stage(guarded=False)
    for _tap in range(25):
        played.answer(tap(played, frame=9, playing=True))
    assert names(played) == ["tap"] * 25
    assert [round(two.at - one.at, 6) for one, two in pairwise(played.script.acts)] == [REACTION] * 24


@pytest.mark.slow
def test_whoever_goes_back_and_taps_again_takes_back_what_came_after():
    played = stage(phone="cardholder cancels")
    for _time in range(2):
        played.answer(tap(played))
    assert names(played) == ["tap", "tap"]
    played.answer(tap(played, frame=9))
    assert names(played) == ["tap"]


@pytest.mark.slow
def test_after_a_failure_the_button_is_back_and_can_be_tapped_again():
    played = stage(phone="cardholder cancels")
    played.answer(tap(played))
    assert button(played) == "shown"
    assert played.answer(tap(played))["hint"] == ""


@pytest.mark.slow
def test_begin_again_forgets_what_was_done_and_keeps_what_was_chosen():
    played = stage(phone="cardholder cancels", guarded=False)
    played.answer(tap(played))
    played.answer({"kind": "again"})
    assert (names(played), played.script.phone, played.script.guarded) == ([], "cardholder cancels", False)


@pytest.mark.slow
def test_a_script_that_is_full_says_so():
    played = stage(phone="cardholder cancels")
    played.answer(tap(played))
    played.script = replace(played.script, acts=played.script.acts * MOST_ACTS)
    assert "Begin again" in played.answer(tap(played))["hint"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("flow", "acts"),
    [
        ("platform A", ["tap"]),
        ("platform B", ["tap"]),
        ("from the wallet", ["choose app", "choose card", "confirm"]),
    ],
)
def test_the_story_that_is_stored_goes_to_its_end(flow, acts):
    done = walked(Script(flow))
    assert [act.name for act in done.acts] == acts
    assert offered(play(done).film.frames[-1]) == ()


@pytest.mark.slow
@pytest.mark.rule("A-BTN-1", "A-BTN-2")
def test_the_stored_story_of_a_misbehaving_app_is_two_quick_taps():
    first, second = walked(Script(guarded=False)).acts
    assert (first.name, second.name) == ("tap", "tap")
    assert second.at - first.at == pytest.approx(REACTION)
    assert TWICE in stage(guarded=False).snapshot().text()
    assert [act.name for act in walked(Script("platform B", guarded=False)).acts] == ["tap"]


@pytest.mark.slow
def test_whoever_cancelled_is_offered_the_list_and_decides_anew():
    played = stage("from the wallet")
    for name in ("choose app", "choose card", "cancel", "look", "choose app", "choose card", "confirm"):
        frames = play(played.script).film.frames
        value = next(one.value for one in offered(frames[-1]) if one.act == name)
        values = played.answer({"kind": "act", "name": name, "value": value, "frame": len(frames) - 1, "seen": 0})
        assert values["hint"] == ""
    assert len(played.script.acts) == 7
    assert values["player_data"]["frames"][-1]["state"] == "added"


@pytest.mark.slow
@pytest.mark.parametrize("flow", sorted(FLOWS))
@pytest.mark.parametrize("phone", [None, -1])
def test_every_stage_has_a_story(flow, phone):
    script = Script(flow) if phone is None else Script(flow, phone=list(FLOWS[flow].phones)[phone])
    assert stage(script.flow, phone=script.phone).snapshot().text()


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (Script(), "session.platform_a.live()"),
        (Script(guarded=False), "session.platform_a.live(guarded=False)"),
        (Script("platform B", phone="with a watch"), 'session.platform_b.live(phone="with a watch")'),
    ],
)
def test_the_call_is_spelled_and_is_the_same_stage(script, words):
    assert spelled(script) == words
    assert eval(words, {"session": session()}).script == script


def test_a_misspelt_name_is_explained():
    with pytest.raises(ParameterError, match="Did you mean 'ready'"):
        stage(phone="redy")


def test_an_act_made_in_time_keeps_what_was_done_before():
    script = acted(acted(Script(), 0.4, "tap"), 3.0, "tap")
    assert [act.at for act in acted(script, 0.6, "tap").acts] == pytest.approx([0.5, 0.7])
    assert [act.at for act in acted(script, 0.4, "tap", again=True).acts] == pytest.approx([0.5, 3.1, 3.2])


def test_two_looks_at_a_stage_are_one_widget():
    played = stage()
    assert played.widget() is played.widget()
