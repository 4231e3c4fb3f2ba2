"""Platform B's phone for an app's SDK stand-in: the calls of the app, and those of its wallet extension.

The in-app calls step the table of `flows`. The extension's service has no table of its own: the wallet's table decides
when the wallet calls the extension, and what the extension asks of the SDK is noted in the trace.
"""

import asyncio
from base64 import b64decode
from binascii import Error as BadBase64
from dataclasses import replace

from workbook.base.values import lookup
from workbook.errors import ParameterError, SdkError
from workbook.flows import messages as m
from workbook.flows.messages import Command, Event
from workbook.flows.platform_b import State
from workbook.flows.variants import VariantB
from workbook.simulation.phones import NUMBERS, PHONES_B, PhoneB
from workbook.simulation.sdks import SdkB, activation_data, next_output, wrong_with
from workbook.simulation.seal import Genuine, HardSeal
from workbook.tools.conform.app import protocol as p
from workbook.tools.conform.app.device import Device, PhoneReply, SdkCall, SdkClient


class DeviceB(Device):
    """A phone of platform B, in the profile that names both places of a card (sdk-b).

    Args:
        variant: of the SDK.
        phone: its facts.

    Attributes:
        refuses: the sdkInputs, as base64 text, that the SDK no longer takes; a case says which.
        generated: each call that asked for a request.
    """

    def __init__(
        self, client: str, variant: VariantB, phone: PhoneB | None = None, *, seed: int = 7, pace: float = 1.0
    ) -> None:
        super().__init__(client, f"Your app {client} on platform B, {variant.name} variant", seed=seed, pace=pace)
        self.variant = variant
        self.phone = phone or PhoneB(number=next(NUMBERS), seed=seed, profile="field")
        self.refuses: set[str] = set()
        self.generated: list[p.Generate] = []
        self._latest: SdkClient | None = None

    def use(self, name: str, card: str) -> None:
        """From here on the phone is the one of this name."""
        made = lookup("phone", name, PHONES_B)(card)
        self.phone = replace(made, number=next(NUMBERS), seed=self.seed, profile="field")

    async def _answer(self, call: p.PhoneRequest) -> PhoneReply:  # noqa: PLR0911 - one for each call
        match call:
            case p.MakeService():
                sdk = SdkB(self.phone, later=self.variant.later)
                made = SdkClient(self, self.variant.machine, State.FETCHED, sdk)
                reply = await _CallB(made, m.ServiceCalled(_bytes("sdkInput", call.sdk_input))).begin()
                if reply["outcome"] == "Success":
                    reply["service"], self._latest = self.keep(made), made
                return reply
            case p.ActivateWatch():
                return await self._activate_watch(call.instance)
            case p.CanAddCard():
                return await _CallB(self._service(call), m.CanAddCardCalled()).begin()
            case p.CanAddCardDetails():
                asked = m.CanAddCardDetailsCalled(call.is_watch_activated)
                return await _CallB(self._service(call), asked).begin()
            case p.Start():
                return await _CallB(self._service(call), m.StartCalled(), m.AddTapped()).begin()
            case p.MakeExtensionService():
                return self._make_extension_service(call)
            case p.PassEntries():
                self.note(m.SdkPassEntriesCalled())
                return self._entries(self._extension(call))
            case p.RemotePassEntries():
                self.note(m.SdkRemotePassEntriesCalled())
                return self._entries(self._extension(call) if self.phone.watch is not None else ())
            case p.Holds():
                watch = self.phone.watch
                there = self.phone.cards if not call.on_watch else watch.cards if watch is not None else ()
                return {"holds": call.card in there}
            case p.Generate():
                self.generated.append(call)
                return await _Generation(self, self._extension(call), call).begin()
            case _:
                return await super()._answer(call)

    def _service(self, call: p.OfService) -> SdkClient:
        return self.find(call.service, SdkClient, "ProvisioningService")

    def _extension(self, call: p.OfService) -> tuple[Genuine, ...]:
        """An ExtensionProvisioningService is here the cards in it."""
        return self.find(call.service, tuple, "ExtensionProvisioningService")

    async def _activate_watch(self, instance: int) -> PhoneReply:
        """Ask for the watch. An app may do so before it has a service, or while its service does something else."""
        latest, called = self._latest, m.WatchActivateCalled(instance)
        if latest is not None and type(called) in latest.machine.allowed(latest.state):
            return await _CallB(latest, called).begin()
        await self.pause("canAddCard")
        sdk = SdkB(self.phone, later=self.variant.later)
        sdk.seen = self.note
        _seconds, outcome = sdk.answer(m.ActivateWatch(instance))
        return _reply(outcome)

    def _make_extension_service(self, call: p.MakeExtensionService) -> PhoneReply:
        seal = HardSeal(self.seed)
        given = [_bytes("sdkInputs", text) for text in call.sdk_inputs]
        if self.refuses.intersection(call.sdk_inputs):
            return self._refuse("invalidSDKInput", "the case has the SDK refuse an sdkInput that it gave earlier")
        if not given:
            return self._refuse("emptySDKInputs", "the list is empty")
        try:
            cards = tuple(activation_data(seal, each, self.phone.wallet) for each in given)
        except SdkError as error:
            return self._refuse(error.case, error.why)
        self.note(m.ServiceMade(tuple(card.payment_instrument_id for card in cards)))
        return {"outcome": "Success", "service": self.keep(cards)}

    def _refuse(self, case: str, why: str) -> PhoneReply:
        self.note(m.ServiceNotMade(case, why))
        return {"outcome": "Refused", "case": case, "message": why}

    def _entries(self, cards: tuple[Genuine, ...]) -> PhoneReply:
        """Each card's identifier and title, and what its card art is asked by."""
        arts = [c.payment_instrument_id if self.variant.later else str(c.claims.get("brand", "")) for c in cards]
        for art in arts:
            self.note(m.CardArtForIdAsked(art) if self.variant.later else m.CardArtForBrandAsked(art))
        return {
            "entries": [card.payment_instrument_id for card in cards],
            "titles": [f"•••• {card.claims.get('lastFour', '')}" for card in cards],
            "arts": arts,
        }


class _CallB(SdkCall):
    """A call of platform B's SDK inside the app."""

    async def carry_out(self, command: Command) -> Event | None:
        """What comes of a command; None where the SDK has nothing to do."""
        match command:
            case m.AskDelegate():
                return await self._ask_delegate(sdkOutput=command.sdk_output.text)
            case m.AskDelegateWithId():
                card = command.payment_instrument_id
                return await self._ask_delegate(sdkOutput=command.sdk_output.text, paymentInstrumentId=card)
            case m.Start():
                seconds, outcome = self.of.sdk.answer(command)
                if not isinstance(outcome, m.StartThrew):
                    await self.ask(outcome="Started")  # `start` returns, and the sheet opens
                await asyncio.sleep(seconds * self.of.device.pace)
                shown: Event = outcome
                return shown
            case m.ReturnSdkInput():
                await self.of.device.pause("wallet")
            case m.ActivateWatch() | m.AskCanAddCard():
                await self.of.device.pause("canAddCard")
        return await super().carry_out(command)

    async def _ask_delegate(self, **fields: str) -> Event:
        """What the delegate's provision returned, if it did so within the wallet's limit."""
        limit = m.LIMITS["provision"].seconds
        try:
            answer = await asyncio.wait_for(self.ask(ask="provision", **fields), limit)
        except TimeoutError:
            return m.DelegateTimeSpent("provision")
        if isinstance(answer, p.SdkInput):
            return m.SdkInputReceived(_bytes("sdkInput", answer.sdk_input))
        return m.DelegateFailed("the delegate returned nil")

    def reply(self, event: Event) -> PhoneReply:
        """An outcome as the protocol writes it."""
        return _reply(event)


class _Generation:
    """A call of generateAddPaymentPassRequest..., which asks the delegate in between."""

    says = "generateAddPaymentPassRequestForPassEntryWithIdentifier(...)"

    def __init__(self, device: DeviceB, cards: tuple[Genuine, ...], call: p.Generate) -> None:
        self._device, self._cards, self._call = device, cards, call
        self._attempt = 0

    def end(self) -> None:
        """The app's process is gone: nothing runs meanwhile."""

    async def begin(self) -> PhoneReply:
        """Ask the delegate, if the wallet's values can be used."""
        device, identifier = self._device, self._call.identifier
        device.note(m.SdkGenerateCalled(identifier))
        chain, nonce, signature = self._call.certificate_chain, self._call.nonce, self._call.nonce_signature
        if not all((chain, *chain, nonce, signature)):
            return self._throw("unableToConstructSDKOutput", "certificates, nonce or signature are empty")
        if identifier not in [card.payment_instrument_id for card in self._cards]:
            return self._throw("invalidSDKInput", "no sdkInput of this service has this identifier")
        output = next_output(device.phone, HardSeal(device.seed), identifier)
        self._attempt = device.phone.outputs
        device.note(m.ExtensionProvisionCalled(identifier, output))
        turn = device.turn_of(self)
        return {"ask": "provision", "turn": turn, "paymentInstrumentId": identifier, "sdkOutput": output.text}

    async def go_on(self, answer: p.Turn) -> PhoneReply:
        """Make the request of what the delegate returned."""
        returned = _bytes("sdkInput", answer.sdk_input) if isinstance(answer, p.SdkInput) else None
        self._device.note(m.DelegateReturned(returned))
        why = wrong_with(HardSeal(self._device.seed), returned, self._call.identifier, self._attempt)
        if why is not None:
            return self._throw("unableToConstructSDKOutput" if returned is None else "invalidSDKInput", why)
        return {"outcome": "Success"}

    def _throw(self, case: str, why: str) -> PhoneReply:
        self._device.note(m.SdkThrew(case, why))
        return {"outcome": "Threw", "case": case, "message": why}


def _reply(event: Event) -> PhoneReply:  # noqa: PLR0911 - one for each outcome
    """An outcome of the SDK as the protocol writes it."""
    match event:
        case m.ServiceReady():
            return {"outcome": "Success"}
        case m.ServiceRefused():
            return {"outcome": "Refused", "case": event.case, "message": event.why}
        case m.WatchActivated():
            return {"isWatchActivated": event.is_watch_activated}
        case m.CanAddCard():
            places = {"canAddToPhone": event.can_add_to_phone, "canAddToWatch": event.can_add_to_watch}
            return {"canAddCard": True} | {name: bool(there) for name, there in places.items()}
        case m.StartThrew():
            return {"outcome": "Threw", "case": event.case, "message": event.why}
        case m.CannotAddCard():
            return {"canAddCard": False, "canAddToPhone": False, "canAddToWatch": False}
        case m.FinishedWithPass():
            return {"outcome": "Finished", "pass": True}
        case m.FinishedWithError():
            return {"outcome": "Finished", "pass": False, "case": event.case, "message": event.why}
        case _:
            return {"outcome": "Finished", "pass": False}


def _bytes(name: str, text: str) -> bytes:
    """The bytes that the stand-in sent as base64 text.

    Raises:
        ParameterError: it is no base64 text.
    """
    try:
        return b64decode(text, validate=True)
    except (BadBase64, ValueError):
        raise ParameterError(f"{name} is no base64 text. The stand-in sends bytes as base64.") from None
