from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.errors import ParameterError
from workbook.lessons.script import ACTS, FLOWS, Act, Script, play
from workbook.simulation.world import INSTRUMENT_IDS
from workbook.views.phone import draw
from workbook.views.screen import Page

CARD = INSTRUMENT_IDS[1]


def ended(script):
    return play(script).film.frames[-1]


def test_the_watch_is_seen_where_one_is_paired():
    assert ended(Script("platform B")).screen.on_watch is None
    assert ended(Script("platform B", phone="with a watch")).screen.on_watch == frozenset()


@pytest.mark.rule("X-FLOW-1", "X-AUTH-1", "X-AUTH-2")
def test_each_authorization_has_its_own_decision():
    script = Script("from the wallet").then("choose app", 0.2)
    assert ended(script).screen.page is Page.CARDS
    script = script.then("choose card", 1.0, CARD).then("cancel", 1.1)
    refused = ended(script)
    assert refused.screen.page is Page.NOT_ADDED
    script = script.then("look", refused.at + 0.1)
    assert ended(script).screen.page is Page.APPS
    script = script.then("choose app", ended(script).at + 0.1)
    script = script.then("choose card", ended(script).at + 0.1, CARD)
    assert ended(script).screen.page is Page.AUTHORIZING
    added = ended(script.then("confirm", ended(script).at + 0.1)).screen
    assert (added.page, added.on_phone) == (Page.ADDED, {CARD})
    assert ended(script.then("cancel", ended(script).at + 0.1)).screen.page is Page.NOT_ADDED


def test_nothing_is_told_of_what_comes_after_the_moment_at_which_the_cardholder_decides():
    waiting = Script("from the wallet", "later").then("choose app", 0.2).then("choose card", 1.0, CARD)
    shown = play(waiting)
    whole = play(waiting.then("confirm", 2.0))
    assert len(shown.film.budgets) < len(whole.film.budgets)
    assert all(one.ended is None or one.ended <= shown.film.ends for one in shown.film.budgets)
    assert all(found.at <= shown.film.ends for found in shown.findings)


def test_the_same_script_gives_the_same_film():
    script = Script("from the wallet").then("choose app", 0.2)
    assert play(script) == play(script)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"flow": "platform C"}, "No flow 'platform C'. Did you mean 'platform"),
        ({"variant": "0.4"}, "variant is '0.4'."),
        ({"phone": "redy"}, "phone is 'redy'. Did you mean 'ready'?"),
        ({"card": "PISIMULATED1"}, "card is 'PISIMULATED1'. Did you mean"),
        ({"surface": "tablet"}, "surface is 'tablet'."),
        ({"flow": 7}, "No flow 7."),
        ({"fault": "rest"}, "No fault 'rest'. Did you mean 'reset'?"),
        ({"fault": "reset", "operation": "PUT"}, "operation is 'PUT'."),
        ({"fault": "reset", "moment": "during"}, "moment is 'during'."),
        ({"fault": "reset", "settings": {"seconds": 2.0}}, "The fault 'reset' has no setting 'seconds'."),
        ({"back_end": "god"}, "back end is 'god'. Did you mean 'good'?"),
    ],
)
def test_a_name_that_does_not_exist_is_explained(wrong, told):
    with pytest.raises(ParameterError) as error:
        Script(**wrong)
    assert told in str(error.value)


def test_an_act_that_does_not_exist_is_explained():
    with pytest.raises(ParameterError, match=r"No act 'tab'\. Did you mean 'tap'"):
        Act("tab", 0.0)


@pytest.mark.parametrize("moment", [-0.1, float("nan"), float("inf"), True, "0.5", None])
def test_an_act_happens_at_a_number_of_seconds(moment):
    with pytest.raises(ParameterError, match="a finite number of 0 or more, in seconds"):
        Act("tap", moment)


def test_a_slow_answer_takes_its_time():
    assert ended(Script(fault="latency", operation="GET", settings={"seconds": 3.0})).at > 3.0


@pytest.mark.rule("REL-1")
@pytest.mark.parametrize("fault", ["stall before headers", "reset", "500"])
def test_after_a_lost_post_the_wallet_s_screen_claims_no_more_than_anybody_knows(fault):
    script = Script("from the wallet", fault=fault, operation="POST", phone="app was opened")
    for act in (("choose app", 1.0), ("choose card", 30.0, CARD), ("confirm", 31.0)):
        script = script.then(*act)
    screen = ended(script).screen
    assert screen.page is Page.NOT_ADDED
    told = draw(screen).svg
    assert "Card not added" in told
    assert "Nothing has changed" not in told


acts = st.lists(
    st.tuples(st.sampled_from(sorted(ACTS)), st.floats(0, 30), st.sampled_from([*INSTRUMENT_IDS, "unknown", ""])),
    max_size=5,
)


@given(flow=st.sampled_from(sorted(FLOWS)), phone=st.integers(0, 20), acts=acts, guarded=st.booleans())
def test_whatever_is_done_a_play_comes_to_an_end_and_can_be_shown(flow, phone, acts, guarded):
    phones = list(FLOWS[flow].phones)
    script = Script(flow, phone=phones[phone % len(phones)], guarded=guarded)
    for name, at, value in acts:
        script = script.then(name, at, value)
    shown = play(script).film
    assert len(shown.frames) == len(shown.sequence.lines)
    assert all(first.at <= second.at for first, second in pairwise(shown.frames))


class LetsItOut:
    """A back end of the learner's own that lets every error of the API out, as lesson 06 says."""

    def __init__(self, api):
        self.api = api

    def get(self, payment_instrument_id):
        return self.api.get(payment_instrument_id)

    def post(self, payment_instrument_id, sdk_output):
        return self.api.post(payment_instrument_id, sdk_output)


class Breaks(LetsItOut):
    def post(self, payment_instrument_id, sdk_output):
        return self.nothing


@pytest.mark.rule("REL-6", "REL-1")
@pytest.mark.parametrize("flow", ["platform A", "platform B"])
@pytest.mark.parametrize("fault", ["reset", "403"])
def test_an_error_of_the_api_that_a_back_end_lets_out_is_no_defect_of_its_code(flow, fault):
    lost = play(Script(flow, back_end=LetsItOut, fault=fault, operation="POST").then("tap", 2.0))
    good = play(Script(flow, fault=fault, operation="POST").then("tap", 2.0))
    assert [one for one in lost.findings if "Your post()" in one.text] == []
    assert [str(one) for one in lost.findings] == [str(one) for one in good.findings]
    assert (fault == "reset") == all(one.level == "note" for one in good.findings)
    broken = play(Script(flow, back_end=Breaks).then("tap", 2.0))
    assert any("Your post() failed: AttributeError: nothing" in one.text for one in broken.findings)
