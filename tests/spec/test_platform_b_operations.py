"""Platform B SDK operations (in-app flow): each statement of the table, on an app that keeps it and one that breaks it.

Where the document gives the SDK's side, the broken one is a call that the SDK refuses; where it gives the app's, an
app that makes the mistake, and the finding that names the rule.
"""

from dataclasses import fields, replace

import pytest

from workbook.api.opaque import SdkOutput
from workbook.checks import check
from workbook.errors import OutOfOrderError, ParameterError, SdkError
from workbook.flows import messages as m
from workbook.flows.platform_b import State
from workbook.flows.variants import B_EARLIER, B_LATER
from workbook.play.platform_b import APPS_B, AppB, PlatformBRun, ProvisioningService, WatchAvailability
from workbook.simulation.phones import LatenciesB, PhoneB, Watch
from workbook.simulation.service import DirectApi
from workbook.simulation.world import INSTRUMENT_IDS

ID = INSTRUMENT_IDS[0]
BOTH = pytest.mark.parametrize("variant", [B_EARLIER, B_LATER], ids=lambda one: one.name)
PAGE = "the card's page"

OPERATIONS = {
    # the document's name with its parameters: the event, its fields, who calls
    "ProvisioningService(sdkInput)": (m.ServiceCalled, ["sdk_input"], "app"),
    "canAddCard()": (m.CanAddCardCalled, [], "app"),
    "canAddCardDetails(isWatchActivated)": (m.CanAddCardDetailsCalled, ["is_watch_activated"], "app"),
    "WatchAvailability.activate()": (m.WatchActivateCalled, ["instance"], "app"),
    "start(delegate, presentingViewController)": (m.StartCalled, [], "app"),
    "provision(sdkOutput)": (m.DelegateProvisionCalled, ["sdk_output"], "sdk"),
    "provision(sdkOutput, paymentInstrumentId)": (
        m.DelegateProvisionWithIdCalled, ["sdk_output", "payment_instrument_id"], "sdk",
    ),
    "didFinishProvisioning(with: pass, error: nil)": (m.FinishedWithPass, ["where"], "sdk"),
    "didFinishProvisioning(with: nil, error: error)": (m.FinishedWithError, ["case", "why"], "sdk"),
    "didFinishProvisioning(with: nil, error: nil)": (m.FinishedWithNeither, [], "sdk"),
}  # fmt: skip


class Relay:
    """A delegate as the document wants it, of either variant."""

    def __init__(self):
        self.api, self.given, self.told = DirectApi(), [], []

    def provision(self, sdk_output, *named):
        self.given.append((sdk_output, *named))
        return self.api.post(ID, SdkOutput.from_bytes(sdk_output)).sdk_input.data

    def did_finish_provisioning(self, pass_, error):
        self.told.append((pass_, error and error.case))


class Nil(Relay):
    def provision(self, sdk_output, *named):
        return None


def service(variant=B_LATER, phone=None):
    return ProvisioningService(DirectApi().get(ID).sdk_input.data, variant=variant, phone=phone)


def walked(variant=B_LATER, phone=None, **app):
    bench = PlatformBRun(variant, phone=phone, app=replace(AppB(), **app))
    bench.walk()
    return bench


def broken(bench):
    """The rules that the app broke."""
    return {finding.rule for finding in check(bench.trace) if finding.level in ("fail", "warn")}


@pytest.mark.rule("B-INIT-1", "B-CAN-1", "B-CAN-2", "B-WATCH-1", "B-START-1", "B-DEL-1", "B-DEL-2", "B-FIN-1")
@pytest.mark.parametrize("says", OPERATIONS)
def test_an_operation_has_the_documents_name_parameters_and_direction(says):
    message, names, who = OPERATIONS[says]
    assert message.says == says
    assert [field.name for field in fields(message)] == names
    ends = (m.Actor.APP, m.Actor.SDK) if who == "app" else (m.Actor.SDK, m.Actor.APP)
    assert (message.sender, message.receiver) == ends


@pytest.mark.rule("B-INIT-1")
@BOTH
def test_the_initialiser_takes_sdk_input_and_gives_a_service_instance(variant):
    assert isinstance(service(variant), ProvisioningService)
    assert broken(walked(variant)) == set()


@pytest.mark.rule("B-INIT-1", "API-8")
@BOTH
def test_the_initialiser_takes_binary_data_and_no_text(variant):
    with pytest.raises(SdkError, match="it is text, and platform B takes the bytes"):
        ProvisioningService(DirectApi().get(ID).sdk_input.text, variant=variant)
    assert broken(walked(variant, decodes=False)) == {"API-8", "B-INIT-1"}


@pytest.mark.rule("B-CAN-1")
def test_can_add_card_returns_a_boolean_that_shows_or_hides_the_button():
    assert service(B_EARLIER).can_add_card() is True
    assert service(B_EARLIER, PhoneB(cards={ID})).can_add_card() is False
    buttons = []
    for cards in (set(), {ID}):
        bench = PlatformBRun(B_EARLIER, phone=PhoneB(cards=cards))
        bench.open()
        buttons.append(bench.button)
    assert buttons == ["shown", "hidden"]


@pytest.mark.rule("B-CAN-1")
def test_can_add_card_is_the_earlier_variant_s():
    with pytest.raises(OutOfOrderError, match="later variant"):
        service(B_LATER).can_add_card()
    assert "B-CAN-1" in broken(walked(B_LATER, calls=AppB().calls_in(B_EARLIER)))


@pytest.mark.rule("B-CAN-2")
def test_can_add_card_details_takes_is_watch_activated_and_returns_a_state_with_can_add_card():
    phone = PhoneB(watch=Watch(), cards={ID})
    assert service(phone=phone).can_add_card_details(is_watch_activated=True).can_add_card is True
    assert service(phone=phone).can_add_card_details(is_watch_activated=False).can_add_card is False
    shown = service(phone=phone).can_add_card_details(is_watch_activated=True)
    assert (shown.can_add_to_phone, shown.can_add_to_watch) == (None, None)


@pytest.mark.rule("B-CAN-2")
def test_can_add_card_details_is_the_later_variant_s():
    with pytest.raises(OutOfOrderError, match="earlier variant"):
        service(B_EARLIER).can_add_card_details(is_watch_activated=False)
    assert "B-CAN-2" in broken(walked(B_EARLIER, **APPS_B["never looks for a watch"]))


@pytest.mark.rule("B-CAN-3")
@BOTH
@pytest.mark.parametrize("phone", [lambda: PhoneB(cards={ID}), lambda: PhoneB(watch=Watch({ID}), cards={ID})])
def test_a_card_that_cannot_be_added_is_already_in_the_wallet(variant, phone):
    bench = walked(variant, phone())
    assert (bench.state, bench.button, bench.label) == (State.IN_WALLET, "hidden", "Available in Wallet")
    assert broken(bench) == set()


@pytest.mark.rule("B-CAN-3")
@BOTH
def test_a_card_that_is_there_and_can_still_be_added_everywhere_is_hidden_from_the_app(variant):
    assert broken(walked(variant, PhoneB(associated=False))) == {"B-CAN-2" if variant.later else "B-CAN-1"}
    assert broken(walked(variant, PhoneB(watch=Watch()))) == set()


@pytest.mark.rule("B-WATCH-1")
@pytest.mark.parametrize("watch", [None, Watch()])
def test_activate_returns_a_boolean_that_tells_whether_a_watch_is_paired(watch):
    phone = PhoneB(watch=watch)
    assert WatchAvailability(phone).activate() is (watch is not None)
    bench = PlatformBRun(phone=PhoneB(watch=watch))
    bench.open()
    (asked,) = bench.trace.select(m.CanAddCardDetailsCalled)
    assert asked.message.is_watch_activated is (watch is not None)
    assert broken(bench) == set()


@pytest.mark.rule("B-WATCH-1")
def test_an_app_that_never_asks_for_the_watch_is_found_out():
    bench = walked(B_LATER, PhoneB(watch=Watch(), cards={ID}), **APPS_B["never looks for a watch"])
    assert (broken(bench), bench.button) == ({"B-WATCH-1"}, "hidden")


@pytest.mark.rule("B-WATCH-2")
@pytest.mark.parametrize(("keeps", "found"), [(True, set()), (False, {"B-WATCH-2"})])
def test_only_one_watch_availability_is_created(keeps, found):
    bench = PlatformBRun(phone=PhoneB(watch=Watch({ID}), cards={ID}), app=AppB(keeps_watch_availability=keeps))
    bench.open()
    bench.open()
    assert broken(bench) == found


@pytest.mark.rule("B-START-1")
@BOTH
def test_start_takes_a_delegate_and_a_presenter_and_begins_provisioning(variant):
    delegate, phone = Relay(), PhoneB()
    one = service(variant, phone)
    one.can_add_card_details(is_watch_activated=False) if variant.later else one.can_add_card()
    assert one.start(delegate=delegate, presenting_view_controller=PAGE) is None
    assert (len(delegate.given), phone.cards) == (1, {ID})


@pytest.mark.rule("B-START-1")
@BOTH
def test_start_can_throw_and_then_nothing_has_begun(variant):
    bench = walked(variant, PhoneB(entitled=("extension", "authorization UI")))
    assert broken(bench) == {"B-START-1"}
    assert bench.trace.select(m.DelegateProvisionCalled, m.DelegateProvisionWithIdCalled) == []
    one = service(variant)
    one.can_add_card_details(is_watch_activated=False) if variant.later else one.can_add_card()
    with pytest.raises(SdkError, match="delegateNotSet"):
        one.start(delegate=None, presenting_view_controller=PAGE)
    with pytest.raises(SdkError, match="presentationFailure"):
        one.start(delegate=Relay(), presenting_view_controller=None)


@pytest.mark.rule("B-START-1")
@BOTH
def test_start_comes_when_the_cardholder_selects_add_and_not_before(variant):
    bench = PlatformBRun(variant)
    bench.open()
    assert bench.trace.select(m.Start) == []
    early = replace(AppB(), calls=AppB().calls_in(variant) | {State.CREATED: m.StartCalled})
    bench = PlatformBRun(variant, app=early)
    bench.walk()
    assert (broken(bench), bench.trace.select(m.Start)) == ({"B-START-1"}, [])


@pytest.mark.rule("B-DEL-1")
def test_the_earlier_delegate_s_provision_takes_sdk_output_only():
    delegate = Relay()
    assert walked(B_EARLIER, delegate=delegate).state is State.IN_WALLET
    ((output,),) = delegate.given
    assert isinstance(output, bytes)


@pytest.mark.rule("B-DEL-2")
def test_the_later_delegate_s_provision_takes_sdk_output_and_the_payment_instrument_id():
    delegate = Relay()
    assert walked(B_LATER, delegate=delegate).state is State.IN_WALLET
    ((output, instrument),) = delegate.given
    assert isinstance(output, bytes)
    assert instrument == ID


@pytest.mark.rule("B-DEL-1", "B-DEL-2")
def test_a_delegate_of_the_other_variant_cannot_be_called():
    class One(Relay):
        def provision(self, sdk_output):
            return None

    class Two(Relay):
        def provision(self, sdk_output, payment_instrument_id):
            return None

    for variant, delegate in ((B_LATER, One()), (B_EARLIER, Two())):
        with pytest.raises(ParameterError, match="Yours cannot be called like this"):
            walked(variant, delegate=delegate)


@pytest.mark.rule("B-DEL-3", "API-11")
@BOTH
def test_the_delegate_posts_through_the_back_end_and_returns_the_resulting_sdk_input(variant):
    bench = walked(variant)
    (posted,) = [record for record in bench.trace.select(m.ApiRequested) if record.message.method == "POST"]
    (asked,) = bench.trace.select(m.DelegateProvisionCalled, m.DelegateProvisionWithIdCalled)
    (returned,) = bench.trace.select(m.ReturnSdkInput)
    answered = bench.trace.select(m.ApiAnswered)[-1].message.sdk_input
    assert posted.message.sdk_output == asked.message.sdk_output
    assert returned.message.sdk_input == answered.data
    assert answered.summary()["kind"] == "opc"


@pytest.mark.rule("B-DEL-3")
@BOTH
def test_the_delegate_returns_nil_when_none_can_be_produced(variant):
    bench = walked(variant, delegate=Nil())
    assert [type(record.message) for record in bench.trace.select(m.ReturnNil, m.ReturnSdkInput)] == [m.ReturnNil]
    assert (bench.state, bench.phone.cards, bench.label) == (State.FAILED, set(), "not added")
    assert "B-DEL-3" in broken(bench)


@pytest.mark.rule("B-DEL-3")
@BOTH
def test_a_delegate_that_takes_longer_than_the_wallet_waits_is_found_out(variant):
    assert broken(walked(variant, PhoneB(latencies=LatenciesB(post=20.0)))) == set()
    assert "B-DEL-3" in broken(walked(variant, PhoneB(latencies=LatenciesB(post=20.1))))


@pytest.mark.rule("B-FIN-1")
@BOTH
@pytest.mark.parametrize(
    ("ends_with", "told"),
    [(None, ("phone", None)), ("walletKitError", (None, "walletKitError")), ("nothing", (None, None))],
)
def test_did_finish_is_called_once_with_a_pass_an_error_or_neither(variant, ends_with, told):
    delegate = Relay()
    bench = walked(variant, PhoneB(ends_with=ends_with), delegate=delegate)
    assert delegate.told == [told]
    assert ("B-FIN-1" in broken(bench)) == (ends_with is not None)


@pytest.mark.rule("B-FIN-1")
def test_a_failure_that_is_kept_from_the_cardholder_is_found_out():
    fails = {"phone": PhoneB(ends_with="walletKitError")}
    for variant, hidden in ((B_LATER, False), (replace(B_LATER, tells=False), True)):
        bench = PlatformBRun(variant, **fails)
        bench.walk()
        found = [one for one in check(bench.trace) if "told the cardholder nothing" in one.text]
        assert bool(found) == hidden


@pytest.mark.rule("B-FIN-2")
@BOTH
@pytest.mark.parametrize(
    ("phone", "label"),
    [
        (PhoneB, "Added to Wallet"),
        (lambda: PhoneB(cards={ID}), "Available in Wallet"),
        (lambda: PhoneB(ends_with="walletKitError"), "not added"),
    ],
)
def test_on_completion_the_screen_says_added_or_available_and_not_so_after_a_failure(variant, phone, label):
    bench = walked(variant, phone())
    assert bench.label == label
    said = [record.message.says for record in bench.trace.select(m.ShowAdded, m.ShowAvailable)]
    assert said == ([f"shows “{label}”"] if label != "not added" else [])


@pytest.mark.rule("B-FIN-1", "B-FIN-2")
@pytest.mark.parametrize("variant", [B_EARLIER, B_LATER], ids=["earlier", "later"])
@pytest.mark.parametrize(("says_available", "label"), [(False, "Added to Wallet"), (True, "Available in Wallet")])
def test_either_label_may_follow_did_finish_provisioning(variant, says_available, label):
    run = walked(replace(variant, says_available=says_available), PhoneB())
    names = [record.name for record in run.trace]
    assert names[names.index("FinishedWithPass") + 1] == ("ShowAvailable" if says_available else "ShowAdded")
    assert run.label == label
    (shown,) = run.trace.select(m.ShowAdded, m.ShowAvailable)
    assert (shown.rules, shown.source) == (("B-FIN-2",), "assumed")


FLOW = ["GET", "ProvisioningService(sdkInput)", "shows Add", "taps Add", "start(delegate, presentingViewController)"]
REST = ["POST", "sdkInput", "didFinishProvisioning(with: pass, error: nil)", "shows “Added to Wallet”"]


@pytest.mark.rule("FLOW-3", "API-10", "API-11")
@pytest.mark.parametrize(
    ("variant", "asks", "provision"),
    [
        (B_EARLIER, ["canAddCard()"], "provision(sdkOutput)"),
        (
            B_LATER,
            ["WatchAvailability.activate()", "canAddCardDetails(isWatchActivated)"],
            "provision(sdkOutput, paymentInstrumentId)",
        ),
    ],
    ids=["earlier", "later"],
)
def test_the_in_app_flow_in_the_document_s_order(variant, asks, provision):
    wanted = [*FLOW[:2], *asks, *FLOW[2:], provision, *REST]
    trace = [record for record in walked(variant).trace if type(record.message) is not m.ActivationDataReceived]
    told = [getattr(record.message, "method", record.message.says) for record in trace if record.message.arrow]
    told = told[: told.index(REST[-1]) + 1]
    assert list(dict.fromkeys(one for one in told if one in wanted)) == wanted


@pytest.mark.rule("FLOW-3")
@BOTH
def test_an_app_that_leaves_the_order_is_found_out(variant):
    for state, call in ((State.FETCHED, m.StartCalled), (State.CREATED, m.StartCalled)):
        bench = walked(variant, calls=AppB().calls_in(variant) | {state: call})
        assert broken(bench) == {"B-START-1"}
        assert bench.phone.cards == set()


@pytest.mark.rule("FLOW-4")
@BOTH
def test_the_flow_starts_and_ends_inside_the_app(variant):
    run = walked(variant)
    trace = run.trace
    assert (run.state, run.button, run.label) == (State.IN_WALLET, "hidden", "Added to Wallet")
    assert (trace[0].message.sender, trace[0].message.receiver) == (m.Actor.CARDHOLDER, m.Actor.APP)
    assert (trace[-1].message.sender, trace[-1].message.receiver) == (m.Actor.APP, m.Actor.CARDHOLDER)


@pytest.mark.rule("X-CACHE-1", "API-8")
@BOTH
def test_the_app_saves_the_gets_sdk_input_for_the_extension_after_its_own_network_call(variant):
    bench = walked(variant)
    names = [record.name for record in bench.trace]
    assert names.index("ApiAnswered") < names.index("SaveSdkInput") < names.index("ServiceCalled")
    assert bench.phone.storage.values() == {ID: bench.trace.select(m.SaveSdkInput)[0].message.sdk_input.data}


@pytest.mark.rule("B-CAN-3")
@BOTH
@pytest.mark.parametrize("on_phone", [False, True])
@pytest.mark.parametrize("watch", [None, Watch(), Watch({ID})])
@pytest.mark.parametrize("associated", [False, True])
@pytest.mark.parametrize("looks", [False, True])
def test_whenever_a_card_cannot_be_added_it_is_on_the_phone_or_on_the_watch(
    variant, on_phone, watch, associated, looks
):
    phone = PhoneB(cards={ID} if on_phone else set(), watch=watch, associated=associated)
    asked = service(variant, phone)
    answer = (
        asked.can_add_card_details(is_watch_activated=looks).can_add_card if variant.later else asked.can_add_card()
    )
    if not answer:
        assert on_phone or ID in watch.cards
    if not on_phone:
        assert answer
