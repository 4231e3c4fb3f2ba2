"""The issuer's app on platform B: a table of calls, and what becomes of an app whose table or delegate is wrong."""

import pytest
from rows import rows

from workbook.checks import check
from workbook.errors import ParameterError
from workbook.flows import messages as m
from workbook.flows.platform_b import State
from workbook.flows.trace import Kind
from workbook.flows.variants import B_EARLIER, B_LATER
from workbook.play.platform_b import APPS_B, EARLIER_CALLS, LATER_CALLS, AppB, PlatformBRun, check_delegate
from workbook.simulation.service import DirectApi
from workbook.simulation.world import INSTRUMENT_IDS

BOTH = [B_EARLIER, B_LATER]


@pytest.mark.rule("B-CAN-1", "B-CAN-2", "B-WATCH-1")
def test_an_app_makes_its_variants_calls():
    assert AppB().calls_in(B_EARLIER) == EARLIER_CALLS
    assert AppB().calls_in(B_LATER) == LATER_CALLS
    no_watch = APPS_B["never looks for a watch"]["calls"]
    assert AppB(no_watch).calls_in(B_LATER) == no_watch
    assert set(LATER_CALLS) - set(EARLIER_CALLS) == {State.WATCH_KNOWN}
    assert set(LATER_CALLS) - set(no_watch) == set()
    assert m.WatchActivateCalled not in no_watch.values()


@pytest.mark.parametrize("variant", BOTH, ids=lambda one: one.name)
def test_an_app_has_a_call_exactly_where_the_flow_hands_over_to_it(variant):
    steps = {row.to for row in variant.machine.rows if m.HandToApp in row.commands}
    reached = {record.after for record in PlatformBRun(variant).walk() if isinstance(record.message, m.HandToApp)}
    assert reached == set(AppB().calls_in(variant)) == steps


@pytest.mark.rule("API-8")
def test_the_app_hands_over_the_bytes_and_a_careless_one_the_text():
    sdk_input = DirectApi().get(INSTRUMENT_IDS[0]).sdk_input
    assert AppB().hand_over(sdk_input) == sdk_input.data
    assert AppB(decodes=False).hand_over(sdk_input) == sdk_input.text


WRONG_CALLS = {
    "start without a question": (B_LATER, {State.CREATED: m.StartCalled}, "B-START-1"),
    "the service is made twice": (B_EARLIER, {State.CREATED: m.ServiceCalled}, "B-INIT-1"),
    "asking before there is a service": (B_EARLIER, {State.FETCHED: m.CanAddCardCalled}, "B-CAN-1"),
    "a watch where the variant has none": (B_EARLIER, {State.CREATED: m.WatchActivateCalled}, "B-WATCH-1"),
    "details where the variant has none": (B_EARLIER, {State.CREATED: m.CanAddCardDetailsCalled}, "B-CAN-2"),
    "canAddCard where it is gone": (B_LATER, {State.WATCH_KNOWN: m.CanAddCardCalled}, "B-CAN-1"),
    "asking on tap instead of starting": (B_LATER, {State.TAPPED: m.CanAddCardDetailsCalled}, "B-CAN-2"),
}


@pytest.mark.rule("FLOW-3", "B-INIT-1", "B-CAN-1", "B-CAN-2", "B-START-1")
@pytest.mark.parametrize("name", WRONG_CALLS)
def test_a_mistaken_app_is_refused_and_told_which_rule_it_broke(name):
    variant, change, rule = WRONG_CALLS[name]
    bench = PlatformBRun(variant, app=AppB(calls=AppB().calls_in(variant) | change))
    bench.walk()
    (refused,) = bench.trace.select(kind=Kind.REFUSED)
    assert type(refused.message) in change.values()
    assert [finding.rule for finding in check(bench.trace) if finding.level == "fail"] == [rule]


class Finishes:
    def did_finish_provisioning(self, pass_, error):
        return None


class OneArgument(Finishes):
    def provision(self, sdk_output):
        return sdk_output


class TwoArguments:
    async def provision(self, sdk_output, payment_instrument_id):
        return sdk_output

    async def did_finish_provisioning(self, pass_, error):
        return None


class Both(Finishes):
    def provision(self, sdk_output, payment_instrument_id=""):
        return sdk_output


class Keywords(Finishes):
    def provision(self, *, sdk_output, payment_instrument_id=""):
        return sdk_output


class FinishesWithOne(Both):
    def did_finish_provisioning(self, pass_):
        return None


class FinishIsNoMethod(Both):
    did_finish_provisioning = "done"


class NeverFinishes:
    def provision(self, sdk_output, payment_instrument_id=""):
        return sdk_output


class HidesItsParameters(Finishes):
    provision = max


DELEGATES = {
    # whether the earlier and the later variant's SDK can call it
    OneArgument: (True, False),
    TwoArguments: (False, True),
    Both: (True, True),
    HidesItsParameters: (True, True),
    Keywords: (False, False),
    FinishesWithOne: (False, False),
    FinishIsNoMethod: (False, False),
    NeverFinishes: (False, False),
}


@pytest.mark.rule("B-DEL-1", "B-DEL-2", "B-FIN-1")
@rows("variant", BOTH)
@rows("kind", DELEGATES)
def test_a_delegate_that_the_sdk_cannot_call_is_refused_and_told_why(kind, variant):
    if DELEGATES[kind][variant.later]:
        assert check_delegate(kind(), variant) is None
        return
    with pytest.raises(
        ParameterError,
        match=r"^A delegate needs a method \w+\(.+\)(\.$|, given by position\. Yours cannot be called)",
    ):
        check_delegate(kind(), variant)


@rows("delegate", [None, object(), 5, "delegate", max, TwoArguments, lambda _output, _id: b"x"])
@rows(
    ("variant", "told"),
    [(B_EARLIER, "provision(sdk_output)."), (B_LATER, "provision(sdk_output, payment_instrument_id).")],
)
def test_what_is_no_delegate_at_all_is_told_what_one_is(delegate, variant, told):
    with pytest.raises(ParameterError) as caught:
        check_delegate(delegate, variant)
    assert str(caught.value) == f"A delegate needs a method {told}"
