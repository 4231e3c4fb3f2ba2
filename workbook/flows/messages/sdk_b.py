"""What passes between the app and platform B's SDK inside the issuer's app; an outcome bears the document's name.

The document shows that the initialiser and `start` can fail and not how. `case` is one of the public interface's
names (sdk-b); `why` is the simulator's explanation.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from workbook.flows.messages.base import Actor, Aside, Command, Event
from workbook.flows.messages.relay import HoldsSdkInput


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
    """No service can be made of this sdkInput (B-INIT-1; that it is told at once is inferred)."""

    sender, receiver, says = Actor.SDK, Actor.APP, "no service"
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
    """The wallet waits no longer for the delegate (wallet)."""

    sender, receiver, says = Actor.WALLET, Actor.SDK, "waits no longer"
    rules = ("B-DEL-3",)


@dataclass(frozen=True, slots=True)
class FinishedWithPass(Event):
    """didFinishProvisioning with a pass (B-FIN-1). `where` is the cardholder's choice: phone, watch or both."""

    sender, receiver, says = Actor.SDK, Actor.APP, "didFinishProvisioning(with: pass, error: nil)"
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
    """The delegate returned after the wallet gave up: that is ignored, whatever the app does by then (wallet)."""

    sender, receiver, says = Actor.APP, Actor.SDK, "returns too late: ignored"
    rules = ("B-DEL-3",)


@dataclass(frozen=True, slots=True)
class WatchSessionTakenOver(Aside):
    """A second WatchAvailability took the phone's watch session away from the first (sdk-b, B-WATCH-2)."""

    sender, receiver, says = Actor.SDK, Actor.APP, "the watch session was taken over"
    rules = ("B-WATCH-2",)
    instances: int


@dataclass(frozen=True, slots=True)
class StillMissing(Aside):
    """Why canAddCard is true for a card that was added: where it is missing, or that the scheme hides it (sdk-b)."""

    sender, receiver, says = Actor.WALLET, Actor.SDK, "where the card is missing"
    rules = ("B-CAN-3",)
    phone: bool
    watch: bool | None
    hidden_by_scheme: bool


@dataclass(frozen=True, slots=True)
class WalletKitAsked(Aside):
    """The SDK handed the card to the wallet, whose own sheet goes on (B-START-1)."""

    sender, receiver, says = Actor.SDK, Actor.WALLET, "add the card"
    rules = ("B-START-1",)
