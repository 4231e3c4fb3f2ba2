"""Platform A SDK operations: the table's names and parameters, as labels, as messages, and by hand."""

import inspect
from dataclasses import fields

import pytest

from workbook.flows import messages as m
from workbook.play.platform_a import CardAddress, CardProvisioning, OpcProvider

OPERATIONS = {
    "CardProvisioning.create": (m.CreateCalled, "CardProvisioning.create(sdkInput, activityProvider)", ["sdk_input"]),
    "canProvision": (m.CanProvisionCalled, "canProvision()", []),
    "createSdkOutput": (m.CreateSdkOutputCalled, "createSdkOutput()", []),
    "provision, before 0.4.0": (
        m.ProvisionCalled,
        "provision(sdkInput, cardDisplayName, cardAddress)",
        ["sdk_input", "card_display_name", "card_address"],
    ),
    "provision, from 0.4.0": (
        m.ProvisionWithProviderCalled,
        "provision(cardDisplayName, cardAddress, opcProvider)",
        ["card_display_name", "card_address"],
    ),
    "OpcProvider.fetchOpc": (
        m.FetchOpcCalled,
        "fetchOpc(paymentInstrumentId, sdkOutput)",
        ["payment_instrument_id", "sdk_output"],
    ),
}

OUTCOMES = {
    "create": {
        "Success(cardProvisioning)": m.CreateSuccess,
        "Failed.WalletPayNotSupported": m.WalletPayNotSupported,
        "Failed.InvalidSdkInput": m.InvalidSdkInput,
    },
    "provision": {"ProvisionResult.Success": m.ProvisionSuccess, "ProvisionResult.Failure": m.ProvisionFailure},
}


@pytest.mark.rule("A-CREATE-1", "A-CAN-1", "A-OUT-1", "A-PROV-1", "A-PROV-2", "A-PROV-4", "A-OPC-1")
@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_operation_has_the_documents_name_and_parameters(operation):
    message, says, parameters = OPERATIONS[operation]
    assert message.says == says
    assert [field.name for field in fields(message)] == parameters


@pytest.mark.rule("A-OPC-1")
def test_the_app_calls_the_sdk_but_the_sdk_calls_fetch_opc():
    ends = {name: (message.sender, message.receiver) for name, (message, _, _) in OPERATIONS.items()}
    back = ends.pop("OpcProvider.fetchOpc")
    assert set(ends.values()) == {(m.Actor.APP, m.Actor.SDK)}
    assert back == (m.Actor.SDK, m.Actor.APP)


@pytest.mark.rule("A-CREATE-1", "A-CREATE-2", "A-CREATE-3", "A-PROV-3", "A-ASYNC-1")
@pytest.mark.parametrize("operation", OUTCOMES)
def test_outcomes_have_the_documents_names(operation):
    assert {message.says for message in OUTCOMES[operation].values()} == set(OUTCOMES[operation])
    assert all((one.sender, one.receiver) == (m.Actor.SDK, m.Actor.APP) for one in OUTCOMES[operation].values())


@pytest.mark.rule("A-CREATE-1", "A-OUT-1", "A-PROV-1", "A-PROV-2", "A-OPC-1")
def test_by_hand_the_operations_have_the_same_names_and_parameters_in_snake_case():
    def parameters(function):
        return [*inspect.signature(function).parameters]

    assert set(CardProvisioning.calls) == {message for message, _, _ in OPERATIONS.values()} - {m.FetchOpcCalled}
    assert parameters(CardProvisioning.create)[:2] == ["sdk_input", "activity_provider"]
    assert parameters(CardProvisioning.can_provision) == ["self"]
    assert parameters(CardProvisioning.create_sdk_output) == ["self"]
    named = {"card_display_name", "card_address", "opc_provider", "sdk_input"}
    assert set(parameters(CardProvisioning.provision)) == {"self"} | named
    assert parameters(OpcProvider.fetch_opc) == ["self", "payment_instrument_id", "sdk_output"]


@pytest.mark.rule("A-PROV-5")
def test_a_card_address_is_built_with_no_arguments():
    assert CardAddress() == CardAddress()
