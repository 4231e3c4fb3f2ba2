"""A stage played by hand: what is pressed is checked here once more, and the script alone decides what is seen."""

import json
import re
import sys
import threading
from dataclasses import replace
from itertools import pairwise

import pytest
from rows import rows

import workbook as wb
from workbook.errors import MaybeSentError, ParameterError
from workbook.lessons.script import FLOWS, Script, play
from workbook.lessons.session import session
from workbook.lessons.widgets.stage import (
    NOT_OFFERED,
    add_act,
    controls_on,
    in_python,
    offered_faults,
    requests,
    stage,
    walk_on,
)
from workbook.play.handler import ReferenceHandler
from workbook.simulation.faults import FAULTS
from workbook.views.screen import Page


def tap(played, frame=None, **more):
    """A message such as the browser sends, on the last frame that it has."""
    frames = play(played.script).film.frames
    at = len(frames) - 1 if frame is None else frame
    return {"kind": "act", "name": "tap", "value": "", "frame": at, "seen": 0, **more}


def button(played):
    return play(played.script).film.frames[-1].screen.button


def names(played):
    return [act.name for act in played.script.acts]


@pytest.mark.rule("FLOW-1", "A-PROV-2", "A-CAN-2")
def test_a_tap_adds_the_card():
    played = stage()
    values = played.answer(tap(played))
    assert (values["acts"], values["hint"]) == (1, "")
    assert values["player_data"]["frames"][-1]["state"] == "in the wallet"
    assert button(played) == "hidden"


def test_a_browser_has_no_thread_that_loads_the_client_beforehand(monkeypatch):
    monkeypatch.delitem(sys.modules, "workbook.api.client", raising=False)
    monkeypatch.setattr(sys, "platform", "emscripten")
    monkeypatch.setattr(threading.Thread, "start", lambda _thread: pytest.fail("a browser has no threads"))
    assert stage().widget().by_hand


def test_what_happened_before_a_tap_stays_as_it_was():
    played = stage()
    before = played.widget().player_data["frames"]
    assert played.answer(tap(played))["player_data"]["frames"][: len(before)] == before


@pytest.mark.rule("A-BTN-1")
def test_a_second_tap_before_the_answer_is_dropped_while_the_button_is_disabled():
    played = stage()
    played.answer(tap(played, frame=9))
    assert played.answer(tap(played, frame=9, seen=-1)) == {"hint": NOT_OFFERED}
    assert names(played) == ["tap"]


@pytest.mark.rule("A-BTN-1", "A-BTN-2")
def test_a_misbehaving_app_takes_both_taps_and_the_first_never_ends():
    played = stage()
    assert played.answer({"kind": "careless", "value": True})["guarded"] is False
    played.answer(tap(played, frame=9))
    played.answer(tap(played, frame=9, seen=-1))
    first, second = played.script.acts
    assert second.at == pytest.approx(first.at + 0.1)
    assert "A-BTN-1" in {finding.rule for finding in play(played.script).findings}


@pytest.mark.slow
@pytest.mark.rule("A-BTN-2")
def test_no_quick_tap_on_a_misbehaving_app_is_lost_while_the_film_plays():
    played = stage(guarded=False)
    for _tap in range(12):
        played.answer(tap(played, frame=9, playing=True))
    assert names(played) == ["tap"] * 12
    assert [round(two.at - one.at, 6) for one, two in pairwise(played.script.acts)] == [0.1] * 11


def test_whoever_goes_back_and_taps_again_takes_back_what_came_after():
    played = stage(phone="cardholder cancels")
    for _time in range(2):
        played.answer(tap(played))
    assert names(played) == ["tap", "tap"]
    played.answer(tap(played, frame=9))
    assert names(played) == ["tap"]


@pytest.mark.rule("APP-9")
@pytest.mark.parametrize("flow", ["platform A", "platform B"])
def test_after_a_get_that_failed_try_again_opens_the_page_anew(flow):
    played = stage(flow, fault="403", operation="GET")
    last = play(played.script).film.frames[-1]
    (again,) = (control for control in controls_on(last) if control.label == "Try again")
    opened = play(add_act(played.script, last.at, again.act, again.value)).film.frames[-1].screen
    assert (last.screen.button, opened.button, opened.label) == ("hidden", "shown", "")


def test_begin_again_forgets_what_was_done_and_keeps_what_was_chosen():
    played = stage(phone="cardholder cancels", guarded=False)
    played.answer(tap(played))
    played.answer({"kind": "again"})
    assert (names(played), played.script.phone, played.script.guarded) == ([], "cardholder cancels", False)


def test_a_script_that_is_full_says_so():
    played = stage(phone="cardholder cancels")
    played.answer(tap(played))
    played.script = replace(played.script, acts=played.script.acts * 40)
    assert "Begin again" in played.answer(tap(played))["hint"]


@pytest.mark.rule("A-BTN-1", "A-BTN-2")
def test_the_stored_story_of_a_misbehaving_app_is_two_quick_taps():
    first, second = walk_on(play(Script(guarded=False))).script.acts
    assert (first.name, second.name) == ("tap", "tap")
    assert second.at - first.at == pytest.approx(0.1)
    assert "two quick taps, which this app does not prevent" in stage(guarded=False).snapshot().text()
    assert "The run after one press of each button." in stage().snapshot().text()
    assert [act.name for act in walk_on(play(Script("platform B", guarded=False))).script.acts] == ["tap"]


def test_whoever_cancelled_is_offered_the_list_and_decides_anew():
    played = stage("from the wallet")
    for name in ("choose app", "choose card", "cancel", "look", "choose app", "choose card", "confirm"):
        frames = play(played.script).film.frames
        value = next(one.value for one in controls_on(frames[-1]) if one.act == name)
        values = played.answer({"kind": "act", "name": name, "value": value, "frame": len(frames) - 1, "seen": 0})
        assert values["hint"] == ""
    assert len(played.script.acts) == 7
    assert values["player_data"]["frames"][-1]["state"] == "added"


@pytest.mark.parametrize(
    ("flow", "acts"),
    [("platform A", ["tap"]), ("platform B", ["tap"]), ("from the wallet", ["choose app", "choose card", "confirm"])],
)
def test_every_stage_has_a_story_that_goes_to_its_end(flow, acts):
    done = walk_on(play(Script(flow)))
    assert [act.name for act in done.script.acts] == acts
    assert {control.act for control in controls_on(done.film.frames[-1])} <= {"look", "open"}
    assert stage(flow, phone=list(FLOWS[flow].phones)[-1]).snapshot().text()


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (Script(), "session.platform_a.live()"),
        (Script(guarded=False), "session.platform_a.live(guarded=False)"),
        (Script("platform B", phone="with a watch"), 'session.platform_b.live(phone="with a watch")'),
    ],
)
def test_the_call_is_spelled_and_is_the_same_stage(script, words):
    assert in_python(script) == words
    assert eval(words, {"session": session()}).script == script


def test_an_act_made_in_time_keeps_what_was_done_before():
    script = add_act(add_act(Script(), 0.4, "tap"), 3.0, "tap")
    assert [act.at for act in add_act(script, 0.6, "tap").acts] == pytest.approx([0.5, 0.7])
    assert [act.at for act in add_act(script, 0.4, "tap", again=True).acts] == pytest.approx([0.5, 3.1, 3.2])


# Code of the learner's own.


class NetworkInStatus(ReferenceHandler):
    def status(self):
        self.back_end.get(self.cards[0])
        return super().status()


class Delegate:
    def provision(self, sdk_output, payment_instrument_id):
        return session().exchange(payment_instrument_id, sdk_output)

    def did_finish_provisioning(self, pass_, error): ...


class Posting:
    """A back end that posts twice."""

    def __init__(self, api):
        self.api = api

    def get(self, payment_instrument_id):
        return self.api.get(payment_instrument_id).sdk_input.text

    def post(self, payment_instrument_id, sdk_output):
        try:
            return self.api.post(payment_instrument_id, sdk_output)
        except MaybeSentError:
            return self.api.post(payment_instrument_id, sdk_output).sdk_input


def ended(played):
    done = walk_on(play(played.script))
    return done.film.frames[-1], {finding.rule for finding in done.findings}


@pytest.mark.rule("X-STATUS-3")
def test_the_app_is_not_listed_when_my_status_is_late():
    wallet = session().wallet
    frame, rules = ended(wallet.live(handler=NetworkInStatus))
    assert (frame.screen.page, rules) == (Page.NO_APPS, {"X-STATUS-3"})
    assert ended(wallet.live(handler=ReferenceHandler))[0].screen.page is Page.ADDED
    stored = wallet.live(handler=NetworkInStatus).snapshot()
    assert "the app is not listed in the wallet" in stored.text()
    assert stored.text().startswith("session.wallet.live(handler=NetworkInStatus)")


@pytest.mark.rule("A-OPC-1", "B-DEL-2", "X-GEN-1")
def test_what_my_code_exchanges_is_in_the_stages_run_and_again_in_the_next():
    opened = session()
    for played in (
        opened.platform_a.live(fetch_opc=opened.exchange),
        opened.platform_b.live(delegate=Delegate),
        opened.platform_b.live(delegate=Delegate(), fault="latency", seconds=2.0),
    ):
        for _again in range(2):
            frame, rules = ended(played)
            assert (frame.state, rules) == ("in the wallet", set())
            lines = walk_on(play(played.script)).film.sequence.lines
            assert len([line for line in lines if line.label.startswith("POST")]) == 1


@pytest.mark.rule("REL-1", "REL-6")
def test_my_back_end_meets_the_fault():
    live = session().platform_a.live
    assert ended(live(back_end=Posting)) == ended(live())
    frame, rules = ended(live(back_end=Posting, fault="reset", moment="after"))
    assert (frame.state, "REL-1" in rules) == ("failed", True)


@pytest.mark.rule("REL-6")
def test_the_relay_of_the_lesson_can_be_played_and_refuses_as_it_does_over_http():
    live = session().platform_a.live
    assert ended(live(back_end=wb.Relay))[0].state == "in the wallet"
    done = walk_on(play(live(back_end=wb.Relay, fault="502").script))
    notes = [line.detail for line in done.film.sequence.lines if "refuses its app's call" in line.label + line.detail]
    assert done.film.frames[-1].state == "failed"
    assert notes or any("refuses" in line.label for line in done.film.sequence.lines)


@pytest.mark.rule("REL-7")
def test_a_back_end_that_answers_from_its_own_memory_is_told_of():
    class Remembers(Posting):
        def get(self, payment_instrument_id):
            return "bm90IG1hZGUgYnkgdGhlIEFQSQ=="

    lines = play(session().platform_a.live(back_end=Remembers).script).film.sequence.lines
    assert any("did not ask the API" in line.label for line in lines)


@pytest.mark.parametrize(
    ("flow", "choices", "words"),
    [
        ("from the wallet", {"handler": 3}, "takes a handler class"),
        ("from the wallet", {"handler": "referense"}, "Did you mean 'reference'"),
        ("from the wallet", {"authorization": 3}, "a class below AuthorizationProvider"),
        ("from the wallet", {"fetch_opc": print}, "has no fetch_opc. It belongs to: platform A"),
        ("platform A", {"handler": NetworkInStatus}, "It belongs to: from the wallet"),
        ("platform A", {"fetch_opc": lambda: None}, "fetch_opc"),
        ("platform A", {"back_end": Posting(None)}, "your class itself"),
        ("platform A", {"back_end": int}, "needs a method get"),
        ("platform A", {"back_end": "goood"}, "Did you mean 'good'"),
        ("platform B", {"delegate": 3}, "A delegate needs a method provision"),
        ("platform B", {"app": "goood"}, "Did you mean 'good'"),
    ],
)
def test_code_that_cannot_be_played_is_explained_at_once(flow, choices, words):
    with pytest.raises(ParameterError, match=re.escape(words)):
        stage(flow, **choices)


def test_what_my_code_prints_is_below_the_panels_and_nowhere_else(capsys):
    class Prints(ReferenceHandler):
        def status(self):
            print("status, with", len(self.cards), "cards")  # noqa: T201
            return super().status()

    played = session().wallet.live(handler=Prints)
    played.snapshot()
    assert played.widget().printed == "status, with 3 cards\n"
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_code_that_does_not_end_can_be_stopped_and_nothing_has_changed(monkeypatch, stop):
    def endless(_script):
        raise stop

    played = stage()
    pressed = tap(played)
    monkeypatch.setattr(
        "workbook.lessons.widgets.stage.play", lambda script: endless(script) if script.acts else play(script)
    )
    assert "Stopped before your code had ended" in played.answer(pressed)["hint"]
    assert played.script.acts == ()


# A message that is broken by its arrow.

LIVE = {"platform A": session().platform_a, "platform B": session().platform_b, "from the wallet": session().wallet}


def told(played):
    return play(played.script).film.sequence.text()


def break_(played, row, fault="reset", moment="after", **settings):
    return played.answer(broken(row, fault, moment, **settings))


@pytest.mark.slow
@pytest.mark.rule("REL-1", "API-9")
@pytest.mark.parametrize("flow", sorted(LIVE))
@pytest.mark.parametrize(
    ("fault", "settings"),
    [
        pytest.param("reset", {}, marks=pytest.mark.nightly),
        pytest.param("latency", {"seconds": 7}, marks=pytest.mark.nightly),
        pytest.param("502", {}, marks=pytest.mark.nightly),
        ("another answer", {"status": 503, "body": "{}"}),
    ],
)
def test_any_request_can_be_broken_and_the_call_below_plays_the_same_run(flow, fault, settings):
    whole = LIVE[flow].live(acts=[(act.name, act.at, act.value) for act in walk_on(play(Script(flow))).script.acts])
    film = play(whole.script).film
    for row, about in requests(film).items():
        played = LIVE[flow].live()
        played.script = whole.script
        values = break_(played, int(row), fault, **settings)
        assert (values["hint"], "It meets the" in values["broken"]) == ("", True)
        broken = play(played.script).film
        before = about["from"] + 1
        assert [frame.caption for frame in broken.frames[:before]] == [frame.caption for frame in film.frames[:before]]
        assert told(played) != told(whole)
        again = eval(values["call"], {"session": session()})
        assert (again.script, told(again)) == (played.script, told(played))


@pytest.mark.rule("REL-1")
def test_an_answer_is_lost_before_or_after_the_sdk_output_is_used_up():
    def ended(moment):
        played = stage()
        played.answer(tap(played))
        post = max(map(int, requests(play(played.script).film)))
        values = break_(played, post, moment=moment)
        again = played.answer(tap(played))
        return values["broken"], again["player_data"]["frames"][-1]["state"]

    before, after = ended("before"), ended("after")
    assert "before the API does anything: the sdkOutput stays good" in before[0]
    assert "after the API's part: the sdkOutput is used up" in after[0]
    assert before[1] == after[1] == "in the wallet"  # another tap makes another sdkOutput


@pytest.mark.rule("REL-6")
def test_an_answer_is_written_by_hand_and_fixed():
    played = stage()
    played.answer(tap(played))
    good = told(played)
    post = max(map(int, requests(play(played.script).film)))
    kept = break_(played, post, "another answer", status=200, body='{"sdkInput": "…", "more": 1}')
    assert kept["player_data"]["frames"][-1]["state"] == "in the wallet"
    played.answer({"kind": "fix", "value": ""})
    assert played.script == stage(acts=[("tap", played.script.acts[0].at)]).script
    assert told(played) == good
    values = break_(played, post, "another answer", status=200, body='{"sdkInput": ""}')
    assert values["player_data"]["frames"][-1]["state"] == "failed"
    assert values["acts"] == 2


TAP = {"kind": "act", "name": "tap", "value": "", "seen": 0}


def broken(row, fault="reset", moment="after", **settings):
    return {"kind": "break", "value": {"row": row, "fault": fault, "moment": moment, "settings": settings}}


@pytest.mark.rule("A-BTN-1")
@rows(
    ("message", "words"),
    [
        *((TAP | {"frame": frame}, NOT_OFFERED) for frame in (-1, 0, 3, 10_000, "9", None, True)),
        ({}, NOT_OFFERED),
        ({"kind": "careless", "value": "yes"}, NOT_OFFERED),
        ({"kind": "act"}, NOT_OFFERED),
        (TAP | {"name": "open", "frame": 9}, NOT_OFFERED),
        (TAP | {"value": "another", "frame": 9}, NOT_OFFERED),
        (TAP | {"name": ["tap"], "value": {}, "frame": 9}, NOT_OFFERED),
        ({"kind": "break", "value": {}}, NOT_OFFERED),
        (broken([2]), NOT_OFFERED),
        (broken(0), NOT_OFFERED),
        (broken("2", "rest"), "Did you mean 'reset'"),
        (broken(2, moment="during"), "moment is 'during'"),
        (broken(2, "latency", seconds=-1), "Allowed: a number"),
        (broken(2, x=1), "has no setting 'x'"),
        (broken(2, "another answer", body="\ud800"), "Allowed: text"),
    ],
)
def test_a_message_that_cannot_be_is_refused_and_nothing_changes(message, words):
    played = stage()
    before = played.script
    assert words in played.answer(message)["hint"]
    assert played.script == before


@pytest.mark.rule("API-10", "REL-7")
@pytest.mark.parametrize("flow", ["platform A", "platform B"])
def test_the_cards_page_is_left_and_opened_again(flow):
    played = stage(flow)
    played.answer(tap(played))
    frames = play(played.script).film.frames
    control = controls_on(frames[-1])[0]
    message = {"kind": "act", "name": control.act, "value": control.value, "frame": len(frames) - 1, "seen": 0}
    values = played.answer(message)
    assert (control.act, values["hint"]) == ("open", "")
    gets = [about for about in requests(play(played.script).film).values() if about["operation"] == "GET"]
    assert {about["nth"] for about in gets} == {1, 2}
    assert values["player_data"]["frames"][-1]["state"] == "in the wallet"


def test_what_can_go_wrong_is_every_fault_and_an_answer_by_hand():
    names = [one["name"] for group in offered_faults() for one in group["faults"]]
    assert sorted(names) == sorted([*list(FAULTS)[1:], "another answer"])
    json.dumps(offered_faults())
