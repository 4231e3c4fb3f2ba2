"""What passes between the app and platform A's SDK; an outcome bears the document's own name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from workbook.flows.messages.base import Actor, Command, Event


@dataclass(frozen=True, slots=True)
class HandToApp(Command):
    """The app's own code runs now; what it does next is the event that follows."""

    arrow = False
    sender, receiver, says = Actor.APP, Actor.APP, "the app's own code runs"


@dataclass(frozen=True, slots=True)
class CreateCalled(Event):
    """The app calls CardProvisioning.create (A-CREATE-1)."""

    sender, receiver, says = Actor.APP, Actor.SDK, "CardProvisioning.create(sdkInput, activityProvider)"
    rules = ("A-CREATE-1",)
    sdk_input: Any


@dataclass(frozen=True, slots=True)
class CreateProvisioning(Command):
    """The SDK builds its client from sdkInput (A-CREATE-1)."""

    arrow = False
    sender, receiver, says = Actor.APP, Actor.SDK, "create"
    rules = ("A-CREATE-1",)
    sdk_input: Any


@dataclass(frozen=True, slots=True)
class CreateSuccess(Event):
    """Success: carries the cardProvisioning instance (A-CREATE-1)."""

    sender, receiver, says = Actor.SDK, Actor.APP, "Success(cardProvisioning)"
    rules = ("A-CREATE-1",)
    card_provisioning: Any = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class WalletPayNotSupported(Event):
    """Failed.WalletPayNotSupported: the wallet payment service is not supported (A-CREATE-2)."""

    sender, receiver, says = Actor.SDK, Actor.APP, "Failed.WalletPayNotSupported"
    rules = ("A-CREATE-2",)


@dataclass(frozen=True, slots=True)
class InvalidSdkInput(Event):
    """Failed.InvalidSdkInput: `why` is the simulator's explanation; the real SDK gives none (A-CREATE-3)."""

    sender, receiver, says = Actor.SDK, Actor.APP, "Failed.InvalidSdkInput"
    rules = ("A-CREATE-3",)
    why: str = ""


@dataclass(frozen=True, slots=True)
class CanProvisionCalled(Event):
    """The app calls canProvision (A-CAN-1)."""

    sender, receiver, says = Actor.APP, Actor.SDK, "canProvision()"
    rules = ("A-CAN-1",)


@dataclass(frozen=True, slots=True)
class AskCanProvision(Command):
    """The SDK finds out whether the card can be added (A-CAN-1)."""

    arrow = False
    sender, receiver, says = Actor.APP, Actor.SDK, "can it be added?"
    rules = ("A-CAN-1",)


@dataclass(frozen=True, slots=True)
class CanBeProvisioned(Event):
    """CanBeProvisioned: show the add button (A-CAN-1)."""

    sender, receiver, says = Actor.SDK, Actor.APP, "CanBeProvisioned"
    rules = ("A-CAN-1",)


@dataclass(frozen=True, slots=True)
class AlreadyExistsInWallet(Event):
    """CannotBeProvisioned.AlreadyExistsInWallet: hide the add button (A-CAN-2)."""

    sender, receiver, says = Actor.SDK, Actor.APP, "CannotBeProvisioned.AlreadyExistsInWallet"
    rules = ("A-CAN-2",)


@dataclass(frozen=True, slots=True)
class CanProvisionError(Event):
    """CannotBeProvisioned.Error: carries a throwable (A-CAN-3)."""

    sender, receiver, says = Actor.SDK, Actor.APP, "CannotBeProvisioned.Error"
    rules = ("A-CAN-3",)
    throwable: str


@dataclass(frozen=True, slots=True)
class UnknownFailure(Event):
    """CannotBeProvisioned.UnknownFailure (A-CAN-4)."""

    sender, receiver, says = Actor.SDK, Actor.APP, "CannotBeProvisioned.UnknownFailure"
    rules = ("A-CAN-4",)


@dataclass(frozen=True, slots=True)
class ApiError(Event):
    """CannotBeProvisioned.ApiError: the wallet provider API's statusCode; later variant only (A-CAN-5)."""

    sender, receiver, says = Actor.SDK, Actor.APP, "CannotBeProvisioned.ApiError"
    rules = ("A-CAN-5",)
    status_code: int


@dataclass(frozen=True, slots=True)
class CreateSdkOutputCalled(Event):
    """The app calls createSdkOutput, as before 0.4.0 (A-OUT-1)."""

    sender, receiver, says = Actor.APP, Actor.SDK, "createSdkOutput()"
    rules = ("A-OUT-1",)


@dataclass(frozen=True, slots=True)
class CreateSdkOutput(Command):
    """The SDK makes an sdkOutput (A-OUT-1)."""

    arrow = False
    sender, receiver, says = Actor.APP, Actor.SDK, "make an sdkOutput"
    rules = ("A-OUT-1",)


@dataclass(frozen=True, slots=True)
class SdkOutputCreated(Event):
    """CreateSdkOutputResult with an sdkOutput for the POST (A-OUT-1)."""

    sender, receiver, says = Actor.SDK, Actor.APP, "sdkOutput"
    rules = ("A-OUT-1",)
    payment_instrument_id: str
    sdk_output: Any


@dataclass(frozen=True, slots=True)
class SdkOutputFailed(Event):
    """CreateSdkOutputResult without an sdkOutput. That it can fail is stated, its fields are not shown."""

    sender, receiver, says = Actor.SDK, Actor.APP, "no sdkOutput"
    rules = ("A-ASYNC-1",)
    why: str = ""


@dataclass(frozen=True, slots=True)
class ProvisionCalled(Event):
    """The app calls provision in the form before 0.4.0, with the POST's sdkInput (A-PROV-1, A-PROV-4)."""

    sender, receiver, says = Actor.APP, Actor.SDK, "provision(sdkInput, cardDisplayName, cardAddress)"
    rules = ("A-PROV-1", "A-PROV-4")
    sdk_input: Any
    card_display_name: str
    card_address: Any


@dataclass(frozen=True, slots=True)
class Provision(Command):
    """The SDK has the wallet add the card with this OPC data (A-PROV-3)."""

    arrow = False
    sender, receiver, says = Actor.APP, Actor.SDK, "provision"
    rules = ("A-PROV-3",)
    sdk_input: Any
    card_display_name: str
    card_address: Any


@dataclass(frozen=True, slots=True)
class ProvisionWithProviderCalled(Event):
    """The app calls provision in the form from 0.4.0, with an OpcProvider (A-PROV-2)."""

    sender, receiver, says = Actor.APP, Actor.SDK, "provision(cardDisplayName, cardAddress, opcProvider)"
    rules = ("A-PROV-2",)
    card_display_name: str
    card_address: Any


@dataclass(frozen=True, slots=True)
class ProvisionWithProvider(Command):
    """The SDK orchestrates: it will ask the app's OpcProvider for the OPC data (A-PROV-2)."""

    arrow = False
    sender, receiver, says = Actor.APP, Actor.SDK, "orchestrate the fetch"
    rules = ("A-PROV-2",)
    card_display_name: str
    card_address: Any


@dataclass(frozen=True, slots=True)
class FetchOpcCalled(Event):
    """The SDK calls the app's OpcProvider.fetchOpc (A-OPC-1)."""

    sender, receiver, says = Actor.SDK, Actor.APP, "fetchOpc(paymentInstrumentId, sdkOutput)"
    rules = ("A-OPC-1",)
    payment_instrument_id: str
    sdk_output: Any


@dataclass(frozen=True, slots=True)
class FetchOpc(Command):
    """The app's OpcProvider runs: it asks the back end for the POST (A-OPC-1, API-2)."""

    sender, receiver, says = Actor.APP, Actor.BACK_END, "sdkOutput"
    rules = ("A-OPC-1", "API-2", "API-11", "API-13")
    payment_instrument_id: str
    sdk_output: Any


@dataclass(frozen=True, slots=True)
class ReturnOpc(Command):
    """fetchOpc returns the OPC data to the SDK (A-OPC-1)."""

    sender, receiver, says = Actor.APP, Actor.SDK, "OPC data"
    rules = ("A-OPC-1", "API-11")
    sdk_input: Any


@dataclass(frozen=True, slots=True)
class ReturnNoOpc(Command):
    """fetchOpc ended without OPC data. What the SDK makes of that is not in the document (GAP-4)."""

    sender, receiver, says = Actor.APP, Actor.SDK, "no OPC data"
    rules = ("A-OPC-1",)
    reason: str


@dataclass(frozen=True, slots=True)
class ProvisionSuccess(Event):
    """ProvisionResult.Success: the wallet provider's flow has completed (A-PROV-3)."""

    sender, receiver, says = Actor.SDK, Actor.APP, "ProvisionResult.Success"
    rules = ("A-PROV-3",)


@dataclass(frozen=True, slots=True)
class ProvisionFailure(Event):
    """ProvisionResult.Failure. Its fields are not shown (GAP-4).

    `reason` is one of the public reference's case names (sdk-a); `why` is the simulator's explanation.
    """

    sender, receiver, says = Actor.SDK, Actor.APP, "ProvisionResult.Failure"
    rules = ("A-PROV-3",)
    reason: str = ""
    why: str = ""
