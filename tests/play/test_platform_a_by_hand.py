"""The SDK by hand: the document's shape, the same outcomes as the bench, and refusals that change nothing."""

import inspect
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from workbook.api.opaque import SdkOutput
from workbook.checks import check
from workbook.errors import ConfigurationError, OutOfOrderError, ParameterError
from workbook.flows import messages as m
from workbook.flows.platform_a import State
from workbook.flows.variants import A_BEFORE_0_4_0, A_FROM_0_4_0, A_NOT_MIGRATED
from workbook.play.platform_a import CanProvisionResult, CardAddress, CardProvisioning, PlatformARun
from workbook.simulation.phones import PhoneA
from workbook.simulation.seal import damaged
from workbook.simulation.service import DirectApi
from workbook.simulation.wallet import PROVISION_FAILURES
from workbook.simulation.world import INSTRUMENT_IDS

ID = INSTRUMENT_IDS[0]
NAMED = {"card_display_name": "A card", "card_address": CardAddress()}
VARIANTS = [A_BEFORE_0_4_0, A_FROM_0_4_0, A_NOT_MIGRATED]


def activity():
    return "activity"


class Relay:
    """An OpcProvider that asks the simulated API."""

    def __init__(self, api):
        self.api = api

    def fetch_opc(self, payment_instrument_id, sdk_output):
        return self.api.post(payment_instrument_id, sdk_output).sdk_input.text


class Hand:
    """What a person does: one API, one phone, and as many clients as they like."""

    def __init__(self, variant=A_FROM_0_4_0, phone=None):
        self.api, self.variant, self.phone = DirectApi(), variant, phone or PhoneA()

    def create(self, damage="none"):
        text = self.api.get(ID).sdk_input.text
        return CardProvisioning.create(damaged(text, damage), activity, variant=self.variant, phone=self.phone)

    def client(self):
        return self.create().card_provisioning

    def ready(self):
        client = self.client()
        assert client.can_provision() == m.CanBeProvisioned()
        return client

    def add(self, client):
        """A tap, in the calls that this variant shows."""
        if not self.variant.two_step:
            return client.provision(opc_provider=Relay(self.api), **NAMED)
        made = client.create_sdk_output()
        opc = self.api.post(made.payment_instrument_id, made.sdk_output).sdk_input
        return client.provision(sdk_input=opc, **NAMED)


DEVICES = {
    "ready": PhoneA,
    "in the wallet": lambda: PhoneA(cards={ID}),
    "not supported": lambda: PhoneA(wallet_pay_supported=False),
    "not allowlisted": lambda: PhoneA(allowlisted=False),
    "Error": lambda: PhoneA(can_provision=m.CanProvisionError("IOException")),
    "UnknownFailure": lambda: PhoneA(can_provision=m.UnknownFailure()),
    "ApiError": lambda: PhoneA(can_provision=m.ApiError(7)),
    "scheme not configured": lambda: PhoneA(scheme_configured=False),
    "identity check pending": lambda: PhoneA(verification_pending=True),
} | {name: (lambda name=name: PhoneA(provision_failure=name)) for name in PROVISION_FAILURES}

ON_THE_WAY = (m.HandToApp, m.GetActivationData, m.PostSdkOutput, m.ApiRequested, m.ApiAnswered, m.Opened)
ON_THE_WAY += (m.ActivationDataReceived,)


def story(trace):
    """What the two handles share: everything but the app's own code and its back end, and the button's guard."""
    guard = (m.DisableButton, m.EnableButton)
    return [type(record.message) for record in trace if not isinstance(record.message, (*ON_THE_WAY, *guard))]


@pytest.mark.rule("A-ASYNC-1", "A-CREATE-1", "A-PROV-1", "A-PROV-2", "A-PROV-3")
@rows("variant", VARIANTS)
@rows("name", DEVICES)
def test_the_same_outcomes_through_the_bench_and_by_hand(name, variant):
    bench = PlatformARun(variant, phone=DEVICES[name]())
    bench.walk()

    hand = Hand(variant, DEVICES[name]())
    created = hand.create()
    if not isinstance(created, m.CreateSuccess):
        assert created == bench.trace[-2].message
        return
    client = created.card_provisioning
    if client.can_provision() == m.CanBeProvisioned() and isinstance(hand.add(client), m.ProvisionSuccess):
        client.can_provision()
    assert story(client.trace) == story(bench.trace)
    assert client._run.state == bench.state
    assert hand.phone.cards == bench.phone.cards


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda one: one.name)
def test_a_trace_by_hand_says_so_and_speaks_of_no_button(variant):
    client = Hand(variant).client()
    assert client.trace.title == f"Platform A, SDK {variant.name.replace('-', ' ')}, called by hand"


@pytest.mark.rule("A-CREATE-3", "A-ASYNC-1")
@given(st.none() | st.integers() | st.binary() | st.text() | st.lists(st.text()))
def test_whatever_create_is_given_is_an_outcome(junk):
    assert isinstance(CardProvisioning.create(junk, activity), m.InvalidSdkInput)


@pytest.mark.rule("A-CREATE-1")
@pytest.mark.parametrize("provider", [None, "activity", 7])
def test_an_activity_provider_that_cannot_be_called_is_refused(provider):
    with pytest.raises(ConfigurationError, match="activity_provider must be a function"):
        CardProvisioning.create("x", provider)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: CardProvisioning.create(None), "activity_provider must be a function"),
        (
            lambda: CardProvisioning.create("x", activity, variant="q"),
            "No variant 'q'. Known: before-0.4.0, from-0.4.0.",
        ),
        (
            lambda: CardProvisioning.create("x", activity, variant=None),
            "No variant None. Known: before-0.4.0, from-0.4.0.",
        ),
        (lambda: CardProvisioning.create("x", activity, phone="phone"), r"phone is 'phone'; allowed: a PhoneA\("),
    ],
)
def test_a_setting_of_another_kind_is_explained(call, told):
    with pytest.raises(ConfigurationError, match=told):
        call()


@pytest.mark.rule("A-PROV-5")
def test_a_card_address_needs_no_arguments_and_never_prints_its_values():
    assert CardAddress() == CardAddress()
    assert repr(CardAddress()) == "CardAddress(empty)"
    filled = CardAddress("CANARY street", locality="CANARY town", phone_number="CANARY 1")
    assert repr(filled) == "CardAddress(address_line_1, locality, phone_number)"
    hand = Hand()
    client = hand.ready()
    client.provision(opc_provider=Relay(hand.api), card_display_name="A card", card_address=filled)
    assert "CANARY" not in client.trace.to_jsonl() + "".join(map(repr, client.trace))


@pytest.mark.rule("A-PROV-2", "A-PROV-4")
@pytest.mark.parametrize("both", [{}, {"opc_provider": Relay(None), "sdk_input": "x"}])
def test_provision_takes_exactly_one_of_its_two_forms(both):
    client = Hand().ready()
    with pytest.raises(ConfigurationError, match=r"either opc_provider \(from 0.4.0\) or sdk_input \(before 0.4.0\)"):
        client.provision(**NAMED, **both)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"card_display_name": None}, r"card_display_name is None; allowed: text"),
        ({"card_display_name": b"x"}, r"card_display_name is a value of type bytes; allowed: text"),
        ({"card_address": None}, r"card_address is None; allowed: a CardAddress"),
        ({"card_address": CardAddress}, r"card_address is a value of type type; allowed: a CardAddress"),
    ],
)
def test_a_name_or_an_address_of_another_type_is_refused_before_anything_happens(wrong, why):
    hand = Hand()
    client = hand.ready()
    before = client.trace.to_jsonl()
    with pytest.raises(ConfigurationError, match=why):
        client.provision(opc_provider=Relay(hand.api), **NAMED | wrong)
    assert client.trace.to_jsonl() == before


@pytest.mark.rule("A-CREATE-3", "API-7")
@pytest.mark.parametrize(
    ("junk", "why"),
    [
        (None, "it is nothing, not the text of an sdkInput"),
        ([], "it is of type list, not the text of an sdkInput"),
        (True, "it is of type bool, not the text of an sdkInput"),
        (b"bytes", "it is bytes. Platform A takes the text as the API sent it, not decoded (API-7)"),
    ],
)
def test_create_says_what_it_was_given_instead_of_text(junk, why):
    assert CardProvisioning.create(junk, activity) == m.InvalidSdkInput(why)


@pytest.mark.rule("A-OPC-1")
@pytest.mark.parametrize("provider", [lambda *_: "opc", "opc", object()])
def test_a_provider_without_fetch_opc_is_refused_before_anything_happens(provider):
    client = Hand().ready()
    before = client.trace.to_jsonl()
    with pytest.raises(ConfigurationError, match="opc_provider needs a method fetch_opc"):
        client.provision(opc_provider=provider, **NAMED)
    assert client.trace.to_jsonl() == before


class Short:
    def fetch_opc(self, sdk_output):
        return sdk_output


class Named:
    def fetch_opc(self, *, payment_instrument_id, sdk_output):
        return sdk_output


@pytest.mark.rule("A-OPC-1")
@pytest.mark.parametrize("provider", [Short(), Named()])
def test_a_fetch_opc_that_cannot_take_both_arguments_is_refused_and_told_why(provider):
    client = Hand().ready()
    with pytest.raises(ConfigurationError, match=r"given by position\. Yours cannot be called like this: \w+"):
        client.provision(opc_provider=provider, **NAMED)


@pytest.mark.rule("A-OUT-1", "A-PROV-4")
@pytest.mark.parametrize(("variant", "deprecated"), [(A_BEFORE_0_4_0, []), (A_NOT_MIGRATED, ["A-OUT-1", "A-PROV-4"])])
def test_the_old_calls_work_and_are_deprecated_from_0_4_0_only(variant, deprecated):
    hand = Hand(variant)
    client = hand.ready()
    assert hand.add(client) == m.ProvisionSuccess()
    assert [finding.rule for finding in check(client.trace)] == deprecated


EARLY = {
    "provision before canProvision": (A_FROM_0_4_0, "client", "provider"),
    "createSdkOutput before canProvision": (A_BEFORE_0_4_0, "client", "output"),
    "provision without createSdkOutput": (A_BEFORE_0_4_0, "ready", "opc"),
    "the new form before 0.4.0": (A_BEFORE_0_4_0, "ready", "provider"),
}


def call(hand, client, name):
    match name:
        case "provider":
            return client.provision(opc_provider=Relay(hand.api), **NAMED)
        case "opc":
            return client.provision(sdk_input="x", **NAMED)
        case "output":
            return client.create_sdk_output()
        case _:
            return client.can_provision()


@pytest.mark.rule("A-PROV-1", "A-PROV-2")
@pytest.mark.parametrize("name", EARLY)
def test_a_call_out_of_order_raises_says_what_is_possible_and_changes_nothing(name):
    variant, stage, wrong = EARLY[name]
    hand = Hand(variant)
    client = getattr(hand, stage)()
    before = (repr(client), client.trace.to_jsonl())
    with pytest.raises(OutOfOrderError, match=r"cannot be called while '.+' in SDK .+\. Possible now: .+\."):
        call(hand, client, wrong)
    assert (repr(client), client.trace.to_jsonl()) == before
    assert isinstance(client.can_provision(), m.CanBeProvisioned)
    assert hand.add(client) == m.ProvisionSuccess()


@given(st.sampled_from(VARIANTS), st.lists(st.sampled_from(["can", "provider", "opc", "output"]), max_size=8))
def test_any_calls_in_any_order_end_in_an_outcome_or_change_nothing(variant, names):
    hand = Hand(variant)
    client = hand.client()
    for name in names:
        before = (client._run.state, len(client.trace))
        try:
            outcome = call(hand, client, name)
        except OutOfOrderError:
            assert (client._run.state, len(client.trace)) == before
            continue
        assert isinstance(outcome, m.Event)
        assert outcome.sender is m.Actor.SDK
    assert hand.phone.cards <= {ID}


class Provider:
    """An OpcProvider whose answer is given."""

    def __init__(self, answer):
        self.fetch_opc = answer


def provision(client, fetch_opc):
    return client.provision(card_display_name="x", card_address=CardAddress(), opc_provider=Provider(fetch_opc))


@pytest.mark.rule("A-BTN-1", "A-ASYNC-1")
def test_a_second_call_in_the_middle_of_an_attempt_is_refused_and_the_first_has_its_own_outcome():
    client, api, refused = Hand().ready(), DirectApi(), []

    def again(payment_instrument_id, sdk_output):
        with pytest.raises(OutOfOrderError) as caught:
            provision(client, again)
        refused.append(str(caught.value))
        return api.post(payment_instrument_id, SdkOutput(sdk_output)).sdk_input.text

    assert isinstance(provision(client, again), m.ProvisionSuccess)
    (words,) = refused
    assert words == (
        "provision(opc_provider=...) cannot be called while provision(opc_provider=...) is under way on this instance. "
        "Wait for its outcome: one attempt at a time (A-BTN-1)."
    )


def test_a_stopped_cell_ends_the_attempt_and_the_next_one_begins():
    client, api = Hand().ready(), DirectApi()

    def stopped(payment_instrument_id, sdk_output):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        provision(client, stopped)
    assert client.trace.select(m.OpcFailed)[-1].message.reason == "it was interrupted"
    assert client.trace[-1].after == "failed"

    def relays(payment_instrument_id, sdk_output):
        return api.post(payment_instrument_id, SdkOutput(sdk_output)).sdk_input.text

    assert isinstance(provision(client, relays), m.ProvisionSuccess)


def test_a_client_is_made_by_create_alone():
    with pytest.raises(ParameterError, match=r"is made by CardProvisioning\.create"):
        CardProvisioning(None)


@pytest.mark.rule("A-CREATE-1")
@pytest.mark.parametrize(
    ("activity_provider", "why"),
    [(lambda: 1 / 0, "activityProvider raised ZeroDivisionError"), (lambda: None, "activityProvider returned nothing")],
)
def test_the_wallet_is_shown_above_the_activity_that_the_provider_returns(activity_provider, why):
    hand = Hand()
    client = CardProvisioning.create(hand.api.get(ID).sdk_input, activity_provider).card_provisioning
    client.can_provision()
    outcome = provision(client, Relay(hand.api).fetch_opc)
    assert (outcome.reason, outcome.why) == ("Other", f"{why} (assumed)")


@pytest.mark.rule("A-CREATE-1")
def test_the_activity_provider_is_asked_once_for_each_wallet_flow():
    hand, asked = Hand(), []
    client = CardProvisioning.create(
        hand.api.get(ID).sdk_input, lambda: asked.append(1) or "activity"
    ).card_provisioning
    client.can_provision()
    assert asked == []
    assert isinstance(provision(client, Relay(hand.api).fetch_opc), m.ProvisionSuccess)
    assert asked == [1]


@pytest.mark.rule("A-CAN-1", "A-CAN-2")
def test_the_outcomes_of_can_provision_are_those_that_the_table_knows():
    assert set(get_args(CanProvisionResult)) == set(A_FROM_0_4_0.machine.allowed(State.CHECKING))


def test_an_error_names_each_call_as_a_person_writes_it():
    for event, name in CardProvisioning.calls.items():
        method, _, argument = name.removesuffix(")").removeprefix("CardProvisioning.").partition("(")
        parameters = inspect.signature(getattr(CardProvisioning, method)).parameters
        assert argument in ("", "...") or argument.removesuffix("=...") in parameters, event
    assert [name.partition("(")[0] for name in CardProvisioning.calls.values()] == [
        "CardProvisioning.create", "can_provision", "create_sdk_output", "provision", "provision",
    ]  # fmt: skip
    assert set(CardProvisioning.calls) == {
        m.CreateCalled, m.CanProvisionCalled, m.CreateSdkOutputCalled, m.ProvisionCalled, m.ProvisionWithProviderCalled,
    }  # fmt: skip


@pytest.mark.rule("A-PROV-1", "A-BTN-1")
def test_the_next_call_is_named_and_a_tap_in_the_middle_is_not():
    client = Hand("before-0.4.0").ready()
    client.create_sdk_output()
    assert repr(client).endswith("Next: provision(sdk_input=...), .trace.")


@pytest.mark.rule("A-PROV-5")
@pytest.mark.parametrize("name", CardAddress.__slots__)
def test_each_field_of_a_card_address_is_text(name):
    with pytest.raises(ConfigurationError, match=f"^{name} is 5; allowed: text"):
        CardAddress(**{name: 5})
