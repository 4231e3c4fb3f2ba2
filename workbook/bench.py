"""The bench: the only loop that touches the world.

It takes events from a clock, steps the table, carries out the commands that come back, puts the
replies on the clock, and records each of these. It decides nothing: what may happen next is the
table's business, what the outcome is the stand-ins', and what it means the readers' of the trace.

The document's suspending operations are plain steps here: virtual time stands for the suspension.
"""

from __future__ import annotations

import asyncio
import inspect
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from workbook.api.opaque import SdkInput
from workbook.app import App
from workbook.back_end import TRY_LATER, BackEnd
from workbook.errors import OpaqueDataError, OutOfOrderError, WorkbookError
from workbook.flows import messages as m
from workbook.flows.variants import A_FROM_0_4_0
from workbook.simulation.clock import Clock
from workbook.simulation.device import Device
from workbook.simulation.direct import DirectApi
from workbook.simulation.sdk_a import SdkA
from workbook.simulation.seal import Seal
from workbook.simulation.service import Service
from workbook.simulation.world import INSTRUMENT_IDS, World
from workbook.trace import Kind, Record, Trace

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from enum import StrEnum

    from workbook.flows.messages import Command, Event
    from workbook.flows.variants import Variant

    Reply = tuple[float, Event]
    Port = Callable[[Any], Reply | None]

BUTTON = {
    m.ShowButton: "shown",
    m.HideButton: "hidden",
    m.DisableButton: "disabled",
    m.EnableButton: "shown",
}

SEEN: dict[type[Event], Kind] = {
    m.WalletAsked: Kind.EXCHANGE,
    m.VerificationPending: Kind.EXCHANGE,
    m.ApiRequested: Kind.EXCHANGE,
    m.ApiAnswered: Kind.EXCHANGE,
    m.ApiFailed: Kind.EXCHANGE,
    m.Noted: Kind.NOTE,
}
"""What the back end and the SDK report on the side, and the kind of record it makes; no table steps it."""


class Bench:
    """One run of one variant on one device.

    Attributes:
        state: where the app stands.
        button: what the cardholder sees of the add button: absent, shown, disabled or hidden.
        trace: every step so far.
    """

    def __init__(
        self,
        variant: Variant = A_FROM_0_4_0,
        payment_instrument_id: str = INSTRUMENT_IDS[0],
        *,
        device: Device | None = None,
        app: App | None = None,
        back_end: BackEnd | None = None,
        seed: int = 7,
    ) -> None:
        self.variant = variant
        self.payment_instrument_id = payment_instrument_id
        self.device = device or Device()
        self.app = app or App.of(variant)
        self.back_end = back_end or simulated_back_end(World(seed=seed))
        self.back_end.seen = self._seen
        self.sdk = SdkA(self.device, Seal(seed), api_error=variant.facts.api_error)
        self.sdk.seen = self._seen_now
        self.state: StrEnum = variant.machine.initial
        self.button = "absent"
        self.trace = Trace(variant.title)
        self._attempt = 0
        self._waits = 0.0
        self._clock: Clock[Event] = Clock()
        self._ports = self._connect()

    def __repr__(self) -> str:
        return f"Bench({self.variant.name!r}, {self.state.value}, button {self.button}, {len(self.trace)} records)"

    @property
    def allowed(self) -> tuple[type[Event], ...]:
        """The events that the table has a row for now."""
        return self.variant.machine.allowed(self.state)

    def walk(self) -> Trace:
        """Open the card, tap once if there is a button to tap, and run until nothing is due."""
        self.open()
        if self.button == "shown":
            self.tap()
        return self.trace

    def open(self) -> Trace:
        """The cardholder opens the card's page; runs until nothing is due."""
        return self.feed(m.Opened(self.payment_instrument_id))

    def tap(self, times: int = 1, *, every: float = 0.1) -> Trace:
        """The cardholder taps Add, `times` times with `every` seconds between; runs until nothing is due."""
        for number in range(times):
            self._clock.after(number * every, m.AddTapped())
        return self.run()

    def feed(self, event: Event) -> Trace:
        """Let one event happen now; runs until nothing is due."""
        self._clock.after(0.0, event)
        return self.run()

    def run(self) -> Trace:
        """Take events from the clock until none is left."""
        for event in self._clock:
            self._happen(event)
        return self.trace

    def _happen(self, event: Event) -> None:
        before = self.state
        if kind := SEEN.get(type(event)):
            self._record(kind, event, before, event.rules)
            return
        try:
            step = self.variant.machine.step(before, event)
        except OutOfOrderError:
            self._record(Kind.REFUSED, event, before, event.rules)
            return
        self.state = step.state
        self._attempt += isinstance(event, m.AddTapped)
        self._record(Kind.EVENT, event, before, step.row.rules, deprecated=step.row.deprecated)
        for command in step.commands:
            self._carry_out(command, event)

    def _carry_out(self, command: Command, event: Event) -> None:
        self._record(Kind.COMMAND, command, self.state, command.rules)
        port = self._ports[type(command)]
        reply = port(event if type(command) is m.HandToApp else command)
        if reply is not None:
            self._clock.after(*reply)

    def _connect(self) -> dict[type[Command], Port]:
        """Who carries out what: one port for each command."""
        screen: dict[type[Command], Port] = dict.fromkeys((*BUTTON, m.ReportToContact), self._on_screen)
        sdk: dict[type[Command], Port] = dict.fromkeys(self.sdk.commands, self.sdk.answer)
        relays: dict[type[Command], Port] = {
            m.GetActivationData: self._get,
            m.PostSdkOutput: self._post,
            m.FetchOpc: self._fetch_opc,
            m.HandToApp: self._hand_to_app,
        }
        return screen | sdk | relays

    def _on_screen(self, command: Command) -> None:
        self.button = BUTTON.get(type(command), self.button)

    def _hand_to_app(self, event: Event) -> Reply | None:
        call = self.app.next_call(self.state, event)
        return None if call is None else (0.0, call)

    def _get(self, command: m.GetActivationData) -> Reply:
        self._waits = self.device.latencies.get
        event: Event
        try:
            event = m.ActivationDataReceived(self.back_end.get(command.payment_instrument_id))
        except WorkbookError:
            event = m.ActivationDataFailed(TRY_LATER)
        return self._latency(), event

    def _post(self, command: m.PostSdkOutput) -> Reply:
        self._waits = self.device.latencies.post
        event: Event
        try:
            event = m.OpcReceived(self.back_end.post(command.payment_instrument_id, command.sdk_output))
        except WorkbookError:
            event = m.OpcFailed(TRY_LATER)
        return self._latency(), event

    def _fetch_opc(self, command: m.FetchOpc) -> Reply:
        """The app's OpcProvider: the integrator's own, or the plain relay."""
        if self.app.fetch_opc is None:
            return self._post(m.PostSdkOutput(command.payment_instrument_id, command.sdk_output))
        self._waits = self.device.latencies.post
        return self._waits, fetched(self.app.fetch_opc, command)

    def _seen(self, event: Event) -> None:
        """A request shows at once, what follows it once the exchange's time has passed."""
        self._clock.after(0.0 if type(event) is m.ApiRequested else self._latency(), event)

    def _seen_now(self, event: Event) -> None:
        self._clock.after(0.0, event)

    def _latency(self) -> float:
        """Seconds of the exchange under way: measured with a real API, the device's otherwise."""
        return self._waits if self.back_end.took is None else self.back_end.took

    def _record(
        self, kind: Kind, message: Any, before: StrEnum, rules: tuple[str, ...], *, deprecated: bool = False
    ) -> None:
        now, after = self._clock.now, self.state
        self.trace.append(Record(now, kind, message, before, after, rules, self._attempt, deprecated))


def simulated_back_end(world: World | None = None) -> BackEnd:
    """A back end in front of the simulated service, without HTTP between: the fastest port."""
    api = DirectApi(Service(world))
    return BackEnd(api, basis=lambda: api.basis)


def fetched(fetch_opc: Callable[[str, str], Any], command: m.FetchOpc) -> Event:
    """What the integrator's own fetchOpc came to; the SDK catches whatever it raises (sdk-a)."""
    try:
        opc = completed(fetch_opc, command.payment_instrument_id, command.sdk_output.text)
    except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001  # not our code
        return m.OpcFailed(f"fetchOpc raised {type(error).__name__}")
    try:
        return m.OpcReceived(opc if isinstance(opc, SdkInput) else SdkInput(opc))
    except OpaqueDataError as error:
        return m.OpcFailed(f"fetchOpc returned no OPC data ({error.layer})")


def completed(function: Callable[..., Any], *args: Any) -> Any:
    """What `function` returns; an awaitable is awaited to its end on a thread of its own.

    A notebook's kernel has a running loop already, and which thread that is on depends on its version.
    """
    value = function(*args)
    if not inspect.isawaitable(value):
        return value
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, _awaited(value)).result()


async def _awaited(value: Awaitable[Any]) -> Any:
    return await value
