"""Platform A, as the document has it: the issuer's app, from opening the card to the wallet's answer.

The rows come in parts, and a variant is a sum of parts:

    before 0.4.0    UNTIL_TAP + TWO_STEP + OUTCOME
    from 0.4.0      UNTIL_TAP + deprecated(TWO_STEP) + PROVIDER + OUTCOME

An outcome that only the later SDK has is a row like any other: `FactsA.lacks` names those that an SDK does not have.
`unguarded` makes the mistake that the document warns of: an app that does not guard its button.

What is marked `assumed` is our choice: the document does not show that this event happens there, or that this command
follows. The document names the outcomes. It leaves open whether an app may try again after a failure, whether it asks
once more after a success, and what the app shows after most outcomes.
"""

from dataclasses import replace
from enum import StrEnum, unique
from typing import get_args

from workbook.flows import messages as m
from workbook.flows.machine import Row, assumed, row


@unique
class State(StrEnum):
    """The app's state. The words are those of the diagrams."""

    IDLE = "idle"
    FETCHING = "fetching sdkInput"
    FETCHED = "has sdkInput"
    CREATING = "creating"
    CREATED = "created"
    CHECKING = "checking"
    READY = "button shown"
    TAPPED = "tapped"
    MAKING_OUTPUT = "making sdkOutput"
    POSTING = "posting sdkOutput"
    OPC_READY = "has OPC data"
    ORCHESTRATING = "SDK orchestrates"
    FETCHING_OPC = "fetching OPC data"
    PROVISIONING = "wallet provisions"
    ADDED = "added"
    CONFIRMING = "asking once more"
    IN_WALLET = "in the wallet"
    STILL_OFFERED = "added, yet still offered"
    NOT_OFFERED = "not offered"
    UNAVAILABLE = "unavailable"
    FAILED = "failed"


FINAL_A = (State.ADDED, State.IN_WALLET, State.STILL_OFFERED, State.NOT_OFFERED, State.UNAVAILABLE, State.FAILED)
# The states in which an attempt is under way, so the button is disabled (A-BTN-1).
BUSY_A = (
    State.TAPPED,
    State.MAKING_OUTPUT,
    State.POSTING,
    State.OPC_READY,
    State.ORCHESTRATING,
    State.FETCHING_OPC,
    State.PROVISIONING,
)


def failing(state: State, to: State) -> tuple[Row, ...]:
    """A row for each failure of canProvision: the document names the failure; we chose to hide the button."""
    outcomes: tuple[type[m.Event], ...] = get_args(m.CanProvisionFailure)
    hide = assumed(m.HideButton)
    return tuple(r for event in outcomes for r in row(state, event, to, hide, rules=event.rules, source=event.source))


# Steps 1 to 4: the GET, create, canProvision, and the button that is shown or hidden.
UNTIL_TAP = (
    *row(State.IDLE, m.Opened, State.FETCHING, m.GetActivationData, rules="FLOW-1 FLOW-2 FLOW-4 API-10"),
    *row(State.FETCHING, m.ActivationDataReceived, State.FETCHED, m.HandToApp, rules="FLOW-1 FLOW-2 API-10"),
    *row(State.FETCHING, m.ActivationDataFailed, State.UNAVAILABLE, assumed(m.HideButton), rules="REL-6"),
    *row(State.FETCHED, m.CreateCalled, State.CREATING, m.CreateProvisioning, rules="A-CREATE-1"),
    *row(State.CREATING, m.CreateSuccess, State.CREATED, m.HandToApp, rules="A-CREATE-1"),
    *row(State.CREATING, m.WalletPayNotSupported, State.UNAVAILABLE, assumed(m.HideButton), rules="A-CREATE-2"),
    *row(State.CREATING, m.InvalidSdkInput, State.UNAVAILABLE, assumed(m.HideButton), rules="A-CREATE-3"),
    *row(State.CREATED, m.CanProvisionCalled, State.CHECKING, m.AskCanProvision, rules="A-CAN-1"),
    *row(State.CHECKING, m.CanBeProvisioned, State.READY, m.ShowButton, rules="A-CAN-1"),
    *row(State.CHECKING, m.AlreadyExistsInWallet, State.IN_WALLET, m.HideButton, rules="A-CAN-2"),
    *failing(State.CHECKING, State.NOT_OFFERED),
    *row(State.READY, m.AddTapped, State.TAPPED, m.DisableButton, m.HandToApp, rules="A-BTN-1"),
    *row(State.FAILED, m.AddTapped, State.TAPPED, m.DisableButton, m.HandToApp, rules="A-BTN-1", source="assumed"),
    *row((State.READY, State.IN_WALLET, State.NOT_OFFERED, State.FAILED), m.CanProvisionCalled,
         State.CHECKING, m.AskCanProvision, rules="A-CAN-1", source="assumed"),
    *row((State.READY, State.IN_WALLET, State.NOT_OFFERED, State.UNAVAILABLE, State.FAILED), m.Opened, State.FETCHING,
         m.GetActivationData, rules="API-10 REL-7", source="assumed"),
)  # fmt: skip

# A tap before 0.4.0: createSdkOutput, the POST, provision with the new sdkInput.
TWO_STEP = (
    *row(State.TAPPED, m.CreateSdkOutputCalled, State.MAKING_OUTPUT, m.CreateSdkOutput, rules="A-PROV-1 A-OUT-1"),
    *row(State.MAKING_OUTPUT, m.SdkOutputCreated, State.POSTING, m.PostSdkOutput, rules="A-PROV-1 API-2"),
    *row(State.MAKING_OUTPUT, m.SdkOutputFailed, State.FAILED, assumed(m.EnableButton), rules="A-ASYNC-1 A-BTN-1"),
    *row(State.POSTING, m.OpcReceived, State.OPC_READY, m.HandToApp, rules="A-PROV-1 API-11"),
    *row(State.POSTING, m.OpcFailed, State.FAILED, assumed(m.EnableButton), rules="A-BTN-1 REL-6"),
    *row(State.OPC_READY, m.ProvisionCalled, State.PROVISIONING, m.Provision, rules="A-PROV-1 A-PROV-4"),
)

# A tap from 0.4.0: one call; the SDK asks the app's OpcProvider for the OPC data.
PROVIDER = (
    *row(State.TAPPED, m.ProvisionWithProviderCalled, State.ORCHESTRATING, m.ProvisionWithProvider, rules="A-PROV-2"),
    *row(State.ORCHESTRATING, m.FetchOpcCalled, State.FETCHING_OPC, m.FetchOpc, rules="A-OPC-1 API-2"),
    *row(State.ORCHESTRATING, m.ProvisionFailure, State.FAILED, assumed(m.EnableButton), rules="A-PROV-3 A-BTN-1"),
    *row(State.FETCHING_OPC, m.OpcReceived, State.PROVISIONING, m.ReturnOpc, rules="A-OPC-1 API-11"),
    *row(State.FETCHING_OPC, m.OpcFailed, State.PROVISIONING, m.ReturnNoOpc, rules="A-OPC-1"),
    *row(State.FETCHING_OPC, m.ProviderFailed, State.PROVISIONING, m.ReturnNoOpc, rules="A-OPC-1"),
)

# The wallet provider's flow has run, and the app asks once more.
#
# CanBeProvisioned for a card that was just added is a card configuration issue, to be reported (A-CAN-6). The button is
# shown all the same (A-CAN-1): an app cannot tell such a card from one whose identity check is pending; provisioning
# again completes that check (sdk-a).
OUTCOME = (
    *row(State.PROVISIONING, m.ProvisionSuccess, State.ADDED, m.HandToApp, rules="A-PROV-3"),
    *row(State.PROVISIONING, m.ProvisionFailure, State.FAILED, assumed(m.EnableButton), rules="A-PROV-3 A-BTN-1"),
    *row(State.ADDED, m.CanProvisionCalled, State.CONFIRMING, m.AskCanProvision, rules="A-CAN-2", source="assumed"),
    *row(State.CONFIRMING, m.AlreadyExistsInWallet, State.IN_WALLET, m.HideButton, rules="A-CAN-2"),
    *row(State.CONFIRMING, m.CanBeProvisioned, State.STILL_OFFERED, m.ShowButton, m.ReportToContact,
         rules="A-CAN-1 A-CAN-6"),
    *failing(State.CONFIRMING, State.IN_WALLET),
    *row(State.STILL_OFFERED, m.CanProvisionCalled, State.CONFIRMING, m.AskCanProvision,
         rules="A-CAN-6", source="assumed"),
    *row(State.STILL_OFFERED, m.AddTapped, State.TAPPED, m.DisableButton, m.HandToApp,
         rules="A-BTN-1", source="assumed"),
    *row((State.ADDED, State.STILL_OFFERED), m.Opened, State.FETCHING, m.GetActivationData,
         rules="API-10 REL-7", source="assumed"),
)  # fmt: skip


def mark_deprecated(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """The same rows, those of the two operations that 0.4.0 deprecates marked (A-OUT-1, A-PROV-4)."""
    return tuple(replace(r, deprecated=r.event in (m.CreateSdkOutputCalled, m.ProvisionCalled)) for r in rows)


def add_unguarded_taps(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """The same rows under an app that leaves its button enabled: each tap begins another attempt (A-BTN-1, A-BTN-2)."""
    busy = [state for state in BUSY_A if state in {r.state for r in rows}]
    taps = row(busy, m.AddTapped, State.TAPPED, m.HandToApp, rules="A-BTN-2", source="assumed")
    return (*(r.without(m.DisableButton, m.EnableButton) for r in rows), *taps)


def overlapping(rows: tuple[Row, ...], tap: tuple[Row, ...]) -> tuple[Row, ...]:
    """The same rows, and one for each event of another attempt, which goes on to its own end.

    The table follows one attempt. The document does not say what becomes of two at once, so all of this is assumed.

    Args:
        rows: the rows of one attempt.
        tap: the rows of what a tap begins, `TWO_STEP` or `PROVIDER`; they say what each event leads to.
    """
    # The table's own rows win: only what it has no row for can belong to the attempt that it does not follow.
    known = {(r.state, r.event) for r in rows}
    commands = {r.event: r.without(m.EnableButton).commands for r in tap if r.event is not m.ProvisionFailure}
    commands |= {m.ProvisionSuccess: (), m.ProvisionFailure: ()}
    at_rest = (State.FAILED, State.ADDED, State.CONFIRMING, State.IN_WALLET, State.STILL_OFFERED)
    during = {r.state for r in rows if r.event in commands} | {State.TAPPED, *at_rest}
    pairs = ((state, event) for state in (*BUSY_A, *at_rest) if state in during for event in commands)
    return (*rows, *(_of_another(*pair, commands[pair[1]]) for pair in pairs if pair not in known))


def _of_another(state: State, event: type[m.Event], commands: tuple[type[m.Command], ...]) -> Row:
    """A row for another attempt's event: only a late success changes the state, since the card is there after all."""
    to = state
    if (state, event) == (State.FAILED, m.ProvisionSuccess):
        to, commands = State.ADDED, (m.HandToApp,)
    sources = tuple("assumed" for _ in commands)
    return Row(state, event, to, commands, (*event.rules, "A-BTN-2"), "assumed", sources, of_another_attempt=True)
