"""The scenario builder: what is chosen is one call, and the call does what was chosen."""

import pytest

from workbook.scenes_faults import break_it
from workbook.simulation.faults import FAULTS
from workbook.stage import FLOWS
from workbook.widgets.builder import NO_FAULT, SECONDS, builder, call, choices, script, timed
from workbook.widgets.panels import panels
from workbook.widgets.stage import stage

LATE = (
    'panels(break_it(fault="latency", operation="GET", moment="before", platform="platform B, in the app",'
    " seconds=7.0))"
)


def chosen(**changes):
    flow = changes.get("flow", "platform A")
    return {name: options[0] for name, options in choices(flow).items()} | {"flow": flow} | changes


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, 'stage("platform A")'),
        ({"variant": "before-0.4.0"}, 'stage("platform A", variant="before-0.4.0")'),
        ({"flow": "from the wallet", "phone": "slow network"}, 'stage("from the wallet", phone="slow network")'),
        (
            {"fault": "reset", "request": "POST", "moment": "after"},
            'panels(break_it(fault="reset", operation="POST", moment="after", platform="platform A"))',
        ),
        (
            {"flow": "platform B", "fault": "latency", "seconds": "7.0"},
            LATE,
        ),
    ],
)
def test_the_call_is_python_that_runs(changes, words):
    assert call(chosen(**changes)) == words
    eval(words, {"stage": stage, "panels": panels, "break_it": break_it})


@pytest.mark.parametrize("flow", sorted(FLOWS))
@pytest.mark.parametrize("fault", [NO_FAULT, *list(FAULTS)[1:]])
def test_every_fault_can_be_chosen_on_every_flow(flow, fault):
    assert call(chosen(flow=flow, fault=fault)).startswith("stage(" if fault == NO_FAULT else "panels(break_it(")


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
    assert "stage(&quot;platform B&quot;, phone=&quot;with a watch&quot;)" in built._call.value
    assert box.children[-1] is built.stage.widget()


def test_a_fault_is_played_below_instead_of_the_stage_and_leaves_again():
    built = builder()
    box = built.widget()
    built._dropdowns["fault"].value = "503 that says 500"
    assert box.children[-1].by_hand is False
    assert built._dropdowns["phone"].disabled
    assert not built._dropdowns["request"].disabled
    built._dropdowns["fault"].value = NO_FAULT
    assert box.children[-1] is built.stage.widget()
    assert not built._dropdowns["phone"].disabled


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
