"""Platform B's SDK stand-in inside the issuer's app: a command in, the document's outcome out.

It decides nothing about order; that is the tables' business. It works on bytes (API-8). The explanation in `why`
is the simulator's: the real SDK says less.
"""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Any

from workbook.api.layers import LAYERS
from workbook.api.opaque import SdkOutput
from workbook.flows import messages as m
from workbook.simulation.phone import NOTHING, THROWN_BY_START, Phone
from workbook.simulation.seal import Content, Damaged, Genuine, Seal
from workbook.simulation.stand_in import StandIn

if TYPE_CHECKING:
    from workbook.flows.messages import Event

    Reply = tuple[float, Event]

BEFORE_THE_DELEGATE = {
    "userCancelled": "the cardholder closed the wallet's sheet",
    "unableToConstructSDKOutput": "chosen for this phone",
}
"""Errors after which there is no sdkOutput to ask the delegate with (inferred from their names), and why."""

TEXT = "it is text, and platform B takes the bytes: decode the base64 of the JSON once (API-8)"


class SdkB(StandIn):
    """One ProvisioningService on one phone.

    Attributes:
        seen: called with what passes between the SDK, the wallet and the watch, which no table steps.
        attempt: the number of its latest sdkOutput, counted for the whole phone.
    """

    def __init__(self, phone: Phone, *, later: bool) -> None:
        self.phone = phone
        self.payment_instrument_id = ""
        self._seal = Seal(phone.seed)
        self._later = later
        answers = {
            m.CreateService: self._create,
            m.ActivateWatch: self._activate,
            m.AskCanAddCard: self._can_add_card,
            m.AskCanAddCardDetails: self._can_add_card_details,
            m.Start: self._start,
            m.ReturnSdkInput: self._provision,
            m.ReturnNil: self._no_sdk_input,
            m.GiveUp: self._given_up,
        }
        super().__init__(answers)

    def _create(self, command: Any) -> Reply:
        return self.phone.waits.service, self._created(command.sdk_input)

    def _created(self, sdk_input: object) -> Event:
        match opened(self._seal, sdk_input):
            case Damaged(why, advice):
                return m.ServiceRefused("invalidSDKInput", f"{why}. {advice}".strip(" ."))
            case Genuine() as data if data.content != Content.ACTIVATION:
                why = f"it is data of kind '{data.content}'; the initialiser takes the GET's sdkInput"
                return m.ServiceRefused("invalidSDKInput", why)
            case Genuine() as data if self.phone.wallet not in data.claims.get("supportedWallets", ()):
                return m.ServiceRefused("walletNotSupported", "the card's supportedWallets lack this wallet")
            case Genuine() as data:
                self.payment_instrument_id = data.payment_instrument_id
                return m.ServiceReady(self)

    def _activate(self, command: Any) -> Reply:
        if command.instance > self.phone.watch_sessions:
            self.watch_made()
        return self.phone.waits.watch, m.WatchActivated(self.watch_answers(command.instance))

    def watch_made(self) -> int:
        """Another WatchAvailability was made; the number of it, counted from 1 (B-WATCH-2)."""
        self.phone.watch_sessions += 1
        if self.phone.watch_sessions > 1:
            self.seen(m.WatchSessionTakenOver(self.phone.watch_sessions))
        return self.phone.watch_sessions

    def watch_answers(self, instance: int) -> bool:
        """Whether a watch is paired, as this instance hears it: only the latest has the watch session (sdk-b)."""
        return instance == self.phone.watch_sessions and self.phone.watch is not None

    def _can_add_card(self, _command: Any) -> Reply:
        """The earlier variant looks at every place there is (assumed)."""
        found = m.CanAddCard() if any(self._open_places()) else m.CannotAddCard()
        return self.phone.waits.can_add_card, found

    def _can_add_card_details(self, command: Any) -> Reply:
        """The later variant looks at the watch only when it is told of one (assumed)."""
        places = self._open_places(look_at_watch=bool(command.is_watch_activated))
        told = places if self.phone.profile == "field" else ()
        return self.phone.waits.can_add_card, m.CanAddCard(*told) if any(places) else m.CannotAddCard()

    def _open_places(self, *, look_at_watch: bool = True) -> tuple[bool, bool]:
        """Where the card can be added, as far as the scheme lets this app see."""
        phone, watch = self.phone.missing(self.payment_instrument_id)
        paired, hidden = self.phone.watch is not None, not self.phone.associated
        places = phone or hidden, look_at_watch and (watch or (hidden and paired))
        there = not phone or (paired and not watch)
        if there and any(places):
            self.seen(m.StillMissing(phone, watch if paired else None, hidden_by_scheme=hidden))
        return places

    def _start(self, _command: Any) -> Reply:
        case = self.phone.ends_with
        if "app" not in self.phone.entitled:
            return 0.0, m.StartThrew("presentationFailure", "the app lacks the provisioning entitlement")
        if case in THROWN_BY_START:
            return 0.0, m.StartThrew(case, "chosen for this phone")
        if case in BEFORE_THE_DELEGATE:
            return self.phone.waits.sheet, m.FinishedWithError(case, BEFORE_THE_DELEGATE[case])
        return self.phone.waits.sheet, self._asked()

    def _asked(self) -> Event:
        output = next_output(self.phone, self._seal, self.payment_instrument_id)
        self.attempt = self.phone.outputs
        if self._later:
            return m.DelegateProvisionWithIdCalled(output, self.payment_instrument_id)
        return m.DelegateProvisionCalled(output)

    def _provision(self, command: Any) -> Reply:
        why = wrong_with(self._seal, command.sdk_input, self.payment_instrument_id, self.attempt)
        if why:
            return 0.0, m.FinishedWithError("invalidSDKInput", why)
        self.seen(m.WalletKitAsked())
        return self.phone.waits.wallet, self._finished()

    def _finished(self) -> Event:
        case = self.phone.ends_with
        if case == NOTHING:
            return m.FinishedWithNeither()
        if case is not None:
            return m.FinishedWithError(case, "chosen for this phone")
        return m.FinishedWithPass(self.phone.add(self.payment_instrument_id, self.phone.adds_to))

    def _no_sdk_input(self, command: Any) -> Reply:
        why = f"the delegate returned nil: {command.reason}"
        return 0.0, m.FinishedWithError("walletKitError", why)

    def _given_up(self, _command: Any) -> Reply:
        return 0.0, m.FinishedWithError("walletKitError", "the delegate's provision took longer than the wallet waits")


def opened(seal: Seal, sdk_input: object) -> Genuine | Damaged:
    """What these bytes say, or what is wrong with them; text is the classic mistake (field notes, 10)."""
    if isinstance(sdk_input, str):
        return Damaged(TEXT, LAYERS["alphabet"] if not sdk_input.isascii() else "")
    if not isinstance(sdk_input, bytes | bytearray | memoryview) or not sdk_input:
        return Damaged(f"it is {_named(sdk_input)}, not the bytes of an sdkInput")
    return seal.open(b64encode(sdk_input).decode("ascii"))


def wrong_with(seal: Seal, sdk_input: object, payment_instrument_id: str, attempt: int) -> str | None:
    """Why the wallet cannot use this as the answer to that attempt; None when it can."""
    match opened(seal, sdk_input):
        case Damaged(why, advice):
            return f"{why}. {advice}".strip(" .")
        case Genuine() as data if data.content != Content.OPC:
            return f"it is data of kind '{data.content}'; the delegate returns the POST's sdkInput"
        case Genuine() as data if data.payment_instrument_id != payment_instrument_id:
            return "it belongs to another payment instrument"
        case Genuine() as data if data.claims["attempt"] != attempt:
            return f"it answers attempt {data.claims['attempt']}, and this is attempt {attempt}"
    return None


def next_output(phone: Phone, seal: Seal, payment_instrument_id: str) -> SdkOutput:
    """Another sdkOutput of this phone; the phone counts them, so that no two are alike."""
    phone.outputs += 1
    which = {"attempt": phone.outputs, "phone": phone.number}
    return SdkOutput(seal.close(Content.OUTPUT, payment_instrument_id, phone.outputs, **which))


def _named(value: object) -> str:
    if value is None:
        return "nil"
    return "empty" if isinstance(value, bytes | bytearray | memoryview) else type(value).__name__
