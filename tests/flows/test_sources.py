"""Where each part of a flow is known from: what the document shows is listed here, and all else has to say so."""

import pytest

from workbook.errors import DefinitionError
from workbook.flows import messages as m
from workbook.flows.messages import APP, SDK, message
from workbook.flows.variants import A_BEFORE_0_4_0, A_FROM_0_4_0, B_EARLIER, B_LATER

SURFACES = ("phone", "watch")
MACHINES = {
    "platform A": [A_BEFORE_0_4_0.machine, A_FROM_0_4_0.machine],
    "platform B": [B_EARLIER.machine, B_LATER.machine],
    "from the wallet": [variant.extension(surface) for variant in (B_EARLIER, B_LATER) for surface in SURFACES],
}
SHOWN = {
    "platform A": """
        IDLE Opened GetActivationData
        FETCHING ActivationDataReceived
        FETCHED CreateCalled
        CREATING CreateSuccess
        CREATING WalletPayNotSupported
        CREATING InvalidSdkInput
        CREATED CanProvisionCalled
        CHECKING CanBeProvisioned ShowButton
        CHECKING AlreadyExistsInWallet HideButton
        CHECKING CanProvisionError
        CHECKING UnknownFailure
        READY AddTapped DisableButton
        TAPPED CreateSdkOutputCalled
        MAKING_OUTPUT SdkOutputCreated PostSdkOutput
        MAKING_OUTPUT SdkOutputFailed
        POSTING OpcReceived
        OPC_READY ProvisionCalled
        PROVISIONING ProvisionSuccess
        PROVISIONING ProvisionFailure
        CONFIRMING AlreadyExistsInWallet HideButton
        CONFIRMING CanBeProvisioned ShowButton ReportToContact
        CONFIRMING CanProvisionError
        CONFIRMING UnknownFailure
        TAPPED ProvisionWithProviderCalled
        ORCHESTRATING FetchOpcCalled FetchOpc
        ORCHESTRATING ProvisionFailure
        FETCHING_OPC OpcReceived ReturnOpc
        CHECKING ApiError
        CONFIRMING ApiError
    """,
    "platform B": """
        IDLE Opened GetActivationData
        FETCHING ActivationDataReceived SaveSdkInput
        FETCHED ServiceCalled
        INITIALISING ServiceReady
        CHECKING CanAddCard ShowButton
        CHECKING CannotAddCard HideButton
        CONFIRMING CanAddCard ShowButton
        CONFIRMING CannotAddCard HideButton
        READY AddTapped
        TAPPED StartCalled
        STARTING StartThrew
        STARTING FinishedWithError
        STARTING FinishedWithNeither
        POSTING SdkInputReceived ReturnSdkInput
        POSTING NoSdkInput ReturnNil
        POSTING DelegateFailed ReturnNil
        PROVISIONING FinishedWithPass
        PROVISIONING FinishedWithError
        PROVISIONING FinishedWithNeither
        CREATED CanAddCardCalled
        STARTING DelegateProvisionCalled AskDelegate
        CREATED WatchActivateCalled
        ACTIVATING WatchActivated
        WATCH_KNOWN CanAddCardDetailsCalled
        STARTING DelegateProvisionWithIdCalled AskDelegateWithId
    """,
    "from the wallet": """
        CLOSED IssuerListOpened CallStatus
        ASKING EntriesAvailable
        ASKING EntriesUnavailable
        ASKING BudgetSpent
        LISTING EntriesReturned ShowEntries
        LISTING NoEntries
        LISTING BudgetSpent
        OFFERED EntryChosen Authenticate
        GENERATING ExtensionProvisionCalled
        PROVISIONING RequestReturned
        GENERATING NoRequest
        PROVISIONING NoRequest
        LISTING CardArtForIdAsked
        LISTING CardArtForBrandAsked
    """,
}
"""What the document shows, read off it: in which state which event, and which commands follow. Whoever adds a row that
is not on the list gives it another source; whoever adds it here has found it in the document."""


@pytest.mark.parametrize("flow", MACHINES)
def test_a_row_without_a_tag_is_one_that_the_document_shows(flow):
    shown = {line.strip() for line in SHOWN[flow].strip().splitlines()}
    assert {untagged(row) for machine in MACHINES[flow] for row in machine.rows} - {""} == shown


def untagged(row):
    """The event and the commands that pass for the document's; empty where the event does not."""
    pairs = zip(row.commands, row.command_sources, strict=True)
    commands = [command.__name__ for command, tag in pairs if command.arrow and {tag, command.source} == {"spec"}]
    words = [row.state.name, row.event.__name__, *commands]
    return " ".join(words) if {row.event_source, row.event.source} == {"spec"} else ""


def test_a_row_is_the_document_s_only_if_all_of_it_is():
    rows = {(row.state.name, row.event): row for row in B_LATER.machine.rows}
    hides = rows["CHECKING", m.CannotAddCard]
    assert (hides.event_source, hides.command_sources, hides.source) == ("spec", ("spec", "assumed"), "assumed")
    assert rows["CONFIRMING", m.CanAddCard].source == "spec"
    assert rows["ADDED", m.CanAddCardDetailsCalled].source == "assumed"


def test_a_message_cannot_be_made_while_one_of_its_fields_hides_its_source():
    with pytest.raises(DefinitionError, match=r"^Guess does not say where the value of colour is from\. Give"):

        @message(SDK, APP, "a guess", "assumed")
        class Guess(m.Event):
            colour: str


def test_a_message_cannot_be_made_without_a_source_of_its_own():
    with pytest.raises(TypeError, match="source"):
        message(SDK, APP, "a guess")


def test_a_class_may_know_better_than_the_name_of_its_field():
    @message(SDK, APP, "a guess", "assumed", "A-CAN-1 A-CAN-2", reason="seen")
    class Guess(m.Event):
        reason: str
        brand: str = "red"

    assert (Guess.sources, Guess.rules, Guess.says) == ({"reason": "seen"}, ("A-CAN-1", "A-CAN-2"), "a guess")
    assert repr(Guess("x")).endswith("Guess(reason='x', brand='red')")
