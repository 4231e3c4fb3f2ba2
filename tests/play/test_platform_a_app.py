"""The issuer's app: a table of calls, and what becomes of an app whose table is wrong."""

import pytest

from workbook.checks import check
from workbook.flows import messages as m
from workbook.flows.platform_a import State
from workbook.flows.trace import Kind
from workbook.flows.variants import A_BEFORE_0_4_0, A_FROM_0_4_0, A_NOT_MIGRATED
from workbook.play.platform_a import PROVIDER_CALLS, TWO_STEP_CALLS, AppA, PlatformARun


@pytest.mark.rule("A-PROV-1", "A-PROV-2")
def test_an_app_makes_its_variants_calls():
    assert AppA().calls_in(A_BEFORE_0_4_0) == AppA().calls_in(A_NOT_MIGRATED) == TWO_STEP_CALLS
    assert AppA().calls_in(A_FROM_0_4_0) == PROVIDER_CALLS
    both = PROVIDER_CALLS.items() & TWO_STEP_CALLS.items()
    assert set(PROVIDER_CALLS) - dict(both).keys() == {State.TAPPED}
    assert set(TWO_STEP_CALLS) - dict(both).keys() == {State.TAPPED, State.OPC_READY}


@pytest.mark.parametrize("variant", [A_BEFORE_0_4_0, A_FROM_0_4_0, A_NOT_MIGRATED], ids=lambda one: one.name)
def test_an_app_has_a_call_exactly_where_the_flow_hands_over_to_it(variant):
    steps = [row for row in variant.machine.rows if m.HandToApp in row.commands]
    reached = {record.after for record in PlatformARun(variant).walk() if isinstance(record.message, m.HandToApp)}
    assert reached == set(AppA().calls_in(variant)) <= {row.to for row in steps}


def test_a_calls_arguments_come_from_the_event_and_then_from_the_apps_settings():
    run = PlatformARun(A_BEFORE_0_4_0, app=AppA(card_display_name="My card"))
    assert run._hand_to_app(m.OpcReceived("opc")) == (0.0, m.ProvisionCalled("opc", "My card", run.app.card_address))
    run.state = State.FETCHED
    assert run._hand_to_app(m.ActivationDataReceived("in")) == (0.0, m.CreateCalled("in"))
    run.state = State.READY
    assert run._hand_to_app(m.CanBeProvisioned()) is None


WRONG = {
    "canProvision forgotten": ({State.CREATED: m.ProvisionWithProviderCalled}, "A-PROV-2"),
    "createSdkOutput forgotten": ({State.TAPPED: m.ProvisionCalled}, "A-PROV-1"),
    "create called twice": ({State.CREATED: m.CreateCalled}, "A-CREATE-1"),
}


@pytest.mark.rule("A-PROV-1", "A-PROV-2", "A-CREATE-1")
@pytest.mark.parametrize("name", WRONG)
def test_a_mistaken_app_is_refused_and_told_which_rule_it_broke(name):
    change, rule = WRONG[name]
    variant = A_FROM_0_4_0
    bench = PlatformARun(variant, app=AppA(calls=PROVIDER_CALLS | change))
    bench.walk()
    (refused,) = bench.trace.select(kind=Kind.REFUSED)
    assert type(refused.message) in change.values()
    findings = [finding for finding in check(bench.trace) if finding.level == "fail"]
    assert [finding.rule for finding in findings] == [rule]
