"""The common flows on platform A, step by step, and the steps on tap before and from SDK 0.4.0."""

import pytest

from workbook.flows import messages as m
from workbook.flows.variants import A_BEFORE_0_4_0, A_FROM_0_4_0
from workbook.play.platform_a import AppA, PlatformARun
from workbook.simulation.service import DirectApi

UNTIL_THE_TAP = [
    "needs activation data",
    "GET",
    "sdkInput",
    "CardProvisioning.create(sdkInput, activityProvider)",
    "canProvision()",
    "shows Add",
    "taps Add",
]
BEFORE = [*UNTIL_THE_TAP, "createSdkOutput()", "POST", "provision(sdkInput, cardDisplayName, cardAddress)"]
FROM = [
    *UNTIL_THE_TAP,
    "provision(cardDisplayName, cardAddress, opcProvider)",
    "fetchOpc(paymentInstrumentId, sdkOutput)",
    "POST",
    "OPC data",
]


def steps(trace, wanted):
    """The labels of the trace that the document numbers, in the order they happened, up to the wallet's flow."""
    told = [getattr(record.message, "method", record.message.says) for record in trace]
    return [one for one in told[: told.index("add the card")] if one in wanted]


@pytest.mark.rule("FLOW-1", "A-PROV-1", "API-10", "API-11")
def test_before_0_4_0():
    assert steps(PlatformARun(A_BEFORE_0_4_0).walk(), BEFORE) == BEFORE


@pytest.mark.rule("FLOW-2", "A-PROV-2", "A-OPC-1", "API-10", "API-11")
def test_from_0_4_0():
    assert steps(PlatformARun(A_FROM_0_4_0).walk(), FROM) == FROM


@pytest.mark.rule("A-PROV-2")
def test_from_0_4_0_a_tap_is_one_call_of_the_app():
    calls = [
        record.name
        for record in PlatformARun(A_FROM_0_4_0).walk()
        if isinstance(record.message, m.Event)
        and (record.message.sender, record.message.receiver) == (m.Actor.APP, m.Actor.SDK)
    ]
    assert calls == ["CreateCalled", "CanProvisionCalled", "ProvisionWithProviderCalled", "CanProvisionCalled"]


@pytest.mark.rule("A-OPC-1")
def test_fetch_opc_is_the_apps_called_by_the_sdk_and_returns_the_posts_sdk_input():
    asked, api = [], DirectApi()

    def fetch_opc(payment_instrument_id, sdk_output):
        asked.append((payment_instrument_id, sdk_output))
        return api.post(payment_instrument_id, sdk_output).sdk_input.text

    trace = PlatformARun(A_FROM_0_4_0, app=AppA(fetch_opc=fetch_opc)).walk()
    (called,), (returned,) = trace.select(m.FetchOpcCalled), trace.select(m.ReturnOpc)
    assert asked == [(called.message.payment_instrument_id, called.message.sdk_output.text)]
    assert returned.message.sdk_input.summary()["kind"] == "opc"
    assert trace.select(m.ProvisionSuccess)


@pytest.mark.rule("A-PROV-3")
@pytest.mark.parametrize("variant", [A_BEFORE_0_4_0, A_FROM_0_4_0], ids=lambda one: one.name)
def test_provision_returns_once_the_wallets_flow_has_completed(variant):
    bench = PlatformARun(variant)
    bench.walk()
    (asked,), (succeeded,) = bench.trace.select(m.WalletAsked), bench.trace.select(m.ProvisionSuccess)
    assert succeeded.at - asked.at == pytest.approx(bench.phone.latencies.wallet)


@pytest.mark.rule("FLOW-4")
@pytest.mark.parametrize("variant", [A_BEFORE_0_4_0, A_FROM_0_4_0], ids=lambda one: one.name)
def test_the_flow_starts_and_ends_inside_the_app(variant):
    run = PlatformARun(variant)
    trace = run.walk()
    assert (run.state, run.button) == ("in the wallet", "hidden")
    assert (trace[0].message.sender, trace[0].message.receiver) == (m.Actor.CARDHOLDER, m.Actor.APP)
    assert (trace[-1].message.sender, trace[-1].message.receiver) == (m.Actor.APP, m.Actor.CARDHOLDER)
