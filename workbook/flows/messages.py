"""The vocabulary that flows and simulation share: what happened, and what is asked for.

Two kinds of message, each the other's counterpart:

- an *event* is a fact that the issuer's app learns: a tap, a call its own code makes, an SDK's outcome;
- a *command* is a request that a table hands out: to the back end, the SDK, or the app's own screen.

An SDK outcome is the very event that the tables branch on, under the document's own name in this
module's spelling. Values travel as they are: opaque data keeps its own type, whose text form is
redacted, so nothing here ever needs to look inside. Only the standard library is imported.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar


class Actor(StrEnum):
    """Who speaks and who listens, in the order of a sequence diagram's columns."""

    CARDHOLDER = "Cardholder"
    APP = "App"
    SDK = "SDK"
    WALLET = "Wallet"
    BACK_END = "Back end"
    API = "API"


@dataclass(frozen=True, slots=True)
class Message:
    """One sentence between two actors. `says` is the label of its arrow, in the document's spelling."""

    sender: ClassVar[Actor]
    receiver: ClassVar[Actor]
    says: ClassVar[str]
    rules: ClassVar[tuple[str, ...]] = ()
    arrow: ClassVar[bool] = True
    """False for a request that only repeats the call just drawn, so that no arrow stands twice."""


@dataclass(frozen=True, slots=True)
class Event(Message):
    """A fact. The opposite of a `Command`: it can be refused, but never undone."""


@dataclass(frozen=True, slots=True)
class Command(Message):
    """A request. The opposite of an `Event`: whoever carries it out answers with events."""


# ---------------------------------------------------------------- the cardholder


@dataclass(frozen=True, slots=True)
class Opened(Event):
    """The cardholder opened the card's page in the issuer's app (FLOW-4)."""

    sender, receiver, says = Actor.CARDHOLDER, Actor.APP, "opens the card"
    rules = ("FLOW-4",)
    payment_instrument_id: str


@dataclass(frozen=True, slots=True)
class AddTapped(Event):
    """The cardholder tapped the add button (A-BTN-1)."""

    sender, receiver, says = Actor.CARDHOLDER, Actor.APP, "taps Add"
    rules = ("A-BTN-1",)


# ---------------------------------------------------------------- the back end and the API


@dataclass(frozen=True, slots=True)
class GetActivationData(Command):
    """Ask the back end for activation data; it makes the GET (API-1, API-10)."""

    sender, receiver, says = Actor.APP, Actor.BACK_END, "needs activation data"
    rules = ("API-1", "API-10", "API-13")
    payment_instrument_id: str


@dataclass(frozen=True, slots=True)
class ActivationDataReceived(Event):
    """The back end handed over the GET's sdkInput (FLOW-1, step 2)."""

    sender, receiver, says = Actor.BACK_END, Actor.APP, "sdkInput"
    rules = ("API-10",)
    sdk_input: Any


@dataclass(frozen=True, slots=True)
class ActivationDataFailed(Event):
    """The back end could not get activation data; `reason` is neutral (REL-6, REL-9)."""

    sender, receiver, says = Actor.BACK_END, Actor.APP, "no activation data"
    rules = ("REL-6",)
    reason: str


@dataclass(frozen=True, slots=True)
class PostSdkOutput(Command):
    """Ask the back end to exchange sdkOutput; it makes the POST (API-2, API-11)."""

    sender, receiver, says = Actor.APP, Actor.BACK_END, "sdkOutput"
    rules = ("API-2", "API-11", "API-13")
    payment_instrument_id: str
    sdk_output: Any


@dataclass(frozen=True, slots=True)
class OpcReceived(Event):
    """The back end handed over the POST's sdkInput, on platform A the OPC data (API-11)."""

    sender, receiver, says = Actor.BACK_END, Actor.APP, "sdkInput (OPC data)"
    rules = ("API-11",)
    sdk_input: Any


@dataclass(frozen=True, slots=True)
class OpcFailed(Event):
    """The back end, or the app's own OpcProvider, produced no OPC data."""

    sender, receiver, says = Actor.BACK_END, Actor.APP, "no OPC data"
    rules = ("REL-6",)
    reason: str


# ---------------------------------------------------------------- platform A: create


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


# ---------------------------------------------------------------- platform A: canProvision


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


# ---------------------------------------------------------------- platform A: on tap


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


# ---------------------------------------------------------------- the app's own screen


@dataclass(frozen=True, slots=True)
class ShowButton(Command):
    """Show the add button, enabled (A-CAN-1)."""

    sender, receiver, says = Actor.APP, Actor.CARDHOLDER, "shows Add"
    rules = ("A-CAN-1",)


@dataclass(frozen=True, slots=True)
class HideButton(Command):
    """Hide the add button (A-CAN-2)."""

    sender, receiver, says = Actor.APP, Actor.CARDHOLDER, "hides Add"
    rules = ("A-CAN-2",)


@dataclass(frozen=True, slots=True)
class DisableButton(Command):
    """Disable the add button from the moment provisioning begins (A-BTN-1)."""

    sender, receiver, says = Actor.APP, Actor.CARDHOLDER, "disables Add"
    rules = ("A-BTN-1",)


@dataclass(frozen=True, slots=True)
class EnableButton(Command):
    """Enable the add button again once the flow has completed or was terminated (A-BTN-1)."""

    sender, receiver, says = Actor.APP, Actor.CARDHOLDER, "enables Add"
    rules = ("A-BTN-1",)


@dataclass(frozen=True, slots=True)
class ReportToContact(Command):
    """Report the card to the operator's implementation contact (A-CAN-6)."""

    sender, receiver, says = Actor.APP, Actor.CARDHOLDER, "card configuration issue: report it"
    rules = ("A-CAN-6",)


# ---------------------------------------------------------------- seen on the way, never stepped by a table


@dataclass(frozen=True, slots=True)
class ApiRequested(Event):
    """The back end sent a request to the HTTP API (API-1, API-2)."""

    sender, receiver, says = Actor.BACK_END, Actor.API, "HTTP request"
    rules = ("API-4", "API-13")
    method: str
    payment_instrument_id: str
    sdk_output: Any = None


@dataclass(frozen=True, slots=True)
class ApiAnswered(Event):
    """The HTTP API answered.

    `told` is what an error answer says in its own words; `basis` says what the answer rests on (a rule or
    a source tag).
    """

    sender, receiver, says = Actor.API, Actor.BACK_END, "HTTP answer"
    rules = ("API-9",)
    status: int
    sdk_input: Any = None
    told: str = ""
    basis: str = ""


@dataclass(frozen=True, slots=True)
class WalletAsked(Event):
    """The SDK handed the card to the wallet, whose own flow runs now (A-PROV-3)."""

    sender, receiver, says = Actor.SDK, Actor.WALLET, "add the card"
    rules = ("A-PROV-3",)


@dataclass(frozen=True, slots=True)
class VerificationPending(Event):
    """The wallet holds the card, which waits for an identity check: canProvision's answer is on purpose (sdk-a)."""

    sender, receiver, says = Actor.WALLET, Actor.SDK, "the card waits for an identity check"
    rules = ("A-CAN-6",)


@dataclass(frozen=True, slots=True)
class ApiFailed(Event):
    """The call ended without an answer that could be used; `error` is the client's error class."""

    sender, receiver, says = Actor.API, Actor.BACK_END, "no usable answer"
    rules = ("API-9",)
    error: str
    message: str


@dataclass(frozen=True, slots=True)
class Noted(Event):
    """A remark that a reader of the trace needs, such as where the real world ends."""

    sender, receiver, says = Actor.APP, Actor.APP, "note"
    text: str
