"""The scenario builder: what is chosen is one call, and the call does what was chosen."""

import pytest

from workbook.errors import ParameterError
from workbook.lessons.plays.script import FLOWS, play
from workbook.lessons.session import session
from workbook.lessons.widgets.builder import build, choices, script, timed
from workbook.lessons.widgets.stage import in_python, stage
from workbook.play.extension.handler import ReferenceHandler
from workbook.simulation.faults import FAULTS


def call(changes):
    return in_python(script(changes))


def chosen(**changes):
    flow = changes.get("flow", "platform A")
    return {name: next(iter(options)) for name, options in choices(flow).items()} | {"flow": flow} | changes


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "session.platform_a.live()"),
        ({"variant": "before-0.4.0"}, 'session.platform_a.live(variant="before-0.4.0")'),
        ({"flow": "from the wallet", "phone": "slow network"}, 'session.wallet.live(phone="slow network")'),
        (
            {"fault": "reset", "moment": "after the API's part"},
            'session.platform_a.live(fault="reset", moment="after")',
        ),
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


@pytest.mark.parametrize("flow", sorted(FLOWS))
@pytest.mark.parametrize("fault", ["none", *list(FAULTS)[1:]])
def test_every_fault_can_be_chosen_on_every_flow(flow, fault):
    made = script(chosen(flow=flow, fault=fault))
    assert made.fault == ("" if fault == "none" else fault)
    assert play(made).film.frames


@pytest.mark.parametrize("flow", sorted(FLOWS))
def test_what_is_ordinary_is_the_first_choice(flow):
    assert script(chosen(flow=flow)) == stage(flow).script


def test_a_time_is_only_for_faults_that_take_one():
    assert timed(chosen(fault="latency"))
    assert not timed(chosen(fault="reset"))
    assert "seconds" not in call(chosen(fault="reset", seconds="0.5"))


def test_the_controls_choose():
    built = build()
    box = built.widget()
    built._dropdowns["flow"].value = "platform B"
    built._dropdowns["phone"].value = "with a watch"
    assert built.stage.script.phone == "with a watch"
    assert built.stage.widget().call == 'session.platform_b.live(phone="with a watch")'
    assert box.children[-1] is built.stage.widget()


def test_a_fault_is_played_by_hand_with_everything_else_that_was_chosen():
    built = build()
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
    built._dropdowns["fault"].value = "none"
    assert built.stage.script == stage(phone="cardholder cancels").script


def test_which_request_a_fault_meets_is_said_while_one_is_chosen():
    built = build()
    built.widget()
    shown = built.stage.widget()
    assert shown.broken == ""
    built._dropdowns["fault"].value = "reset"
    assert "It meets the first POST, before the API does anything" in shown.broken
    built._dropdowns["operation"].value = "GET"
    assert "the first GET" in shown.broken
    built._dropdowns["fault"].value = "none"
    assert shown.broken == ""


def test_another_flow_has_other_phones_and_begins_with_the_first():
    built = build()
    built.widget()
    built._dropdowns["phone"].value = "cardholder cancels"
    built._dropdowns["flow"].value = "from the wallet"
    assert built.chosen["phone"] == "app was opened"
    assert built.stage.script == stage("from the wallet").script


def test_a_message_that_is_broken_by_its_arrow_is_in_the_choices():
    built = build()
    built.widget()
    shown = built.stage.widget()
    for name, value in built.stage.answer(
        {"kind": "break", "value": {"row": 2, "fault": "502", "moment": "after"}}
    ).items():
        setattr(shown, name, value)
    assert [built.chosen[name] for name in ("fault", "operation", "moment")] == [
        "502", "GET", "after the API's part",
    ]  # fmt: skip
    for name, value in built.stage.answer({"kind": "mend", "value": ""}).items():
        setattr(shown, name, value)
    assert built.chosen["fault"] == "none"


def test_choosing_a_fault_moves_nothing_above_the_stage():
    built = build()
    built.widget()
    before = {name: field.layout.display for name, field in built._fields.items()}
    built._dropdowns["fault"].value = "latency"
    assert {name: field.layout.display for name, field in built._fields.items()} == before


def test_each_flow_offers_its_own_code_and_mistakes():
    built = build()
    built.widget()
    shown = {flow: {name for name in choices(flow) if name in ("app", "handler")} for flow in FLOWS}
    assert shown == {"platform A": set(), "platform B": {"app"}, "from the wallet": {"handler"}}
    built._dropdowns["flow"].value = "from the wallet"
    built._dropdowns["handler"].value = "GETs one after the other"
    assert (built.stage.script.handler, built.stage.script.phone) == ("GETs one after the other", "slow network")
    built._dropdowns["back_end"].value = "waits 30 s"
    assert 'back_end="waits 30 s"' in built.stage.widget().call


class Late(ReferenceHandler):
    def status(self):
        self.back_end.get(self.cards[0])
        return super().status()


class Mine:
    def __init__(self, api):
        self.get, self.post = api.get, api.post


Mine.get = Mine.post = lambda self, payment_instrument_id, sdk_output=None: None


def test_code_of_ones_own_can_be_chosen():
    built = build(handler=Late, back_end=Mine)
    built.widget()
    assert built.chosen["flow"] == "from the wallet"
    built._dropdowns["handler"].value = "yours: Late"
    assert built.stage.script.handler is Late
    assert built.stage.widget().player_data["frames"][-1]["state"] == "app not listed"
    built._dropdowns["flow"].value = "platform A"
    built._dropdowns["back_end"].value = "yours: Mine"
    assert built.stage.script == stage(back_end=Mine).script
    assert "handler: reference" in build(handler=Late).snapshot().text()
    assert "yours: Late" in build(handler=Late).snapshot().text()


@pytest.mark.parametrize(
    ("own", "told"),
    [({"handlr": Late}, "Did you mean 'handler'"), ({"handler": 3}, "takes a handler class"),
     ({"delegate": 3}, "A delegate needs"), ({"back_end": 3}, "your class itself"),
     ({"app": "good"}, "takes no .app.")],
)  # fmt: skip
def test_what_cannot_be_chosen_is_explained(own, told):
    with pytest.raises(ParameterError, match=told):
        build(**own)


def test_an_app_that_misbehaves_is_in_the_call():
    built = build()
    built.widget()
    built.stage.script = stage(guarded=False).script
    assert "guarded=False" in built.stage._values()["call"]
