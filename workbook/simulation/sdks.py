"""The SDK stand-ins of both platforms: a command in, the document's outcome and its seconds out."""

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, ClassVar

from workbook.api.opaque import LAYERS, SdkOutput
from workbook.errors import SdkError
from workbook.flows import messages as m
from workbook.flows.messages import Command, Event
from workbook.flows.variants import FactsA
from workbook.simulation.clock import VirtualClock
from workbook.simulation.phones import PhoneA, PhoneB
from workbook.simulation.seal import Content, Damaged, Genuine, Seal, expected
from workbook.simulation.wallet import NOT_ALLOWLISTED, NOTHING, THROWN_BY_START

# The seconds that an outcome takes, and the outcome.
Reply = tuple[float, Event]


class StandIn:
    """An SDK's stand-in.

    Attributes:
        answers: how it carries out each command.
        seen: called with each event on the way that is only recorded and changes no state.
        attempt: the number of its latest sdkOutput, counted for the whole phone.
    """

    answers: ClassVar[Mapping[type[Command], Callable[[Any, Any], Reply]]]

    def __init__(self) -> None:
        self.seen: Callable[[Event], None] = lambda _event: None
        self.attempt = 0

    def answer(self, command: Command) -> Reply:
        """The outcome and how many seconds it takes."""
        return self.answers[type(command)](self, command)


# One call of an extension's handler under way: the clock that it spends its time on, and who listens.
#
# On a real phone the SDK, the storage and the network know the process they run in. Here they find the
# call: a context variable holds it while the host calls a handler. Outside a call, each part works alone.


@dataclass(eq=False, repr=False, kw_only=True)
class Call:
    """What one call sees, and the run's clock, on which it takes its time.

    Attributes:
        phone: where it runs.
        later: the SDK is that of the later variant.
        clock: of the run.
        tell: called with each event and its time.
    """

    phone: PhoneB = field(kw_only=False)
    later: bool = True
    clock: VirtualClock = field(default_factory=VirtualClock)
    tell: Callable[[float, Event], object] = lambda _at, _event: None

    def seen(self, event: Event) -> None:
        """Report what happens now."""
        self.tell(self.clock.now(), event)


CURRENT: ContextVar[Call | None] = ContextVar("call", default=None)


def current() -> Call:
    """The call under way, or a new one on a new phone."""
    return CURRENT.get() or Call(PhoneB())


@contextmanager
def under_way(call: Call) -> Iterator[Call]:
    """Make `call` the current one."""
    token = CURRENT.set(call)
    try:
        yield call
    finally:
        CURRENT.reset(token)


# Platform A's SDK stand-in: a command in, the document's outcome out.
#
# The flow tables decide the order. This SDK opens what it is given, looks at the phone's facts, and answers with the
# event that the tables branch on. The explanation in `why` is the simulator's.


class SdkA(StandIn):
    """One cardProvisioning instance on one phone.

    Attributes:
        seen: called with each event between the SDK and the wallet; it changes no state.
        attempt: the number of its latest sdkOutput, counted for the whole phone; OPC data belongs to one attempt.
        activity_provider: the app's function that returns the UI activity; asked when the wallet is to be shown.
    """

    def __init__(self, phone: PhoneA, seal: Seal, facts: FactsA) -> None:
        super().__init__()
        self.phone = phone
        self.payment_instrument_id = ""
        self.activity_provider: Callable[[], object] = lambda: "the app's activity"
        self._seal = seal
        self._facts = facts
        self._activation = 0
        self._used: set[str | Damaged] = set()
        self._overlapped: set[int] = set()

    def _create(self, command: Any) -> Reply:
        return self.phone.latencies.create, self._creation_outcome(_text(command.sdk_input))

    def _creation_outcome(self, sdk_input: str | Damaged) -> Event:
        if not self.phone.takes_sdk_input:
            return m.InvalidSdkInput("this phone takes none")
        match expected(self._opened(sdk_input), Content.ACTIVATION, "create takes the GET's sdkInput"):
            case str() as why:
                return m.InvalidSdkInput(why)
            case data:
                self.payment_instrument_id = data.payment_instrument_id
                self._activation = data.serial
                listed = self.phone.wallet in data.claims.get("supportedWallets", ())
                return (
                    m.CreateSuccess(self) if self.phone.wallet_pay_supported and listed else m.WalletPayNotSupported()
                )

    def _can_provision(self, _command: Any) -> Reply:
        answer = self.phone.can_provision or self._usual_answer()
        if type(answer) in self._facts.lacks:
            answer = m.UnknownFailure()  # an earlier SDK has no better word for it (assumed)
        return self.phone.latencies.can_provision, answer

    def _usual_answer(self) -> Event:
        """What canProvision answers by the facts."""
        if not self.phone.allowlisted:
            return m.ApiError(NOT_ALLOWLISTED)
        if self.payment_instrument_id not in self.phone.cards or not self.phone.scheme_configured:
            return m.CanBeProvisioned()
        if self.phone.verification_pending:
            self.seen(m.VerificationPending())
            return m.CanBeProvisioned()
        return m.AlreadyExistsInWallet()

    def _next_output(self, command: Any) -> Reply:
        """Another sdkOutput: the app receives it, or its OpcProvider is called with it."""
        self.phone.outputs += 1
        self.attempt = self.phone.outputs
        attempt = {"attempt": self.attempt, "activation": self._activation, "phone": self.phone.number}
        output = SdkOutput(self._seal.close(Content.OUTPUT, self.payment_instrument_id, self.attempt, **attempt))
        event = m.SdkOutputCreated if isinstance(command, m.CreateSdkOutput) else m.FetchOpcCalled
        return self.phone.latencies.create_sdk_output, event(self.payment_instrument_id, output)

    def _provision(self, command: Any) -> Reply:
        opc, phone = _text(command.sdk_input), self.phone
        event: Event = m.ProvisionSuccess()
        if why := self._wrong_with(opc):
            event = m.ProvisionFailure("InvalidSdkInput", why)
        elif why := self._no_activity():
            event = m.ProvisionFailure("Other", why)
        else:
            self.seen(m.WalletAsked())
            if name := phone.add(self.payment_instrument_id):
                known = name not in self._facts.lacks_failures  # else there is no better word (assumed)
                event = m.ProvisionFailure(name if known else "Other", "the chosen phone fails in this way")
        self._used.add(opc)
        return phone.latencies.wallet, event

    def _no_activity(self) -> str:
        """Why there is no activity for the wallet; empty when there is one. What a provider may do is assumed."""
        try:
            activity = self.activity_provider()
        except Exception as error:  # noqa: BLE001  # not our code
            return f"activityProvider raised {type(error).__name__} (assumed)"
        return "activityProvider returned nothing (assumed)" if activity is None else ""

    def _wrong_with(self, opc: str | Damaged) -> str | None:
        """Why the wallet cannot use this OPC data; None when it can."""
        takes = "provision takes the POST's sdkInput"
        data = expected(self._opened(opc), Content.OPC, takes, self.payment_instrument_id)
        if isinstance(data, str):
            return data
        return self._overlap(data.claims["attempt"]) or ("it was used already" if opc in self._used else None)

    # Two attempts on one instance: the one that was overtaken may still hand over its own OPC data. Both fail then: the
    # earlier for its number, and the later because data of another attempt came while it was under way.

    def _overlap(self, attempt: int) -> str | None:
        """Why overlapping attempts fail: the document says neither which attempt fails nor when."""
        if attempt != self.attempt:
            self._overlapped.add(self.attempt)
            return f"the data is of attempt {attempt}, and attempt {self.attempt} has begun (assumed)"
        return f"attempt {attempt} began while another was under way (assumed)" if attempt in self._overlapped else None

    def _opened(self, text: str | Damaged) -> Genuine | Damaged:
        return self._seal.open(text) if isinstance(text, str) else text

    answers: ClassVar = {
        m.CreateProvisioning: _create,
        m.AskCanProvision: _can_provision,
        m.CreateSdkOutput: _next_output,
        m.ProvisionWithProvider: _next_output,
        m.Provision: _provision,
        m.ReturnOpc: _provision,
        m.ReturnNoOpc: lambda _sdk, command: (0.0, m.ProvisionFailure("OpcFetchError", command.reason)),
    }


def _text(value: Any) -> str | Damaged:
    """The text of an sdkInput, whether it comes wrapped or bare (API-7), or what was handed over instead."""
    text = getattr(value, "text", value)
    if isinstance(text, str):
        return text
    if isinstance(text, bytes | bytearray | memoryview):
        return Damaged("it is bytes", "Platform A takes the text as the API sent it, not decoded (API-7).")
    what = "nothing" if text is None else f"of type {type(text).__name__}"
    return Damaged(f"it is {what}, not the text of an sdkInput")


# Platform B's SDK stand-in inside the issuer's app: a command in, the document's outcome out.
#
# The flow tables decide the order. This SDK works on bytes (API-8). The explanation in `why` is the
# simulator's; the document shows none.

# Said of an error case whose name is known (sdk-b) and whose cause is not.
OUR_CASE = "this error case is assumed"


class SdkB(StandIn):
    """One ProvisioningService on one phone.

    Attributes:
        seen: called with each event between the SDK, the wallet and the watch; it changes no state.
        attempt: the number of its latest sdkOutput, counted for the whole phone.
    """

    def __init__(self, phone: PhoneB, *, later: bool) -> None:
        super().__init__()
        self.phone = phone
        self.payment_instrument_id = ""
        self._seal = Seal(phone.seed)
        self._later = later

    def _create(self, command: Any) -> Reply:
        return self.phone.latencies.service, self._creation_outcome(command.sdk_input)

    def _creation_outcome(self, sdk_input: object) -> Event:
        try:
            card = activation_data(self._seal, sdk_input, self.phone.wallet)
        except SdkError as error:
            return m.ServiceRefused(error.case, error.why)
        self.payment_instrument_id = card.payment_instrument_id
        return m.ServiceReady(self)

    def _activate(self, command: Any) -> Reply:
        if command.instance > self.phone.watch_sessions:
            self.watch_made()
        return self.phone.latencies.watch, m.WatchActivated(self.watch_answers(command.instance))

    def watch_made(self) -> int:
        """Count one more WatchAvailability, and return its number, from 1 (B-WATCH-2)."""
        self.phone.watch_sessions += 1
        if self.phone.watch_sessions > 1:
            self.seen(m.WatchSessionTakenOver(self.phone.watch_sessions))
        return self.phone.watch_sessions

    def watch_answers(self, instance: int) -> bool:
        """Whether a watch is paired, as this instance hears it: only the latest has the watch session (sdk-b)."""
        return instance == self.phone.watch_sessions and self.phone.watch is not None

    def _can_add_card(self, _command: Any) -> Reply:
        """The earlier variant looks at every place there is (assumed)."""
        return self.phone.latencies.can_add_card, m.CanAddCard() if any(self._open_places()) else m.CannotAddCard()

    def _can_add_card_details(self, command: Any) -> Reply:
        """The later variant looks at the watch only when the app says that there is one (assumed)."""
        places = self._open_places(look_at_watch=bool(command.is_watch_activated))
        named_places = places if self.phone.profile == "field" else ()
        return self.phone.latencies.can_add_card, m.CanAddCard(*named_places) if any(places) else m.CannotAddCard()

    def _open_places(self, *, look_at_watch: bool = True) -> tuple[bool, bool]:
        """Where the card can be added, as far as the scheme lets this app see."""
        phone, watch = self.phone.missing(self.payment_instrument_id)
        paired, hidden = self.phone.watch is not None, not self.phone.associated
        places = phone or hidden, look_at_watch and (watch or (hidden and paired))
        added_everywhere = not phone or (paired and not watch)
        if added_everywhere and any(places):
            self.seen(m.StillMissing(phone, watch if paired else None, hidden_by_scheme=hidden))
        return places

    def _start(self, _command: Any) -> Reply:
        case = self.phone.ends_with
        if "app" not in self.phone.entitled:
            return 0.0, m.StartThrew("presentationFailure", "the app lacks the provisioning entitlement")
        if case in THROWN_BY_START:
            return 0.0, m.StartThrew(case, "the chosen phone fails in this way")
        if case == "userCancelled":  # before an sdkOutput (inferred from the names), as the next one
            return self.phone.latencies.sheet, m.FinishedCancelled(case, "the cardholder closed the wallet's sheet")
        if case == "unableToConstructSDKOutput":
            return self.phone.latencies.sheet, m.FinishedWithError(case, "the chosen phone fails in this way")
        output = next_output(self.phone, self._seal, self.payment_instrument_id)
        self.attempt = self.phone.outputs
        if self._later:
            return self.phone.latencies.sheet, m.DelegateProvisionWithIdCalled(output, self.payment_instrument_id)
        return self.phone.latencies.sheet, m.DelegateProvisionCalled(output)

    def _provision(self, command: Any) -> Reply:
        why = wrong_with(self._seal, command.sdk_input, self.payment_instrument_id, self.attempt)
        if why:
            return 0.0, m.FinishedWithError("invalidSDKInput", why)
        self.seen(m.WalletKitAsked())
        case = self.phone.ends_with
        event: Event = m.FinishedWithNeither()
        if case is None:
            event = m.FinishedWithPass(self.phone.add(self.payment_instrument_id, self.phone.adds_to))
        elif case != NOTHING:
            event = m.FinishedWithError(case, "the chosen phone fails in this way")
        return self.phone.latencies.wallet, event

    def _no_sdk_input(self, command: Any) -> Reply:
        why = "the delegate's provision took longer than the wallet waits"
        if isinstance(command, m.ReturnNil):
            why = f"the delegate returned nil: {command.reason}"
        return 0.0, m.FinishedWithError("walletKitError", f"{why}; {OUR_CASE}")

    answers: ClassVar = {
        m.CreateService: _create,
        m.ActivateWatch: _activate,
        m.AskCanAddCard: _can_add_card,
        m.AskCanAddCardDetails: _can_add_card_details,
        m.Start: _start,
        m.ReturnSdkInput: _provision,
        m.ReturnNil: _no_sdk_input,
        m.GiveUp: _no_sdk_input,
    }


def open_data(seal: Seal, sdk_input: object) -> Genuine | Damaged:
    """What these bytes say, or what is wrong with them; text is the classic mistake (symptoms, row 10)."""
    if isinstance(sdk_input, str):
        why = "it is text, and platform B takes the bytes (API-8): decode the base64 of the JSON once (sdk-b)"
        return Damaged(why, LAYERS["alphabet"] if not sdk_input.isascii() else "")
    if not isinstance(sdk_input, bytes | bytearray | memoryview) or not sdk_input:
        empty = isinstance(sdk_input, bytes | bytearray | memoryview)
        what = "nil" if sdk_input is None else "empty" if empty else type(sdk_input).__name__
        return Damaged(f"it is {what}, not the bytes of an sdkInput")
    return seal.open(b64encode(sdk_input).decode("ascii"))


def activation_data(seal: Seal, sdk_input: object, wallet: str) -> Genuine:
    """What these bytes say, if they are the GET's sdkInput of a card that may go into this wallet.

    Raises:
        SdkError: they are not: `invalidSDKInput` or `walletNotSupported` (sdk-b).
    """
    data = expected(open_data(seal, sdk_input), Content.ACTIVATION, "the initialiser takes the GET's sdkInput")
    if isinstance(data, str):
        raise SdkError("invalidSDKInput", data)
    if wallet not in data.claims.get("supportedWallets", ()):
        raise SdkError("walletNotSupported", "the card's supportedWallets lack this wallet")
    return data


def wrong_with(seal: Seal, sdk_input: object, payment_instrument_id: str, attempt: int) -> str | None:
    """Why the wallet cannot use this as the answer to that attempt; None when it can."""
    takes = "the delegate returns the POST's sdkInput"
    data = expected(open_data(seal, sdk_input), Content.OPC, takes, payment_instrument_id)
    if isinstance(data, str):
        return data
    answers = data.claims["attempt"]
    return None if answers == attempt else f"it answers attempt {answers}, and this is attempt {attempt}"


def next_output(phone: PhoneB, seal: Seal, payment_instrument_id: str) -> SdkOutput:
    """Another sdkOutput of this phone; the phone counts them, so that no two are alike."""
    phone.outputs += 1
    which = {"attempt": phone.outputs, "phone": phone.number}
    return SdkOutput(seal.close(Content.OUTPUT, payment_instrument_id, phone.outputs, **which))
