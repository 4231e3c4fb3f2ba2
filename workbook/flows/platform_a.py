"""Platform A, as the document has it: the issuer's app, from opening the card to the wallet's answer.

The rows come in parts, and a variant is a sum of parts:

    before 0.4.0    UNTIL_TAP + TWO_STEP + WALLET
    from 0.4.0      UNTIL_TAP + deprecated(TWO_STEP) + PROVIDER + WALLET

An outcome that only a later SDK has, has its rows here like any other: `FactsA.lacks` says which SDK does not have it.
`RAPID_TAPS` is the mistake that the document warns of: an app that does not guard its button.

What is marked `assumed` is our choice: the document does not show that this event happens there, or that this command
follows. The document names the outcomes. It leaves open whether an app may try again after a failure, whether it asks
once more after a success, and what the app shows after most outcomes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum, unique
from typing import get_args

from workbook.flows import messages as m
from workbook.flows.machine import Row, assumed, row

Rows = tuple[Row, ...]
Answers = Mapping[type[m.Event], tuple[type[m.Command], ...]]


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


S = State
FINAL = (S.ADDED, S.IN_WALLET, S.STILL_OFFERED, S.NOT_OFFERED, S.UNAVAILABLE, S.FAILED)
BUSY = (S.TAPPED, S.MAKING_OUTPUT, S.POSTING, S.OPC_READY, S.ORCHESTRATING, S.FETCHING_OPC, S.PROVISIONING)
"""The states in which an attempt is under way, so the button is disabled (A-BTN-1)."""


def failing(state: State, to: State) -> Rows:
    """A row for each failure of canProvision: the document names the failure; we chose to hide the button."""
    outcomes: tuple[type[m.Event], ...] = get_args(m.CanProvisionFailure)
    return tuple(r for event in outcomes for r in row(state, event, to, assumed(m.HideButton), rules=event.rules))


UNTIL_TAP: Rows = (
    *row(S.IDLE, m.Opened, S.FETCHING, m.GetActivationData, rules="FLOW-1 FLOW-2 FLOW-4 API-10"),
    *row(S.FETCHING, m.ActivationDataReceived, S.FETCHED, m.HandToApp, rules="FLOW-1 FLOW-2 API-10"),
    *row(S.FETCHING, m.ActivationDataFailed, S.UNAVAILABLE, assumed(m.HideButton), rules="REL-6"),
    *row(S.FETCHED, m.CreateCalled, S.CREATING, m.CreateProvisioning, rules="A-CREATE-1"),
    *row(S.CREATING, m.CreateSuccess, S.CREATED, m.HandToApp, rules="A-CREATE-1"),
    *row(S.CREATING, m.WalletPayNotSupported, S.UNAVAILABLE, assumed(m.HideButton), rules="A-CREATE-2"),
    *row(S.CREATING, m.InvalidSdkInput, S.UNAVAILABLE, assumed(m.HideButton), rules="A-CREATE-3"),
    *row(S.CREATED, m.CanProvisionCalled, S.CHECKING, m.AskCanProvision, rules="A-CAN-1"),
    *row(S.CHECKING, m.CanBeProvisioned, S.READY, m.ShowButton, rules="A-CAN-1"),
    *row(S.CHECKING, m.AlreadyExistsInWallet, S.IN_WALLET, m.HideButton, rules="A-CAN-2"),
    *failing(S.CHECKING, S.NOT_OFFERED),
    *row(S.READY, m.AddTapped, S.TAPPED, m.DisableButton, m.HandToApp, rules="A-BTN-1"),
    *row(S.FAILED, m.AddTapped, S.TAPPED, m.DisableButton, m.HandToApp, rules="A-BTN-1", source="assumed"),
    *row((S.READY, S.IN_WALLET, S.NOT_OFFERED, S.FAILED), m.CanProvisionCalled, S.CHECKING, m.AskCanProvision,
         rules="A-CAN-1", source="assumed"),
    *row((S.READY, S.IN_WALLET, S.NOT_OFFERED, S.UNAVAILABLE, S.FAILED), m.Opened, S.FETCHING,
         m.GetActivationData, rules="API-10 REL-7", source="assumed"),
)  # fmt: skip
"""Steps 1 to 4: the GET, create, canProvision, and the button that is shown or hidden."""

TWO_STEP: Rows = (
    *row(S.TAPPED, m.CreateSdkOutputCalled, S.MAKING_OUTPUT, m.CreateSdkOutput, rules="A-PROV-1 A-OUT-1"),
    *row(S.MAKING_OUTPUT, m.SdkOutputCreated, S.POSTING, m.PostSdkOutput, rules="A-PROV-1 API-2"),
    *row(S.MAKING_OUTPUT, m.SdkOutputFailed, S.FAILED, m.EnableButton, rules="A-ASYNC-1 A-BTN-1"),
    *row(S.POSTING, m.OpcReceived, S.OPC_READY, m.HandToApp, rules="A-PROV-1 API-11"),
    *row(S.POSTING, m.OpcFailed, S.FAILED, m.EnableButton, rules="A-BTN-1 REL-6"),
    *row(S.OPC_READY, m.ProvisionCalled, S.PROVISIONING, m.Provision, rules="A-PROV-1 A-PROV-4"),
)
"""A tap before 0.4.0: createSdkOutput, the POST, provision with the new sdkInput."""

PROVIDER: Rows = (
    *row(S.TAPPED, m.ProvisionWithProviderCalled, S.ORCHESTRATING, m.ProvisionWithProvider, rules="A-PROV-2"),
    *row(S.ORCHESTRATING, m.FetchOpcCalled, S.FETCHING_OPC, m.FetchOpc, rules="A-OPC-1 API-2"),
    *row(S.ORCHESTRATING, m.ProvisionFailure, S.FAILED, m.EnableButton, rules="A-PROV-3 A-BTN-1"),
    *row(S.FETCHING_OPC, m.OpcReceived, S.PROVISIONING, m.ReturnOpc, rules="A-OPC-1 API-11"),
    *row(S.FETCHING_OPC, m.OpcFailed, S.PROVISIONING, m.ReturnNoOpc, rules="A-OPC-1"),
    *row(S.FETCHING_OPC, m.ProviderFailed, S.PROVISIONING, m.ReturnNoOpc, rules="A-OPC-1"),
)
"""A tap from 0.4.0: one call; the SDK asks the app's OpcProvider for the OPC data."""

WALLET: Rows = (
    *row(S.PROVISIONING, m.ProvisionSuccess, S.ADDED, m.HandToApp, rules="A-PROV-3"),
    *row(S.PROVISIONING, m.ProvisionFailure, S.FAILED, m.EnableButton, rules="A-PROV-3 A-BTN-1"),
    *row(S.ADDED, m.CanProvisionCalled, S.CONFIRMING, m.AskCanProvision, rules="A-CAN-2", source="assumed"),
    *row(S.CONFIRMING, m.AlreadyExistsInWallet, S.IN_WALLET, m.HideButton, rules="A-CAN-2"),
    *row(S.CONFIRMING, m.CanBeProvisioned, S.STILL_OFFERED, m.ShowButton, m.ReportToContact, rules="A-CAN-1 A-CAN-6"),
    *failing(S.CONFIRMING, S.IN_WALLET),
    *row(S.STILL_OFFERED, m.CanProvisionCalled, S.CONFIRMING, m.AskCanProvision, rules="A-CAN-6", source="assumed"),
    *row(S.STILL_OFFERED, m.AddTapped, S.TAPPED, m.DisableButton, m.HandToApp, rules="A-BTN-1", source="assumed"),
    *row((S.ADDED, S.STILL_OFFERED), m.Opened, S.FETCHING, m.GetActivationData, rules="API-10 REL-7", source="assumed"),
)
"""The wallet provider's flow has run, and the app asks once more.

CanBeProvisioned for a card that was just added is a card configuration issue, to be reported (A-CAN-6). The button is
shown all the same (A-CAN-1): an app cannot tell such a card from one whose identity check is pending: another provision
adds that (sdk-a).
"""

RAPID_TAPS: Rows = row(BUSY, m.AddTapped, S.TAPPED, m.HandToApp, rules="A-BTN-2", source="assumed")
"""An app that leaves its button enabled: each further tap begins another attempt on top of the first."""

AT_REST = (S.FAILED, S.ADDED, S.CONFIRMING, S.IN_WALLET, S.STILL_OFFERED)
"""The states in which an outcome of another attempt may still arrive."""

BY_PROVIDER: Answers = {
    m.ProvisionWithProviderCalled: (m.ProvisionWithProvider,),
    m.FetchOpcCalled: (m.FetchOpc,),
    m.OpcReceived: (m.ReturnOpc,),
    m.OpcFailed: (m.ReturnNoOpc,),
    m.ProviderFailed: (m.ReturnNoOpc,),
    m.ProvisionSuccess: (),
    m.ProvisionFailure: (),
}
BY_TWO_STEPS: Answers = {
    m.CreateSdkOutputCalled: (m.CreateSdkOutput,),
    m.SdkOutputCreated: (m.PostSdkOutput,),
    m.SdkOutputFailed: (),
    m.OpcReceived: (m.HandToApp,),
    m.OpcFailed: (),
    m.ProvisionCalled: (m.Provision,),
    m.ProvisionSuccess: (),
    m.ProvisionFailure: (),
}
"""The events of an attempt that the table does not follow, and the commands that they lead to: each attempt runs to its
own end."""

GUARD = (m.DisableButton, m.EnableButton)
"""The commands that an app without a guarded button leaves out (A-BTN-1)."""

DEPRECATED_CALLS = (m.CreateSdkOutputCalled, m.ProvisionCalled)
"""The two operations that 0.4.0 deprecates (A-OUT-1, A-PROV-4)."""


def deprecated(rows: Rows) -> Rows:
    """The same rows, those of the deprecated calls marked: still there, and advised against."""
    return tuple(replace(r, deprecated=r.event in DEPRECATED_CALLS) for r in rows)


BEFORE: Rows = UNTIL_TAP + TWO_STEP + WALLET
FROM_0_4_0: Rows = UNTIL_TAP + deprecated(TWO_STEP) + PROVIDER + WALLET


def unguarded(rows: Rows) -> Rows:
    """The same rows under an app that leaves its button alone, so that every tap comes through (A-BTN-2)."""
    known = {r.state for r in rows}
    return (*(r.without(*GUARD) for r in rows), *(r for r in RAPID_TAPS if r.state in known))


def overlapping(rows: Rows, answers: Answers) -> Rows:
    """The same rows, and one for each event of another attempt; only a late success changes the state.

    The table follows one attempt. The document does not say what becomes of two at once, so all of this is assumed.
    """
    # The table's own rows win: only what it has no row for can belong to the attempt that it does not follow.
    known = {(r.state, r.event) for r in rows}
    own = {r.state for r in rows if r.event in answers} | {S.TAPPED, *AT_REST}
    each = ((state, event) for state in (*BUSY, *AT_REST) if state in own for event in answers)
    return (*rows, *(_beside(*one, answers[one[1]]) for one in each if one not in known))


def _beside(state: State, event: type[m.Event], commands: tuple[type[m.Command], ...]) -> Row:
    """A row for another attempt; a card that is added after a failure is added all the same."""
    late = (state, event) == (S.FAILED, m.ProvisionSuccess)
    to, then = (S.ADDED, (m.HandToApp,)) if late else (state, commands)
    rules, ours = (*event.rules, "A-BTN-2"), ("assumed",) * len(then)
    return Row(state, event, to, then, rules, "assumed", ours, beside=True)
