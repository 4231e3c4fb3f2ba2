"""The SDK stand-in alone: a command in, the document's outcome out."""

from dataclasses import replace

import pytest
from rows import rows

from workbook.api.opaque import SdkInput
from workbook.flows import messages as m
from workbook.flows.variants import A_BEFORE_0_4_0, A_FROM_0_4_0
from workbook.play.platform_a import CardAddress
from workbook.simulation.phones import PhoneA
from workbook.simulation.sdks import SdkA
from workbook.simulation.seal import DAMAGES, Content, Seal, damaged
from workbook.simulation.wallet import NOT_ALLOWLISTED

SEAL = Seal(7)
LISTED = {"supportedWallets": ("wallet-a",)}
ACTIVATION = SEAL.close(Content.ACTIVATION, "PI1", 1, **LISTED)


def sdk(device=None, *, facts=A_FROM_0_4_0.facts, seal=SEAL):
    return SdkA(device or PhoneA(), seal, facts)


def created(device=None, **more):
    one = sdk(device, **more)
    assert one.answer(m.CreateProvisioning(ACTIVATION))[1] == m.CreateSuccess()
    return one


def opc(attempt, owner="PI1", serial=1):
    return SEAL.close(Content.OPC, owner, serial, attempt=attempt)


def provision(one, text):
    return one.answer(m.Provision(SdkInput(text), "A card", CardAddress()))[1]


@pytest.mark.rule("A-CREATE-1", "API-7")
@pytest.mark.parametrize("sdk_input", [ACTIVATION, SdkInput(ACTIVATION)], ids=["text", "SdkInput"])
def test_create_takes_the_text_bare_or_wrapped_and_carries_the_instance(sdk_input):
    one = sdk()
    waits, outcome = one.answer(m.CreateProvisioning(sdk_input))
    assert (waits, outcome) == (0.02, m.CreateSuccess())
    assert outcome.card_provisioning is one


@pytest.mark.rule("A-CREATE-2")
@pytest.mark.parametrize(
    ("device", "listed"),
    [
        (PhoneA(wallet_pay_supported=False), LISTED),
        (PhoneA(), {"supportedWallets": ("wallet-b",)}),
        (PhoneA(), {"supportedWallets": ()}),
        (PhoneA(), {}),
        (PhoneA(wallet="wallet-c"), LISTED),
    ],
)
def test_create_says_that_the_wallet_is_not_supported(device, listed):
    text = SEAL.close(Content.ACTIVATION, "PI1", 1, **listed)
    assert sdk(device).answer(m.CreateProvisioning(text))[1] == m.WalletPayNotSupported()


@pytest.mark.rule("A-CREATE-3")
@rows("damage", [name for name in DAMAGES if name != "none"])
def test_create_refuses_damaged_data_and_says_why_without_repeating_it(damage):
    text = damaged(ACTIVATION, damage)
    _, outcome = sdk().answer(m.CreateProvisioning(text))
    assert isinstance(outcome, m.InvalidSdkInput)
    assert outcome.why
    assert not outcome.why.endswith((".", " "))
    assert not text or text not in outcome.why


@pytest.mark.rule("A-CREATE-3")
@pytest.mark.parametrize(
    ("text", "why"),
    [
        (opc(1), "it is data of kind 'opc'; create takes the GET's sdkInput"),
        (SEAL.close(Content.OUTPUT, "PI1", 1), "it is data of kind 'output'; create takes the GET's sdkInput"),
        (Seal(8).close(Content.ACTIVATION, "PI1", 1, **LISTED), "its seal is broken"),
        ("eyJyZWFsIjp0cnVlfQ==", "it does not carry the simulator's mark"),
    ],
)
def test_create_takes_nothing_but_the_gets_sdk_input(text, why):
    _, outcome = sdk().answer(m.CreateProvisioning(text))
    assert outcome.why.startswith(why)


CAN = {
    "nothing special": (PhoneA(), m.CanBeProvisioned(), m.CanBeProvisioned()),
    "in the wallet": (PhoneA(cards={"PI1"}), m.AlreadyExistsInWallet(), m.AlreadyExistsInWallet()),
    "another card in the wallet": (PhoneA(cards={"PI2"}), m.CanBeProvisioned(), m.CanBeProvisioned()),
    "scheme not configured": (
        PhoneA(cards={"PI1"}, scheme_configured=False),
        m.CanBeProvisioned(),
        m.CanBeProvisioned(),
    ),
    "identity check pending": (
        PhoneA(cards={"PI1"}, verification_pending=True),
        m.CanBeProvisioned(),
        m.CanBeProvisioned(),
    ),
    "not allowlisted": (PhoneA(allowlisted=False), m.ApiError(NOT_ALLOWLISTED), m.UnknownFailure()),
    "told ApiError": (PhoneA(can_provision=m.ApiError(7)), m.ApiError(7), m.UnknownFailure()),
    "told Error": (PhoneA(can_provision=m.CanProvisionError("x")), m.CanProvisionError("x"), m.CanProvisionError("x")),
    "told UnknownFailure": (PhoneA(can_provision=m.UnknownFailure()), m.UnknownFailure(), m.UnknownFailure()),
}


@pytest.mark.rule("A-CAN-1", "A-CAN-2", "A-CAN-3", "A-CAN-4", "A-CAN-5", "A-CAN-6", "A-ALLOW-1")
@rows("name", CAN)
def test_can_provision_follows_the_devices_facts(name):
    device, later, earlier = CAN[name]
    assert created(device).answer(m.AskCanProvision())[1] == later
    assert created(device, facts=A_BEFORE_0_4_0.facts).answer(m.AskCanProvision())[1] == earlier


@pytest.mark.rule("A-CAN-6")
@pytest.mark.parametrize(("configured", "seen"), [(True, [m.VerificationPending()]), (False, [])])
def test_only_a_card_that_is_there_and_waits_is_reported_as_waiting(configured, seen):
    one, told = created(PhoneA(cards={"PI1"}, verification_pending=True, scheme_configured=configured)), []
    one.seen = told.append
    one.answer(m.AskCanProvision())
    assert told == seen


@pytest.mark.rule("A-OUT-1", "A-OPC-1")
@pytest.mark.parametrize("command", [m.CreateSdkOutput(), m.ProvisionWithProvider("A card", CardAddress())])
def test_each_sdk_output_is_new_and_bound_to_the_instrument(command):
    device = PhoneA()
    made = [created(device).answer(command)[1] for _ in range(2)]
    texts = [event.sdk_output.text for event in made]
    assert len(set(texts)) == len(texts) == 2
    opened = [SEAL.open(text) for text in texts]
    assert [(data.content, data.payment_instrument_id, data.serial) for data in opened] == [
        ("output", "PI1", 1),
        ("output", "PI1", 2),
    ]


@pytest.mark.rule("A-PROV-3")
def test_the_right_opc_data_adds_the_card():
    one, told = created(), []
    one.seen = told.append
    one.answer(m.CreateSdkOutput())
    assert provision(one, opc(1)) == m.ProvisionSuccess()
    assert (one.phone.cards, told) == ({"PI1"}, [m.WalletAsked()])


@pytest.mark.rule("A-PROV-3")
@pytest.mark.parametrize(
    ("text", "why"),
    [
        (opc(2), "the data is of attempt 2, and attempt 1 has begun (assumed)"),
        (opc(1, owner="PI2"), "it belongs to another payment instrument"),
        (ACTIVATION, "it is data of kind 'activation'; provision takes the POST's sdkInput"),
        (damaged(opc(1), "cut off"), "it is truncated"),
        (Seal(8).close(Content.OPC, "PI1", 1, attempt=1), "its seal is broken"),
    ],
)
def test_wrong_opc_data_never_reaches_the_wallet(text, why):
    one, told = created(), []
    one.seen = told.append
    one.answer(m.CreateSdkOutput())
    outcome = provision(one, text)
    assert outcome.reason == "InvalidSdkInput"
    assert outcome.why.startswith(why)
    assert (one.phone.cards, told) == (set(), [])


@pytest.mark.rule("A-PROV-3")
def test_opc_data_is_taken_once():
    one = created(PhoneA(provision_failure="Timeout"))
    one.answer(m.CreateSdkOutput())
    assert provision(one, opc(1)).reason == "Timeout"
    assert provision(one, opc(1)) == m.ProvisionFailure("InvalidSdkInput", "it was used already")


@pytest.mark.rule("A-PROV-3")
def test_opc_data_of_an_earlier_client_on_the_same_phone_is_noticed():
    device = PhoneA(provision_failure="Canceled")
    first = created(device)
    first.answer(m.CreateSdkOutput())
    assert provision(first, opc(1)).reason == "Canceled"
    device.provision_failure = None
    second = created(device)
    second.answer(m.CreateSdkOutput())
    assert provision(second, opc(1)).why == "the data is of attempt 1, and attempt 2 has begun (assumed)"
    assert device.cards == set()


@pytest.mark.rule("A-PROV-3")
@pytest.mark.parametrize(("lacking", "said"), [((), "Timeout"), (("Timeout",), "Other")])
def test_a_failure_whose_name_a_variant_lacks_is_other(lacking, said):
    one = created(PhoneA(provision_failure="Timeout"), facts=replace(A_FROM_0_4_0.facts, lacks_failures=lacking))
    one.answer(m.CreateSdkOutput())
    assert provision(one, opc(1)).reason == said
    assert one.phone.cards == set()


@pytest.mark.rule("A-BTN-2")
def test_of_two_attempts_at_once_each_ends_in_invalid_sdk_input_and_the_next_alone_does_not():
    one = created()
    one.answer(m.CreateSdkOutput())
    one.answer(m.CreateSdkOutput())
    first, second = provision(one, opc(1)), provision(one, opc(2))
    assert [first.reason, second.reason] == ["InvalidSdkInput"] * 2
    assert second.why == "attempt 2 began while another was under way (assumed)"
    one.answer(m.CreateSdkOutput())
    assert provision(one, opc(3)) == m.ProvisionSuccess()


@pytest.mark.rule("A-OPC-1")
def test_no_opc_data_ends_at_once_in_a_failure():
    answered = created().answer(m.ReturnNoOpc("the back end said no"))
    assert answered == (0.0, m.ProvisionFailure("OpcFetchError", "the back end said no"))


def test_the_stand_in_names_the_commands_it_carries_out():
    assert set(sdk().answers) == {
        m.CreateProvisioning,
        m.AskCanProvision,
        m.CreateSdkOutput,
        m.ProvisionWithProvider,
        m.Provision,
        m.ReturnOpc,
        m.ReturnNoOpc,
    }
