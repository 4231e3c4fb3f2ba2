"""Every message: what can happen in a flow, and what a table can ask for.

A message goes from one actor to another, and is one of two kinds:

- an *event* is a fact that the issuer's app or the wallet learns: a tap, a call of the app's code, an SDK's outcome;
- a *command* is a request of a table: to the back end, to the SDK, or to the screen.

An SDK's outcome is the event that the tables branch on, and has the document's own name in Python's spelling. Opaque
data keeps its own type in a message, and that type's repr is redacted (REL-3).

Example:
    >>> sdk = wb.session().platform_a.create().card_provisioning
    >>> isinstance(sdk.can_provision(), wb.messages.CanBeProvisioned)
    True
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from inspect import get_annotations
from typing import Any, ClassVar, TypeAlias, TypeVar, cast, dataclass_transform

from workbook.api.opaque import SdkInput, SdkOutput
from workbook.api.protocol import ActivationData
from workbook.errors import DefinitionError

MessageT = TypeVar("MessageT", bound="Message")


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


CARDHOLDER, WALLET_APP, APP, EXTENSION, STORAGE, SDK, WALLET, BACK_END, API = Actor

# The source of each value that a message carries, by the field's name; a class names any source that differs.
# An empty text marks what a run itself counted, chose or played, or what a field `basis` explains: no claim about the
# real thing. A class with a field that is not listed cannot be made: a value that we or a public source
# made up must never pass for the document's.
VALUES: Mapping[str, str] = {
    "attempts": "", "basis": "", "brand": "spec", "call": "spec", "can_add_to_phone": "sdk-b",
    "can_add_to_watch": "sdk-b", "card_address": "spec", "card_display_name": "spec", "cards": "", "case": "sdk-b",
    "ending": "", "entries": "", "error": "", "fault": "", "found": "", "hidden_by_scheme": "inferred",
    "identifier": "spec", "instance": "", "instances": "", "is_watch_activated": "spec", "line": "", "location": "",
    "meant": "", "message": "", "method": "spec", "name": "", "names": "", "out_of_reach": "sdk-b", "pause": "",
    "outcome": "", "payment_instrument_id": "spec", "phone": "sdk-b", "problems": "wallet", "really": "",
    "reason": "assumed", "request": "assumed",
    "requires_authentication": "spec", "sdk_input": "spec", "sdk_output": "spec", "seconds": "", "status": "",
    "status_code": "wallet inferred", "succeeded": "spec", "text": "", "throwable": "assumed", "told": "", "took": "",
    "watch": "sdk-b", "where": "", "why": "assumed", "with_key": "",
}  # fmt: skip


# The fields that hold opaque data, and its type.
OPAQUE = {"sdk_input": SdkInput, "sdk_output": SdkOutput}
# The parts of an answer of the API that a trace has: each has a source above.
ANSWER = tuple(f.name for f in fields(ActivationData) if f.repr)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Message:
    """One sentence between two actors.

    Attributes:
        sender: who says it.
        receiver: who hears it.
        says: the label of its arrow, in the document's spelling.
        source: the tag of the source that shows this message at all (one of `rules.Basis`); a table's row says which
            source shows when it comes.
        rules: the ids of the rules that it rests on.
        sources: the sources of its values, where `VALUES` has another one for the field's name.
        arrow: False for a request that only repeats the call just drawn, so that no arrow is drawn twice.
        fails: True where something goes wrong with it, or it comes too late; a picture marks it with a cross.
    """

    sender: ClassVar[Actor]
    receiver: ClassVar[Actor]
    says: ClassVar[str]
    source: ClassVar[str]
    rules: ClassVar[tuple[str, ...]] = ()
    sources: ClassVar[Mapping[str, str]] = {}
    arrow: ClassVar[bool] = True
    fails: ClassVar[bool] = False

    @classmethod
    def value_names(cls) -> tuple[str, ...]:
        """The names of its values; the API's answer has one for each of its parts."""
        return tuple(name for f in fields(cls) if f.repr for name in (ANSWER if f.name == "answer" else (f.name,)))

    def value(self, name: str) -> Any:
        """The value of this name; None for a part of an answer that there is not."""
        held = self if name in self.__match_args__ else getattr(self, "answer", None)
        return getattr(held, name, None)

    # A dataclass's own methods, but written once for all: for each of 150 classes, they would add 50 ms to an import.

    def __repr__(self) -> str:
        values = [f"{name}={_words(name, self.value(name))}" for name in self.value_names()]
        return f"{type(self).__name__}({', '.join(values)})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._compared() == other._compared()

    def __hash__(self) -> int:
        return hash(self._compared())

    def _compared(self) -> tuple[Any, ...]:
        return tuple([getattr(self, f.name) for f in fields(self) if f.compare])

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """What a notebook shows of it as a cell's value: what it means, and what it carries."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        carried = [f"  .{name}: {_words(name, value)}" for name, value in values.items() if value is not None]
        mark = "\N{BALLOT X}" if self.fails else "\N{CHECK MARK}"
        return {"text/plain": "\n".join([f"{mark} {type(self).__name__}. {self.__doc__}", *carried])}


def _words(name: str, value: object) -> str:
    """A value as a program prints it; bare opaque data, the bytes of platform B, prints its type alone (REL-3)."""
    bare = name in OPAQUE and value is not None and not callable(getattr(value, "summary", None))
    return f"<{type(value).__name__}>" if bare else repr(value)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def message(
    sender: Actor,
    receiver: Actor,
    says: str,
    source: str,
    rules: str = "",
    *,
    arrow: bool = True,
    fails: bool = False,
    **sources: str,
) -> Callable[[type[MessageT]], type[MessageT]]:
    """Make a class a message; see `Message`. `rules` are ids with blanks between, `sources` the tags of fields.

    Raises:
        DefinitionError: a field has no source.
    """

    def made(cls: type[MessageT]) -> type[MessageT]:
        cls.sender, cls.receiver, cls.says, cls.source = sender, receiver, says, source
        cls.rules, cls.arrow, cls.fails, cls.sources = tuple(rules.split()), arrow, fails, sources
        if get_annotations(cls):
            kind = dataclass(frozen=True, slots=True, repr=False, eq=False)(cls)
        else:  # without fields of its own, it inherits all that a dataclass would write for it
            attributes = {name: value for name, value in vars(cls).items() if name not in ("__dict__", "__weakref__")}
            kind = cast("type[MessageT]", type(cls.__name__, cls.__bases__, attributes | {"__slots__": ()}))
        if missing := [name for name in kind.value_names() if name not in {**VALUES, **sources}]:
            words = f"{cls.__name__} does not say where the value of {', '.join(missing)} is from"
            raise DefinitionError(f"{words}. Give its source in VALUES.")
        return kind

    return made


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Event(Message):
    """A fact. Unlike a `Command`, it has happened; a table may not allow it."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Command(Message):
    """A request. The opposite of an `Event`: a run's function for it carries it out and answers with events."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Aside(Event):
    """A fact that is recorded and that no table reacts to; `kind` is the kind of its record."""

    kind: ClassVar[str] = "exchange"


# ---------------------------------------------------------------------- the app, on either platform

# The add button belongs to both platforms; the rules of its messages are those of the row that asks for them.


@message(CARDHOLDER, APP, "opens the card", "spec", "FLOW-4")
class Opened(Event):
    """The cardholder opened the card's page in the issuer's app (FLOW-4)."""

    payment_instrument_id: str


@message(CARDHOLDER, APP, "taps Add", "spec", "A-BTN-1")
class AddTapped(Event):
    """The cardholder tapped the add button (A-BTN-1)."""


@message(APP, CARDHOLDER, "shows Add", "spec")
class ShowButton(Command):
    """Show the add button, enabled (A-CAN-1)."""


@message(APP, CARDHOLDER, "hides Add", "spec")
class HideButton(Command):
    """Hide the add button (A-CAN-2)."""


@message(APP, CARDHOLDER, "disables Add", "spec")
class DisableButton(Command):
    """Disable the add button from the moment provisioning begins (A-BTN-1)."""


@message(APP, CARDHOLDER, "enables Add", "spec")
class EnableButton(Command):
    """Enable the add button again once the flow has completed or was terminated (A-BTN-1)."""


@message(APP, APP, "was added, is still offered: tell the operator", "spec", "A-CAN-6", fails=True)
class ReportToContact(Command):
    """Report the card to the operator's implementation contact (A-CAN-6)."""


@message(APP, CARDHOLDER, "shows “Added to Wallet”", "spec", "B-FIN-2")
class ShowAdded(Command):
    """The app's screen says 'Added to Wallet' (B-FIN-2)."""


@message(APP, CARDHOLDER, "shows “Available in Wallet”", "spec", "B-FIN-2")
class ShowAvailable(Command):
    """The app's screen says 'Available in Wallet' (B-FIN-2)."""


@message(APP, CARDHOLDER, "says: not added", "assumed", "APP-4", fails=True)
class TellFailure(Command):
    """The app tells the cardholder that the card was not added (practice; the document is silent)."""


# Facts that are recorded and that no table reacts to.


@message(BACK_END, API, "HTTP request", "spec", "API-4 API-13")
class ApiRequested(Aside):
    """The back end sent a request to the HTTP API (API-1, API-2)."""

    method: str
    payment_instrument_id: str
    sdk_output: Any = None


@message(API, BACK_END, "HTTP answer", "spec", "API-9")
class ApiAnswered(Aside):
    """The HTTP API answered.

    `answer` is what it answered, None for an error; `told` is what an error says in its own words; `basis` says what
    the answer rests on (a rule or a source tag).
    """

    status: int
    answer: ActivationData | None = None
    told: str = ""
    basis: str = ""


@message(SDK, WALLET, "add the card", "spec", "A-PROV-3")
class WalletAsked(Aside):
    """The SDK handed the card to the wallet, whose own flow runs now (A-PROV-3)."""


@message(WALLET, SDK, "the card waits for an identity check", "sdk-a", "A-CAN-6")
class VerificationPending(Aside):
    """The card in the wallet waits for an identity check, so canProvision offers it on purpose (sdk-a)."""


@message(API, BACK_END, "no usable answer", "spec", "API-9", fails=True)
class ApiFailed(Aside):
    """The call ended without an answer that could be used. `error` is the client's error class."""

    error: str
    message: str


@message(APP, APP, "note", "spec")
class Noted(Aside):
    """A remark that a reader of the trace needs, such as where the real world ends."""

    kind = "note"
    text: str


@message(APP, APP, "your code failed", "")
class CodeFailed(Aside):
    """Code of the integrator's own raised an error, on this `line`: its cell or file, its number, and its source."""

    kind = "note"
    call: str
    error: str
    line: str


@message(APP, APP, "your code took long", "")
class CodeTookLong(Aside):
    """Code of the integrator's own really took so many seconds.

    `outcome` is `stopped` or `left behind` where it had not ended by then, on this `line`; else empty.
    """

    kind = "note"
    call: str
    really: float
    outcome: str = ""
    line: str = ""


@message(APP, APP, "never called", "")
class NeverCalled(Aside):
    """A method of the integrator's own that is never called, and the one that it may be `meant` to be."""

    kind = "note"
    name: str
    meant: str


@message(BACK_END, API, "HTTP request", "spec", "API-4 API-13 REL-1")
class ApiAskedAgain(ApiRequested):
    """The back end sent the same request again by itself (REL-1). `pause`: seconds since the previous attempt."""

    pause: float = 0.0


@message(API, BACK_END, "no answer", "assumed", "API-9 REL-1", fails=True)
class AnswerLost(ApiFailed):
    """No answer arrived, or not all of it. `fault` is what was played; `error` is empty while the call goes on."""

    fault: str = ""


@message(API, BACK_END, "no usable answer", "spec", "API-9 REL-6", fails=True)
class AnswerRefused(ApiFailed):
    """A 200 arrived, and the back end refused it because it is of no use (REL-6). `fault` is what was played."""

    fault: str = ""


@message(BACK_END, BACK_END, "follows the redirect", "spec", "REL-2")
class RedirectFollowed(Aside):
    """The back end sent the request to where a redirect pointed (REL-2). `with_key`: the API key went along."""

    location: str
    with_key: bool


@message(BACK_END, BACK_END, "the call is over", "spec", "REL-5", arrow=False)
class ApiCallEnded(Aside):
    """The back end's call is over: how many attempts it made, what they took in seconds, and what it came to.

    `ending` is `sdkInput`, or the class of the error.
    """

    method: str
    attempts: int
    took: float
    ending: str


# What passes between the app and its back end, which alone speaks to the HTTP API (API-13).


@message(APP, BACK_END, "needs activation data", "spec", "API-1 API-10 API-13")
class GetActivationData(Command):
    """Ask the back end for activation data; it makes the GET (API-1, API-10)."""

    payment_instrument_id: str


@message(BACK_END, APP, "sdkInput", "spec", "API-10")
class ActivationDataReceived(Event):
    """The back end handed over the GET's sdkInput (FLOW-1, step 2)."""

    sdk_input: Any


@message(BACK_END, APP, "no activation data", "assumed", "REL-6", fails=True)
class ActivationDataFailed(Event):
    """The back end could not get activation data; `reason` is neutral (REL-6, REL-9)."""

    reason: str


@message(APP, BACK_END, "sdkOutput", "spec", "API-2 API-11 API-13")
class PostSdkOutput(Command):
    """Ask the back end to exchange sdkOutput; it makes the POST (API-2, API-11)."""

    payment_instrument_id: str
    sdk_output: Any


@message(BACK_END, APP, "sdkInput (OPC data)", "spec", "API-11")
class OpcReceived(Event):
    """The back end handed over the POST's sdkInput, on platform A the OPC data (API-11)."""

    sdk_input: Any


@message(BACK_END, APP, "no OPC data", "assumed", "REL-6", fails=True)
class OpcFailed(Event):
    """The back end produced no OPC data; `reason` is neutral (REL-6, REL-9)."""

    reason: str


@message(APP, APP, "fetchOpc failed", "assumed", "A-OPC-1", fails=True)
class ProviderFailed(OpcFailed):
    """The app's own OpcProvider raised an error, or returned no OPC data: its doing, and not the back end's."""


@message(APP, STORAGE, "saves sdkInput's bytes", "spec", "X-CACHE-1")
class SaveSdkInput(Command):
    """The app stores sdkInput after its own network call, for the extension's status() (X-CACHE-1)."""

    sdk_input: Any


@message(BACK_END, APP, "sdkInput", "spec", "B-DEL-3 API-11")
class SdkInputReceived(Event):
    """The back end handed over the POST's sdkInput (B-DEL-3, API-11)."""

    sdk_input: Any


@message(BACK_END, APP, "no sdkInput", "spec", "B-DEL-3 REL-6", fails=True)
class NoSdkInput(Event):
    """No sdkInput can be produced; `reason` is neutral (B-DEL-3, REL-6)."""

    reason: str


@message(APP, APP, "provision has no sdkInput", "spec", "B-DEL-3", fails=True)
class DelegateFailed(NoSdkInput):
    """The app's own delegate returned nil, or raised an error: its doing, and not the back end's."""


# ---------------------------------------------------------------------- platform A


@message(APP, APP, "the app's own code runs", "spec", arrow=False)
class HandToApp(Command):
    """The app's own code runs now; what it does next is the event that follows."""


@message(APP, SDK, "CardProvisioning.create(sdkInput, activityProvider)", "spec", "A-CREATE-1")
class CreateCalled(Event):
    """The app calls CardProvisioning.create (A-CREATE-1)."""

    sdk_input: Any


@message(APP, SDK, "create", "spec", "A-CREATE-1", arrow=False)
class CreateProvisioning(Command):
    """The SDK builds its client from sdkInput (A-CREATE-1)."""

    sdk_input: Any


@message(SDK, APP, "Success(cardProvisioning)", "spec", "A-CREATE-1")
class CreateSuccess(Event):
    """Success: carries the cardProvisioning instance (A-CREATE-1)."""

    card_provisioning: Any = field(default=None, repr=False, compare=False)


@message(SDK, APP, "Failed.WalletPayNotSupported", "spec", "A-CREATE-2", fails=True)
class WalletPayNotSupported(Event):
    """Failed.WalletPayNotSupported: the wallet payment service is not supported (A-CREATE-2)."""


@message(SDK, APP, "Failed.InvalidSdkInput", "spec", "A-CREATE-3", fails=True)
class InvalidSdkInput(Event):
    """Failed.InvalidSdkInput: the sdkInput is invalid (A-CREATE-3)."""

    why: str = ""  # the simulator's explanation


@message(APP, SDK, "canProvision()", "spec", "A-CAN-1")
class CanProvisionCalled(Event):
    """The app calls canProvision (A-CAN-1)."""


@message(APP, SDK, "can it be added?", "spec", "A-CAN-1", arrow=False)
class AskCanProvision(Command):
    """The SDK finds out whether the card can be added (A-CAN-1)."""


@message(SDK, APP, "CanBeProvisioned", "spec", "A-CAN-1")
class CanBeProvisioned(Event):
    """CanBeProvisioned: show the add button (A-CAN-1)."""


@message(SDK, APP, "CannotBeProvisioned.AlreadyExistsInWallet", "spec", "A-CAN-2")
class AlreadyExistsInWallet(Event):
    """CannotBeProvisioned.AlreadyExistsInWallet: hide the add button (A-CAN-2)."""


@message(SDK, APP, "CannotBeProvisioned.Error", "spec", "A-CAN-3", fails=True)
class CanProvisionError(Event):
    """CannotBeProvisioned.Error: carries a throwable (A-CAN-3)."""

    throwable: str


@message(SDK, APP, "CannotBeProvisioned.UnknownFailure", "spec", "A-CAN-4", fails=True)
class UnknownFailure(Event):
    """CannotBeProvisioned.UnknownFailure (A-CAN-4)."""


@message(SDK, APP, "CannotBeProvisioned.ApiError", "spec", "A-CAN-5", fails=True)
class ApiError(Event):
    """CannotBeProvisioned.ApiError: the wallet provider API's statusCode; later variant only (A-CAN-5)."""

    status_code: int


# Outcomes that do not say whether the card can be added. The tables have a row for each of them, and
# a play's phones have their names.
CanProvisionFailure: TypeAlias = CanProvisionError | UnknownFailure | ApiError
CanProvisionResult: TypeAlias = CanBeProvisioned | AlreadyExistsInWallet | CanProvisionFailure


@message(APP, SDK, "createSdkOutput()", "spec", "A-OUT-1")
class CreateSdkOutputCalled(Event):
    """The app calls createSdkOutput, as before 0.4.0 (A-OUT-1)."""


@message(APP, SDK, "make an sdkOutput", "spec", "A-OUT-1", arrow=False)
class CreateSdkOutput(Command):
    """The SDK makes an sdkOutput (A-OUT-1)."""


@message(SDK, APP, "sdkOutput", "spec", "A-OUT-1")
class SdkOutputCreated(Event):
    """CreateSdkOutputResult with an sdkOutput for the POST (A-OUT-1)."""

    payment_instrument_id: str
    sdk_output: Any


@message(SDK, APP, "no sdkOutput", "spec", "A-ASYNC-1", fails=True)
class SdkOutputFailed(Event):
    """CreateSdkOutputResult without an sdkOutput. That it can fail is stated, its fields are not shown."""

    why: str = ""


@message(APP, SDK, "provision(sdkInput, cardDisplayName, cardAddress)", "spec", "A-PROV-1 A-PROV-4")
class ProvisionCalled(Event):
    """The app calls provision in the form before 0.4.0, with the POST's sdkInput (A-PROV-1, A-PROV-4)."""

    sdk_input: Any
    card_display_name: str
    card_address: Any


@message(APP, SDK, "provision", "spec", "A-PROV-3", arrow=False)
class Provision(Command):
    """The SDK has the wallet add the card with this OPC data (A-PROV-3)."""

    sdk_input: Any
    card_display_name: str
    card_address: Any


@message(APP, SDK, "provision(cardDisplayName, cardAddress, opcProvider)", "spec", "A-PROV-2")
class ProvisionWithProviderCalled(Event):
    """The app calls provision in the form from 0.4.0, with an OpcProvider (A-PROV-2)."""

    card_display_name: str
    card_address: Any


@message(APP, SDK, "orchestrate the fetch", "spec", "A-PROV-2", arrow=False)
class ProvisionWithProvider(Command):
    """The SDK orchestrates: it will ask the app's OpcProvider for the OPC data (A-PROV-2)."""

    card_display_name: str
    card_address: Any


@message(SDK, APP, "fetchOpc(paymentInstrumentId, sdkOutput)", "spec", "A-OPC-1")
class FetchOpcCalled(Event):
    """The SDK calls the app's OpcProvider.fetchOpc (A-OPC-1)."""

    payment_instrument_id: str
    sdk_output: Any


@message(APP, BACK_END, "sdkOutput", "spec", "A-OPC-1 API-2 API-11 API-13")
class FetchOpc(Command):
    """The app's OpcProvider runs: it asks the back end for the POST (A-OPC-1, API-2)."""

    payment_instrument_id: str
    sdk_output: Any


@message(APP, SDK, "OPC data", "spec", "A-OPC-1 API-11")
class ReturnOpc(Command):
    """fetchOpc returns the OPC data to the SDK (A-OPC-1)."""

    sdk_input: Any


@message(APP, SDK, "no OPC data", "assumed", "A-OPC-1", fails=True)
class ReturnNoOpc(Command):
    """fetchOpc ended without OPC data. What the SDK makes of that is not in the document (GAP-4)."""

    reason: str


@message(SDK, APP, "ProvisionResult.Success", "spec", "A-PROV-3")
class ProvisionSuccess(Event):
    """ProvisionResult.Success: the wallet provider's flow has completed (A-PROV-3)."""


@message(SDK, APP, "ProvisionResult.Failure", "spec", "A-PROV-3", reason="sdk-a", fails=True)
class ProvisionFailure(Event):
    """ProvisionResult.Failure. Its fields are not shown (GAP-4).

    `reason` is one of the public reference's case names (sdk-a); `why` is the simulator's explanation.
    """

    reason: str = ""
    why: str = ""


# ---------------------------------------------------------------------- platform B, in the app

# The document shows that `start` can throw, but not how; that the initialiser can fail is inferred. `case` is one of
# the public interface's names (sdk-b); `why` is the simulator's explanation.


@message(APP, SDK, "ProvisioningService(sdkInput)", "spec", "B-INIT-1")
class ServiceCalled(Event):
    """The app makes a ProvisioningService from sdkInput's bytes (B-INIT-1)."""

    sdk_input: Any


@message(APP, SDK, "make the service", "spec", "B-INIT-1", arrow=False)
class CreateService(Command):
    """The SDK builds its service from sdkInput's bytes (B-INIT-1)."""

    sdk_input: Any


@message(SDK, APP, "service", "spec", "B-INIT-1")
class ServiceReady(Event):
    """The service instance (B-INIT-1)."""

    service: Any = field(default=None, repr=False, compare=False)


@message(SDK, APP, "no service", "inferred", "B-INIT-1", fails=True)
class ServiceRefused(Event):
    """No service can be made of this sdkInput (B-INIT-1; that the initialiser itself fails is inferred)."""

    case: str
    why: str = ""


@message(APP, SDK, "canAddCard()", "spec", "B-CAN-1")
class CanAddCardCalled(Event):
    """The app asks canAddCard, as in the earlier variant (B-CAN-1)."""


@message(APP, SDK, "can it be added?", "spec", "B-CAN-1", arrow=False)
class AskCanAddCard(Command):
    """The SDK finds out whether the card can be added (B-CAN-1)."""


@message(APP, SDK, "WatchAvailability.activate()", "spec", "B-WATCH-1 B-WATCH-2")
class WatchActivateCalled(Event):
    """The app activates its one WatchAvailability; `instance` counts those it has made (B-WATCH-1, B-WATCH-2)."""

    instance: int


@message(APP, SDK, "is a watch paired?", "spec", "B-WATCH-1", arrow=False)
class ActivateWatch(Command):
    """The SDK finds out whether a watch is paired (B-WATCH-1)."""

    instance: int


@message(SDK, APP, "activate() returned", "spec", "B-WATCH-1")
class WatchActivated(Event):
    """activate() returned: True when a watch is paired (B-WATCH-1)."""

    is_watch_activated: bool


@message(APP, SDK, "canAddCardDetails(isWatchActivated)", "spec", "B-CAN-2")
class CanAddCardDetailsCalled(Event):
    """The app asks canAddCardDetails, as in the later variant (B-CAN-2)."""

    is_watch_activated: bool


@message(APP, SDK, "where can it be added?", "spec", "B-CAN-2", arrow=False)
class AskCanAddCardDetails(Command):
    """The SDK looks at the phone, and at the watch when one is activated (B-CAN-2)."""

    is_watch_activated: bool


@message(SDK, APP, "canAddCard = true", "spec", "B-CAN-1 B-CAN-2")
class CanAddCard(Event):
    """canAddCard is true: show the button. The two places are public knowledge, not the document's (sdk-b)."""

    can_add_to_phone: bool | None = None
    can_add_to_watch: bool | None = None


@message(SDK, APP, "canAddCard = false", "spec", "B-CAN-3")
class CannotAddCard(Event):
    """canAddCard is false: the card is in the wallet already, on the phone or on the watch (B-CAN-3)."""


@message(APP, SDK, "start(delegate, presentingViewController)", "spec", "B-START-1")
class StartCalled(Event):
    """The app calls start with its delegate and the presenting view controller (B-START-1)."""


@message(APP, SDK, "start", "spec", "B-START-1", arrow=False)
class Start(Command):
    """The SDK presents the wallet's sheet (B-START-1)."""


@message(SDK, APP, "start threw", "spec", "B-START-1", fails=True)
class StartThrew(Event):
    """start threw (B-START-1): nothing has begun (assumed)."""

    case: str
    why: str = ""


@message(SDK, APP, "provision(sdkOutput)", "spec", "B-DEL-1")
class DelegateProvisionCalled(Event):
    """The SDK calls the delegate's provision, as in the earlier variant (B-DEL-1)."""

    sdk_output: Any


@message(SDK, APP, "provision(sdkOutput, paymentInstrumentId)", "spec", "B-DEL-2")
class DelegateProvisionWithIdCalled(Event):
    """The SDK calls the delegate's provision, as in the later variant (B-DEL-2)."""

    sdk_output: Any
    payment_instrument_id: str


@message(APP, BACK_END, "sdkOutput", "spec", "B-DEL-3 API-2 API-11 API-13")
class AskDelegate(Command):
    """The app's delegate runs: it has the back end post sdkOutput, for the card that the app knows (B-DEL-3)."""

    sdk_output: Any


@message(APP, BACK_END, "sdkOutput", "spec", "B-DEL-3 API-2 API-11 API-13")
class AskDelegateWithId(Command):
    """The app's delegate runs: it has the back end post sdkOutput, for the card that the SDK names (B-DEL-3)."""

    sdk_output: Any
    payment_instrument_id: str


@message(APP, SDK, "sdkInput", "spec", "B-DEL-3 API-11")
class ReturnSdkInput(Command):
    """The delegate returns sdkInput's bytes to the SDK (B-DEL-3)."""

    sdk_input: Any


@message(APP, SDK, "nil", "spec", "B-DEL-3", fails=True)
class ReturnNil(Command):
    """The delegate returns nil (B-DEL-3)."""

    reason: str


@message(WALLET, SDK, "waits no longer", "wallet", "B-DEL-3", fails=True)
class GiveUp(Command):
    """The wallet stops waiting for the delegate (wallet)."""


@message(SDK, APP, "didFinishProvisioning(with: pass, error: nil)", "spec", "B-FIN-1", where="assumed")
class FinishedWithPass(Event):
    """didFinishProvisioning with a pass (B-FIN-1). `where` is the cardholder's choice: phone, watch or both."""

    where: str = ""


@message(SDK, APP, "didFinishProvisioning(with: nil, error: error)", "spec", "B-FIN-1", fails=True)
class FinishedWithError(Event):
    """didFinishProvisioning with an error (B-FIN-1)."""

    case: str
    why: str = ""


@message(SDK, APP, "didFinishProvisioning(with: nil, error: error)", "sdk-b", "B-FIN-1", fails=True)
class FinishedCancelled(FinishedWithError):  # noqa: N818  # no exception: an event that carries an error
    """didFinishProvisioning with the cardholder's own choice as its error: userCancelled (sdk-b)."""


@message(SDK, APP, "didFinishProvisioning(with: nil, error: nil)", "spec", "B-FIN-1", fails=True)
class FinishedWithNeither(Event):
    """didFinishProvisioning with nothing at all: both are optional (B-FIN-1)."""


@message(APP, SDK, "returns too late: ignored", "wallet", "B-DEL-3", fails=True)
class IgnoreLateSdkInput(Aside):
    """The delegate returned after the wallet had stopped waiting; the answer is ignored (wallet)."""


@message(SDK, APP, "the watch session was taken over", "sdk-b", "B-WATCH-2", fails=True)
class WatchSessionTakenOver(Aside):
    """A second WatchAvailability took the phone's watch session away from the first (sdk-b, B-WATCH-2)."""

    instances: int


@message(WALLET, SDK, "where the card is missing", "sdk-b", "B-CAN-3")
class StillMissing(Aside):
    """Why canAddCard stays true for an added card: where it is missing (sdk-b), or the scheme hides it (inferred)."""

    phone: bool
    watch: bool | None
    hidden_by_scheme: bool


@message(SDK, WALLET, "add the card", "spec", "B-START-1")
class WalletKitAsked(Aside):
    """The SDK handed the card to the wallet, whose own sheet goes on (B-START-1)."""


# ---------------------------------------------------------------------- platform B, from the wallet

# What passes between the wallet app and the extension until the cards are shown. The wallet app is the one on the
# phone, or the one on the watch.


@message(CARDHOLDER, WALLET_APP, "opens the list of apps", "spec", "FLOW-4")
class IssuerListOpened(Event):
    """The cardholder looks in the wallet for apps that offer cards (FLOW-4)."""


@message(CARDHOLDER, WALLET_APP, "chooses the issuer's app", "wallet", "X-FLOW-1")
class IssuerChosen(Event):
    """The cardholder chooses the issuer's app in the list (wallet), between two calls of the document (X-FLOW-1)."""


@message(CARDHOLDER, WALLET_APP, "chooses a card", "spec", "X-FLOW-1")
class EntryChosen(Event):
    """The cardholder chooses a card among the pass entries (X-FLOW-1)."""

    identifier: str


@message(WALLET_APP, EXTENSION, "status()", "spec", "X-STATUS-1 X-HANDLER-1")
class CallStatus(Command):
    """Call status() on a new handler (X-STATUS-1, X-HANDLER-1)."""


@message(EXTENSION, WALLET_APP, "extensionStatus", "spec", "X-STATUS-1")
class EntriesAvailable(Event):
    """status() returned extensionStatus: there are cards to add (X-STATUS-1)."""

    requires_authentication: bool


@message(EXTENSION, WALLET_APP, "entriesUnavailableExtensionStatus", "spec", "X-STATUS-2")
class EntriesUnavailable(Event):
    """status() returned entriesUnavailableExtensionStatus (X-STATUS-2)."""


@message(EXTENSION, WALLET_APP, "no such extension", "inferred", "X-PLIST-1", fails=True)
class ExtensionNotFound(Event):
    """There is no extension that the wallet could call; `why` says what is wrong with it (X-PLIST-1)."""

    why: str


@message(EXTENSION, WALLET_APP, "the handler failed", "assumed", "X-HANDLER-1", fails=True)
class HandlerRaised(Event):
    """The handler's own code failed, or returned what it must not; `error` says how (the handler's mistake)."""

    call: str
    error: str


@message(WALLET_APP, CARDHOLDER, "lists the issuer's app", "wallet", "X-STATUS-1")
class ListIssuer(Command):
    """The wallet lists the issuer's app, and remembers whether the authorization UI is to be used (X-STATUS-1)."""

    requires_authentication: bool


@message(WALLET_APP, CARDHOLDER, "does not list the issuer's app", "wallet", "X-STATUS-2 X-STATUS-3", fails=True)
class HideIssuer(Command):
    """The wallet does not list the issuer's app, and shows the cardholder no reason (X-STATUS-2, X-STATUS-3)."""


@message(WALLET_APP, WALLET_APP, "too late: ignored", "wallet", "X-STATUS-3 X-ENTRIES-3", fails=True)
class IgnoreLate(Command):
    """An answer after its time: the wallet ignores it (wallet)."""


@message(WALLET_APP, EXTENSION, "passEntries()", "spec", "X-ENTRIES-1 X-HANDLER-1")
class CallPassEntries(Command):
    """Call passEntries() on a new handler (X-ENTRIES-1, X-HANDLER-1)."""


@message(WALLET_APP, EXTENSION, "remotePassEntries()", "spec", "X-ENTRIES-2 X-HANDLER-1")
class CallRemotePassEntries(Command):
    """Call remotePassEntries() on a new handler, from the watch app on the phone or the wallet on the watch."""


@message(SDK, EXTENSION, "cardArt(forBrand:)", "spec", "X-ART-1")
class CardArtForBrandAsked(Event):
    """The SDK asks the delegate for card art by brand, as in the earlier variant (X-ART-1)."""

    brand: str


@message(SDK, EXTENSION, "cardArt(paymentInstrumentId)", "spec", "X-ART-1")
class CardArtForIdAsked(Event):
    """The SDK asks the delegate for card art by payment instrument, as in the later variant (X-ART-1)."""

    payment_instrument_id: str


@message(EXTENSION, WALLET_APP, "pass entries", "spec", "X-ENTRIES-1 X-ENTRIES-2")
class EntriesReturned(Event):
    """The handler returned pass entries (X-ENTRIES-1, X-ENTRIES-2)."""

    entries: Any


@message(EXTENSION, WALLET_APP, "no pass entry", "spec", "X-ENTRIES-1 X-ENTRIES-2")
class NoEntries(Event):
    """The handler returned no pass entry (X-ENTRIES-1, X-ENTRIES-2)."""


@message(WALLET_APP, CARDHOLDER, "shows the cards", "spec", "X-ART-1")
class ShowEntries(Command):
    """The wallet shows the cards with their art (X-ART-1)."""

    entries: Any


@message(WALLET_APP, CARDHOLDER, "shows no card", "wallet", "X-ENTRIES-3")
class ShowNoEntries(Command):
    """The wallet shows no card to add (wallet)."""


@message(WALLET_APP, WALLET_APP, "is here already", "wallet", "X-ENTRIES-1 X-ENTRIES-2")
class AlreadyThere(Aside):
    """The wallet finds that an offered card is in its library already (wallet)."""

    payment_instrument_id: str


# What an extension's handler does during a call; it is recorded, and no table reacts to it.
#
# `case` is one of the public interface's names (sdk-b); `why` is the simulator's explanation.


@message(EXTENSION, STORAGE, "reads sdkInput", "spec", "X-CACHE-1")
class StorageRead(Aside):
    """The handler read the secure storage (X-CACHE-1). `found` counts the values, `out_of_reach` those not shared."""

    found: int
    out_of_reach: int = 0


@message(EXTENSION, BACK_END, "asks the back end", "spec", "API-13")
class BackEndAsked(Aside):
    """The handler asked the back end (API-13). `method` is what the back end will send."""

    method: str
    payment_instrument_id: str


@message(EXTENSION, SDK, "ExtensionProvisioningService(…)", "spec", "X-INIT-1 X-HANDLER-1")
class ServiceMade(Aside):
    """An ExtensionProvisioningService was made (X-INIT-1). `cards` are the instruments of its sdkInputs."""

    cards: tuple[str, ...]


@message(SDK, EXTENSION, "no service", "spec", "X-INIT-1 X-STATUS-2", fails=True)
class ServiceNotMade(Aside):
    """The ExtensionProvisioningService could not be initialised (X-STATUS-2)."""

    case: str
    why: str = ""


@message(EXTENSION, SDK, "passEntries(withDelegate)", "spec", "X-ENTRIES-1")
class SdkPassEntriesCalled(Aside):
    """The handler called the SDK's passEntries(withDelegate) (X-ENTRIES-1)."""


@message(EXTENSION, SDK, "remotePassEntries(withDelegate)", "spec", "X-ENTRIES-2")
class SdkRemotePassEntriesCalled(Aside):
    """The handler called the SDK's remotePassEntries(withDelegate) (X-ENTRIES-2)."""


@message(EXTENSION, SDK, "generateAddPaymentPassRequestForPassEntryWithIdentifier(…)", "spec", "X-GEN-1")
class SdkGenerateCalled(Aside):
    """The handler called the SDK's operation of the same name (X-GEN-1)."""

    identifier: str


@message(SDK, EXTENSION, "threw", "spec", "X-GEN-1", fails=True)
class SdkThrew(Aside):
    """An SDK operation threw inside the handler (X-GEN-1)."""

    case: str
    why: str = ""


@message(EXTENSION, SDK, "paymentInstrumentId and sdkOutput in the other order", "spec", "X-DEL-1", arrow=False)
class ArgumentsSwapped(Aside):
    """A delegate written for the app, where sdkOutput comes first; in the extension it comes second (X-DEL-1)."""


@message(EXTENSION, SDK, "card art", "spec", "X-ART-1")
class CardArtReturned(Aside):
    """The delegate returned card art (X-ART-1). `problems` say what is wrong with it, if anything."""

    problems: str = ""


@message(EXTENSION, SDK, "returned", "spec", "X-DEL-1")
class DelegateReturned(Aside):
    """The delegate's provision returned (X-DEL-1). `sdk_input` is None for nil."""

    sdk_input: Any = None


@message(EXTENSION, EXTENSION, "kept for later", "spec", "X-HANDLER-1", arrow=False)
class HandlerKept(Aside):
    """A handler kept values in itself or its class for a later call, which gets another handler (X-HANDLER-1)."""

    where: str
    names: tuple[str, ...]


@message(WALLET_APP, EXTENSION, "shows the authorization UI", "spec", "X-AUTH-1")
class AuthorizationUiShown(Aside):
    """The wallet put the app's authorization UI on the screen (X-AUTH-1)."""


@message(EXTENSION, WALLET_APP, "completionHandler(…)", "spec", "X-AUTH-1", arrow=False)
class CompletionHandlerCalled(Aside):
    """The authorization UI called completionHandler (X-AUTH-1), which it should do once (assumed)."""

    succeeded: bool


# What passes between the wallet app and the issuer's two extensions once a card is chosen (platform B).
#
# `why` is the simulator's explanation; the document shows none.


@message(WALLET_APP, CARDHOLDER, "asks to authenticate", "spec", "X-AUTH-1 X-AUTH-2")
class Authenticate(Command):
    """Authenticate the cardholder, by the authorization UI extension where status() said so (X-AUTH-2)."""

    identifier: str


@message(EXTENSION, WALLET_APP, "completionHandler(authorized)", "wallet", "X-AUTH-1 X-AUTH-2")
class Authorized(Event):
    """The cardholder is authenticated (X-AUTH-1, X-AUTH-2)."""

    identifier: str


@message(WALLET_APP, WALLET_APP, "the cardholder is authenticated", "assumed", "X-AUTH-2")
class AuthenticatedByWallet(Event):
    """The wallet authenticated the cardholder by itself, where status() requires no authorization UI (assumed)."""

    identifier: str


@message(EXTENSION, WALLET_APP, "completionHandler(canceled)", "wallet", "X-AUTH-1")
class AuthorizationCanceled(Event):
    """Authentication did not succeed (X-AUTH-1)."""


@message(EXTENSION, WALLET_APP, "no authentication", "assumed", "X-AUTH-1 X-STATUS-1", fails=True)
class AuthorizationMissing(Event):
    """The authorization UI gave no answer; `why` says what is missing (X-AUTH-1, X-STATUS-1)."""

    why: str


@message(
    WALLET_APP, EXTENSION, "generateAddPaymentPassRequestForPassEntryWithIdentifier(…)", "spec", "X-GEN-1 X-HANDLER-1"
)
class CallGenerate(Command):
    """Call generateAddPaymentPassRequestForPassEntryWithIdentifier on a new handler (X-GEN-1, X-HANDLER-1)."""

    identifier: str


@message(SDK, EXTENSION, "provision(paymentInstrumentId, sdkOutput)", "spec", "X-DEL-1 X-FLOW-1")
class ExtensionProvisionCalled(Event):
    """The SDK calls the delegate's provision (X-DEL-1)."""

    payment_instrument_id: str
    sdk_output: Any


@message(EXTENSION, WALLET_APP, "add-payment-pass request", "spec", "X-GEN-1")
class RequestReturned(Event):
    """The handler returned an add-payment-pass request (X-GEN-1)."""

    request: Any


@message(EXTENSION, WALLET_APP, "nil", "spec", "X-GEN-1", fails=True)
class NoRequest(Event):
    """The handler returned nil (X-GEN-1)."""


@message(WALLET_APP, WALLET_APP, "add the card", "wallet", "X-FLOW-1")
class AddPass(Command):
    """The wallet app has the wallet add the card of this request (X-FLOW-1)."""

    request: Any


@message(WALLET_APP, WALLET_APP, "added", "assumed", "X-FLOW-1")
class PassAdded(Event):
    """The card is in the wallet (X-FLOW-1)."""


@message(WALLET_APP, WALLET_APP, "refused", "assumed", "X-FLOW-1", fails=True)
class PassRefused(Event):
    """The wallet cannot use the request; `why` is the simulator's explanation."""

    why: str


@message(WALLET_APP, CARDHOLDER, "shows the added card", "assumed", "X-FLOW-1")
class ShowCardAdded(Command):
    """The wallet shows the card."""


@message(WALLET_APP, CARDHOLDER, "says: not added", "assumed", "X-FLOW-1", fails=True)
class ShowNotAdded(Command):
    """The wallet says that the card was not added."""


# Time as data: a budget that begins, ends in time, or is spent.
#
# A limit is an ordinary event, so that missing it is a row of the table. A command's `call` and `seconds` are its
# own: the loop puts `BudgetSpent` on the clock, and `StopBudget` takes it off again.


@message(WALLET_APP, WALLET_APP, "time is up", "spec", "X-STATUS-3 X-ENTRIES-3", fails=True)
class BudgetSpent(Event):
    """The time of `call` is over and no answer has come (X-STATUS-3, X-ENTRIES-3)."""

    call: str


@message(WALLET, WALLET, "time is up", "wallet", "B-DEL-3", fails=True)
class DelegateTimeSpent(BudgetSpent):
    """The time of the in-app delegate's provision is over and no answer has come (wallet)."""


@message(WALLET_APP, WALLET_APP, "the time begins", "spec", arrow=False)
class StartBudget(Command):
    """The time of one call begins.

    Attributes:
        spent: the event that happens when the time is over.
        source: `spec` where the document gives the limit, `wallet` where only the wallet platform does.
        missed: what a missed limit means for the cardholder, with the source of that.
        call: the call's name in Python's spelling.
        seconds: the time it has; taking exactly that long is in time (assumed).
    """

    spent: ClassVar[type[BudgetSpent]] = BudgetSpent
    missed: ClassVar[str] = ""
    call: str
    seconds: float

    def __str__(self) -> str:
        """The time with its unit, as a sentence has it."""
        return f"{self.seconds:g} s" if self.seconds >= 1 else f"{self.seconds * 1000:g} ms"


@message(WALLET_APP, WALLET_APP, "the time begins", "spec", "X-STATUS-3", arrow=False)
class StartStatusBudget(StartBudget):
    """status() has 100 ms (X-STATUS-3)."""

    missed = "the app is not listed in the wallet (wallet)"
    call: str = "status"
    seconds: float = 0.100


@message(WALLET_APP, WALLET_APP, "the time begins", "spec", "X-ENTRIES-3", arrow=False)
class StartPassEntriesBudget(StartBudget):
    """passEntries() has 20 s (X-ENTRIES-3)."""

    missed = "the wallet shows no card to add (wallet)"
    call: str = "pass_entries"
    seconds: float = 20.0


@message(WALLET_APP, WALLET_APP, "the time begins", "spec", "X-ENTRIES-3", arrow=False)
class StartRemotePassEntriesBudget(StartBudget):
    """remotePassEntries() has 20 s (X-ENTRIES-3)."""

    missed = "the watch shows no card to add (wallet)"
    call: str = "remote_pass_entries"
    seconds: float = 20.0


@message(WALLET_APP, WALLET_APP, "the time begins", "wallet", "X-GEN-1", arrow=False)
class StartGenerateBudget(StartBudget):
    """The add-payment-pass request has 20 s (wallet; the document gives no limit)."""

    missed = "the late request is ignored and no card is added (wallet)"
    call: str = "generate_add_payment_pass_request_for_pass_entry_with_identifier"
    seconds: float = 20.0


@message(WALLET, WALLET, "the time begins", "wallet", "B-DEL-3", arrow=False)
class StartProvisionBudget(StartBudget):
    """The in-app delegate's provision has 20 s (wallet; the document gives no limit)."""

    spent = DelegateTimeSpent
    missed = "the late sdkInput is ignored and no card is added (wallet)"
    call: str = "provision"
    seconds: float = 20.0


@message(WALLET_APP, WALLET_APP, "in time", "spec", arrow=False)
class StopBudget(Command):
    """The call has answered in time."""


# Every budget that a table may start.
BUDGETS: tuple[Any, ...] = (
    StartStatusBudget,
    StartPassEntriesBudget,
    StartRemotePassEntriesBudget,
    StartGenerateBudget,
    StartProvisionBudget,
)


# The limit of each call. The document gives two: 100 ms for status() and 20 s for the entries. The 20 s for the
# request's generation and for the in-app delegate are public knowledge of the wallet platform (wallet).
LIMITS: dict[str, StartBudget] = {each().call: each() for each in BUDGETS}

# From this share of a limit on there is little room left (assumed).
LITTLE_LEFT = 0.8
