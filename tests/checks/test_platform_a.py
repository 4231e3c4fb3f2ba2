"""Each check, proven twice: on a trace where all is well, and on one that is broken in exactly this way."""

import inspect
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from workbook.api.opaque import SdkInput, SdkOutput
from workbook.checks import Severity, Symptom, api, check, platform_a
from workbook.flows import messages as m
from workbook.flows.machine import Machine
from workbook.flows.platform_a import FINAL_A, State
from workbook.flows.trace import Kind, Record, Trace
from workbook.flows.variants import A_BEFORE_0_4_0, A_FROM_0_4_0, A_NOT_MIGRATED
from workbook.play.platform_a import PROVIDER_CALLS, AppA, CardAddress, PlatformARun
from workbook.simulation.phones import CAN_PROVISION_FAILURES, PHONES_A, PhoneA
from workbook.simulation.wallet import PROVISION_FAILURES
from workbook.simulation.world import INSTRUMENT_IDS
from workbook.tools.conform.app.cases import APP_CASES, SetPhone

ID = INSTRUMENT_IDS[0]
SYMPTOMS = [one for one in (*api.BACK_END_CHECKS, *platform_a.PLATFORM_A_CHECKS) if isinstance(one, Symptom)]
FUNCTIONS = [api.statuses, api.crossed_instruments, *platform_a.PLATFORM_A_CHECKS]
BY_NAME = {one.__name__: one for one in FUNCTIONS if one not in SYMPTOMS}
is_check = inspect.isgeneratorfunction


def trace(*steps):
    """A trace of (kind, message) pairs, a second apart; a bare message is an event."""
    made = Trace()
    for at, step in enumerate(steps):
        kind, message, *more = step if isinstance(step, tuple) else (Kind.EVENT, step)
        rules = tuple(more) or message.rules
        made.append(Record(float(at), kind, message, "here", "there", rules))
    return made


def walked(variant=A_FROM_0_4_0, taps=1, **more):
    bench = PlatformARun(variant, **more)
    bench.open()
    if bench.button == "shown":
        bench.tap(taps)
    return bench.trace


def deprecated(message):
    made = Trace()
    made.append(Record(0.0, Kind.EVENT, message, "tapped", "x", message.rules, 1, deprecated=True))
    return made


REQUESTED = (Kind.EXCHANGE, m.ApiRequested("GET", ID))
PROVISION = m.ProvisionCalled("opc", "A card", CardAddress())
WITH_PROVIDER = m.ProvisionWithProviderCalled("A card", CardAddress())
SHOWN, HIDDEN = (Kind.COMMAND, m.ShowButton()), (Kind.COMMAND, m.HideButton())
DISABLED = (Kind.COMMAND, m.DisableButton())
WAITING = (Kind.EXCHANGE, m.VerificationPending())
ASKED, REPORTED = (Kind.COMMAND, m.AskCanProvision()), (Kind.COMMAND, m.ReportToContact())


def answered(status):
    return trace((Kind.EXCHANGE, m.ApiAnswered(status)))


def failed(reason):
    return trace(m.ProvisionFailure(reason, "why"))


def symptoms(made):
    """What the checks of one row find."""
    return [finding for row in SYMPTOMS for finding in row(made)]


CASES = {
    # check, good trace, broken trace, the findings of the broken one: rule, level, owner
    "symptoms": [
        (trace(m.CreateSuccess()), trace(m.InvalidSdkInput("cut off")), ["A-CREATE-3 fail you"]),
        (trace(m.CreateSuccess()), trace(m.WalletPayNotSupported()), ["A-CREATE-2 warn you"]),
        *(
            (trace(m.CanBeProvisioned()), trace(one), [f"{one.rules[0]} warn you"])
            for one in (*CAN_PROVISION_FAILURES.values(), m.ApiError(7))
            if one != m.ApiError(15009)
        ),
        (trace(m.CanBeProvisioned()), trace(m.ApiError(15009)), ["A-CAN-5 warn operator"]),
        (trace(m.SdkOutputCreated(ID, "o")), trace(m.SdkOutputFailed("no wallet")), ["A-ASYNC-1 fail you"]),
        (answered(200), trace((Kind.EXCHANGE, m.ApiFailed("DeadlineError", "late"))), ["API-9 fail you"]),
        (trace((Kind.REFUSED, m.UnknownFailure())), trace(m.UnknownFailure()), ["A-CAN-4 warn you"]),
    ],
    "statuses": [
        (answered(200), answered(400), ["GAP-1 fail you"]),
        (answered(200), answered(401), ["GAP-1 fail you"]),
        (answered(200), answered(403), ["GAP-1 fail operator"]),
        (answered(200), answered(422), ["GAP-1 fail operator"]),
        (
            answered(200),
            trace((Kind.EXCHANGE, m.ApiRequested("POST", ID, "o")), (Kind.EXCHANGE, m.ApiAnswered(422))),
            ["GAP-1 fail you"],
        ),
        (answered(200), answered(500), ["GAP-1 fail operator"]),
        (answered(200), answered(302), ["GAP-1 fail you"]),
        (answered(200), answered(404), ["GAP-1 fail you"]),
        (answered(200), answered(201), ["GAP-1 fail operator"]),
    ],
    "failures": [
        (trace(m.ProvisionSuccess()), failed("Canceled"), ["A-PROV-3 note nobody"]),
        (trace(m.ProvisionSuccess()), failed("InvalidSdkInput"), ["A-PROV-3 fail you"]),
        (trace(m.ProvisionSuccess()), failed("OpcFetchError"), ["A-PROV-3 fail you"]),
        (trace(m.ProvisionSuccess()), failed("Timeout"), ["A-PROV-3 warn you"]),
        (trace((Kind.REFUSED, m.ProvisionFailure("Timeout"))), failed(""), ["A-PROV-3 warn you"]),
    ],
    "overlapping_taps": [
        (
            walked(),
            walked(replace(A_FROM_0_4_0, guarded=False), 2),
            ["A-BTN-1 fail you", "A-BTN-2 fail you", "A-BTN-2 fail you"],
        ),
        (
            walked(A_BEFORE_0_4_0, 3),
            walked(replace(A_BEFORE_0_4_0, guarded=False), 3),
            ["A-BTN-1 fail you", *["A-BTN-2 fail you"] * 3],
        ),
        (failed("InvalidSdkInput"), trace((Kind.EVENT, m.AddTapped(), "A-BTN-2")), ["A-BTN-1 fail you"]),
        (
            trace(m.AddTapped(), m.ProvisionFailure("InvalidSdkInput")),
            trace((Kind.EVENT, m.AddTapped(), "A-BTN-2"), m.ProvisionFailure("Timeout")),
            ["A-BTN-1 fail you"],
        ),
    ],
    "unguarded_button": [
        (walked(), walked(replace(A_FROM_0_4_0, guarded=False)), ["A-BTN-1 fail you"]),
        (walked(A_BEFORE_0_4_0), walked(replace(A_BEFORE_0_4_0, guarded=False)), ["A-BTN-1 fail you"]),
        (
            trace(m.AddTapped(), WITH_PROVIDER),
            trace(m.Opened(ID), m.AddTapped(), WITH_PROVIDER),
            ["A-BTN-1 fail you"],
        ),
    ],
    "refused_taps": [
        (walked(), walked(taps=3), ["A-BTN-1 note nobody"] * 2),
        (
            trace(m.AddTapped()),
            trace((Kind.COMMAND, m.EnableButton()), (Kind.REFUSED, m.AddTapped())),
            ["A-BTN-1 fail you"],
        ),
        (trace(), trace((Kind.REFUSED, m.AddTapped())), ["FLOW-4 note you"]),
        (trace(SHOWN), trace(SHOWN, (Kind.REFUSED, m.AddTapped())), ["A-BTN-1 fail you"]),
        (trace(SHOWN), trace(SHOWN, HIDDEN, (Kind.REFUSED, m.AddTapped())), ["A-BTN-1 note nobody"]),
        (trace(SHOWN), trace(SHOWN, DISABLED, (Kind.REFUSED, m.AddTapped())), ["A-BTN-1 note nobody"]),
    ],
    "calls_out_of_order": [
        (trace(PROVISION), trace((Kind.REFUSED, PROVISION)), ["A-PROV-1 fail you"]),
        (trace(WITH_PROVIDER), trace((Kind.REFUSED, WITH_PROVIDER)), ["A-PROV-2 fail you"]),
        (trace(m.CreateCalled("i")), trace((Kind.REFUSED, m.CreateCalled("i"))), ["A-CREATE-1 fail you"]),
        (trace(m.CanProvisionCalled()), trace((Kind.REFUSED, m.CanProvisionCalled())), ["A-CAN-1 fail you"]),
        (
            walked(),
            walked(app=AppA(calls=PROVIDER_CALLS | {State.CREATED: m.CreateSdkOutputCalled})),
            ["A-OUT-1 fail you"],
        ),
    ],
    "late_answers": [
        (trace(m.OpcReceived("o")), trace((Kind.REFUSED, m.OpcReceived("o"))), ["A-BTN-1 warn you"]),
        (trace((Kind.REFUSED, m.AddTapped())), trace((Kind.REFUSED, m.ProvisionSuccess())), ["A-BTN-1 warn you"]),
        (trace((Kind.REFUSED, m.Opened(ID))), trace((Kind.REFUSED, m.CreateSuccess())), ["A-BTN-1 warn you"]),
    ],
    "deprecated_calls": [
        (walked(A_BEFORE_0_4_0), walked(A_NOT_MIGRATED), ["A-OUT-1 warn you", "A-PROV-4 warn you"]),
        (trace(m.CreateSdkOutputCalled()), deprecated(m.CreateSdkOutputCalled()), ["A-OUT-1 warn you"]),
        (trace(PROVISION), deprecated(PROVISION), ["A-PROV-4 warn you"]),
    ],
    "configuration_issue": [
        (walked(), walked(phone=PhoneA(scheme_configured=False)), ["A-CAN-6 fail operator"]),
        (trace(ASKED, WAITING), walked(phone=PhoneA(verification_pending=True)), ["A-CAN-6 note nobody"]),
        (trace(ASKED), trace(ASKED, WAITING, ASKED, REPORTED), ["A-CAN-6 fail operator"]),
        (trace(WAITING), trace(ASKED, WAITING, (Kind.REFUSED, m.AddTapped()), REPORTED), ["A-CAN-6 note nobody"]),
    ],
    "crossed_instruments": [
        (trace(m.Opened(ID), REQUESTED), trace(m.Opened("PIOTHER"), REQUESTED), ["API-3 fail you"]),
        (trace(REQUESTED), trace(REQUESTED, m.Opened("PIOTHER")), ["API-3 fail you"]),
    ],
}
ROWS = [(name, *row) for name, rows in CASES.items() for row in rows]


def test_each_finding_word_for_word(golden):
    traces = [broken for _name, _good, broken, _findings in ROWS]
    traces += [failed(reason) for reason in PROVISION_FAILURES]
    findings = [str(one) for broken in traces for one in check(broken)]
    golden("platform_a", "\n".join(dict.fromkeys(findings)))


def told(findings):
    return [f"{one.rule} {one.level} {one.owner}" for one in findings]


@pytest.mark.rule("A-BTN-1", "A-BTN-2", "A-CAN-6", "A-CREATE-2", "A-CREATE-3", "A-OUT-1", "A-PROV-4", "A-MIG-1")
@rows(("name", "good", "broken", "findings"), ROWS)
def test_a_check_finds_what_is_broken_and_nothing_where_all_is_well(name, good, broken, findings):
    one = BY_NAME.get(name, symptoms)
    assert list(one(good)) == []
    assert told(one(broken)) == findings
    assert set(one(broken)) <= set(check(broken))


def test_every_check_is_proven_and_in_the_list():
    assert set(BY_NAME) == set(CASES) - {"symptoms", "calls_out_of_order"}
    defined = {name for name, one in vars(platform_a).items() if is_check(one)}
    assert {*defined, "statuses", "crossed_instruments"} == set(BY_NAME)
    own = [row for row in SYMPTOMS if row in platform_a.PLATFORM_A_CHECKS]
    assert all(any(list(row(broken)) for _name, _good, broken, _findings in ROWS) for row in own)


@pytest.mark.rule("A-CREATE-2")
def test_an_unsupported_wallet_payment_service_is_told_as_the_document_has_it():
    (found,) = check(walked(phone=PhoneA(wallet_pay_supported=False)))
    assert (found.rule, found.owner) == ("A-CREATE-2", "you")
    assert "the wallet payment service not supported" in found.text
    assert "This phone lacks the wallet payment service; or," in found.todo  # the document's own cause first
    assert "supportedWallets lack the wallet (inferred)" in found.todo


@pytest.mark.rule("A-BTN-2")
@pytest.mark.parametrize("variant", [A_BEFORE_0_4_0, A_FROM_0_4_0], ids=lambda one: one.name)
def test_after_quick_taps_every_word_of_advice_is_about_the_button(variant):
    found = check(walked(replace(variant, guarded=False), 3))
    assert {one.rule for one in found} == {"A-BTN-1", "A-BTN-2"}
    assert all("Disable the button from the tap" in one.todo for one in found)
    assert all("(assumed)" in one.text for one in found if one.rule == "A-BTN-2")


def test_findings_come_in_the_order_of_time_and_the_same_each_time():
    made = walked(replace(A_FROM_0_4_0, guarded=False), 4)
    found = check(made)
    assert [one.at for one in found] == sorted(one.at for one in found)
    assert check(made) == found


@pytest.mark.rule("A-BTN-2")
@pytest.mark.parametrize(("at", "rules"), [(2.0, ["A-BTN-1", "A-PROV-3"]), (2.1, ["A-BTN-1", "A-BTN-2"])])
def test_a_failure_is_put_down_to_quick_taps_or_reported_and_never_both_or_neither(at, rules):
    made = Trace()
    made.append(Record(2.0, Kind.EVENT, m.AddTapped(), "here", "there", ("A-BTN-2",)))
    made.append(Record(at, Kind.EVENT, m.ProvisionFailure("InvalidSdkInput"), "here", "there", ()))
    assert sorted(one.rule for one in check(made)) == rules


@pytest.mark.rule("A-BTN-1")
def test_a_tap_after_which_the_app_called_nothing_does_not_tell_whether_the_button_is_guarded():
    assert [*platform_a.unguarded_button(trace(m.Opened(ID), m.AddTapped()))] == []


@pytest.mark.rule("REL-3")
@given(st.text(max_size=30).map(lambda text: f"CANARY-{text}"))  # no word that a finding itself could hold
def test_no_finding_shows_opaque_data(canary):
    for message in (
        m.CreateCalled(SdkInput(canary)),
        m.FetchOpcCalled(ID, SdkOutput(canary)),
        m.OpcReceived(SdkInput(canary)),
    ):
        for kind in Kind:
            assert not any(canary in str(one) for one in check(trace((kind, message))))


@pytest.mark.rule("A-BTN-1")
@pytest.mark.parametrize("phone", [PhoneA(provision_failure="Canceled"), PhoneA(scheme_configured=False)])
def test_a_button_that_is_left_alone_in_the_second_attempt_only_is_found(phone):
    careless = PlatformARun(phone=phone)
    rows = [
        row.without(m.DisableButton) if row.event is m.AddTapped and row.state is not State.READY else row
        for row in careless.machine.rows
    ]
    good, careless.machine = (
        PlatformARun(phone=replace(phone, cards=set())),
        Machine("careless", rows, initial=State.IDLE, final=FINAL_A),
    )
    for run in (good, careless):
        run.walk()
        run.tap()
    assert [f.rule for f in platform_a.unguarded_button(good.trace)] == []
    (finding,) = platform_a.unguarded_button(careless.trace)
    assert (finding.rule, finding.level) == ("A-BTN-1", Severity.FAIL)
    assert finding.at == careless.trace.select(m.AddTapped, kind=Kind.EVENT)[1].at


def test_a_failure_with_advice_of_its_own_is_played_by_a_phone_and_in_front_of_an_app():
    """But for those that a phone does not choose: a wrong OPC or none brings them about."""
    advised = {name: next(platform_a.failures(failed(name))).todo for name in PROVISION_FAILURES}
    usual, _number = Counter(advised.values()).most_common(1)[0]
    own = {name for name, todo in advised.items() if todo != usual} - {"InvalidSdkInput", "OpcFetchError"}
    assert own
    assert own <= {phone("PI1").provision_failure for phone in PHONES_A.values()}
    set_up = [step.facts for case in APP_CASES.values() for step in case.steps if isinstance(step, SetPhone)]
    assert own <= {facts.get("provision_failure") for facts in set_up}


CAUSES = {
    "it is data of kind 'opc'": "it is data of kind 'opc'",
    "it was changed (quoted). Parse the JSON": "it was changed (quoted)",
}


@pytest.mark.rule("A-CREATE-3", "A-PROV-3", "B-INIT-1", "X-INIT-1")
@pytest.mark.parametrize("why", CAUSES)
@pytest.mark.parametrize(
    "refused",
    [
        m.InvalidSdkInput,
        lambda why: m.ProvisionFailure("InvalidSdkInput", why),
        lambda why: m.ServiceRefused("invalidSDKInput", why),
        lambda why: m.ServiceNotMade("invalidSDKInput", why),
    ],
)
def test_a_value_that_was_refused_is_advised_on_by_its_cause_and_usually_where_that_says_nothing(refused, why):
    (finding,) = [each for each in check(trace(refused(why))) if each.level == "fail"]
    assert f"{CAUSES[why]}." in finding.text
    assert "Parse" not in finding.text
    assert (finding.todo == "Parse the JSON.") is ("Parse" in why)
