"""The issuer's app at work, on either platform: its screen, the cardholder's finger, and its back end.

What differs between the platforms (the SDK, and what the app calls when) is each platform's own bench.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from workbook.benches.back_end import TRY_LATER, BackEnd
from workbook.benches.loop import Loop
from workbook.errors import WorkbookError
from workbook.flows import messages as m
from workbook.simulation.direct import DirectApi
from workbook.simulation.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbook.api.opaque import SdkInput
    from workbook.benches.loop import Port, Reply
    from workbook.flows.machine import Machine
    from workbook.flows.messages import Command, Event
    from workbook.simulation.world import World
    from workbook.trace import Trace

BUTTON = {
    m.ShowButton: "shown",
    m.HideButton: "hidden",
    m.DisableButton: "disabled",
    m.EnableButton: "shown",
}
LABELS = {m.ShowAdded: "Added to Wallet", m.ShowAvailable: "Available in Wallet", m.TellFailure: "not added"}
"""What the app's screen says beside the button (B-FIN-2)."""


class Waits(Protocol):
    """How long the two exchanges take, in seconds."""

    @property
    def get(self) -> float:
        """Of the GET."""
        ...

    @property
    def post(self) -> float:
        """Of the POST."""
        ...


class InApp(Loop):
    """One run of an in-app flow.

    Attributes:
        payment_instrument_id: the card whose page is opened.
        back_end: relays to the HTTP API.
        button: what the cardholder sees of the add button: absent, shown, disabled or hidden.
        label: what else the app's screen says, see `LABELS`; empty at first.
    """

    def __init__(
        self, machine: Machine, title: str, payment_instrument_id: str, back_end: BackEnd, waits: Waits
    ) -> None:
        self.payment_instrument_id = payment_instrument_id
        self.back_end = back_end
        self.button = "absent"
        self.label = ""
        self._latencies = waits
        self._waits = 0.0
        super().__init__(machine, title)

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

    def _connect(self) -> dict[type[Command], Port]:
        screen: dict[type[Command], Port] = dict.fromkeys((*BUTTON, m.ReportToContact), self._on_screen)
        words: dict[type[Command], Port] = dict.fromkeys(LABELS, self._says)
        return super()._connect() | screen | words | {m.GetActivationData: self._get}

    def _on_screen(self, command: Command) -> None:
        self.button = BUTTON.get(type(command), self.button)
        if type(command) is m.DisableButton:
            self.label = ""  # a new attempt: what came of the last one is no longer true

    def _says(self, command: Command) -> None:
        self.label = LABELS[type(command)]

    def _get(self, command: m.GetActivationData) -> Reply:
        self.label = ""  # the page is opened anew
        self._begin_exchange(self._latencies.get)
        event: Event
        try:
            event = m.ActivationDataReceived(self.back_end.get(command.payment_instrument_id))
        except WorkbookError:
            event = m.ActivationDataFailed(TRY_LATER)
        return self._latency(), event

    def _relay(
        self, post: Callable[[], SdkInput], done: Callable[[SdkInput], Event], failed: Callable[[str], Event]
    ) -> Reply:
        """The POST, made by `post`: one of two events once its time has passed."""
        self._begin_exchange(self._latencies.post)
        try:
            event = done(post())
        except WorkbookError:
            event = failed(TRY_LATER)
        return self._latency(), event

    def _begin_exchange(self, seconds: float) -> None:
        """This loop listens from here on: loops that run side by side may share one back end."""
        self._waits = seconds
        self.back_end.seen = self._seen

    def _seen(self, event: Event) -> None:
        """A request shows at once, what follows it once the exchange's time has passed; all of it as it was timed."""
        untimed = 0.0 if type(event) is m.ApiRequested else self._latency()
        self._clock.after(untimed if self.back_end.at is None else self.back_end.at, event)

    def _latency(self) -> float:
        """Seconds of the exchange under way: measured with a real API, the device's otherwise."""
        return self._waits if self.back_end.took is None else self.back_end.took


def simulated_back_end(world: World | None = None) -> BackEnd:
    """A back end in front of the simulated service, without HTTP between: the fastest port."""
    api = DirectApi(Service(world))
    return BackEnd(api, basis=lambda: api.basis)
