"""A run of the issuer's app on either platform: its screen, the cardholder's taps, and its back end.

What differs between the platforms (the SDK, and what the app calls when) is in `platform_a` and `platform_b`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbook.api.opaque import SdkOutput
from workbook.flows import messages as m
from workbook.flows.messages import Command, Event
from workbook.flows.variants import VariantA, VariantB
from workbook.runs.back_end import TRY_LATER, BackEnd
from workbook.runs.loop import Loop, Port, Reply
from workbook.simulation.phones import LatenciesA, LatenciesB
from workbook.trace import Trace

BUTTON = {
    m.ShowButton: "shown",
    m.HideButton: "hidden",
    m.DisableButton: "disabled",
    m.EnableButton: "shown",
}
LABELS = {m.ShowAdded: "Added to Wallet", m.ShowAvailable: "Available in Wallet", m.TellFailure: "not added"}
"""What the app's screen says beside the button (B-FIN-2)."""


class InApp(Loop):
    """One run of an in-app flow.

    Attributes:
        variant: the variant that is played.
        payment_instrument_id: the card whose page is opened.
        back_end: relays to the HTTP API.
        button: what the cardholder sees of the add button: absent, shown, disabled or hidden.
        label: what else the app's screen says, see `LABELS`; empty at first.
    """

    variant: VariantA | VariantB

    def __init__(self, payment_instrument_id: str, back_end: BackEnd, waits: LatenciesA | LatenciesB) -> None:
        self.payment_instrument_id = payment_instrument_id
        self.back_end = back_end
        self.button = "absent"
        self.label = ""
        self._waits = waits
        super().__init__(self.variant.machine, self.variant.title)

    def __repr__(self) -> str:
        name, records = type(self).__name__, len(self.trace)
        return f"{name}({self.variant.name!r}, {self.state.value}, button {self.button}, {records} records)"

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
        failed = m.ActivationDataFailed(TRY_LATER)
        return self._relay(command.payment_instrument_id, None, m.ActivationDataReceived, failed)

    def _relay(
        self, instrument: str, sdk_output: SdkOutput | None, received: Callable[[Any], Event], failed: Event
    ) -> Reply:
        """The GET, or with an sdkOutput the POST: one of two events after its seconds, measured or simulated."""
        exchange = self.back_end.exchange(instrument, sdk_output)
        waits = self._waits.get if sdk_output is None else self._waits.post
        seconds = waits if exchange.took is None else exchange.took
        for at, event in exchange.timeline(seconds):
            self.soon(event, at)
        return seconds, received(exchange.sdk_input) if exchange.error is None else failed
