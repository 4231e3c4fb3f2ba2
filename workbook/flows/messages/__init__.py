"""The vocabulary that flows and simulation share: what happened, and what is asked for.

Two kinds of message, each the other's counterpart:

- an *event* is a fact that the issuer's app learns: a tap, a call its own code makes, an SDK's outcome;
- a *command* is a request that a table hands out: to the back end, the SDK, or the app's own screen.

An SDK outcome is the very event that the tables branch on, under the document's own name in this
package's spelling. Values travel as they are: opaque data keeps its own type, whose text form is
redacted, so nothing here ever needs to look inside. Only the standard library is imported.
"""

from __future__ import annotations

from workbook.flows.messages.aside import ApiAnswered, ApiFailed, ApiRequested, Noted, VerificationPending, WalletAsked
from workbook.flows.messages.base import Actor, Command, Event, Message
from workbook.flows.messages.relay import (
    ActivationDataFailed,
    ActivationDataReceived,
    GetActivationData,
    OpcFailed,
    OpcReceived,
    PostSdkOutput,
)
from workbook.flows.messages.screen import (
    AddTapped,
    DisableButton,
    EnableButton,
    HideButton,
    Opened,
    ReportToContact,
    ShowButton,
)
from workbook.flows.messages.sdk_a import (
    AlreadyExistsInWallet,
    ApiError,
    AskCanProvision,
    CanBeProvisioned,
    CanProvisionCalled,
    CanProvisionError,
    CreateCalled,
    CreateProvisioning,
    CreateSdkOutput,
    CreateSdkOutputCalled,
    CreateSuccess,
    FetchOpc,
    FetchOpcCalled,
    HandToApp,
    InvalidSdkInput,
    Provision,
    ProvisionCalled,
    ProvisionFailure,
    ProvisionSuccess,
    ProvisionWithProvider,
    ProvisionWithProviderCalled,
    ReturnNoOpc,
    ReturnOpc,
    SdkOutputCreated,
    SdkOutputFailed,
    UnknownFailure,
    WalletPayNotSupported,
)

__all__ = [
    "ActivationDataFailed",
    "ActivationDataReceived",
    "Actor",
    "AddTapped",
    "AlreadyExistsInWallet",
    "ApiAnswered",
    "ApiError",
    "ApiFailed",
    "ApiRequested",
    "AskCanProvision",
    "CanBeProvisioned",
    "CanProvisionCalled",
    "CanProvisionError",
    "Command",
    "CreateCalled",
    "CreateProvisioning",
    "CreateSdkOutput",
    "CreateSdkOutputCalled",
    "CreateSuccess",
    "DisableButton",
    "EnableButton",
    "Event",
    "FetchOpc",
    "FetchOpcCalled",
    "GetActivationData",
    "HandToApp",
    "HideButton",
    "InvalidSdkInput",
    "Message",
    "Noted",
    "OpcFailed",
    "OpcReceived",
    "Opened",
    "PostSdkOutput",
    "Provision",
    "ProvisionCalled",
    "ProvisionFailure",
    "ProvisionSuccess",
    "ProvisionWithProvider",
    "ProvisionWithProviderCalled",
    "ReportToContact",
    "ReturnNoOpc",
    "ReturnOpc",
    "SdkOutputCreated",
    "SdkOutputFailed",
    "ShowButton",
    "UnknownFailure",
    "VerificationPending",
    "WalletAsked",
    "WalletPayNotSupported",
]
