"""Platform B in the app, as whole scripts: one row is one flow, from the first event to what the screen says.

A script lists each record's message in order; `!` stands before what was refused. A row is: who plays, what
happened, the final state, the button, and the words on the screen. Small letters below are parts of a script.
"""

from dataclasses import replace

import pytest
from rows import rows

from workbook.api.opaque import SdkInput
from workbook.api.protocol import ActivationData
from workbook.errors import ApiStatusError, DeadlineError, RedactedRequest, SdkInputError
from workbook.flows import messages as m
from workbook.flows.platform_b import State
from workbook.flows.trace import Kind
from workbook.flows.variants import B_EARLIER, B_LATER, VARIANTS_B
from workbook.play.back_end import BackEnd, simulated_back_end
from workbook.play.platform_b import APPS_B, AppB, PlatformBRun
from workbook.simulation.phones import TARGETS, LatenciesB, PhoneB
from workbook.simulation.service import DirectApi
from workbook.simulation.wallet import ERRORS, NOTHING, THROWN_BY_START, Watch
from workbook.simulation.world import INSTRUMENT_IDS, Instrument, World

ID = INSTRUMENT_IDS[0]
REQUEST = RedactedRequest("GET", "https://simulated.invalid/x", 0)


class FakeApi:
    """Answers as the simulated service does, but does `instead` for the method of this name."""

    def __init__(self, method, instead):
        self._api, self._method, self._instead = DirectApi(), method, instead

    def get(self, payment_instrument_id):
        return self._instead() if self._method == "get" else self._api.get(payment_instrument_id)

    def post(self, payment_instrument_id, sdk_output):
        return self._instead() if self._method == "post" else self._api.post(payment_instrument_id, sdk_output)


def failing(method, kind, **more):
    def instead():
        raise kind("no", request=REQUEST, elapsed=0.0, attempts=1, **more)

    return lambda: BackEnd(FakeApi(method, instead))


def answering(method, text):
    return lambda: BackEnd(FakeApi(method, lambda: ActivationData(SdkInput(text))))


def world(**changes):
    return lambda: simulated_back_end(replace(World(), **changes))


def script(trace):
    return " ".join(f"{'!' if record.kind is Kind.REFUSED else ''}{record.name}" for record in trace)


def play(variant, phone=None, back_end=None, app=None):
    """Open the card and tap once, if there is a button to tap."""
    app = app and replace(AppB(), **app)
    bench = PlatformBRun(variant, phone=phone and phone(), back_end=back_end and back_end(), app=app)
    return bench, script(bench.walk())


asked = "Opened GetActivationData ApiRequested "
unanswered = "ActivationDataFailed HideButton"
received = asked + "ApiAnswered ActivationDataReceived SaveSdkInput HandToApp ServiceCalled CreateService "
created = received + "ServiceReady HandToApp "
check_earlier = "CanAddCardCalled AskCanAddCard "
check_later = "CanAddCardDetailsCalled AskCanAddCardDetails "
watch = "WatchActivateCalled ActivateWatch WatchActivated HandToApp "
shown = "CanAddCard ShowButton "
there = "CannotAddCard HideButton ShowAvailable"
tapped = "AddTapped DisableButton HandToApp StartCalled Start "
asked_earlier = "DelegateProvisionCalled AskDelegate StartProvisionBudget "
asked_later = "DelegateProvisionWithIdCalled AskDelegateWithId StartProvisionBudget "
requested = "ApiRequested "
relayed = "ApiRequested ApiAnswered SdkInputReceived StopBudget ReturnSdkInput "
added = "WalletKitAsked FinishedWithPass ShowAdded HandToApp "
gone = "CannotAddCard HideButton"
failed = "EnableButton TellFailure"
nil = "NoSdkInput StopBudget ReturnNil FinishedWithError " + failed

PARTS = {
    "earlier": {"check": check_earlier, "looked": created + check_earlier, "posting": asked_earlier},
    "later": {"check": check_later, "looked": created + watch + check_later, "posting": asked_later},
}
"""What differs between the variants: how the app asks, and how the SDK asks the delegate."""


@pytest.fixture(params=VARIANTS_B)
def variant(request):
    return VARIANTS_B[request.param]


UNTIL_THE_SERVICE = {
    "GET: 401": ({"back_end": world(credentials={})}, asked + "ApiAnswered " + unanswered),
    "GET: 422": ({"back_end": world(instruments={})}, asked + "ApiAnswered " + unanswered),
    "GET: 500": (
        {"back_end": failing("get", ApiStatusError, status=500, body=b"{}")},
        asked + "ApiAnswered " + unanswered,
    ),
    "GET: no sdkInput": ({"back_end": failing("get", SdkInputError)}, asked + "ApiFailed " + unanswered),
    "GET: deadline": ({"back_end": failing("get", DeadlineError, sent=True)}, asked + "ApiFailed " + unanswered),
    "service: text for bytes": ({"app": {"decodes": False}}, received + "ServiceRefused HideButton"),
    "service: another wallet": ({"phone": lambda: PhoneB(wallet="wallet-c")}, received + "ServiceRefused HideButton"),
    "service: not for this wallet": (
        {"back_end": world(instruments={ID: Instrument(ID, supported_wallets=("wallet-a",))})},
        received + "ServiceRefused HideButton",
    ),
    "service: another simulator's data": ({"back_end": world(seed=8)}, received + "ServiceRefused HideButton"),
    "service: not base64": (
        {"back_end": answering("get", "not base64!")},
        received.replace("HandToApp ", "HandToApp Noted ") + "ServiceRefused HideButton",
    ),
}
"""The same in each variant; each ends unavailable and hides the button."""


@pytest.mark.rule("API-10", "B-INIT-1", "API-8", "REL-6", "APP-9")
@rows("name", UNTIL_THE_SERVICE)
def test_what_keeps_the_service_away(variant, name):
    stage, told = UNTIL_THE_SERVICE[name]
    bench, played = play(variant, **stage)
    label = "The card cannot be added now. Try again later." if name.startswith("GET") else ""
    assert (played, bench.state, bench.button, bench.label) == (told, "unavailable", "hidden", label)
    assert script(bench.open()) == f"{played} {played}"


PLACES = {
    # phone, what the app hears at first, state, button, words, where the card is
    "nowhere": (PhoneB, "shown", "in the wallet", "hidden", "Added to Wallet", (True, None)),
    "on the phone": (
        lambda: PhoneB(cards={ID}),
        "there", "in the wallet", "hidden", "Available in Wallet", (True, None),
    ),
    "on both": (
        lambda: PhoneB(watch=Watch({ID}), cards={ID}),
        "there", "in the wallet", "hidden", "Available in Wallet", (True, True),
    ),
    "added to the phone, the watch lacks it": (
        lambda: PhoneB(watch=Watch()),
        "shown", "added, yet still offered", "shown", "Added to Wallet", (True, False),
    ),
    "added to the watch, the phone lacks it": (
        lambda: PhoneB(watch=Watch(), adds_to="watch"),
        "shown", "added, yet still offered", "shown", "Added to Wallet", (False, True),
    ),
    "added to both": (
        lambda: PhoneB(watch=Watch(), adds_to="both"),
        "shown", "in the wallet", "hidden", "Added to Wallet", (True, True),
    ),
    "only the watch lacked it": (
        lambda: PhoneB(watch=Watch(), cards={ID}),
        "missing", "in the wallet", "hidden", "Added to Wallet", (True, True),
    ),
    "only the phone lacked it": (
        lambda: PhoneB(watch=Watch({ID}), adds_to="watch"),
        "missing", "in the wallet", "hidden", "Added to Wallet", (True, True),
    ),
    "wanted on a watch that is not there": (
        lambda: PhoneB(adds_to="watch"),
        "shown", "in the wallet", "hidden", "Added to Wallet", (True, None),
    ),
    "hidden by the scheme": (
        lambda: PhoneB(associated=False),
        "shown", "added, yet still offered", "shown", "Added to Wallet", (True, None),
    ),
    "there and hidden by the scheme": (
        lambda: PhoneB(associated=False, cards={ID}),
        "missing", "added, yet still offered", "shown", "Added to Wallet", (True, None),
    ),
}  # fmt: skip


@pytest.mark.rule("FLOW-3", "B-CAN-1", "B-CAN-2", "B-CAN-3", "B-START-1", "B-DEL-1", "B-DEL-2", "B-FIN-1", "B-FIN-2")
@rows("name", PLACES)
def test_how_a_card_gets_to_phone_and_watch(variant, name):
    phone, first, state, button, words, places = PLACES[name]
    bench, played = play(variant, phone)
    part = PARTS[variant.name]
    answer = {"shown": shown, "missing": "StillMissing " + shown, "there": there}[first]
    rest = tapped + part["posting"] + relayed + added + part["check"] if first != "there" else ""
    last = {"": "", "shown": "StillMissing CanAddCard ShowButton", "hidden": gone}[button if rest else ""]
    assert (played, bench.state, bench.button, bench.label) == (
        part["looked"] + answer + rest + last,
        state,
        button,
        words,
    )
    assert (ID in bench.phone.cards, bench.phone.watch and ID in bench.phone.watch.cards) == places


ENDS = {
    **dict.fromkeys(ERRORS, "wallet"),
    **dict.fromkeys(THROWN_BY_START, "start"),
    "userCancelled": "cancel",
    "unableToConstructSDKOutput": "sheet",
    NOTHING: "neither",
}
SCRIPTS = {
    "wallet": lambda posting: posting + relayed + "WalletKitAsked FinishedWithError ",
    "start": lambda posting: "StartThrew ",
    "sheet": lambda posting: "FinishedWithError ",
    "cancel": lambda posting: "FinishedCancelled ",
    "neither": lambda posting: posting + relayed + "WalletKitAsked FinishedWithNeither ",
}


@pytest.mark.rule("B-START-1", "B-FIN-1")
@rows("case", ENDS)
def test_every_error_gives_the_button_back_and_adds_nothing_and_all_but_a_cancellation_are_told(variant, case):
    bench, played = play(variant, lambda: PhoneB(ends_with=case))
    part, cancelled = PARTS[variant.name], case == "userCancelled"
    end, label = (failed.removesuffix(" TellFailure"), "") if cancelled else (failed, "not added")
    told = part["looked"] + shown + tapped + SCRIPTS[ENDS[case]](part["posting"]) + end
    assert (played, bench.state, bench.button, bench.label) == (told, "failed", "shown", label)
    assert bench.phone.cards == set()
    said = [getattr(record.message, "case", NOTHING) for record in bench.trace if record.after == "failed"]
    assert said[0] == case


@pytest.mark.rule("B-START-1")
@pytest.mark.parametrize("entitled", [(), TARGETS[1:]])
def test_start_throws_without_the_app_s_entitlement_whatever_else_is_set(variant, entitled):
    bench, played = play(variant, lambda: PhoneB(entitled=entitled, ends_with="walletKitError"))
    assert played == PARTS[variant.name]["looked"] + shown + tapped + "StartThrew " + failed
    assert bench.trace.select(m.StartThrew)[0].message.case == "presentationFailure"


AT_THE_POST = {
    "POST: 422": (failing("post", ApiStatusError, status=422, body=b"{}"), "ApiAnswered "),
    "POST: no sdkInput": (failing("post", SdkInputError), "ApiFailed "),
    "POST: deadline": (failing("post", DeadlineError, sent=True), "ApiFailed "),
    "POST: not base64": (answering("post", "not base64!"), "ApiAnswered "),
}


@pytest.mark.rule("B-DEL-3", "API-11", "REL-6")
@rows("name", AT_THE_POST)
def test_the_delegate_returns_nil_when_no_sdk_input_can_be_produced(variant, name):
    back_end, answer = AT_THE_POST[name]
    bench, played = play(variant, back_end=back_end)
    part = PARTS[variant.name]
    assert played == part["looked"] + shown + tapped + part["posting"] + requested + answer + (
        nil.replace("NoSdkInput", "DelegateFailed") if "base64" in name else nil  # the back end had one
    )
    assert (bench.state, bench.button, bench.label, bench.phone.cards) == ("failed", "shown", "not added", set())


WRONG = {"the GET's": lambda: DirectApi().get(ID).sdk_input.text, "not the API's": lambda: "eyJvcGMiOiJyZWFsIn0="}


@pytest.mark.rule("B-DEL-3", "API-11")
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_answer_never_reaches_the_wallet(variant, name):
    bench, played = play(variant, back_end=answering("post", WRONG[name]()))
    part = PARTS[variant.name]
    assert played == part["looked"] + shown + tapped + part["posting"] + relayed + "FinishedWithError " + failed
    assert bench.trace.select(m.FinishedWithError)[0].message.case == "invalidSDKInput"


late = requested + "DelegateTimeSpent GiveUp FinishedWithError " + failed + " ApiAnswered IgnoreLateSdkInput"


@pytest.mark.rule("B-DEL-3")
@pytest.mark.parametrize(
    ("seconds", "told", "state"),
    [(19.999, relayed, "in the wallet"), (20.0, relayed, "in the wallet"), (20.001, late, "failed")],
)
def test_twenty_seconds_are_in_time_and_a_millisecond_more_is_too_late(variant, seconds, told, state):
    bench, played = play(variant, lambda: PhoneB(latencies=LatenciesB(post=seconds)))
    part = PARTS[variant.name]
    end = added + part["check"] + gone if state == "in the wallet" else ""
    assert (played, bench.state) == (part["looked"] + shown + tapped + part["posting"] + told + end, state)
    assert bench.phone.cards == ({ID} if end else set())


@pytest.mark.rule("B-DEL-3")
def test_a_late_failure_is_ignored_as_a_late_answer_is(variant):
    bench = PlatformBRun(
        variant, phone=PhoneB(latencies=LatenciesB(post=25.0)), back_end=failing("post", SdkInputError)()
    )
    assert script(bench.walk()).endswith("FinishedWithError EnableButton TellFailure ApiFailed IgnoreLateSdkInput")


@pytest.mark.rule("B-WATCH-1", "B-CAN-2")
def test_an_app_that_never_looks_for_a_watch_asks_at_once_and_hides_the_button_from_it():
    bench, played = play(B_LATER, lambda: PhoneB(watch=Watch(), cards={ID}), app=APPS_B["never looks for a watch"])
    assert (played, bench.state) == (created + check_later + there, "in the wallet")


MIXED = {
    "later's calls, earlier's SDK": (B_EARLIER, B_LATER, "!WatchActivateCalled"),
    "earlier's calls, later's SDK": (B_LATER, B_EARLIER, "!CanAddCardCalled"),
}


@pytest.mark.rule("B-CAN-1", "B-CAN-2", "B-WATCH-1")
@pytest.mark.parametrize("name", MIXED)
def test_an_app_of_the_other_variant_gets_nowhere(name):
    sdk, app, refused = MIXED[name]
    bench, played = play(sdk, app={"calls": AppB().calls_in(app)})
    assert (played, bench.state, bench.button) == (created + refused, "has the service", "absent")


@pytest.mark.rule("REL-7", "B-START-1")
@rows("case", ENDS)
def test_after_a_failure_the_cardholder_may_tap_again(variant, case):
    bench, played = play(variant, lambda: PhoneB(ends_with=case))
    bench.phone.ends_with = None
    part = PARTS[variant.name]
    assert script(bench.tap()) == f"{played} {tapped}{part['posting']}{relayed}{added}{part['check']}{gone}"
    assert (bench.state, bench.label, bench.phone.cards) == (State.IN_WALLET, "Added to Wallet", {ID})
    assert [record.attempt for record in bench.trace.select(m.AddTapped)] == [1, 2]


@pytest.mark.rule("REL-7", "API-10")
def test_after_a_failure_the_page_may_be_opened_again_and_says_nothing_of_the_last_attempt(variant):
    bench, played = play(variant, lambda: PhoneB(ends_with="walletKitError"))
    part = PARTS[variant.name]
    assert script(bench.open()) == f"{played} {part['looked']}{shown}".strip()
    assert (bench.button, bench.label) == ("shown", "")


@pytest.mark.rule("B-FIN-2")
def test_either_label_may_follow_did_finish_provisioning(variant):
    run, played = play(replace(variant, says_available=True))
    assert "FinishedWithPass ShowAvailable" in played
    (shown,) = run.trace.select(m.ShowAvailable)
    assert (run.label, shown.source) == ("Available in Wallet", "assumed")


@pytest.mark.rule("B-CAN-3")
def test_a_second_attempt_brings_the_card_to_the_place_that_was_left(variant):
    bench, _ = play(variant, lambda: PhoneB(watch=Watch()))
    bench.tap()
    assert (bench.state, bench.button, bench.phone.watch.cards) == (State.IN_WALLET, "hidden", {ID})
    assert [record.message.where for record in bench.trace.select(m.FinishedWithPass)] == ["phone", "watch"]
