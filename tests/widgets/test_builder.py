"""The scenario builder: what is chosen is one call, and the call does what was chosen."""

import pytest

from workbook.plays.script import FLOWS, play
from workbook.sessions import session
from workbook.simulation.faults import FAULTS
from workbook.widgets.builder import NO_FAULT, SECONDS, builder, choices, script, timed
from workbook.widgets.stage import spelled, stage


def call(changes):
    return spelled(script(changes))


def chosen(**changes):
    flow = changes.get("flow", "platform A")
    return {name: options[0] for name, options in choices(flow).items()} | {"flow": flow} | changes


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "session.platform_a.live()"),
        ({"variant": "before-0.4.0"}, 'session.platform_a.live(variant="before-0.4.0")'),
        ({"flow": "from the wallet", "phone": "slow network"}, 'session.wallet.live(phone="slow network")'),
        ({"fault": "reset", "moment": "after"}, 'session.platform_a.live(fault="reset", moment="after")'),
        (
            {"flow": "platform B", "fault": "latency", "operation": "GET", "seconds": "7.0", "phone": "with a watch"},
            'session.platform_b.live(phone="with a watch", fault="latency", operation="GET", seconds=7.0)',
        ),
        ({"operation": "GET", "seconds": "7.0"}, "session.platform_a.live()"),
    ],
)
def test_the_call_is_python_that_runs(changes, words):
    assert call(chosen(**changes)) == words
    assert eval(words, {"session": session()}).script == script(chosen(**changes))


@pytest.mark.slow
@pytest.mark.parametrize("flow", sorted(FLOWS))
@pytest.mark.parametrize("fault", [NO_FAULT, *list(FAULTS)[1:]])
def test_every_fault_can_be_chosen_on_every_flow(flow, fault):
    made = script(chosen(flow=flow, fault=fault))
    assert made.fault == ("" if fault == NO_FAULT else fault)
    assert play(made).film.frames


@pytest.mark.parametrize("flow", sorted(FLOWS))
def test_what_is_ordinary_is_the_first_choice(flow):
    assert script(chosen(flow=flow)) == stage(flow).script


def test_a_time_is_only_for_faults_that_take_one():
    assert timed(chosen(fault="latency"))
    assert not timed(chosen(fault="reset"))
    assert "seconds" not in call(chosen(fault="reset", seconds=SECONDS[1]))


def test_the_controls_choose():
    built = builder()
    box = built.widget()
    built._dropdowns["flow"].value = "platform B"
    built._dropdowns["phone"].value = "with a watch"
    assert built.stage.script.phone == "with a watch"
    assert "session.platform_b.live(phone=&quot;with a watch&quot;)" in built._call.value
    assert box.children[-1] is built.stage.widget()


def test_a_fault_is_played_by_hand_with_everything_else_that_was_chosen():
    built = builder()
    built.widget()
    assert built._dropdowns["moment"].disabled
    built._dropdowns["phone"].value = "cardholder cancels"
    built._dropdowns["fault"].value = "503 that says 500"
    made = built.stage.script
    assert (made.fault, made.phone, built._dropdowns["moment"].disabled) == (
        "503 that says 500",
        "cardholder cancels",
        False,
    )
    assert built._dropdowns["seconds"].disabled
    built._dropdowns["fault"].value = NO_FAULT
    assert built.stage.script == stage(phone="cardholder cancels").script


def test_which_request_a_fault_meets_is_said_while_one_is_chosen():
    built = builder()
    built.widget()
    assert "meets" not in built._call.value
    built._dropdowns["fault"].value = "reset"
    meets = "The fault meets the first POST, before the API has done its part; a second attempt meets none."
    assert meets in built._call.value
    built._dropdowns["operation"].value = "GET"
    assert "the first GET" in built._call.value
    built._dropdowns["fault"].value = NO_FAULT
    assert "meets" not in built._call.value


def test_another_flow_has_other_phones_and_begins_with_the_first():
    built = builder()
    built.widget()
    built._dropdowns["phone"].value = "cardholder cancels"
    built._dropdowns["flow"].value = "from the wallet"
    assert built.chosen["phone"] == "app was opened"
    assert built.stage.script == stage("from the wallet").script


def test_an_app_that_misbehaves_is_in_the_call():
    built = builder()
    built.widget()
    built.stage.script = stage(guarded=False).script
    built.stage.widget().guarded = False
    assert "guarded=False" in built._call.value
