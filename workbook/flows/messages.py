"""Every message: what can happen in a flow, and what a table can ask for.

A message goes from one actor to another, and is one of two kinds:

- an *event* is a fact that the issuer's app or the wallet learns: a tap, a call of the app's code, an SDK's outcome;
- a *command* is a request of a table: to the back end, to the SDK, or to the screen.

An SDK's outcome is the event that the tables branch on, and has the document's own name in Python's spelling. Opaque
data keeps its own type in a message, and that type's repr is redacted (REL-3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

from workbook.values import lookup


class Actor(StrEnum):
    """The sender or the receiver of a message, in the order of a sequence diagram's columns."""

    CARDHOLDER = "Cardholder"
    WALLET_APP = "Wallet app"
    APP = "App"
    EXTENSION = "Extension"
    STORAGE = "Storage"
    SDK = "SDK"
    WALLET = "Wallet"
    BACK_END = "Back end"
    API = "API"


@dataclass(frozen=True, slots=True)
class Message:
    """One sentence between two actors.

    `says` is the label of its arrow, in the document's spelling. `source` is the tag of where the message itself is
    known from (`workbook.rules.Basis`); the values that it carries have sources of their own (`VALUES`).
    """

    sender: ClassVar[Actor]
    receiver: ClassVar[Actor]
    says: ClassVar[str]
    rules: ClassVar[tuple[str, ...]] = ()
    source: ClassVar[str] = "spec"
    sources: ClassVar[Mapping[str, str]] = {}
    """The sources of its values, where `VALUES` has another one for the field's name."""
    arrow: ClassVar[bool] = True
    """False for a request that only repeats the call just drawn, so that no arrow is drawn twice."""


VALUES: Mapping[str, str] = {
    "attempts": "", "call": "spec", "brand": "spec", "can_add_to_phone": "sdk-b", "can_add_to_watch": "sdk-b",
    "card_address": "spec", "card_display_name": "spec", "cards": "", "case": "sdk-b", "ending": "", "entries": "",
    "error": "", "fault": "", "found": "", "hidden_by_scheme": "sdk-b", "identifier": "spec", "instance": "",
    "instances": "", "is_watch_activated": "spec", "location": "", "message": "", "method": "spec", "names": "",
    "out_of_reach": "sdk-b", "pause": "", "payment_instrument_id": "spec", "phone": "sdk-b", "problems": "wallet",
    "reason": "assumed", "request": "assumed", "requires_authentication": "spec", "sdk_input": "spec",
    "sdk_output": "spec", "seconds": "", "status": "", "status_code": "wallet inferred", "succeeded": "spec",
    "text": "", "throwable": "assumed", "told": "", "took": "", "watch": "sdk-b", "where": "", "why": "assumed",
    "with_key": "",
}  # fmt: skip
"""The source of each value that a message carries, by the field's name; a class whose value has another one names it
in `sources`. An empty text marks what a run itself counted, chose or played, and what has its source beside it
(`basis`): it claims nothing of the real thing. A name that is missing here fails the first record that has it."""


@dataclass(frozen=True, slots=True)
class Event(Message):
    """A fact. The opposite of a `Command`: it can be refused, but never undone."""


@dataclass(frozen=True, slots=True)
class Command(Message):
    """A request. The opposite of an `Event`: its port carries it out and answers with events."""


@dataclass(frozen=True, slots=True)
class Aside(Event):
    """A fact that is recorded and that no table steps; `kind` is the kind of its record."""

    kind: ClassVar[str] = "exchange"


# ---------------------------------------------------------------------- the app, on either platform

# The add button belongs to both platforms; the rules of its messages are those of the row that asks for them.


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


@dataclass(frozen=True, slots=True)
class ShowButton(Command):
    """Show the add button, enabled (A-CAN-1)."""

    sender, receiver, says = Actor.APP, Actor.CARDHOLDER, "shows Add"


@dataclass(frozen=True, slots=True)
class HideButton(Command):
    """Hide the add button (A-CAN-2)."""

    sender, receiver, says = Actor.APP, Actor.CARDHOLDER, "hides Add"


@dataclass(frozen=True, slots=True)
class DisableButton(Command):
    """Disable the add button from the moment provisioning begins (A-BTN-1)."""

    sender, receiver, says = Actor.APP, Actor.CARDHOLDER, "disables Add"


@dataclass(frozen=True, slots=True)
class EnableButton(Command):
    """Enable the add button again once the flow has completed or was terminated (A-BTN-1)."""

    sender, receiver, says = Actor.APP, Actor.CARDHOLDER, "enables Add"


@dataclass(frozen=True, slots=True)
class ReportToContact(Command):
    """Report the card to the operator's implementation contact (A-CAN-6)."""

    sender, receiver, says = Actor.APP, Actor.CARDHOLDER, "was added, is still offered: report it"
    rules = ("A-CAN-6",)


@dataclass(frozen=True, slots=True)
class ShowAdded(Command):
    """The app's screen says 'Added to Wallet' (B-FIN-2)."""

    sender, receiver, says = Actor.APP, Actor.CARDHOLDER, "shows “Added to Wallet”"
    rules = ("B-FIN-2",)


@dataclass(frozen=True, slots=True)
class ShowAvailable(Command):
    """The app's screen says 'Available in Wallet' (B-FIN-2)."""

    sender, receiver, says = Actor.APP, Actor.CARDHOLDER, "shows “Available in Wallet”"
    rules = ("B-FIN-2",)


@dataclass(frozen=True, slots=True)
class TellFailure(Command):
    """The app tells the cardholder that the card was not added (practice; the document is silent)."""

    sender, receiver, says = Actor.APP, Actor.CARDHOLDER, "says: not added"
    source = "assumed"
    rules = ("B-FIN-1", "REL-6")


# Facts that are recorded and that no table steps.


@dataclass(frozen=True, slots=True)
class ApiRequested(Aside):
    """The back end sent a request to the HTTP API (API-1, API-2)."""

    sender, receiver, says = Actor.BACK_END, Actor.API, "HTTP request"
    rules: ClassVar[tuple[str, ...]] = ("API-4", "API-13")
    method: str
    payment_instrument_id: str
    sdk_output: Any = None


@dataclass(frozen=True, slots=True)
class ApiAnswered(Aside):
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
class WalletAsked(Aside):
    """The SDK handed the card to the wallet, whose own flow runs now (A-PROV-3)."""

    sender, receiver, says = Actor.SDK, Actor.WALLET, "add the card"
    rules = ("A-PROV-3",)


@dataclass(frozen=True, slots=True)
class VerificationPending(Aside):
    """The wallet holds the card, which waits for an identity check: canProvision's answer is on purpose (sdk-a)."""

    sender, receiver, says = Actor.WALLET, Actor.SDK, "the card waits for an identity check"
    source = "sdk-a"
    rules = ("A-CAN-6",)


@dataclass(frozen=True, slots=True)
class ApiFailed(Aside):
    """The call ended without an answer that could be used; `error` is the client's error class."""

    sender, receiver, says = Actor.API, Actor.BACK_END, "no usable answer"
    rules: ClassVar[tuple[str, ...]] = ("API-9",)
    error: str
    message: str


@dataclass(frozen=True, slots=True)
class Noted(Aside):
    """A remark that a reader of the trace needs, such as where the real world ends."""

    kind = "note"
    sender, receiver, says = Actor.APP, Actor.APP, "note"
    text: str


@dataclass(frozen=True, slots=True)
class ApiAskedAgain(ApiRequested):
    """The back end sent the same request again by itself, `pause` seconds after the attempt before (REL-1)."""

    rules = ("API-4", "API-13", "REL-1")
    pause: float = 0.0


@dataclass(frozen=True, slots=True)
class AnswerLost(ApiFailed):
    """No answer arrived, or not all of it; `fault` was played. `error` is empty while the call goes on."""

    says = "no answer"
    rules = ("API-9", "REL-1")
    fault: str = ""


@dataclass(frozen=True, slots=True)
class AnswerRefused(ApiFailed):
    """A 200 arrived, and the back end refused it because it is of no use; `fault` was played (REL-6)."""

    says = "no usable answer"
    rules = ("API-9", "REL-6")
    fault: str = ""


@dataclass(frozen=True, slots=True)
class RedirectFollowed(Aside):
    """The back end sent the request to where a redirect pointed; `with_key`: the API key went along (REL-2)."""

    sender, receiver, says = Actor.BACK_END, Actor.BACK_END, "follows the redirect"
    rules = ("REL-2",)
    location: str
    with_key: bool


@dataclass(frozen=True, slots=True)
class ApiCallEnded(Aside):
    """The back end's call is over: how many attempts it made, what they took in seconds, and what it came to.

    `ending` is `sdkInput`, or the class of the error.
    """

    arrow = False
    sender, receiver, says = Actor.BACK_END, Actor.BACK_END, "the call is over"
    rules = ("REL-5",)
    method: str
    attempts: int
    took: float
    ending: str


# What passes between the app and its back end, which alone speaks to the HTTP API (API-13).


class HoldsSdkInput:
    """What every message has that holds an sdkInput bare, as platform B takes it: a text form without it (REL-3)."""

    __slots__ = ()
    sdk_input: Any

    def __repr__(self) -> str:
        redacts_itself = callable(getattr(self.sdk_input, "summary", None))
        held = repr(self.sdk_input) if redacts_itself else f"<{type(self.sdk_input).__name__}>"
        return f"{type(self).__name__}(sdk_input={held})"


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


@dataclass(frozen=True, slots=True)
class SaveSdkInput(Command):
    """The app stores sdkInput after its own network call, for the extension's status() (X-CACHE-1)."""

    sender, receiver, says = Actor.APP, Actor.STORAGE, "saves sdkInput's bytes"
    rules = ("X-CACHE-1",)
    sdk_input: Any


@dataclass(frozen=True, slots=True, repr=False)
class SdkInputReceived(HoldsSdkInput, Event):
    """The back end handed over the POST's sdkInput (B-DEL-3, API-11)."""

    sender, receiver, says = Actor.BACK_END, Actor.APP, "sdkInput"
    rules = ("B-DEL-3", "API-11")
    sdk_input: Any


@dataclass(frozen=True, slots=True)
class NoSdkInput(Event):
    """No sdkInput can be produced; `reason` is neutral (B-DEL-3, REL-6)."""

    sender, receiver, says = Actor.BACK_END, Actor.APP, "no sdkInput"
    rules = ("B-DEL-3", "REL-6")
    reason: str


# ---------------------------------------------------------------------- platform A


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
    sources: ClassVar[Mapping[str, str]] = {"reason": "sdk-a"}
    rules = ("A-PROV-3",)
    reason: str = ""
    why: str = ""


# ---------------------------------------------------------------------- platform B, in the app

# The document shows that the initialiser and `start` can fail and not how. `case` is one of the public interface's
# names (sdk-b); `why` is the simulator's explanation.


@dataclass(frozen=True, slots=True, repr=False)
class ServiceCalled(HoldsSdkInput, Event):
    """The app makes a ProvisioningService from sdkInput's bytes (B-INIT-1)."""

    sender, receiver, says = Actor.APP, Actor.SDK, "ProvisioningService(sdkInput)"
    rules = ("B-INIT-1",)
    sdk_input: Any


@dataclass(frozen=True, slots=True, repr=False)
class CreateService(HoldsSdkInput, Command):
    """The SDK builds its service from sdkInput's bytes (B-INIT-1)."""

    arrow = False
    sender, receiver, says = Actor.APP, Actor.SDK, "make the service"
    rules = ("B-INIT-1",)
    sdk_input: Any


@dataclass(frozen=True, slots=True)
class ServiceReady(Event):
    """The service instance (B-INIT-1)."""

    sender, receiver, says = Actor.SDK, Actor.APP, "service"
    rules = ("B-INIT-1",)
    service: Any = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class ServiceRefused(Event):
    """No service can be made of this sdkInput (B-INIT-1; that the initialiser itself fails is inferred)."""

    sender, receiver, says = Actor.SDK, Actor.APP, "no service"
    source = "inferred"
    rules = ("B-INIT-1",)
    case: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class CanAddCardCalled(Event):
    """The app asks canAddCard, as in the earlier variant (B-CAN-1)."""

    sender, receiver, says = Actor.APP, Actor.SDK, "canAddCard()"
    rules = ("B-CAN-1",)


@dataclass(frozen=True, slots=True)
class AskCanAddCard(Command):
    """The SDK looks whether the card can be added (B-CAN-1)."""

    arrow = False
    sender, receiver, says = Actor.APP, Actor.SDK, "can it be added?"
    rules = ("B-CAN-1",)


@dataclass(frozen=True, slots=True)
class WatchActivateCalled(Event):
    """The app activates its one WatchAvailability; `instance` counts those it has made (B-WATCH-1, B-WATCH-2)."""

    sender, receiver, says = Actor.APP, Actor.SDK, "WatchAvailability.activate()"
    rules = ("B-WATCH-1", "B-WATCH-2")
    instance: int


@dataclass(frozen=True, slots=True)
class ActivateWatch(Command):
    """The SDK finds out whether a watch is paired (B-WATCH-1)."""

    arrow = False
    sender, receiver, says = Actor.APP, Actor.SDK, "is a watch paired?"
    rules = ("B-WATCH-1",)
    instance: int


@dataclass(frozen=True, slots=True)
class WatchActivated(Event):
    """activate() returned: True when a watch is paired (B-WATCH-1)."""

    sender, receiver, says = Actor.SDK, Actor.APP, "activate() returned"
    rules = ("B-WATCH-1",)
    is_watch_activated: bool


@dataclass(frozen=True, slots=True)
class CanAddCardDetailsCalled(Event):
    """The app asks canAddCardDetails, as in the later variant (B-CAN-2)."""

    sender, receiver, says = Actor.APP, Actor.SDK, "canAddCardDetails(isWatchActivated)"
    rules = ("B-CAN-2",)
    is_watch_activated: bool


@dataclass(frozen=True, slots=True)
class AskCanAddCardDetails(Command):
    """The SDK looks at the phone, and at the watch when one is activated (B-CAN-2)."""

    arrow = False
    sender, receiver, says = Actor.APP, Actor.SDK, "where can it be added?"
    rules = ("B-CAN-2",)
    is_watch_activated: bool


@dataclass(frozen=True, slots=True)
class CanAddCard(Event):
    """canAddCard is true: show the button. The two places are public knowledge, not the document's (sdk-b)."""

    sender, receiver, says = Actor.SDK, Actor.APP, "canAddCard = true"
    rules = ("B-CAN-1", "B-CAN-2")
    can_add_to_phone: bool | None = None
    can_add_to_watch: bool | None = None


@dataclass(frozen=True, slots=True)
class CannotAddCard(Event):
    """canAddCard is false: the card is in the wallet already, on the phone or on the watch (B-CAN-3)."""

    sender, receiver, says = Actor.SDK, Actor.APP, "canAddCard = false"
    rules = ("B-CAN-3",)


@dataclass(frozen=True, slots=True)
class StartCalled(Event):
    """The app calls start with its delegate and the presenting view controller (B-START-1)."""

    sender, receiver, says = Actor.APP, Actor.SDK, "start(delegate, presentingViewController)"
    rules = ("B-START-1",)


@dataclass(frozen=True, slots=True)
class Start(Command):
    """The SDK presents the wallet's sheet (B-START-1)."""

    arrow = False
    sender, receiver, says = Actor.APP, Actor.SDK, "start"
    rules = ("B-START-1",)


@dataclass(frozen=True, slots=True)
class StartThrew(Event):
    """start threw, and nothing has begun (B-START-1)."""

    sender, receiver, says = Actor.SDK, Actor.APP, "start threw"
    rules = ("B-START-1",)
    case: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class DelegateProvisionCalled(Event):
    """The SDK calls the delegate's provision, as in the earlier variant (B-DEL-1)."""

    sender, receiver, says = Actor.SDK, Actor.APP, "provision(sdkOutput)"
    rules = ("B-DEL-1",)
    sdk_output: Any


@dataclass(frozen=True, slots=True)
class DelegateProvisionWithIdCalled(Event):
    """The SDK calls the delegate's provision, as in the later variant (B-DEL-2)."""

    sender, receiver, says = Actor.SDK, Actor.APP, "provision(sdkOutput, paymentInstrumentId)"
    rules = ("B-DEL-2",)
    sdk_output: Any
    payment_instrument_id: str


@dataclass(frozen=True, slots=True)
class AskDelegate(Command):
    """The app's delegate runs: it has the back end post sdkOutput, for the card that the app knows (B-DEL-3)."""

    sender, receiver, says = Actor.APP, Actor.BACK_END, "sdkOutput"
    rules = ("B-DEL-3", "API-2", "API-11", "API-13")
    sdk_output: Any


@dataclass(frozen=True, slots=True)
class AskDelegateWithId(Command):
    """The app's delegate runs: it has the back end post sdkOutput, for the card that the SDK names (B-DEL-3)."""

    sender, receiver, says = Actor.APP, Actor.BACK_END, "sdkOutput"
    rules = ("B-DEL-3", "API-2", "API-11", "API-13")
    sdk_output: Any
    payment_instrument_id: str


@dataclass(frozen=True, slots=True, repr=False)
class ReturnSdkInput(HoldsSdkInput, Command):
    """The delegate returns sdkInput's bytes to the SDK (B-DEL-3)."""

    sender, receiver, says = Actor.APP, Actor.SDK, "sdkInput"
    rules = ("B-DEL-3", "API-11")
    sdk_input: Any


@dataclass(frozen=True, slots=True)
class ReturnNil(Command):
    """The delegate returns nil (B-DEL-3)."""

    sender, receiver, says = Actor.APP, Actor.SDK, "nil"
    rules = ("B-DEL-3",)
    reason: str


@dataclass(frozen=True, slots=True)
class GiveUp(Command):
    """The wallet stops waiting for the delegate (wallet)."""

    sender, receiver, says = Actor.WALLET, Actor.SDK, "waits no longer"
    source = "wallet"
    rules = ("B-DEL-3",)


@dataclass(frozen=True, slots=True)
class FinishedWithPass(Event):
    """didFinishProvisioning with a pass (B-FIN-1). `where` is the cardholder's choice: phone, watch or both."""

    sender, receiver, says = Actor.SDK, Actor.APP, "didFinishProvisioning(with: pass, error: nil)"
    sources: ClassVar[Mapping[str, str]] = {"where": "wallet"}
    rules = ("B-FIN-1",)
    where: str = ""


@dataclass(frozen=True, slots=True)
class FinishedWithError(Event):
    """didFinishProvisioning with an error (B-FIN-1)."""

    sender, receiver, says = Actor.SDK, Actor.APP, "didFinishProvisioning(with: nil, error: error)"
    rules = ("B-FIN-1",)
    case: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class FinishedWithNeither(Event):
    """didFinishProvisioning with nothing at all: both are optional (B-FIN-1)."""

    sender, receiver, says = Actor.SDK, Actor.APP, "didFinishProvisioning(with: nil, error: nil)"
    rules = ("B-FIN-1",)


@dataclass(frozen=True, slots=True)
class IgnoreLateSdkInput(Aside):
    """The delegate returned after the wallet had stopped waiting; the answer is ignored (wallet)."""

    sender, receiver, says = Actor.APP, Actor.SDK, "returns too late: ignored"
    source = "wallet"
    rules = ("B-DEL-3",)


@dataclass(frozen=True, slots=True)
class WatchSessionTakenOver(Aside):
    """A second WatchAvailability took the phone's watch session away from the first (sdk-b, B-WATCH-2)."""

    sender, receiver, says = Actor.SDK, Actor.APP, "the watch session was taken over"
    source = "sdk-b"
    rules = ("B-WATCH-2",)
    instances: int


@dataclass(frozen=True, slots=True)
class StillMissing(Aside):
    """Why canAddCard is true for a card that was added: where it is missing, or that the scheme hides it (sdk-b)."""

    sender, receiver, says = Actor.WALLET, Actor.SDK, "where the card is missing"
    source = "sdk-b"
    rules = ("B-CAN-3",)
    phone: bool
    watch: bool | None
    hidden_by_scheme: bool


@dataclass(frozen=True, slots=True)
class WalletKitAsked(Aside):
    """The SDK handed the card to the wallet, whose own sheet goes on (B-START-1)."""

    sender, receiver, says = Actor.SDK, Actor.WALLET, "add the card"
    rules = ("B-START-1",)


# ---------------------------------------------------------------------- platform B, from the wallet

# What passes between the wallet app and the extension until the cards are shown. The wallet app is the one on the
# phone, or the one on the watch.


@dataclass(frozen=True, slots=True)
class IssuerListOpened(Event):
    """The cardholder looks in the wallet for apps that offer cards (FLOW-4)."""

    sender, receiver, says = Actor.CARDHOLDER, Actor.WALLET_APP, "opens the list of apps"
    rules = ("FLOW-4",)


@dataclass(frozen=True, slots=True)
class IssuerChosen(Event):
    """The cardholder chooses the issuer's app in the list (X-FLOW-1)."""

    sender, receiver, says = Actor.CARDHOLDER, Actor.WALLET_APP, "chooses the issuer's app"
    rules = ("X-FLOW-1",)


@dataclass(frozen=True, slots=True)
class EntryChosen(Event):
    """The cardholder chooses a card among the pass entries (X-FLOW-1)."""

    sender, receiver, says = Actor.CARDHOLDER, Actor.WALLET_APP, "chooses a card"
    rules = ("X-FLOW-1",)
    identifier: str


@dataclass(frozen=True, slots=True)
class CallStatus(Command):
    """Call status() on a new handler (X-STATUS-1, X-HANDLER-1)."""

    sender, receiver, says = Actor.WALLET_APP, Actor.EXTENSION, "status()"
    rules = ("X-STATUS-1", "X-HANDLER-1")


@dataclass(frozen=True, slots=True)
class EntriesAvailable(Event):
    """status() returned extensionStatus: there are cards to add (X-STATUS-1)."""

    sender, receiver, says = Actor.EXTENSION, Actor.WALLET_APP, "extensionStatus"
    rules = ("X-STATUS-1",)
    requires_authentication: bool


@dataclass(frozen=True, slots=True)
class EntriesUnavailable(Event):
    """status() returned entriesUnavailableExtensionStatus (X-STATUS-2)."""

    sender, receiver, says = Actor.EXTENSION, Actor.WALLET_APP, "entriesUnavailableExtensionStatus"
    rules = ("X-STATUS-2",)


@dataclass(frozen=True, slots=True)
class ExtensionNotFound(Event):
    """There is no extension that the wallet could call; `why` says what is wrong with it (X-PLIST-1)."""

    sender, receiver, says = Actor.EXTENSION, Actor.WALLET_APP, "no such extension"
    source = "inferred"
    rules = ("X-PLIST-1",)
    why: str


@dataclass(frozen=True, slots=True)
class HandlerRaised(Event):
    """The handler's own code failed, or returned what it must not; `error` says how (the handler's mistake)."""

    sender, receiver, says = Actor.EXTENSION, Actor.WALLET_APP, "the handler failed"
    source = "assumed"
    rules = ("X-HANDLER-1",)
    call: str
    error: str


@dataclass(frozen=True, slots=True)
class ListIssuer(Command):
    """The wallet lists the issuer's app, and remembers whether the authorization UI is to be used (X-STATUS-1)."""

    sender, receiver, says = Actor.WALLET_APP, Actor.CARDHOLDER, "lists the issuer's app"
    source = "wallet"
    rules = ("X-STATUS-1",)
    requires_authentication: bool


@dataclass(frozen=True, slots=True)
class HideIssuer(Command):
    """The wallet does not list the issuer's app, and shows the cardholder no reason (X-STATUS-2, X-STATUS-3)."""

    sender, receiver, says = Actor.WALLET_APP, Actor.CARDHOLDER, "does not list the issuer's app"
    source = "wallet"
    rules = ("X-STATUS-2", "X-STATUS-3")


@dataclass(frozen=True, slots=True)
class IgnoreLate(Command):
    """An answer after its time: the wallet ignores it (wallet)."""

    sender, receiver, says = Actor.WALLET_APP, Actor.WALLET_APP, "too late: ignored"
    source = "wallet"
    rules = ("X-STATUS-3", "X-ENTRIES-3")


@dataclass(frozen=True, slots=True)
class CallPassEntries(Command):
    """Call passEntries() on a new handler (X-ENTRIES-1, X-HANDLER-1)."""

    sender, receiver, says = Actor.WALLET_APP, Actor.EXTENSION, "passEntries()"
    rules = ("X-ENTRIES-1", "X-HANDLER-1")


@dataclass(frozen=True, slots=True)
class CallRemotePassEntries(Command):
    """Call remotePassEntries() on a new handler, for the watch (X-ENTRIES-2, X-HANDLER-1)."""

    sender, receiver, says = Actor.WALLET_APP, Actor.EXTENSION, "remotePassEntries()"
    rules = ("X-ENTRIES-2", "X-HANDLER-1")


@dataclass(frozen=True, slots=True)
class CardArtForBrandAsked(Event):
    """The SDK asks the delegate for card art by brand, as in the earlier variant (X-ART-1)."""

    sender, receiver, says = Actor.SDK, Actor.EXTENSION, "cardArt(forBrand)"
    rules = ("X-ART-1",)
    brand: str


@dataclass(frozen=True, slots=True)
class CardArtForIdAsked(Event):
    """The SDK asks the delegate for card art by payment instrument, as in the later variant (X-ART-1)."""

    sender, receiver, says = Actor.SDK, Actor.EXTENSION, "cardArt(paymentInstrumentId)"
    rules = ("X-ART-1",)
    payment_instrument_id: str


@dataclass(frozen=True, slots=True)
class EntriesReturned(Event):
    """The handler returned pass entries (X-ENTRIES-1, X-ENTRIES-2)."""

    sender, receiver, says = Actor.EXTENSION, Actor.WALLET_APP, "pass entries"
    rules = ("X-ENTRIES-1", "X-ENTRIES-2")
    entries: Any


@dataclass(frozen=True, slots=True)
class NoEntries(Event):
    """The handler returned no pass entry (X-ENTRIES-1, X-ENTRIES-2)."""

    sender, receiver, says = Actor.EXTENSION, Actor.WALLET_APP, "no pass entry"
    rules = ("X-ENTRIES-1", "X-ENTRIES-2")


@dataclass(frozen=True, slots=True)
class ShowEntries(Command):
    """The wallet shows the cards with their art (X-ART-1)."""

    sender, receiver, says = Actor.WALLET_APP, Actor.CARDHOLDER, "shows the cards"
    rules = ("X-ART-1",)
    entries: Any


@dataclass(frozen=True, slots=True)
class ShowNoEntries(Command):
    """The wallet shows no card to add."""

    sender, receiver, says = Actor.WALLET_APP, Actor.CARDHOLDER, "shows no card"
    rules = ("X-ENTRIES-3",)


@dataclass(frozen=True, slots=True)
class AlreadyThere(Aside):
    """The wallet finds that an offered card is in its library already (wallet)."""

    sender, receiver, says = Actor.WALLET_APP, Actor.WALLET_APP, "is here already"
    source = "wallet"
    rules = ("X-ENTRIES-1", "X-ENTRIES-2")
    payment_instrument_id: str


# What an extension's handler does during a call; it is recorded, and no table steps it.
#
# `case` is one of the public interface's names (sdk-b); `why` is the simulator's explanation.


@dataclass(frozen=True, slots=True)
class StorageRead(Aside):
    """The handler read the secure storage; `found` counts the values, `out_of_reach` those not shared (X-CACHE-1)."""

    sender, receiver, says = Actor.EXTENSION, Actor.STORAGE, "reads sdkInput"
    rules = ("X-CACHE-1",)
    found: int
    out_of_reach: int = 0


@dataclass(frozen=True, slots=True)
class BackEndAsked(Aside):
    """The handler asked the back end (API-13); `method` is what that will send."""

    sender, receiver, says = Actor.EXTENSION, Actor.BACK_END, "asks the back end"
    rules = ("API-13",)
    method: str
    payment_instrument_id: str


@dataclass(frozen=True, slots=True)
class ServiceMade(Aside):
    """An ExtensionProvisioningService was made; `cards` are the instruments of its sdkInputs (X-INIT-1)."""

    sender, receiver, says = Actor.EXTENSION, Actor.SDK, "ExtensionProvisioningService(…)"
    rules = ("X-INIT-1", "X-HANDLER-1")
    cards: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ServiceNotMade(Aside):
    """The ExtensionProvisioningService could not be initialised (X-STATUS-2)."""

    sender, receiver, says = Actor.SDK, Actor.EXTENSION, "no service"
    rules = ("X-INIT-1", "X-STATUS-2")
    case: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class SdkPassEntriesCalled(Aside):
    """The handler called the SDK's passEntries(withDelegate) (X-ENTRIES-1)."""

    sender, receiver, says = Actor.EXTENSION, Actor.SDK, "passEntries(withDelegate)"
    rules = ("X-ENTRIES-1",)


@dataclass(frozen=True, slots=True)
class SdkRemotePassEntriesCalled(Aside):
    """The handler called the SDK's remotePassEntries(withDelegate) (X-ENTRIES-2)."""

    sender, receiver, says = Actor.EXTENSION, Actor.SDK, "remotePassEntries(withDelegate)"
    rules = ("X-ENTRIES-2",)


@dataclass(frozen=True, slots=True)
class SdkGenerateCalled(Aside):
    """The handler called the SDK's operation of the same name (X-GEN-1)."""

    sender, receiver, says = Actor.EXTENSION, Actor.SDK, "generateAddPaymentPassRequest…"
    rules = ("X-GEN-1",)
    identifier: str


@dataclass(frozen=True, slots=True)
class SdkThrew(Aside):
    """An SDK operation threw inside the handler (X-GEN-1)."""

    sender, receiver, says = Actor.SDK, Actor.EXTENSION, "threw"
    rules = ("X-GEN-1",)
    case: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class CardArtReturned(Aside):
    """The delegate returned card art; `problems` say what is wrong with it, if anything (X-ART-1)."""

    sender, receiver, says = Actor.EXTENSION, Actor.SDK, "card art"
    rules = ("X-ART-1",)
    problems: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class DelegateReturned(Aside):
    """The delegate's provision returned; `sdk_input` is None for nil (X-DEL-1)."""

    sender, receiver, says = Actor.EXTENSION, Actor.SDK, "returned"
    rules = ("X-DEL-1",)
    sdk_input: Any = None

    def __repr__(self) -> str:
        return f"DelegateReturned({type(self.sdk_input).__name__})"  # bare bytes or text, which may be real


@dataclass(frozen=True, slots=True)
class HandlerKept(Aside):
    """A handler kept values in itself or in its class for a later call, which is another handler (X-HANDLER-1)."""

    arrow = False
    sender, receiver, says = Actor.EXTENSION, Actor.EXTENSION, "kept for later"
    rules = ("X-HANDLER-1",)
    where: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AuthorizationUiShown(Aside):
    """The wallet put the app's authorization UI on the screen (X-AUTH-1)."""

    sender, receiver, says = Actor.WALLET_APP, Actor.EXTENSION, "shows the authorization UI"
    rules = ("X-AUTH-1",)


@dataclass(frozen=True, slots=True)
class CompletionHandlerCalled(Aside):
    """The authorization UI called completionHandler, which it must do once (X-AUTH-1)."""

    sender, receiver, says = Actor.EXTENSION, Actor.WALLET_APP, "completionHandler(…)"
    rules = ("X-AUTH-1",)
    arrow = False
    succeeded: bool


# What passes between the wallet app and the issuer's two extensions once a card is chosen (platform B).
#
# `why` is the simulator's explanation; the real wallet says less.


@dataclass(frozen=True, slots=True)
class Authenticate(Command):
    """Authenticate the cardholder, by the authorization UI extension where status() said so (X-AUTH-2)."""

    sender, receiver, says = Actor.WALLET_APP, Actor.CARDHOLDER, "asks to authenticate"
    rules = ("X-AUTH-1", "X-AUTH-2")
    identifier: str


@dataclass(frozen=True, slots=True)
class Authorized(Event):
    """The cardholder is authenticated (X-AUTH-1, X-AUTH-2)."""

    sender, receiver, says = Actor.EXTENSION, Actor.WALLET_APP, "completionHandler(authorized)"
    source = "wallet"
    rules = ("X-AUTH-1", "X-AUTH-2")
    identifier: str


@dataclass(frozen=True, slots=True)
class AuthenticatedByWallet(Event):
    """The wallet authenticated the cardholder by itself, where status() requires no authorization UI (assumed)."""

    sender, receiver, says = Actor.WALLET_APP, Actor.WALLET_APP, "the cardholder is authenticated"
    source = "assumed"
    rules = ("X-AUTH-2",)
    identifier: str


@dataclass(frozen=True, slots=True)
class AuthorizationCanceled(Event):
    """Authentication did not succeed (X-AUTH-1)."""

    sender, receiver, says = Actor.EXTENSION, Actor.WALLET_APP, "completionHandler(canceled)"
    source = "wallet"
    rules = ("X-AUTH-1",)


@dataclass(frozen=True, slots=True)
class AuthorizationMissing(Event):
    """The authorization UI gave no answer; `why` says what is missing (X-AUTH-1, X-STATUS-1)."""

    sender, receiver, says = Actor.EXTENSION, Actor.WALLET_APP, "no authentication"
    source = "assumed"
    rules = ("X-AUTH-1", "X-STATUS-1")
    why: str


@dataclass(frozen=True, slots=True)
class CallGenerate(Command):
    """Call generateAddPaymentPassRequestForPassEntryWithIdentifier on a new handler (X-GEN-1, X-HANDLER-1)."""

    sender, receiver, says = Actor.WALLET_APP, Actor.EXTENSION, "generateAddPaymentPassRequest…(identifier, …)"
    rules = ("X-GEN-1", "X-HANDLER-1")
    identifier: str


@dataclass(frozen=True, slots=True)
class ExtensionProvisionCalled(Event):
    """The SDK calls the delegate's provision (X-DEL-1)."""

    sender, receiver, says = Actor.SDK, Actor.EXTENSION, "provision(paymentInstrumentId, sdkOutput)"
    rules = ("X-DEL-1", "X-FLOW-1")
    payment_instrument_id: str
    sdk_output: Any


@dataclass(frozen=True, slots=True)
class RequestReturned(Event):
    """The handler returned an add-payment-pass request (X-GEN-1)."""

    sender, receiver, says = Actor.EXTENSION, Actor.WALLET_APP, "add-payment-pass request"
    rules = ("X-GEN-1",)
    request: Any


@dataclass(frozen=True, slots=True)
class NoRequest(Event):
    """The handler returned nil (X-GEN-1)."""

    sender, receiver, says = Actor.EXTENSION, Actor.WALLET_APP, "nil"
    rules = ("X-GEN-1",)


@dataclass(frozen=True, slots=True)
class AddPass(Command):
    """The wallet app has the wallet add the card of this request (X-FLOW-1)."""

    sender, receiver, says = Actor.WALLET_APP, Actor.WALLET_APP, "add the card"
    source = "wallet"
    rules = ("X-FLOW-1",)
    request: Any


@dataclass(frozen=True, slots=True)
class PassAdded(Event):
    """The card is in the wallet (X-FLOW-1)."""

    sender, receiver, says = Actor.WALLET_APP, Actor.WALLET_APP, "added"
    source = "assumed"
    rules = ("X-FLOW-1",)


@dataclass(frozen=True, slots=True)
class PassRefused(Event):
    """The wallet cannot use the request; `why` is the simulator's explanation."""

    sender, receiver, says = Actor.WALLET_APP, Actor.WALLET_APP, "refused"
    source = "assumed"
    rules = ("X-FLOW-1",)
    why: str


@dataclass(frozen=True, slots=True)
class ShowCardAdded(Command):
    """The wallet shows the card."""

    sender, receiver, says = Actor.WALLET_APP, Actor.CARDHOLDER, "shows the added card"
    source = "assumed"
    rules = ("X-FLOW-1",)


@dataclass(frozen=True, slots=True)
class ShowNotAdded(Command):
    """The wallet says that the card was not added."""

    sender, receiver, says = Actor.WALLET_APP, Actor.CARDHOLDER, "says: not added"
    source = "assumed"
    rules = ("X-FLOW-1",)


# Time as data: a budget that begins, ends in time, or is spent.
#
# A limit is an ordinary event, so that missing it is an edge of the table. A command's `call` and `seconds` are its
# own: the loop puts `BudgetSpent` on the clock, and `StopBudget` takes it off again.


@dataclass(frozen=True, slots=True)
class BudgetSpent(Event):
    """The time of `call` is over and no answer has come (X-STATUS-3, X-ENTRIES-3)."""

    sender, receiver, says = Actor.WALLET_APP, Actor.WALLET_APP, "time is up"
    rules: ClassVar[tuple[str, ...]] = ("X-STATUS-3", "X-ENTRIES-3")
    call: str


@dataclass(frozen=True, slots=True)
class DelegateTimeSpent(BudgetSpent):
    """The time of the in-app delegate's provision is over and no answer has come (wallet)."""

    sender, receiver, says = Actor.WALLET, Actor.WALLET, "time is up"
    source = "wallet"
    rules = ("B-DEL-3",)


@dataclass(frozen=True, slots=True)
class StartBudget(Command):
    """The time of one call begins.

    Attributes:
        spent: the event that happens when the time is over.
        source: `spec` where the document gives the limit, `wallet` where only the wallet platform does.
        missed: what a missed limit means for the cardholder.
        call: the call's name in Python's spelling.
        seconds: the time it has.
    """

    arrow = False
    sender, receiver, says = Actor.WALLET_APP, Actor.WALLET_APP, "the time begins"
    spent: ClassVar[type[BudgetSpent]] = BudgetSpent
    missed: ClassVar[str] = ""
    call: str
    seconds: float


@dataclass(frozen=True, slots=True)
class StartStatusBudget(StartBudget):
    """status() has 100 ms (X-STATUS-3)."""

    rules = ("X-STATUS-3",)
    missed = "the app is not listed in the wallet"
    call: str = "status"
    seconds: float = 0.100


@dataclass(frozen=True, slots=True)
class StartPassEntriesBudget(StartBudget):
    """passEntries() has 20 s (X-ENTRIES-3)."""

    rules = ("X-ENTRIES-3",)
    missed = "the wallet shows no card to add"
    call: str = "pass_entries"
    seconds: float = 20.0


@dataclass(frozen=True, slots=True)
class StartRemotePassEntriesBudget(StartBudget):
    """remotePassEntries() has 20 s (X-ENTRIES-3)."""

    rules = ("X-ENTRIES-3",)
    missed = "the watch shows no card to add"
    call: str = "remote_pass_entries"
    seconds: float = 20.0


@dataclass(frozen=True, slots=True)
class StartGenerateBudget(StartBudget):
    """The add-payment-pass request has 20 s (wallet; the document gives no limit)."""

    rules = ("X-GEN-1",)
    source = "wallet"
    missed = "the late request is ignored and no card is added"
    call: str = "generate_add_payment_pass_request_for_pass_entry_with_identifier"
    seconds: float = 20.0


@dataclass(frozen=True, slots=True)
class StartProvisionBudget(StartBudget):
    """The in-app delegate's provision has 20 s (wallet; the document gives no limit)."""

    sender, receiver, says = Actor.WALLET, Actor.WALLET, "the time begins"
    spent = DelegateTimeSpent
    rules = ("B-DEL-3",)
    source = "wallet"
    missed = "the late sdkInput is ignored and no card is added"
    call: str = "provision"
    seconds: float = 20.0


@dataclass(frozen=True, slots=True)
class StopBudget(Command):
    """The call has answered in time."""

    arrow = False
    sender, receiver, says = Actor.WALLET_APP, Actor.WALLET_APP, "in time"


BUDGETS: tuple[Any, ...] = (
    StartStatusBudget,
    StartPassEntriesBudget,
    StartRemotePassEntriesBudget,
    StartGenerateBudget,
    StartProvisionBudget,
)
"""Every budget that a table may start."""


@dataclass(frozen=True, slots=True)
class Limit:
    """How long one call may take.

    Attributes:
        call: the call's name in Python's spelling.
        seconds: the time it has; taking exactly that long is in time (assumed).
        rule: the id of the rule that it rests on.
        source: `spec` where the document gives it, `wallet` where only the wallet platform does.
        missed: what a missed limit means for the cardholder.
    """

    call: str
    seconds: float
    rule: str
    source: str
    missed: str


def _limit(budget: StartBudget) -> Limit:
    return Limit(budget.call, budget.seconds, budget.rules[0], budget.source, budget.missed)


LIMITS = {budget.call: _limit(budget) for budget in [each() for each in BUDGETS]}
"""The limit of each call. The document gives two: 100 ms for status() and 20 s for the entries. That 20 s bind the
request's generation and the in-app delegate too is public knowledge of the wallet platform (wallet)."""


def limit_of(call: str) -> Limit:
    """The limit of this call.

    Raises:
        ParameterError: no limit is known for it.
    """
    return lookup("limit for the call", call, LIMITS)
