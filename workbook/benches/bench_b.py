"""The bench of platform B: the issuer's app, its SDK, a phone and perhaps a watch, connected to the loop."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from workbook.api.opaque import SdkInput
from workbook.benches.app_b import AppB, check_delegate
from workbook.benches.callback import completed
from workbook.benches.in_app import InApp, simulated_back_end
from workbook.errors import OpaqueDataError, ParameterError, SdkError
from workbook.flows import messages as m
from workbook.flows.variants_b import B_LATER, VariantB
from workbook.parameters import quoted
from workbook.simulation.phone import Phone
from workbook.simulation.sdk_b import SdkB
from workbook.simulation.world import INSTRUMENT_IDS, World

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbook.api.opaque import SdkOutput
    from workbook.benches.back_end import BackEnd
    from workbook.benches.loop import Port, Reply
    from workbook.flows.messages import Command, Event

FINISHED = (m.FinishedWithPass, m.FinishedWithError, m.FinishedWithNeither)


class BenchB(InApp):
    """One run of one variant of platform B on one phone.

    Attributes:
        state: where the app stands.
        button: what the cardholder sees of the add button: absent, shown, disabled or hidden.
        label: what else the app's screen says, such as 'Added to Wallet'.
        trace: every step so far.

    Raises:
        ParameterError: the variant is none of platform B's, the phone or the app is none, or the SDK cannot call the
            app's delegate.
    """

    def __init__(
        self,
        variant: VariantB = B_LATER,
        payment_instrument_id: str = INSTRUMENT_IDS[0],
        *,
        phone: Phone | None = None,
        app: AppB | None = None,
        back_end: BackEnd | None = None,
    ) -> None:
        if not isinstance(variant, VariantB):
            raise ParameterError(f"This bench takes B_EARLIER or B_LATER, not {variant!r:.40}.")
        self.variant = variant
        self.phone = Phone() if phone is None else _phone(phone)
        self.app = AppB() if app is None else _app(app, variant)
        self.sdk = SdkB(self.phone, later=variant.later)
        self.sdk.seen = self._seen_now
        self._sdk_input: Any = None
        self._is_watch_activated = False
        self._watch_instance = 0
        self._answer = 0
        relay = back_end or simulated_back_end(World(seed=self.phone.seed))
        super().__init__(variant.machine, variant.title, payment_instrument_id, relay, self.phone.waits)

    def __repr__(self) -> str:
        return f"BenchB({self.variant.name!r}, {self.state.value}, button {self.button}, {len(self.trace)} records)"

    def _connect(self) -> dict[type[Command], Port]:
        sdk: dict[type[Command], Port] = dict.fromkeys(self.sdk.commands, self.sdk.answer)
        relays: dict[type[Command], Port] = {
            m.SaveSdkInput: self._save,
            m.AskDelegate: self._ask_delegate,
            m.AskDelegateWithId: self._ask_delegate_with_id,
            m.GiveUp: self._give_up,
            m.HandToApp: self._hand_to_app,
        }
        return super()._connect() | sdk | relays

    def _happen(self, event: Event) -> None:
        awaited = type(event) in self.allowed
        super()._happen(event)
        if awaited and isinstance(event, FINISHED):
            self._tell_delegate(event)

    def _save(self, command: m.SaveSdkInput) -> None:
        """The app keeps the bytes for its extension, where they are bytes at all (X-CACHE-1)."""
        if not isinstance(command.sdk_input, SdkInput):
            return self._seen_now(m.Noted("Nothing was saved for the extension: the back end handed over nothing."))
        try:
            self.phone.storage.save(self.payment_instrument_id, command.sdk_input.data)
        except OpaqueDataError as error:
            self._seen_now(m.Noted(f"Nothing was saved for the extension: {error}"))

    def _hand_to_app(self, event: Event) -> Reply | None:
        call = self.app.calls_in(self.variant).get(self.state)
        return None if call is None else (0.0, call(**self._arguments(call, event)))

    def _arguments(self, call: type[Event], event: Event) -> dict[str, Any]:
        """Each field of the call: from the event just handed over, or from what the app has learned."""
        match event:
            case m.ActivationDataReceived():
                self._sdk_input = self._handed_over(event.sdk_input)
            case m.ServiceReady():
                self._watch_instance = self._next_watch()
            case m.WatchActivated():
                self._is_watch_activated = event.is_watch_activated
            case _:
                pass
        known = {
            "sdk_input": self._sdk_input,
            "instance": self._watch_instance,
            "is_watch_activated": self._is_watch_activated,
        }
        names: tuple[str, ...] = call.__match_args__
        return {name: known[name] for name in names}

    def _handed_over(self, sdk_input: Any) -> Any:
        if not isinstance(sdk_input, SdkInput):
            return None  # the back end passed on an answer without any
        try:
            return self.app.handed_over(sdk_input)
        except OpaqueDataError:
            return None  # not base64 at all: a decoder gives nil

    def _next_watch(self) -> int:
        """The app's one instance, on whichever page it was made; a careless app makes another for each page."""
        if self.app.keeps_watch_availability:
            return self._watch_instance or self.phone.watch_sessions or 1
        return self.phone.watch_sessions + 1

    def _ask_delegate(self, command: m.AskDelegate) -> None:
        """The earlier variant: the app knows which card its page shows (B-DEL-1)."""
        self._answer = self._clock.after(*self._delegated(self.payment_instrument_id, command.sdk_output, ()))

    def _ask_delegate_with_id(self, command: m.AskDelegateWithId) -> None:
        """The later variant: the SDK says which card it is (B-DEL-2)."""
        instrument = command.payment_instrument_id
        self._answer = self._clock.after(*self._delegated(instrument, command.sdk_output, (instrument,)))

    def _give_up(self, command: m.GiveUp) -> Reply:
        """The answer still to come answers nobody, not even the attempt that may be under way by then (wallet)."""
        self._clock.replace(self._answer, m.IgnoreLateSdkInput())
        return self.sdk.answer(command)

    def _delegated(self, instrument: str, output: SdkOutput, named: tuple[str, ...]) -> Reply:
        if self.app.delegate is None:
            return self._relay(lambda: self.back_end.post(instrument, output), self._received, m.NoSdkInput)
        return self.phone.waits.post, delegated(self.app.delegate.provision, output.data, *named)

    def _received(self, sdk_input: Any) -> Event:
        """What the app's own delegate makes of the answer: nil when it cannot be decoded (B-DEL-3)."""
        handed = self._handed_over(sdk_input)
        what = "no base64 text" if sdk_input else "empty"
        return m.NoSdkInput(f"the answer is {what}") if handed is None else m.SdkInputReceived(handed)

    def _tell_delegate(self, event: Event) -> None:
        """didFinishProvisioning(with pass, error), where the delegate has it (B-FIN-1)."""
        finish: Callable[..., Any] | None = getattr(self.app.delegate, "did_finish_provisioning", None)
        if finish is None:
            return
        added = event.where if isinstance(event, m.FinishedWithPass) else None
        error = SdkError(event.case, event.why) if isinstance(event, m.FinishedWithError) else None
        try:
            completed(finish, added, error)
        except (Exception, asyncio.CancelledError) as problem:  # noqa: BLE001  # not our code
            self._seen_now(m.Noted(f"The delegate's didFinishProvisioning raised {type(problem).__name__}."))


def delegated(provision: Callable[..., Any], *given: Any) -> Event:
    """What the integrator's own provision came to: bytes, nil, or an exception that ends as nil (assumed)."""
    try:
        returned = completed(provision, *given)
    except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001  # not our code
        return m.NoSdkInput(f"provision raised {type(error).__name__}")
    return m.NoSdkInput("provision returned nil") if returned is None else m.SdkInputReceived(returned)


def _phone(phone: object) -> Phone:
    if not isinstance(phone, Phone):
        raise ParameterError(f"phone is {quoted(phone)}; allowed: a Phone(...) from workbook.simulation.phone.")
    return phone


def _app(app: object, variant: VariantB) -> AppB:
    if not isinstance(app, AppB):
        raise ParameterError(f"app is {quoted(app)}; allowed: an AppB(...) from workbook.benches.app_b.")
    if app.delegate is not None:
        check_delegate(app.delegate, variant)
    return app
