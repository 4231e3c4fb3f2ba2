"""Each check of an app on platform B, proven twice: where all is well, and on a trace broken in exactly this way."""

import inspect
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from workbook.api.opaque import SdkInput, SdkOutput
from workbook.api.protocol import ActivationData
from workbook.checks import Symptom, check, platform_b
from workbook.checks.platform_b import CASE_ADVICE
from workbook.flows import messages as m
from workbook.flows.trace import Kind, Record, Trace
from workbook.flows.variants import B_EARLIER, B_LATER
from workbook.play.platform_b import APPS_B, AppB, PlatformBRun
from workbook.simulation.phones import LatenciesB, PhoneB
from workbook.simulation.wallet import ERRORS, NOTHING, Watch
from workbook.simulation.world import INSTRUMENT_IDS

ID = INSTRUMENT_IDS[0]
SYMPTOMS = [one for one in platform_b.PLATFORM_B_CHECKS if isinstance(one, Symptom)]
BY_NAME = {one.__name__: one for one in platform_b.PLATFORM_B_CHECKS if one not in SYMPTOMS}
SILENT = replace(B_LATER, tells=False)
TEXT = "eyJzZGsiOiJvdXRwdXQifQ=="


def trace(*steps):
    """A trace of messages, a second apart; a pair gives the kind as well, a number begins that attempt."""
    made, attempt = Trace(), 0
    for at, step in enumerate(steps):
        if isinstance(step, int):
            attempt = step
            continue
        kind, message = step if isinstance(step, tuple) else (Kind.EVENT, step)
        made.append(Record(float(at), kind, message, "here", "there", message.rules, attempt))
    return made


def walked(variant=B_LATER, *, pages=1, taps=1, app=None, **phone):
    bench = PlatformBRun(variant, phone=PhoneB(**phone), app=app and replace(AppB(), **app))
    for _ in range(pages):
        bench.open()
    if bench.button == "shown":
        bench.tap(taps)
    return bench.trace


def refused(message):
    return (Kind.REFUSED, message)


def saved(text):
    return (Kind.COMMAND, m.SaveSdkInput(SdkInput(text)))


UNSAVED = (Kind.COMMAND, m.SaveSdkInput(None))


class Nil:
    def provision(self, sdk_output, payment_instrument_id=""):
        return None

    def did_finish_provisioning(self, pass_, error):
        return None


DETAILS, ACTIVATED = m.CanAddCardDetailsCalled, m.WatchActivated
NO, YES = False, True
OPENED, ADDED, NEITHER = m.Opened(ID), m.FinishedWithPass("phone"), m.FinishedWithNeither()
CANCELLED, FAILED = m.FinishedCancelled("userCancelled"), m.FinishedWithError("walletKitError", "why")
TOLD, NIL = (Kind.COMMAND, m.TellFailure()), (Kind.COMMAND, m.ReturnNil("nil"))
STILL = m.StillMissing


def symptoms(made):
    """What the checks of one row find."""
    return [finding for row in SYMPTOMS for finding in row(made)]


PROOFS = {
    # check: good trace, broken trace, the findings of the broken one: rule, level, owner
    "symptoms": [
        (trace(ADDED), trace(NEITHER), ["B-FIN-1 warn you"]),
        (trace(m.SdkInputReceived(b"x")), trace(m.NoSdkInput("why")), ["B-DEL-3 note nobody"]),
        (trace(m.WatchActivateCalled(1)), trace(m.WatchSessionTakenOver(2)), ["B-WATCH-2 fail you"]),
        (
            walked(pages=3, watch=Watch()),
            walked(pages=2, watch=Watch({ID}), cards={ID}, app={"keeps_watch_availability": False}),
            ["B-WATCH-2 fail you"],
        ),
    ],
    "own_nil": [
        (trace(m.SdkInputReceived(b"x")), trace(m.DelegateFailed("why")), ["B-DEL-3 fail you"]),
        (trace(m.ApiAnswered(200, ActivationData(SdkInput(TEXT)))), trace(m.ApiAnswered(422), m.DelegateFailed("why")),
         ["B-DEL-3 note nobody"]),
        (walked(), walked(app={"delegate": Nil()}), ["B-DEL-3 fail you"]),
    ],
    "cases": [
        (trace(m.ServiceReady()), trace(m.ServiceRefused("invalidSDKInput", "why")), ["B-INIT-1 fail you"]),
        (trace(m.ServiceReady()), trace(m.ServiceRefused("walletNotSupported")), ["B-INIT-1 warn operator"]),
        (trace(m.StartCalled()), trace(m.StartThrew("presentationFailure", "why")), ["B-START-1 fail you"]),
        (trace(m.StartCalled()), trace(m.StartThrew("delegateNotSet", "why")), ["B-START-1 fail you"]),
        (trace(ADDED), trace(FAILED), ["B-FIN-1 warn you"]),
        (trace(ADDED), trace(CANCELLED), ["B-FIN-1 note nobody"]),
        (trace(ADDED), trace(m.NoSdkInput("why"), FAILED), ["B-FIN-1 note nobody"]),
        (trace(ADDED), trace(m.DelegateFailed("why"), FAILED), ["B-FIN-1 warn you"]),
        (trace(ADDED), trace(m.FinishedWithError("unableToConstructSDKOutput")), ["B-FIN-1 warn you"]),
        (trace(refused(FAILED)), trace(FAILED), ["B-FIN-1 warn you"]),
        (walked(), walked(wallet="wallet-c"), ["B-INIT-1 warn operator"]),
    ],
    "text_for_bytes": [
        (trace(m.ServiceCalled(b"bytes")), trace(m.ServiceCalled("text")), ["API-8 fail you"]),
        (
            trace((Kind.COMMAND, m.ReturnSdkInput(b"bytes"))),
            trace((Kind.COMMAND, m.ReturnSdkInput("text"))),
            ["API-8 fail you"],
        ),
        (trace(m.ServiceCalled(None)), trace(m.ServiceCalled("")), ["API-8 fail you"]),
        (walked(), walked(app={"decodes": False}), ["API-8 fail you"]),
    ],
    "damaged_on_the_way": [
        (trace(saved(TEXT)), trace(saved(f'"{TEXT}"')), ["API-8 fail you"]),
        (trace(saved(TEXT)), trace(saved(TEXT.rstrip("="))), ["API-8 fail you"]),
        (trace(saved(TEXT)), trace(saved("not base64!")), ["API-8 fail you"]),
        (trace(m.ActivationDataReceived(SdkInput("not base64!"))), trace(saved("{}")), ["API-8 fail you"]),
        (trace(UNSAVED), trace(UNSAVED, saved("{}")), ["API-8 fail you"]),
    ],
    "overlooked_watch": [
        (trace(OPENED, ACTIVATED(NO), DETAILS(NO)), trace(OPENED, DETAILS(NO)), ["B-WATCH-1 warn you"]),
        (
            trace(OPENED, ACTIVATED(YES), DETAILS(YES)),
            trace(OPENED, ACTIVATED(YES), DETAILS(NO)),
            ["B-WATCH-1 fail you"],
        ),
        (trace(OPENED, DETAILS(YES)), trace(OPENED, ACTIVATED(NO), DETAILS(YES)), ["B-WATCH-1 fail you"]),
        (trace(DETAILS(NO)), trace(ACTIVATED(YES), DETAILS(NO)), ["B-WATCH-1 fail you"]),
        (
            trace(OPENED, ACTIVATED(NO), DETAILS(NO), ACTIVATED(YES), DETAILS(YES)),
            trace(OPENED, ACTIVATED(NO), DETAILS(NO), ACTIVATED(YES), DETAILS(NO)),
            ["B-WATCH-1 fail you"],
        ),
        (walked(B_EARLIER), walked(cards={ID}, app=APPS_B["never looks for a watch"]), ["B-WATCH-1 warn you"]),
    ],
    "still_offered": [
        (walked(), walked(associated=False), ["B-CAN-2 warn operator"]),
        (walked(watch=Watch(), adds_to="both"), walked(watch=Watch()), ["B-CAN-2 note nobody"]),
        (walked(B_EARLIER), walked(B_EARLIER, watch=Watch(), adds_to="watch"), ["B-CAN-1 note nobody"]),
        (
            walked(associated=False, ends_with="walletKitError", pages=2),
            trace((Kind.EXCHANGE, STILL(phone=True, watch=False, hidden_by_scheme=False))),
            ["B-CAN-1 note nobody"],
        ),
    ],
    "too_late": [
        (trace(m.BudgetSpent("status")), trace(m.DelegateTimeSpent("provision")), ["B-DEL-3 fail you"]),
        (walked(latencies=LatenciesB(post=20.0)), walked(latencies=LatenciesB(post=20.1)), ["B-DEL-3 fail you"]),
    ],
    "hidden_failure": [
        (trace(FAILED, TOLD), trace(FAILED), ["APP-4 fail you"]),
        (trace(CANCELLED), trace(m.StartThrew("delegateNotSet")), ["APP-4 fail you"]),
        (trace(1, CANCELLED, 2, ADDED), trace(1, CANCELLED, 2, FAILED), ["APP-4 fail you"]),
        (trace(NIL, FAILED, TOLD), trace(NIL, FAILED), ["APP-4 fail you"]),
        (trace(ADDED), trace(NEITHER), ["APP-4 fail you"]),
        (trace(refused(FAILED)), trace(1, FAILED, 2, FAILED, TOLD), ["APP-4 fail you"]),
        (trace(1, FAILED, TOLD, 2, ADDED), trace(1, FAILED, 2, ADDED), ["APP-4 fail you"]),
        (
            trace(m.ServiceRefused("invalidSDKInput")),
            trace(1, NIL, FAILED, 2, FAILED),
            ["APP-4 fail you", "APP-4 fail you"],
        ),
        (walked(ends_with="walletKitError"), walked(SILENT, ends_with="walletKitError"), ["APP-4 fail you"]),
        (walked(app={"delegate": Nil()}), walked(SILENT, app={"delegate": Nil()}, taps=3), ["APP-4 fail you"]),
        (walked(SILENT, ends_with="userCancelled"), walked(SILENT, ends_with=NOTHING), ["APP-4 fail you"]),
        (walked(SILENT), walked(SILENT, latencies=LatenciesB(post=25.0)), ["APP-4 fail you"]),
    ],
    "calls_out_of_order": [
        (trace(m.StartCalled()), trace(refused(m.StartCalled())), ["B-START-1 fail you"]),
        (trace(m.ServiceCalled(b"x")), trace(refused(m.ServiceCalled(b"x"))), ["B-INIT-1 fail you"]),
        (trace(m.CanAddCardCalled()), trace(refused(m.CanAddCardCalled())), ["B-CAN-1 fail you"]),
        (trace(DETAILS(YES)), trace(refused(DETAILS(YES))), ["B-CAN-2 fail you"]),
        (trace(refused(m.AddTapped())), trace(refused(m.WatchActivateCalled(1))), ["B-WATCH-1 fail you"]),
        (walked(B_EARLIER), walked(B_EARLIER, app={"calls": AppB().calls_in(B_LATER)}), ["B-WATCH-1 fail you"]),
    ],
}  # fmt: skip
ROWS = [(name, *row) for name, rows in PROOFS.items() for row in rows]


def test_each_finding_word_for_word(golden):
    traces = [broken for _name, _good, broken, _findings in ROWS]
    traces += [
        trace(kind(case, "why")) for kind in (m.ServiceRefused, m.StartThrew, m.FinishedWithError) for case in ERRORS
    ]
    traces += [trace((Kind.EXCHANGE, STILL(phone=True, watch=True, hidden_by_scheme=False)))]
    findings = [str(one) for broken in traces for one in check(broken)]
    golden("platform_b", "\n".join(dict.fromkeys(findings)))


def told(findings):
    return [f"{one.rule} {one.level} {one.owner}" for one in findings]


@pytest.mark.rule(
    "API-8", "B-INIT-1", "B-CAN-3", "B-WATCH-1", "B-WATCH-2", "B-START-1", "B-DEL-3", "B-FIN-1", "B-CAN-1", "B-CAN-2"
)
@rows(("name", "good", "broken", "findings"), ROWS)
def test_a_check_finds_what_is_broken_and_nothing_where_all_is_well(name, good, broken, findings):
    one = BY_NAME.get(name, symptoms)
    assert [finding for finding in one(good) if finding.level != "note"] == []
    assert told(one(broken)) == findings
    assert set(one(broken)) <= set(check(broken))


def test_every_check_is_proven_and_in_the_list():
    assert set(BY_NAME) == set(PROOFS) - {"symptoms", "text_for_bytes", "too_late", "calls_out_of_order"}
    assert {name for name, one in vars(platform_b).items() if inspect.isgeneratorfunction(one)} == set(BY_NAME)
    assert all(any(list(row(broken)) for _name, _good, broken, _findings in ROWS) for row in SYMPTOMS)


def test_every_case_that_is_told_apart_is_one_of_the_public_interface():
    assert set(CASE_ADVICE) <= set(ERRORS)


@pytest.mark.rule("REL-3")
@given(st.text(max_size=30).map(lambda text: f"CANARY-{text}"))
def test_no_finding_shows_opaque_data(canary):
    for held in (canary, canary.encode("utf-8", "surrogatepass"), [canary]):
        for message in (m.ServiceCalled(held), m.SdkInputReceived(held), m.ReturnSdkInput(held)):
            for kind in Kind:
                assert not any("CANARY" in str(one) for one in check(trace((kind, message))))
    for message in (m.SaveSdkInput(SdkInput(canary)), m.DelegateProvisionCalled(SdkOutput(canary))):
        assert not any("CANARY" in str(one) for one in check(trace(message)))
