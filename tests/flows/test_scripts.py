"""Every outcome that the document names, as a whole script: one row is one flow, from the first event to the button.

A script lists each record's message in order; `!` stands before what was refused. A row is: who plays, what
happened, the final state, and the button. Whatever is written in small letters below is a part of a script.
"""

from dataclasses import replace

import pytest
from rows import rows

from workbook.errors import ApiStatusError, DeadlineError, RedactedRequest, SdkInputError
from workbook.flows import messages as m
from workbook.flows.platform_a import State
from workbook.flows.trace import Kind
from workbook.flows.variants import A_BEFORE_0_4_0, A_FROM_0_4_0, A_NOT_MIGRATED
from workbook.play.back_end import BackEnd, simulated_back_end
from workbook.play.platform_a import AppA, PlatformARun
from workbook.simulation.phones import PhoneA
from workbook.simulation.seal import Content, Seal
from workbook.simulation.service import DirectApi
from workbook.simulation.wallet import NOT_ALLOWLISTED, PROVISION_FAILURES
from workbook.simulation.world import INSTRUMENT_IDS, SIMULATED_KEY, Credential, Instrument, World

ID = INSTRUMENT_IDS[0]
REQUEST = RedactedRequest("GET", "https://simulated.invalid/x", 0)


class FakeApi:
    """Answers as the simulated service does, but raises `error` on the method of this name."""

    def __init__(self, method, error):
        self._api, self._method, self._error = DirectApi(), method, error

    def _or_raise(self, method, call, *arguments):
        if method == self._method:
            raise self._error
        return call(*arguments)

    def get(self, payment_instrument_id):
        return self._or_raise("get", self._api.get, payment_instrument_id)

    def post(self, payment_instrument_id, sdk_output):
        return self._or_raise("post", self._api.post, payment_instrument_id, sdk_output)


def status(method, code):
    words = b'{"errorCode":"00_%d"}' % code
    error = ApiStatusError("no", request=REQUEST, elapsed=0.0, attempts=1, status=code, body=words)
    return lambda: BackEnd(FakeApi(method, error))


def failing(method, kind, **more):
    return lambda: BackEnd(FakeApi(method, kind("no", request=REQUEST, elapsed=0.0, attempts=1, **more)))


def world(**changes):
    return lambda: simulated_back_end(replace(World(), **changes))


def script(trace):
    return " ".join(f"{'!' if record.kind is Kind.REFUSED else ''}{record.name}" for record in trace)


def play(variant, phone=None, back_end=None, app=None):
    """Open the card and tap once, if there is a button to tap."""
    bench = PlatformARun(variant, phone=phone and phone(), back_end=back_end and back_end(), app=app)
    return bench, script(bench.walk())


asked = "Opened GetActivationData ApiRequested "
fetched = asked + "ApiAnswered ActivationDataReceived HandToApp CreateCalled CreateProvisioning "
created = fetched + "CreateSuccess HandToApp CanProvisionCalled AskCanProvision "
shown = created + "CanBeProvisioned ShowButton "
tapped = shown + "AddTapped DisableButton HandToApp "
two_step = tapped + "CreateSdkOutputCalled CreateSdkOutput SdkOutputCreated PostSdkOutput ApiRequested "
provider = tapped + "ProvisionWithProviderCalled ProvisionWithProvider FetchOpcCalled FetchOpc "
relayed = "ApiRequested ApiAnswered OpcReceived "
in_two_steps = two_step + "ApiAnswered OpcReceived HandToApp ProvisionCalled Provision "
orchestrated = provider + relayed + "ReturnOpc "
confirming = "WalletAsked ProvisionSuccess HandToApp CanProvisionCalled AskCanProvision "
again = "EnableButton"

no_answer = asked + "ApiAnswered ActivationDataFailed HideButton"
not_usable = asked + "ApiFailed ActivationDataFailed HideButton"

UNTIL_THE_TAP = {
    "GET: 401": ({"back_end": world(credentials={})}, no_answer, "unavailable"),
    "GET: 403": ({"back_end": world(credentials={SIMULATED_KEY: Credential(frozenset())})}, no_answer, "unavailable"),
    "GET: 422, unknown": ({"back_end": world(instruments={})}, no_answer, "unavailable"),
    "GET: 422, inactive": (
        {"back_end": world(instruments={ID: Instrument(ID, status="suspended")})}, no_answer, "unavailable",
    ),
    "GET: 500": ({"back_end": status("get", 500)}, no_answer, "unavailable"),
    "GET: no sdkInput": ({"back_end": failing("get", SdkInputError)}, not_usable, "unavailable"),
    "GET: deadline": ({"back_end": failing("get", DeadlineError, sent=True)}, not_usable, "unavailable"),
    "create: WalletPayNotSupported": (
        {"phone": lambda: PhoneA(wallet_pay_supported=False)}, fetched + "WalletPayNotSupported HideButton",
        "unavailable",
    ),
    "create: WalletPayNotSupported by the instrument": (
        {"back_end": world(instruments={ID: Instrument(ID, supported_wallets=("wallet-b",))})},
        fetched + "WalletPayNotSupported HideButton", "unavailable",
    ),
    "create: InvalidSdkInput": ({"back_end": world(seed=8)}, fetched + "InvalidSdkInput HideButton", "unavailable"),
    "canProvision: AlreadyExistsInWallet": (
        {"phone": lambda: PhoneA(cards={ID})}, created + "AlreadyExistsInWallet HideButton", "in the wallet",
    ),
    "canProvision: Error": (
        {"phone": lambda: PhoneA(can_provision=m.CanProvisionError("IOException"))},
        created + "CanProvisionError HideButton", "not offered",
    ),
    "canProvision: UnknownFailure": (
        {"phone": lambda: PhoneA(can_provision=m.UnknownFailure())}, created + "UnknownFailure HideButton",
        "not offered",
    ),
}  # fmt: skip
"""The same in each variant; each hides the button."""

ON_TAP = {
    "added": ({}, confirming + "AlreadyExistsInWallet HideButton", "in the wallet", "hidden"),
    "added, yet CanBeProvisioned": (
        {"phone": lambda: PhoneA(scheme_configured=False)},
        confirming + "CanBeProvisioned ShowButton ReportToContact",
        "added, yet still offered",
        "shown",
    ),
    "added, identity check pending": (
        {"phone": lambda: PhoneA(verification_pending=True)},
        confirming + "VerificationPending CanBeProvisioned ShowButton ReportToContact",
        "added, yet still offered",
        "shown",
    ),
    "cancelled": (
        {"phone": lambda: PhoneA(provision_failure="Canceled")},
        "WalletAsked ProvisionFailure EnableButton",
        "failed",
        "shown",
    ),
    "timed out": (
        {"phone": lambda: PhoneA(provision_failure="Timeout")},
        "WalletAsked ProvisionFailure EnableButton",
        "failed",
        "shown",
    ),
}
"""After the OPC data came; the same in each variant."""

AT_THE_POST = {
    "POST: 422": ({"back_end": status("post", 422)}, "ApiAnswered OpcFailed "),
    "POST: 500": ({"back_end": status("post", 500)}, "ApiAnswered OpcFailed "),
    "POST: no sdkInput": ({"back_end": failing("post", SdkInputError)}, "ApiFailed OpcFailed "),
    "POST: deadline": ({"back_end": failing("post", DeadlineError, sent=True)}, "ApiFailed OpcFailed "),
}
"""Where no OPC data comes: before 0.4.0 the app learns it, from 0.4.0 the SDK does."""

PRESETS = {"before": A_BEFORE_0_4_0, "from": A_FROM_0_4_0, "not migrated": A_NOT_MIGRATED}


@pytest.fixture(params=PRESETS)
def variant(request):
    return PRESETS[request.param]


@pytest.mark.rule("API-10", "A-CREATE-1", "A-CREATE-2", "A-CREATE-3", "A-CAN-1", "A-CAN-2", "A-CAN-3", "A-CAN-4")
@rows("name", UNTIL_THE_TAP)
def test_what_keeps_the_button_away(variant, name):
    stage, told, state = UNTIL_THE_TAP[name]
    bench, played = play(variant, **stage)
    assert (played, bench.state, bench.button) == (told, state, "hidden")
    assert bench.state.value == state


@pytest.mark.rule("A-PROV-1", "A-PROV-2", "A-PROV-3", "A-CAN-6", "A-BTN-1", "FLOW-1", "FLOW-2")
@rows("name", ON_TAP)
def test_how_a_tap_ends(variant, name):
    stage, told, state, button = ON_TAP[name]
    bench, played = play(variant, **stage)
    before = in_two_steps if variant.two_step else orchestrated
    assert (played, bench.state, bench.button) == (before + told, state, button)


@pytest.mark.rule("API-11", "A-BTN-1", "REL-6")
@rows("name", AT_THE_POST)
def test_no_opc_data_from_the_back_end(variant, name):
    stage, told = AT_THE_POST[name]
    bench, played = play(variant, **stage)
    by_the_sdk = f"{provider}ApiRequested {told}ReturnNoOpc ProvisionFailure {again}"
    expected = two_step + told + again if variant.two_step else by_the_sdk
    assert (played, bench.state, bench.button) == (expected, "failed", "shown")


@pytest.mark.rule("A-CAN-5", "A-ALLOW-1")
@rows("device", [PhoneA(allowlisted=False), PhoneA(can_provision=m.ApiError(NOT_ALLOWLISTED))])
@rows(("sdk", "outcome"), [(A_FROM_0_4_0, "ApiError"), (A_BEFORE_0_4_0, "UnknownFailure")])
def test_an_app_that_is_not_allowlisted_is_told_so_in_the_later_variant_only(variant, device, sdk, outcome):
    bench, played = play(replace(variant, facts=sdk.facts), phone=lambda: replace(device, cards=set()))
    assert (played, bench.state, bench.button) == (f"{created}{outcome} HideButton", "not offered", "hidden")


@pytest.mark.rule("A-PROV-3")
@rows("reason", PROVISION_FAILURES)
def test_every_failure_of_the_wallet_gives_the_button_back(variant, reason):
    bench, _ = play(variant, phone=lambda: PhoneA(provision_failure=reason))
    assert (bench.state, bench.button) == (State.FAILED, "shown")
    told = "Other" if reason in variant.facts.lacks_failures else reason
    assert [one.message.reason for one in bench.trace.select(m.ProvisionFailure)] == [told]


CONFIRMED = {
    "CanProvisionError": m.CanProvisionError("IOException"),
    "UnknownFailure": m.UnknownFailure(),
    "ApiError": m.ApiError(7),
}


@pytest.mark.rule("A-CAN-3", "A-CAN-4", "A-CAN-5")
@pytest.mark.parametrize("name", CONFIRMED)
def test_asking_once_more_that_ends_in_an_error_does_not_take_the_card_back(name):
    bench = PlatformARun(A_FROM_0_4_0)
    bench.open()
    bench.phone.can_provision = CONFIRMED[name]
    played = script(bench.tap())
    assert played == f"{orchestrated}{confirming}{name} HideButton"
    assert (bench.state, bench.button) == (State.IN_WALLET, "hidden")


FETCH_OPC = {
    "raising": (lambda _id, _output: 1 // 0, "fetchOpc raised ZeroDivisionError"),
    "returning None": (lambda _id, _output: None, "fetchOpc returned no OPC data (not-text)"),
    "returning bytes": (lambda _id, _output: b"opc", "fetchOpc returned no OPC data (not-text)"),
    "returning nothing": (lambda _id, _output: "", "fetchOpc returned no OPC data (empty)"),
}


@pytest.mark.rule("A-OPC-1", "A-ASYNC-1")
@pytest.mark.parametrize("name", FETCH_OPC)
def test_an_opc_provider_that_gives_nothing_ends_the_attempt_and_never_the_app(name):
    fetch_opc, reason = FETCH_OPC[name]
    bench, played = play(A_FROM_0_4_0, app=AppA(fetch_opc=fetch_opc))
    told = "CodeFailed " if name == "raising" else ""
    assert played == f"{provider}{told}ProviderFailed ReturnNoOpc ProvisionFailure EnableButton"
    assert bench.trace[-2].message == m.ProvisionFailure("OpcFetchError", reason)


WRONG_OPC = {
    "junk": "not base64!",
    "not made by the simulator": "eyJvcGMiOiJyZWFsIn0=",
    "the GET's sdkInput": DirectApi().get(ID).sdk_input.text,
    "for another instrument": Seal(World().seed).close(Content.OPC, INSTRUMENT_IDS[1], 1, attempt=1),
    "for another attempt": Seal(World().seed).close(Content.OPC, ID, 1, attempt=2),
    "by another simulator": Seal(8).close(Content.OPC, ID, 1, attempt=1),
}


@pytest.mark.rule("A-OPC-1", "A-PROV-3")
@pytest.mark.parametrize("name", WRONG_OPC)
def test_wrong_opc_data_never_reaches_the_wallet(name):
    bench, played = play(A_FROM_0_4_0, app=AppA(fetch_opc=lambda _id, _output: WRONG_OPC[name]))
    assert played == f"{provider}OpcReceived ReturnOpc ProvisionFailure EnableButton"
    assert bench.trace.select(m.ProvisionFailure)[0].message.reason == "InvalidSdkInput"
    assert bench.phone.cards == set()


@pytest.mark.rule("REL-7", "A-BTN-1")
def test_after_a_failure_the_cardholder_may_tap_again(variant):
    bench = PlatformARun(variant, phone=PhoneA(provision_failure="Timeout"))
    bench.walk()
    bench.phone.provision_failure = None
    bench.tap()
    assert (bench.state, bench.button, bench.phone.cards) == (State.IN_WALLET, "hidden", {ID})
    assert [record.attempt for record in bench.trace.select(m.AddTapped)] == [1, 2]


@pytest.mark.rule("REL-7")
@rows("name", UNTIL_THE_TAP)
def test_opening_the_card_again_fetches_again(name):
    stage, _, _ = UNTIL_THE_TAP[name]
    bench, played = play(A_FROM_0_4_0, **stage)
    assert script(bench.open()) == f"{played} {played}"
